/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the subcommands' --help print. */
#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/shown.h"

struct line {
	const char *shown;
	const char *text;
};

#define MOST_LISTED 20	/* options that fit into a message */

static const struct command {
	const char *name;
	const char *usage;
	const char *operands;	/* as the end of a list of options */
	const char *what;
	const struct line *options;
} commands[] = {
	{
		"list", "[--pmu NAME] [--json] [PATTERN]",
		" and a PATTERN",
		"List the events that this machine can count, or those with PATTERN in them.",
		(const struct line []) {
			{ "--pmu NAME", "the events of that processor" },
			{ "--json", "print a JSON array" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	}, {
		"top", "[options] [PATTERN] [MAP]",
		", a PATTERN and a MAP",
		"Watch the counters and histograms of a running script.  MAP is a module's\n"
		"name or a path with a slash.",
		(const struct line []) {
			{ "-d SECS", "show the table every SECS seconds" },
			{ "-I MS", "the same, in milliseconds" },
			{ "-n COUNT", "end after so many tables" },
			{ "--sort KEY", "by name, value or rate" },
			{ "--json", "print each table as a JSON object" },
			{ "--csv", "print tables for spreadsheets" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	}, {
		"metrics", "[--prometheus | --listen ADDR:PORT] [MAP...]",
		" and MAPs",
		"Print maps of counters as OpenMetrics text, those of all modules if no MAP is\n"
		"given.",
		(const struct line []) {
			{ "--listen ADDR:PORT", "answer HTTP requests for /metrics" },
			{ "--prometheus", "print the text format of Prometheus" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	}, {
		"ppa", "[options] [PID] [MODULE] [COMMAND [ARGS]]",
		", a PID, a MODULE and a COMMAND",
		"Show where the time of CPUs and threads goes, all the time or while COMMAND runs.",
		(const struct line []) {
			{ "-p PID", "show that thread, or that process's threads" },
			{ "-t TID", "show that thread only" },
			{ "-a", "show all threads that ran" },
			{ "-c CMD", "a COMMAND line, for a shell" },
			{ "-i SECS", "the length of an interval" },
			{ "-I MS", "the same, in milliseconds" },
			{ "-n COUNT", "end after COUNT intervals" },
			{ "--sort KEY", "by a value of the rows: cpu, system, time, count, ..." },
			{ "--by KEY", "a row for each thread, process, cgroup or cpu" },
			{ "--irqs", "interrupts and softirqs of each CPU, by kind" },
			{ "--syscalls", "system calls of all threads, by number" },
			{ "--locks", "locks: waits for them, holders and places" },
			{ "--why", "what threads waited for, and what took their time" },
			{ "--threads N", "start a session with room for so many threads" },
			{ "--json", "print each interval as a JSON object" },
			{ "-o, --output FILE", "write the tables there" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	}, {
		"stat", "[options] [COMMAND [ARGS]]",
		" and a COMMAND",
		"Count events of a command and its children, or of other threads or CPUs.",
		(const struct line []) {
			{ "-e EVENTS", "events, with commas; sets of them, with semicolons" },
			{ "--every TIME", "switch sets: 10ms, 20ms;5ms, thread:1ms, overflow:EVENT:N" },
			{ "-a", "count for all CPUs" },
			{ "-C CPUS", "count for those CPUs only: 0,2-3" },
			{ "-p PID", "count for a running process and its children" },
			{ "-t TID", "count for a thread" },
			{ "-G CGROUP", "count for a cgroup: /system.slice" },
			{ "-c CMD", "a COMMAND line, for a shell" },
			{ "-I MS", "print the counts of each interval" },
			{ "-r, --repeat N", "run COMMAND N times; print the means" },
			{ "--per-thread", "also print each thread that ended" },
			{ "--estimate", "estimate the counts of the whole time" },
			{ "--json", "print an object for each event" },
			{ "-o, --output FILE", "write the counts there" },
			{ "-v", "show the script" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	}, {
		"latency", "[options] FUNCTION... [-- COMMAND [ARGS]]",
		", FUNCTIONs and -- COMMAND",
		"Measure how long each call of functions, of the kernel or of programs, takes, and what it counts.",
		(const struct line []) {
			{ "-e EVENTS", "count events, with commas between them" },
			{ "-p PID", "calls of a running process and its children" },
			{ "-t TID", "calls of a thread" },
			{ "-G CGROUP", "calls of a cgroup: /system.slice" },
			{ "-a", "all calls, also while a COMMAND runs" },
			{ "-c CMD", "a COMMAND line, for a shell" },
			{ "--by KEY", "a row for each cpu, process or argN[:int]" },
			{ "--over US", "leave out calls that take less" },
			{ "-I MS", "print the calls of each interval" },
			{ "-n COUNT", "end after COUNT intervals" },
			{ "--svg FILE", "draw how long calls of each interval took" },
			{ "--force", "also record programs that may die of it" },
			{ "--json", "print an object for each function" },
			{ "-o, --output FILE", "write the tables there" },
			{ "-v", "show the script" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	}, {
		"record", "[options] [COMMAND [ARGS]]",
		" and a COMMAND",
		"Write samples of a command and its children, or of other threads or CPUs, to a\n"
		"trace for `stapwatch report'.",
		(const struct line []) {
			{ "-e EVENT[:PERIOD]", "an event to sample by; one or more -e" },
			{ "-F HZ", "samples a second, for events without PERIOD: 997" },
			{ "-g", "ignored: samples always contain stacks" },
			{ "-a", "sample all CPUs" },
			{ "-C CPUS", "sample those CPUs only: 0,2-3" },
			{ "-p PID", "sample a running process and its children" },
			{ "-t TID", "sample a thread" },
			{ "-G CGROUP", "sample a cgroup: /system.slice" },
			{ "-c CMD", "a COMMAND line, for a shell" },
			{ "--wall", "time on CPUs and off them" },
			{ "--mark NAME=PROBE", "mark each moment at which PROBE hits" },
			{ "--timeline", "instead of samples, when each thread and CPU did what" },
			{ "--keep SECS", "of a timeline only the last SECS, written when" },
			{ "--dump PROBE", "PROBE hits" },
			{ "--activate WHEN", "begin later: +30s, at @14:30, at each host's next /10s" },
			{ "--for TIME", "end after that: 500ms, 10s, 5m, 1h" },
			{ "-o, --output FILE", "the trace, instead of stapwatch.trace" },
			{ "-v", "show the script" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	}, {
		"report", "[options] [FILE|-]...",
		" and a FILE",
		"Show what traces contain: as a table, unless an option asks for other output.",
		(const struct line []) {
			{ "--callees", "a tree of calls, from the outermost on" },
			{ "--callers", "a tree from where samples were taken" },
			{ "--folded", "a line for each stack" },
			{ "--flamegraph", "an SVG file" },
			{ "--pprof", "pprof's format" },
			{ "--annotate SYMBOL", "instructions and source lines" },
			{ "--branches", "branches, of samples that carry them" },
			{ "--samples", "each sample, a line each" },
			{ "--diff OTHER", "against the earlier trace OTHER" },
			{ "--timeline", "each slice of a timeline, a line each" },
			{ "--chrome", "a timeline, as Chrome's trace events" },
			{ "--perfetto", "a timeline, as Perfetto's trace packets" },
			{ "--by NAMES", "of comm,pid,tid,cpu,image,symbol,line,block,address,stack,data,source,trace" },
			{ "--inclusive", "also the share of a function with its callees" },
			{ "--wall", "threads' time on CPUs and off them as one" },
			{ "--json", "a table, samples or slices, an object each" },
			{ "--csv", "a table, for spreadsheets" },
			{ "--follow", "again and again, while the trace is written" },
			{ "--sort KEY", "by events, samples or name; with --diff, change" },
			{ "--idle", "draw the idle loop, too, with --flamegraph" },
			{ "--limit PERCENT", "leave out what has a smaller share" },
			{ "--comm PATTERN", "threads of that name only" },
			{ "-e, --event PATTERN", "that event only" },
			{ "--image PATTERN", "that file only" },
			{ "--symbol PATTERN", "that function only" },
			{ "-p, --pid PID", "that process only" },
			{ "-t, --tid TID", "that thread only" },
			{ "-C, --cpu NUMBER", "that CPU only" },
			{ "--time FROM-TO", "that time only, in seconds" },
			{ "--between BEGIN,END", "the time between such marks only" },
			{ "--inline", "show inlined functions as frames" },
			{ "--no-demangle", "print names as the linker sees them" },
			{ "--kallsyms FILE", "the kernel's symbols" },
			{ "--root DIR", "look for the files of processes there" },
			{ "-i, --input FILE", "a trace, instead of stapwatch.trace" },
			{ "-o, --output FILE", "the report, instead of to stdout" },
			{ "-v", "print all notes, also those about few samples" },
			{ "-h, --help", "print this" },
			{ 0 },
		},
	},
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

bool cmd_wants_help(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

bool cmd_help(const char *name)
{
	const struct command *c = find(name);
	const struct line *line;

	if (!c)
		return false;
	printf("Usage: stapwatch %s %s\n\n%s\n\nOptions:\n", name, c->usage,
	       c->what);
	for (line = c->options; line->shown; line++)
		printf("  %-20s %s\n", line->shown, line->text);
	printf("\nMore: man stapwatch-%s\n", name);
	return true;
}

/* --help itself, which is the last, is in no such list. */
static size_t nr_options(const struct command *c)
{
	size_t nr = 0;

	while (c->options[nr + 1].shown)
		nr++;
	return nr;
}

/* "-o FILE" of "-o, --output FILE" */
static void put_short(const char *shown, struct buf *out)
{
	const char *other = strstr(shown, ", --");

	if (!other) {
		buf_puts(out, shown);
		return;
	}
	buf_add(out, shown, other - shown);
	other += strlen(", ");
	buf_puts(out, other + strcspn(other, " "));
}

void cmd_put_options(const char *name, struct buf *out)
{
	const struct command *c = find(name);
	const size_t nr = nr_options(c);
	size_t i;

	if (nr > MOST_LISTED) {
		buf_printf(out, "'stapwatch %s --help' lists the options",
			   name);
		return;
	}
	for (i = 0; i < nr; i++) {
		buf_puts(out, i ? ", " : "there are ");
		put_short(c->options[i].shown, out);
	}
	buf_puts(out, c->operands);
}

void cmd_offer_options(const char *name, struct suggest *s)
{
	const struct line *line;
	struct buf option = { 0 };
	const char *at;

	for (line = find(name)->options; line->shown; line++) {
		at = strstr(line->shown, "--");
		if (!at)
			continue;
		option.len = 0;
		buf_add(&option, at, strcspn(at, " "));
		suggest_offer(s, "", option.s, 0);
	}
	free(option.s);
}

const char *cmd_name(size_t i)
{
	return i < NR_COMMANDS ? commands[i].name : NULL;
}

int cmd_help_of(int argc, char **argv)
{
	struct buf all = { 0 };
	size_t i;

	if (argc == 2 && cmd_help(argv[1]))
		return 0;
	for (i = 0; i < NR_COMMANDS; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", commands[i].name);
	if (argc == 2)
		shown_line(stderr, "stapwatch help: there is no command %s; there are %s",
			   argv[1], all.s);
	else
		shown_line(stderr, "stapwatch help: wants one command of %s",
			   all.s);
	free(all.s);
	return 1;
}
