/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interval as tables; ppa_table.h says what is wanted of it. */
#include "cmd/ppa_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bar.h"
#include "cmd/ppa_room.h"
#include "cmd/ppa_why.h"

struct drawing {
	const struct ppa_interval *of;
	bool terminal;
	bool utf8;
	struct buf *out;
};

/* From below 10 us to a second and more, one character each. */
static void put_bars(struct drawing *p, const struct ppa_thread *t)
{
	uint64_t most = 0;
	size_t i, n;

	for (i = 0; i < PPA_NR_BUCKETS; i++)
		if (t->latency[i] > most)
			most = t->latency[i];
	for (i = 0; i < PPA_NR_BUCKETS; i++) {
		n = t->latency[i] ? 1 + t->latency[i] * 6.999 / most : 0;
		buf_puts(p->out, t->latency[i] ? bar(n, p->utf8) : " ");
	}
}

static const char *eol(const struct drawing *p)
{
	return p->terminal ? "\033[K\n" : "\n";
}

static void show_cpu(struct drawing *p, size_t cpu)
{
	const uint64_t *v = p->of->now.cpus[cpu].v;
	const struct ppa_snapshot *before = &p->of->before;
	const uint64_t *o = cpu < before->nr_cpus ? before->cpus[cpu].v : v;
	const double all = v[PPA_ELAPSED] - o[PPA_ELAPSED];
#define D(value) (double)(v[value] - o[value])
#define PERCENT(value) (all > 0 ? D(value) * 100 / all : 0)

	buf_printf(p->out, "%4zu %6.1f %6.1f %6.1f %6.1f %6.1f %10.0f %8.0f %8.0f %9.1f%s",
		   cpu, PERCENT(PPA_USRMODE), PERCENT(PPA_SYSMODE),
		   PERCENT(PPA_INTERRUPTS), PERCENT(PPA_TOTALSOFTIRQTIME),
		   PERCENT(PPA_IDLE), D(PPA_SYS_SYSCALLCNT) / p->of->seconds,
		   D(PPA_INTERRUPTCNT) / p->of->seconds,
		   (D(PPA_SYS_SCHEDOUTCNT) + D(PPA_SYS_PRMPTCTXTCNT) +
		    D(PPA_SYS_PRMPTPRICNT)) / p->of->seconds,
		   D(PPA_SYS_SCHLATCNT) ?
		   ppa_us(p->of, D(PPA_SYS_SCHLATACCUM)) /
		   D(PPA_SYS_SCHLATCNT) : 0, eol(p));
}

static void show_thread(struct drawing *p, const struct ppa_thread *t)
{
	const uint64_t *v = t->values;

	ppa_put_number(t->tid, t->flags & PPA_SUM, p->out);
	ppa_put_name(t->comm, p->out);
	buf_printf(p->out, " %9.1f %9.1f %8.1f %9" PRIu64 " %7" PRIu64
		   " %7" PRIu64 " %7" PRIu64 " %9.1f %9.1f ",
		   ppa_us(p->of, v[PPA_SCHEDACCUM] - v[PPA_SCACCUM]) / 1000,
		   ppa_us(p->of, v[PPA_SCACCUM]) / 1000,
		   ppa_us(p->of, v[PPA_INTACCUM] + v[PPA_SOFTACCUM]) / 1000,
		   v[PPA_SYSCALLCNT], v[PPA_SCHEDOUTCNT], v[PPA_PRMPTPRICNT],
		   v[PPA_PRMPTCTXTCNT],
		   ppa_us(p->of, ppa_mean(v[PPA_SCHLATACCUM],
					  v[PPA_SCHLATCNT])),
		   ppa_us(p->of, v[PPA_PREEMPTACCUM]) / 1000);
	put_bars(p, t);
	buf_puts(p->out, eol(p));
}

/* Of these only the time is known, and how often they called the kernel. */
static void show_others(struct drawing *p)
{
	const struct ppa_others *o = &p->of->others;

	buf_printf(p->out, "%7s %-*s %9.1f %9.1f %8s %9" PRIu64 "%s", "-",
		   PPA_NAME_WIDTH, "[others]", ppa_us(p->of, o->user) / 1000,
		   ppa_us(p->of, o->system) / 1000, "-", o->syscalls, eol(p));
}

static void show_threads(struct drawing *p, size_t rows, bool all)
{
	size_t i;

	buf_printf(p->out, "    TID NAME               USERms     SYSms    INTms  SYSCALLS   BLOCK PREEMPT EXPIRED LAT-AVGus PREEMPTms LATENCY%s",
		   eol(p));
	if (all)
		show_others(p);
	for (i = 0; i < rows; i++)
		show_thread(p, &p->of->rows[i]);
	ppa_room_put(p->of, eol(p), p->out);
}

void ppa_table(const struct ppa_interval *of, bool first, bool terminal,
	       bool utf8, bool all, bool threads, struct buf *out)
{
	struct drawing drawing = { of, terminal, utf8, out }, *p = &drawing;
	struct winsize size;
	size_t i, nr_cpus, rows = p->of->nr_rows;
	size_t *cpus = ppa_interval_cpus(of, &nr_cpus);

	if (p->terminal) {
		if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
		    size.ws_row > p->of->now.nr_cpus + 5 &&
		    rows > size.ws_row - p->of->now.nr_cpus - 5)
			rows = size.ws_row - p->of->now.nr_cpus - 5;
		/* a long line ends at the edge, and does not wrap */
		buf_puts(p->out, "\033[?7l\033[H");
	} else if (!first) {
		buf_puts(p->out, "\n");
	}
	buf_printf(p->out, " CPU  USER%%   SYS%%   INT%%  SOFT%%  IDLE%%  SYSCALL/S    INT/S SWITCH/S LAT-AVGus%s",
		   eol(p));
	for (i = 0; i < nr_cpus; i++)
		show_cpu(p, cpus[i]);
	free(cpus);
	if (threads)
		show_threads(p, rows, all);
	if (p->terminal)
		buf_puts(p->out, "\033[J\033[?7h");
}
