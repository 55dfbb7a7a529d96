/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch ppa: what CPUs and threads did in each interval, as the difference of
 * what the files of precise process accounting said at its two ends.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/line.h"
#include "cmd/output.h"
#include "cmd/ppa_cgroup.h"
#include "cmd/ppa_command.h"
#include "cmd/ppa_interval.h"
#include "cmd/ppa_irqs.h"
#include "cmd/ppa_json.h"
#include "cmd/ppa_locks.h"
#include "cmd/ppa_room.h"
#include "cmd/ppa_session.h"
#include "cmd/ppa_sort.h"
#include "cmd/ppa_syscalls.h"
#include "cmd/ppa_table.h"
#include "cmd/ppa_why.h"
#include "cmd/words.h"

static const char *const by_names[] = {
	[PPA_THREADS] = "thread",
	[PPA_PROCESSES] = "process",
	[PPA_CGROUPS] = "cgroup",
	[PPA_CPUS] = "cpu",
};

#define NR_BYS (sizeof(by_names) / sizeof(*by_names))

struct ppa {
	const char *named;	/* a module or a directory */
	uint64_t pid;		/* 0: all */
	uint64_t count;		/* 0: no end */
	uint64_t threads;	/* that there is room for; 0: as the machine wants */
	double interval;	/* 0: none is given */
	struct ppa_command command;
	const char *file;	/* tables go there; NULL: to stdout */
	int fd;
	const char *sort;	/* as it is asked for; NULL: it is not */
	enum ppa_by by;
	bool all;
	bool why;
	bool irqs;
	enum ppa_extra extra;
	bool json;

	char *dir;
	struct ppa_interval in;
	double taken;		/* when, by our own clock */
	struct ppa_names *names;	/* for locks */
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

static int write_out(struct ppa *p)
{
	if (!buf_flush(&p->out, p->fd))
		return 0;
	shown_line(stderr, "stapwatch ppa: cannot write: %s", strerror(errno));
	return -1;
}

/* ---- rounds */

static double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int take(struct ppa *p)
{
	struct buf why = { 0 };
	bool ok;

	if (p->extra == PPA_EXTRA_SYSCALLS)
		ok = ppa_snapshot_syscalls(p->dir, &p->in.now, &why);
	else if (p->extra == PPA_EXTRA_LOCKS)
		ok = ppa_snapshot_locks(p->dir, &p->in.now, &why);
	else if (p->extra == PPA_EXTRA_COMPETITORS)
		ok = ppa_snapshot_competitors(p->dir, &p->in.now, &why);
	else
		ok = ppa_snapshot_read(p->dir, &p->in.now, &why);

	p->taken = clock_seconds();
	/* a session of our own ends by the same Ctrl-C */
	if (!ok && !stopped)
		shown_line(stderr, "stapwatch ppa: %s", why.s);
	free(why.s);
	return ok ? 0 : -1;
}

/* A table is drawn over the one before, or stands apart from it. */
static void put_apart(struct ppa *p, bool first)
{
	buf_puts(&p->out, p->terminal ? "\033[H\033[J" : first ? "" : "\n");
}

static void put_irqs(struct ppa *p, bool first)
{
	if (p->json) {
		ppa_irqs_json(&p->in, &p->out);
		return;
	}
	put_apart(p, first);
	ppa_irqs_table(&p->in, &p->out);
}

static void put_syscalls(struct ppa *p, bool first)
{
	if (p->json) {
		ppa_syscalls_json(&p->in, &p->out);
		return;
	}
	put_apart(p, first);
	ppa_syscalls_table(&p->in, &p->out);
}

static void put_locks(struct ppa *p, bool first)
{
	if (!p->names)
		p->names = ppa_names_new();
	if (p->json) {
		ppa_locks_json(&p->in, p->names, &p->out);
		return;
	}
	put_apart(p, first);
	ppa_locks_table(&p->in, p->names, &p->out);
}

static void put(struct ppa *p, bool first)
{
	const bool why = p->why || p->by == PPA_PROCESSES ||
			 p->by == PPA_CGROUPS;

	if (p->irqs) {
		put_irqs(p, first);
		return;
	}
	if (p->extra == PPA_EXTRA_SYSCALLS) {
		put_syscalls(p, first);
		return;
	}
	if (p->extra == PPA_EXTRA_LOCKS) {
		put_locks(p, first);
		return;
	}
	if (p->json) {
		ppa_json(&p->in, p->by, p->pid, &p->out);
		return;
	}
	if (!why) {
		ppa_table(&p->in, first, p->terminal, p->utf8, !p->pid,
			  p->by == PPA_THREADS, &p->out);
		return;
	}
	/* each row is as long as it has causes */
	put_apart(p, first);
	if (p->by == PPA_PROCESSES)
		ppa_process_table(&p->in, p->pid, &p->out);
	else if (p->by == PPA_CGROUPS)
		ppa_cgroup_table(&p->in, &p->out);
	else
		ppa_why_table(&p->in, &p->out);
}

/* By the counter that all else goes by, unless that was set back meanwhile, as when a
 * virtual machine is moved; it was TAKEN seconds by our own clock. */
static double interval_seconds(const struct ppa_interval *in, double taken)
{
	if (in->now.now < in->before.now)
		return taken;
	return (double)(in->now.now - in->before.now) / in->now.hz;
}

static int one_round(struct ppa *p, bool first)
{
	const double seconds = p->interval ?: !p->command.argv;
	double before = p->taken;

	ppa_snapshot_free(&p->in.before);
	p->in.before = p->in.now;
	ppa_command_wait(&p->command, seconds, &stopped);
	if (take(p)) {
		p->in.now = (struct ppa_snapshot) { 0 };
		return stopped ? 0 : -1;
	}
	p->in.seconds = interval_seconds(&p->in, p->taken - before);
	if (p->in.seconds <= 0)
		p->in.seconds = 1e-9;
	ppa_interval_rows(&p->in, p->pid);
	if (p->pid && !p->in.nr_rows) {
		shown_line(stderr, "stapwatch ppa: -p %" PRIu64 ": no such thread%s",
			   p->pid, p->in.now.threads_lost ?
			   ", or one that found no room: --threads N has more" : "");
		return -1;
	}
	put(p, first);
	return write_out(p);
}

static bool goes_on(const struct ppa *p, uint64_t round)
{
	return !stopped && !p->command.ended &&
	       (!p->count || round < p->count);
}

static int run(struct ppa *p)
{
	struct sigaction act = { .sa_handler = on_signal };
	uint64_t round;
	int rc;

	p->fd = p->file ? output_open("ppa", p->file) : STDOUT_FILENO;
	if (p->fd < 0)
		return 1;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	p->dir = ppa_session_begin(p->named, p->extra, p->threads, &stopped);
	if (!p->dir)
		return stopped ? 0 : 1;
	/* a command's output stands there, too, and is not to be drawn over */
	p->terminal = !p->json && !p->command.argv && isatty(p->fd);
	p->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	rc = take(p);
	if (!rc && p->terminal)
		buf_puts(&p->out, "\033[2J");
	if (!rc && p->command.argv)
		rc = ppa_command_start(&p->command);
	for (round = 0; !rc && goes_on(p, round); round++)
		rc = one_round(p, !round);
	ppa_command_end(&p->command);
	ppa_session_end();
	if (p->command.status)
		return p->command.status;
	return rc && !stopped ? 1 : 0;
}

/* ---- the command */

static int take_pid(struct ppa *p, const char *s)
{
	if (p->pid)
		return cmd_line_say("ppa", "one PID or TID is enough", s);
	return cmd_line_number("ppa", p->in.one_thread ?
			       "-t wants a thread's number" :
			       "-p wants a process's or thread's number", s,
			   &p->pid);
}

static bool is_number(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* As one word, for a shell. */
static void take_command(struct ppa *p, char *words)
{
	static char *argv[] = { "sh", "-c", NULL, NULL };

	argv[2] = words;
	p->command.argv = argv;
}

/* Has it the form of a directory's name, or is it that of a module? */
static bool is_module(const char *s)
{
	struct buf path = { 0 };
	bool is;

	if (strchr(s, '/'))
		return !ppa_command_is_there(s);
	buf_printf(&path, "/proc/systemtap/%s", s);
	is = !access(path.s, F_OK);
	free(path.s);
	return is;
}

/*
 * After the options seen up to now: a PID, a MODULE, or a COMMAND, which has all the
 * rest.
 */
static int take_operand(struct ppa *p, char **argv)
{
	const bool told = optind > 1 && !strcmp(argv[optind - 1], "--");
	char *s = argv[optind];

	if (!told && is_number(s)) {
		optind++;
		return take_pid(p, s);
	}
	if (!told && is_module(s)) {
		optind++;
		if (p->named)
			return cmd_line_say("ppa", "one MODULE is enough", s);
		p->named = s;
		return 0;
	}
	if (!ppa_command_is_there(s))
		return cmd_line_say("ppa", told ? "there is no such command" :
				    "there is no such module and no such command",
				    s);
	if (p->command.argv)
		return cmd_line_say("ppa", "-c has the command already", s);
	p->command.argv = argv + optind;
	return 1;
}

static int take_threads(struct ppa *p, const char *s)
{
	if (words_number(s, &p->threads) && p->threads <= PPA_ROOM_MOST)
		return 0;
	return cmd_line_say("ppa", "--threads wants a number from 1 to 1048576", s);
}

static int take_by(struct ppa *p, const char *s)
{
	size_t i;

	for (i = 0; i < NR_BYS; i++) {
		if (!strcmp(s, by_names[i])) {
			p->by = i;
			return 0;
		}
	}
	return cmd_line_say("ppa", "--by wants thread, process, cgroup or cpu", s);
}

static enum ppa_view view_of(const struct ppa *p)
{
	static const enum ppa_view views[] = {
		[PPA_THREADS] = PPA_VIEW_THREADS,
		[PPA_PROCESSES] = PPA_VIEW_PROCESSES,
		[PPA_CGROUPS] = PPA_VIEW_CGROUPS,
		[PPA_CPUS] = PPA_VIEW_CPUS,
	};

	if (p->irqs)
		return PPA_VIEW_IRQS;
	if (p->extra == PPA_EXTRA_SYSCALLS)
		return PPA_VIEW_SYSCALLS;
	if (p->extra == PPA_EXTRA_LOCKS)
		return PPA_VIEW_LOCKS;
	return views[p->by];
}

/* Which orders there are is known when all options have been read. */
static int take_sort(struct ppa *p)
{
	const enum ppa_view view = view_of(p);
	struct buf names = { 0 };
	enum ppa_sort sort;

	if (!p->sort)
		return 0;
	sort = ppa_sort_of(p->sort, view);
	if (!sort) {
		ppa_sort_names(view, &names);
		shown_line(stderr, "stapwatch ppa: --sort does not know: \"%s\"; %s",
			   p->sort, names.s);
		free(names.s);
		return -1;
	}
	/* the table of CPUs that stands above threads keeps its order */
	if (view == PPA_VIEW_CPUS)
		p->in.cpu_sort = sort;
	else
		p->in.sort = sort;
	return 0;
}

static const char *const extra_names[] = {
	[PPA_EXTRA_SYSCALLS] = "--syscalls",
	[PPA_EXTRA_LOCKS] = "--locks",
};

static int take_extra(struct ppa *p, enum ppa_extra extra)
{
	if (p->extra && p->extra != extra)
		return cmd_line_say("ppa", "--syscalls and --locks exclude each other",
			   extra_names[extra]);
	p->extra = extra;
	return 0;
}

static int take_option(struct ppa *p, int c)
{
	switch (c) {
	case 'p':
		return take_pid(p, optarg);
	case 't':
		p->in.one_thread = true;
		return take_pid(p, optarg);
	case 'a':
		p->all = true;
		return 0;
	case 'i':
	case 'I':
		if (p->interval)
			return cmd_line_say("ppa", "-i and -I both say how long an interval is",
					    optarg);
		return c == 'I' ? cmd_line_milliseconds("ppa", optarg,
						       &p->interval) :
				  cmd_line_seconds("ppa", "-i", optarg,
						   &p->interval);
	case 'n':
		return cmd_line_number("ppa", "-n wants a number from 1 on",
				       optarg, &p->count);
	case 'c':
		take_command(p, optarg);
		return 0;
	case 'o':
		p->file = optarg;
		return 0;
	case 's':
		p->sort = optarg;
		return 0;
	case 'b':
		return take_by(p, optarg);
	case 'w':
		p->why = true;
		return 0;
	case 'q':
		p->irqs = true;
		return 0;
	case 'S':
		return take_extra(p, PPA_EXTRA_SYSCALLS);
	case 'l':
		return take_extra(p, PPA_EXTRA_LOCKS);
	case 'T':
		return take_threads(p, optarg);
	case 'j':
		p->json = true;
		return 0;
	default:
		return -1;
	}
}

/* What does not go together. */
static int check(struct ppa *p)
{
	if (p->all && p->pid)
		return cmd_line_say("ppa", "-p and -a exclude each other", "-a");
	if (p->by == PPA_CPUS && (p->why || p->pid))
		return cmd_line_say("ppa", "--by cpu excludes --why and -p", "cpu");
	if (p->irqs && (p->by != PPA_THREADS || p->why || p->pid))
		return cmd_line_say("ppa", "--irqs is of CPUs; it excludes --by, --why and -p",
			   "--irqs");
	if (p->extra && (p->by != PPA_THREADS || p->why || p->pid || p->irqs))
		return cmd_line_say("ppa", "--syscalls and --locks are of all threads; they exclude --by, --why, --irqs and -p",
			   extra_names[p->extra]);
	if (p->by == PPA_CGROUPS && p->pid)
		return cmd_line_say("ppa", "--by cgroup excludes -p", "cgroup");
	if (p->in.one_thread && p->by == PPA_PROCESSES)
		return cmd_line_say("ppa", "--by process excludes -t", "process");
	if (take_sort(p))
		return -1;
	if (p->why && p->by == PPA_THREADS)
		p->extra = PPA_EXTRA_COMPETITORS;
	if (p->named && p->threads)
		return cmd_line_say("ppa", "--threads starts a session, and excludes one that is there",
			   p->named);
	return 0;
}

static int read_options(struct ppa *p, int argc, char **argv)
{
	static const struct option options[] = {
		{ "sort", required_argument, NULL, 's' },
		{ "by", required_argument, NULL, 'b' },
		{ "why", no_argument, NULL, 'w' },
		{ "irqs", no_argument, NULL, 'q' },
		{ "syscalls", no_argument, NULL, 'S' },
		{ "locks", no_argument, NULL, 'l' },
		{ "threads", required_argument, NULL, 'T' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	struct cmd_line line = {
		.letters = "+:p:t:ai:I:n:c:o:",
		.names = options,
		.argc = argc,
		.argv = argv,
	};
	int c, rc = 0;

	while (!rc) {
		c = cmd_line_next(&line);
		if (c == CMD_LINE_END) {
			if (optind == argc)
				break;
			rc = take_operand(p, argv);
		} else {
			rc = take_option(p, c);
		}
	}
	if (rc < 0)
		return rc;
	return check(p);
}

int cmd_ppa(int argc, char **argv)
{
	struct ppa p = { 0 };
	int status = 1;

	setlocale(LC_CTYPE, "");
	if (!read_options(&p, argc, argv))
		status = run(&p);
	ppa_interval_free(&p.in);
	ppa_names_free(p.names);
	free(p.out.s);
	free(p.dir);
	return status;
}
