/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch ppa: what CPUs and threads did in each interval, as the difference of
 * what the files of precise process accounting said at its two ends.
 */
#define _GNU_SOURCE
#include "ppa.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "ppa_files.h"
#include "ppa_session.h"

enum sort { SORT_CPU, SORT_SYSTEM, SORT_SYSCALLS, SORT_LATENCY, SORT_SWITCHES };

static const char *const sort_names[] = {
	[SORT_CPU] = "cpu",
	[SORT_SYSTEM] = "system",
	[SORT_SYSCALLS] = "syscalls",
	[SORT_LATENCY] = "latency",
	[SORT_SWITCHES] = "switches",
};

#define NR_SORTS (sizeof(sort_names) / sizeof(*sort_names))

struct ppa {
	const char *named;	/* a module or a directory */
	uint64_t pid;		/* 0: all */
	uint64_t count;		/* 0: no end */
	double interval;
	enum sort sort;
	bool json;

	char *dir;
	struct ppa_snapshot before, now;
	struct ppa_thread *rows;
	size_t nr_rows;
	double seconds;
	struct buf out;
	bool terminal;
	bool utf8;
};

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

/* ---- the rows */

static uint64_t switches(const struct ppa_thread *t)
{
	return t->values[PPA_SCHEDOUTCNT] + t->values[PPA_PRMPTPRICNT] +
	       t->values[PPA_PRMPTCTXTCNT];
}

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / n : 0;
}

static double key(const struct ppa_thread *t, enum sort sort)
{
	switch (sort) {
	case SORT_SYSTEM:
		return t->values[PPA_SCACCUM];
	case SORT_SYSCALLS:
		return t->values[PPA_SYSCALLCNT];
	case SORT_LATENCY:
		return mean(t->values[PPA_SCHLATACCUM],
			    t->values[PPA_SCHLATCNT]);
	case SORT_SWITCHES:
		return switches(t);
	default:
		return t->values[PPA_SCHEDACCUM];
	}
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct ppa_thread *x = a, *y = b;
	double p = key(x, *(enum sort *)sort), q = key(y, *(enum sort *)sort);

	if (p != q)
		return p < q ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int by_tid(const void *a, const void *b)
{
	const struct ppa_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* A number that comes again after its thread ended is one that has less. */
static bool is_same(const struct ppa_thread *old, const struct ppa_thread *t)
{
	size_t i;

	for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
		if (old->values[i] > t->values[i])
			return false;
	return old->tgid == t->tgid;
}

static bool is_active(const struct ppa_thread *t)
{
	size_t i;

	for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
		if (t->values[i])
			return true;
	return false;
}

static void make_rows(struct ppa *p)
{
	const struct ppa_thread *old;
	struct ppa_thread *t;
	size_t i, k;

	p->rows = xrealloc(p->rows,
			   (p->now.nr_threads + 1) * sizeof(*p->rows));
	p->nr_rows = 0;
	for (i = 0; i < p->now.nr_threads; i++) {
		t = &p->rows[p->nr_rows];
		*t = p->now.threads[i];
		if (p->pid && t->tid != p->pid && t->tgid != p->pid)
			continue;
		old = bsearch(t, p->before.threads, p->before.nr_threads,
			      sizeof(*old), by_tid);
		if (old && is_same(old, t)) {
			for (k = 0; k < PPA_NR_THREAD_VALUES; k++)
				t->values[k] -= old->values[k];
			for (k = 0; k < PPA_NR_BUCKETS; k++)
				t->latency[k] -= old->latency[k];
		}
		if (p->pid || is_active(t))
			p->nr_rows++;
	}
	qsort_r(p->rows, p->nr_rows, sizeof(*p->rows), by_key, &p->sort);
}

/* ---- what is shown */

static double us(const struct ppa *p, double ticks)
{
	return ticks * 1e6 / p->now.hz;
}

/* A name is anyone's, and a terminal does as it is told. */
static void put_name(struct buf *out, const struct ppa_thread *t, bool json)
{
	size_t i, n = 0;

	for (i = 0; i < sizeof(t->comm) && t->comm[i]; i++) {
		unsigned char c = t->comm[i];

		if (c < ' ' || c >= 0x7f)
			buf_printf(out, json ? "\\u00%02x" : "?", c);
		else if (json && (c == '"' || c == '\\'))
			buf_printf(out, "\\%c", c);
		else
			buf_add(out, &t->comm[i], 1);
		n++;
	}
	while (!json && n++ < 15)
		buf_puts(out, " ");
}

/* From below 10 us to a second and more, one character each. */
static void put_bars(struct ppa *p, const struct ppa_thread *t)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇",
					    "█" };
	static const char ascii[] = "_.:-=+*#";
	uint64_t most = 0;
	size_t i, n;

	for (i = 0; i < PPA_NR_BUCKETS; i++)
		if (t->latency[i] > most)
			most = t->latency[i];
	for (i = 0; i < PPA_NR_BUCKETS; i++) {
		n = t->latency[i] ? 1 + t->latency[i] * 6.999 / most : 0;
		if (!t->latency[i])
			buf_puts(&p->out, " ");
		else if (p->utf8)
			buf_puts(&p->out, bars[n]);
		else
			buf_add(&p->out, &ascii[n], 1);
	}
}

static const char *eol(const struct ppa *p)
{
	return p->terminal ? "\033[K\n" : "\n";
}

static void show_cpu(struct ppa *p, size_t cpu)
{
	const uint64_t *v = p->now.cpus[cpu].v;
	const uint64_t *o = cpu < p->before.nr_cpus ? p->before.cpus[cpu].v : v;
	const double all = v[PPA_ELAPSED] - o[PPA_ELAPSED];
#define D(value) (double)(v[value] - o[value])
#define PERCENT(value) (all > 0 ? D(value) * 100 / all : 0)

	buf_printf(&p->out, "%4zu %6.1f %6.1f %6.1f %6.1f %6.1f %10.0f %8.0f %8.0f %9.1f%s",
		   cpu, PERCENT(PPA_USRMODE), PERCENT(PPA_SYSMODE),
		   PERCENT(PPA_INTERRUPTS), PERCENT(PPA_TOTALSOFTIRQTIME),
		   PERCENT(PPA_IDLE), D(PPA_SYS_SYSCALLCNT) / p->seconds,
		   D(PPA_INTERRUPTCNT) / p->seconds,
		   (D(PPA_SYS_SCHEDOUTCNT) + D(PPA_SYS_PRMPTCTXTCNT) +
		    D(PPA_SYS_PRMPTPRICNT)) / p->seconds,
		   D(PPA_SYS_SCHLATCNT) ? us(p, D(PPA_SYS_SCHLATACCUM)) /
					  D(PPA_SYS_SCHLATCNT) : 0, eol(p));
}

static void show_thread(struct ppa *p, const struct ppa_thread *t)
{
	const uint64_t *v = t->values;

	buf_printf(&p->out, "%7u ", t->tid);
	put_name(&p->out, t, false);
	buf_printf(&p->out, " %9.1f %9.1f %8.1f %9" PRIu64 " %7" PRIu64
		   " %7" PRIu64 " %7" PRIu64 " %9.1f %9.1f ",
		   us(p, v[PPA_SCHEDACCUM] - v[PPA_SCACCUM]) / 1000,
		   us(p, v[PPA_SCACCUM]) / 1000,
		   us(p, v[PPA_INTACCUM] + v[PPA_SOFTACCUM]) / 1000,
		   v[PPA_SYSCALLCNT], v[PPA_SCHEDOUTCNT], v[PPA_PRMPTPRICNT],
		   v[PPA_PRMPTCTXTCNT],
		   us(p, mean(v[PPA_SCHLATACCUM], v[PPA_SCHLATCNT])),
		   us(p, v[PPA_RUNQACCUM]) / 1000);
	put_bars(p, t);
	buf_puts(&p->out, eol(p));
}

static void show_tables(struct ppa *p, bool first)
{
	struct winsize size;
	size_t i, rows = p->nr_rows;

	if (p->terminal) {
		if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
		    size.ws_row > p->now.nr_cpus + 4 &&
		    rows > size.ws_row - p->now.nr_cpus - 4)
			rows = size.ws_row - p->now.nr_cpus - 4;
		/* a long line ends at the edge, and does not wrap */
		buf_puts(&p->out, "\033[?7l\033[H");
	} else if (!first) {
		buf_puts(&p->out, "\n");
	}
	buf_printf(&p->out, " CPU  USER%%   SYS%%   INT%%  SOFT%%  IDLE%%  SYSCALL/S    INT/S SWITCH/S LAT-AVGus%s",
		   eol(p));
	for (i = 0; i < p->now.nr_cpus; i++)
		if (p->now.cpus[i].v[PPA_ELAPSED])
			show_cpu(p, i);
	buf_printf(&p->out, "    TID NAME               USERms     SYSms    INTms  SYSCALLS   BLOCK PREEMPT EXPIRED LAT-AVGus    RUNQms LATENCY%s",
		   eol(p));
	for (i = 0; i < rows; i++)
		show_thread(p, &p->rows[i]);
	if (p->terminal)
		buf_puts(&p->out, "\033[J\033[?7h");
}

struct field {
	const char *name;
	int value;
	bool time;
};

static void put_fields(struct ppa *p, const struct field *f, size_t nr,
		       const uint64_t *v, const uint64_t *o)
{
	size_t i;
	uint64_t d;

	for (i = 0; i < nr; i++) {
		d = v[f[i].value] - (o ? o[f[i].value] : 0);
		if (f[i].time)
			buf_printf(&p->out, ",\"%s\":%.3f", f[i].name,
				   us(p, d));
		else
			buf_printf(&p->out, ",\"%s\":%" PRIu64, f[i].name, d);
	}
}

static void show_json(struct ppa *p)
{
	static const struct field cpu[] = {
		{ "user_us", PPA_USRMODE, true },
		{ "system_us", PPA_SYSMODE, true },
		{ "int_us", PPA_INTERRUPTS, true },
		{ "softirq_us", PPA_TOTALSOFTIRQTIME, true },
		{ "idle_us", PPA_IDLE, true },
		{ "elapsed_us", PPA_ELAPSED, true },
		{ "syscalls", PPA_SYS_SYSCALLCNT, false },
		{ "ints", PPA_INTERRUPTCNT, false },
		{ "softirqs", PPA_SOFTIRQCNT, false },
		{ "blocked", PPA_SYS_SCHEDOUTCNT, false },
		{ "preempted", PPA_SYS_PRMPTPRICNT, false },
		{ "expired", PPA_SYS_PRMPTCTXTCNT, false },
		{ "latency_us", PPA_SYS_SCHLATACCUM, true },
		{ "wakeups", PPA_SYS_SCHLATCNT, false },
	}, thread[] = {
		{ "system_us", PPA_SCACCUM, true },
		{ "total_us", PPA_SCHEDACCUM, true },
		{ "int_us", PPA_INTACCUM, true },
		{ "softirq_us", PPA_SOFTACCUM, true },
		{ "syscalls", PPA_SYSCALLCNT, false },
		{ "ints", PPA_INTCNT, false },
		{ "rescheds", PPA_RSCHEDCNT, false },
		{ "blocked", PPA_SCHEDOUTCNT, false },
		{ "preempted", PPA_PRMPTPRICNT, false },
		{ "expired", PPA_PRMPTCTXTCNT, false },
		{ "latency_us", PPA_SCHLATACCUM, true },
		{ "wakeups", PPA_SCHLATCNT, false },
		{ "runq_us", PPA_RUNQACCUM, true },
		{ "switch_us", PPA_AVGCTXT, true },
	};
	size_t i, k;
	const char *comma = "";

	buf_printf(&p->out, "{\"seconds\":%.6f,\"cpus\":[", p->seconds);
	for (i = 0; i < p->now.nr_cpus; i++) {
		if (!p->now.cpus[i].v[PPA_ELAPSED])
			continue;
		buf_printf(&p->out, "%s{\"cpu\":%zu", comma, i);
		put_fields(p, cpu, sizeof(cpu) / sizeof(*cpu),
			   p->now.cpus[i].v,
			   i < p->before.nr_cpus ? p->before.cpus[i].v : NULL);
		buf_puts(&p->out, "}");
		comma = ",";
	}
	buf_puts(&p->out, "],\"threads\":[");
	for (i = 0; i < p->nr_rows; i++) {
		const struct ppa_thread *t = &p->rows[i];

		buf_printf(&p->out, "%s{\"tid\":%u,\"pid\":%u,\"name\":\"",
			   i ? "," : "", t->tid, t->tgid);
		put_name(&p->out, t, true);
		buf_printf(&p->out, "\",\"user_us\":%.3f",
			   us(p, t->values[PPA_SCHEDACCUM] -
				 t->values[PPA_SCACCUM]));
		put_fields(p, thread, sizeof(thread) / sizeof(*thread),
			   t->values, NULL);
		buf_puts(&p->out, ",\"latencies\":[");
		for (k = 0; k < PPA_NR_BUCKETS; k++)
			buf_printf(&p->out, "%s%" PRIu64, k ? "," : "",
				   (uint64_t)t->latency[k]);
		buf_puts(&p->out, "]}");
	}
	buf_puts(&p->out, "]}\n");
}

static int write_out(struct ppa *p)
{
	if (!buf_flush(&p->out, STDOUT_FILENO))
		return 0;
	fprintf(stderr, "stapwatch ppa: cannot write: %s\n", strerror(errno));
	return -1;
}

/* ---- rounds */

static int take(struct ppa *p)
{
	struct buf why = { 0 };
	bool ok = ppa_snapshot_read(p->dir, &p->now, &why);

	if (!ok)
		fprintf(stderr, "stapwatch ppa: %s\n", why.s);
	free(why.s);
	return ok ? 0 : -1;
}

static int one_round(struct ppa *p, bool first)
{
	struct timespec ts = {
		.tv_sec = p->interval,
		.tv_nsec = (p->interval - (time_t)p->interval) * 1e9,
	};

	ppa_snapshot_free(&p->before);
	p->before = p->now;
	nanosleep(&ts, NULL);
	if (take(p)) {
		p->now = (struct ppa_snapshot) { 0 };
		return -1;
	}
	p->seconds = (double)(p->now.now - p->before.now) / p->now.hz;
	if (p->seconds <= 0)
		p->seconds = 1e-9;
	make_rows(p);
	if (p->pid && !p->nr_rows) {
		fprintf(stderr, "stapwatch ppa: -p %" PRIu64 ": no such thread\n",
			p->pid);
		return -1;
	}
	if (p->json)
		show_json(p);
	else
		show_tables(p, first);
	return write_out(p);
}

static int run(struct ppa *p)
{
	struct sigaction act = { .sa_handler = on_signal };
	uint64_t round;
	int rc;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	p->dir = ppa_session_begin(p->named);
	if (!p->dir)
		return 1;
	p->terminal = !p->json && isatty(STDOUT_FILENO);
	p->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	rc = take(p);
	if (!rc && p->terminal)
		buf_puts(&p->out, "\033[2J");
	for (round = 0; !rc && !stopped && (!p->count || round < p->count);
	     round++)
		rc = one_round(p, !round);
	ppa_session_end();
	return rc ? 1 : 0;
}

/* ---- the command */

#define USAGE "there are [-p] PID or -a, -i SECS, -n COUNT, --sort cpu|system|syscalls|latency|switches and --json"

static int say(const char *what, const char *value)
{
	fprintf(stderr, "stapwatch ppa: %s: \"%s\"; " USAGE "\n", what, value);
	return -1;
}

static int take_number(const char *what, const char *s, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || !*n || *n > INT32_MAX)
		return say(what, s);
	return 0;
}

static int take_pid(struct ppa *p, const char *s)
{
	return take_number("-p wants a process's or thread's number", s,
			   &p->pid);
}

static bool is_number(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

static int take_interval(struct ppa *p, const char *s)
{
	char *end;

	p->interval = strtod(s, &end);
	if (((*s < '0' || *s > '9') && *s != '.') || *end ||
	    !(p->interval >= 0.01 && p->interval <= 86400))
		return say("-i wants seconds, from 0.01 to 86400", s);
	return 0;
}

static int take_sort(struct ppa *p, const char *s)
{
	size_t i;

	for (i = 0; i < NR_SORTS; i++) {
		if (!strcmp(s, sort_names[i])) {
			p->sort = i;
			return 0;
		}
	}
	return say("--sort does not know", s);
}

static int read_options(struct ppa *p, int argc, char **argv)
{
	static const struct option options[] = {
		{ "sort", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	bool all = false;
	int c, rc = 0;

	optind = 0;
	opterr = 0;
	while (!rc && (c = getopt_long(argc, argv, ":p:ai:n:", options,
				       NULL)) >= 0) {
		if (c == 'p')
			rc = take_pid(p, optarg);
		else if (c == 'a')
			all = true;
		else if (c == 'i')
			rc = take_interval(p, optarg);
		else if (c == 'n')
			rc = take_number("-n wants a number from 1 on", optarg,
					 &p->count);
		else if (c == 's')
			rc = take_sort(p, optarg);
		else if (c == 'j')
			p->json = true;
		else
			rc = say(c == ':' ? "an option wants a value" :
					    "an option is not known",
				 argv[optind - 1]);
	}
	/* a PID may stand alone; a module of that name goes by its directory */
	if (!rc && optind < argc && is_number(argv[optind])) {
		if (p->pid)
			return say("one PID is enough", argv[optind]);
		rc = take_pid(p, argv[optind++]);
	}
	if (rc)
		return rc;
	if (all && p->pid)
		return say("-p and -a exclude each other", "-a");
	if (argc - optind > 1)
		return say("one MODULE is enough", argv[optind + 1]);
	p->named = argv[optind];
	return 0;
}

int cmd_ppa(int argc, char **argv)
{
	struct ppa p = { .interval = 1 };
	int status = 1;

	setlocale(LC_CTYPE, "");
	if (!read_options(&p, argc, argv))
		status = run(&p);
	ppa_snapshot_free(&p.before);
	ppa_snapshot_free(&p.now);
	free(p.rows);
	free(p.out.s);
	free(p.dir);
	return status;
}
