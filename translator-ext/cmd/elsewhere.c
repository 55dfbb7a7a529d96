/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that are typed out of habit; elsewhere.h says what is wanted of it. */
#include "cmd/elsewhere.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "base/suggest.h"
#include "cmd/cmd.h"
#include "event/event_notation.h"

#define RECIPE(name) { name, "stap --example " name ".stp" }

/* What others call it, or what it does, and what one types for it here. */
static const struct {
	const char *word;
	const char *ours;
} commands[] = {
	{ "annotate", "stapwatch report --annotate SYMBOL" },
	RECIPE("biolatency"),
	RECIPE("biosnoop"),
	{ "counters", "stapwatch top" },
	RECIPE("cpudist"),
	{ "cycles", "stapwatch stat -e cycles COMMAND" },
	{ "diff", "stapwatch report --diff OLD NEW" },
	{ "events", "stapwatch list" },
	RECIPE("execsnoop"),
	{ "flame", "stapwatch record COMMAND, then stapwatch report --flamegraph" },
	{ "flamegraph", "stapwatch record COMMAND, then stapwatch report --flamegraph" },
	{ "ftrace", "stapwatch latency FUNCTION" },
	{ "funccount", "stapwatch latency FUNCTION" },
	{ "funclatency", "stapwatch latency FUNCTION" },
	{ "hardirqs", "stapwatch ppa --irqs" },
	{ "irqs", "stapwatch ppa --irqs" },
	{ "klockstat", "stapwatch ppa --locks" },
	{ "lock", "stapwatch ppa --locks" },
	{ "locks", "stapwatch ppa --locks" },
	{ "offcpu", "stapwatch record --wall COMMAND" },
	{ "offcputime", "stapwatch record --wall COMMAND" },
	{ "openmetrics", "stapwatch metrics" },
	{ "perfetto", "stapwatch record --timeline COMMAND, then stapwatch report --perfetto" },
	{ "profile", "stapwatch record -a -g sleep 10, then stapwatch report" },
	{ "prometheus", "stapwatch metrics --listen localhost:9570" },
	RECIPE("runqlat"),
	{ "sample", "stapwatch record COMMAND" },
	{ "sched", "stapwatch ppa --sort latency, or stapwatch record --timeline COMMAND" },
	{ "script", "stapwatch report --samples" },
	{ "softirqs", "stapwatch ppa --irqs" },
	{ "strace", "stapwatch ppa --syscalls" },
	{ "syscalls", "stapwatch ppa --syscalls" },
	{ "syscount", "stapwatch ppa --syscalls" },
	{ "timechart", "stapwatch record --timeline COMMAND, then stapwatch report --perfetto" },
	{ "timeline", "stapwatch record --timeline COMMAND, then stapwatch report --timeline" },
	{ "trace", "stapwatch ppa --syscalls, or stapwatch latency FUNCTION" },
	{ "version", "stapwatch --version" },
	{ "wall", "stapwatch record --wall COMMAND" },
	{ "watch", "stapwatch top" },
	{ "why", "stapwatch ppa --why" },
};

static const char *ours_of(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(word, commands[i].word))
			return commands[i].ours;
	return NULL;
}

static void put_near(const char *word, struct buf *out)
{
	struct suggest s;
	const char *name;
	size_t i;

	suggest_begin(&s, word, strlen(word));
	for (i = 0; (name = cmd_name(i)); i++)
		suggest_offer(&s, "", name, 0);
	suggest_end(&s, out);
}

bool elsewhere_command(const char *word)
{
	struct buf said = { 0 };
	const char *ours, *name;
	size_t i;

	if (strpbrk(word, "/.") || !access(word, F_OK))
		return false;
	buf_puts(&said, "there is no command and no file ");
	event_quote(&said, word, strlen(word));
	ours = ours_of(word);
	if (ours)
		buf_printf(&said, "; here it is: %s", ours);
	else
		put_near(word, &said);
	for (i = 0; (name = cmd_name(i)); i++)
		buf_printf(&said, "%s%s", i ? ", " : "; commands are ", name);
	shown_line(stderr, "stapwatch: %s", said.s);
	free(said.s);
	return true;
}

#define ANYWAY "it is so anyway; leave it out"

/* By subcommand: options of others' tools that it does not have, and what it has. */
static const struct {
	const char *command;
	const char *options;	/* each between spaces */
	const char *ours;
} options[] = {
	{ "list", " -v --details --long-desc ", "each event has its text anyway; leave it out" },
	{ "list", " -j ", "here it is --json" },
	{ "top", " -e -p -t -a -C -g -K -U ",
	  "top is of a script's counters; where CPU time goes: stapwatch record -a sleep 10, then stapwatch report" },
	{ "top", " -H ", "threads are in stapwatch ppa" },
	{ "top", " -i ", "here it is -d SECS, or -I MS" },
	{ "metrics", " -p --port --web.listen-address ", "here it is --listen ADDR:PORT" },
	{ "ppa", " -e --event ", "ppa counts no events; stapwatch stat does" },
	{ "ppa", " -C --cpu ", "--by cpu has a row for each" },
	{ "ppa", " -G --cgroup ", "--by cgroup has a row for each" },
	{ "ppa", " -d --delay ", "here it is -i SECS, or -I MS" },
	{ "ppa", " -s ", "system calls, summed up: --syscalls" },
	{ "stat", " -x --field-separator ", "here it is --json, with -o FILE" },
	{ "stat", " -j ", "here it is --json" },
	{ "stat", " -d --detailed -T --transaction ", "-e names events, and stapwatch list lists them" },
	{ "stat", " -M --metrics --topdown ", "rates are events here, as -e ipc" },
	{ "stat", " -A --no-aggr --per-core --per-socket ", "-C CPUS counts on those alone" },
	{ "stat", " -i --no-inherit ", "-t TID counts one thread alone" },
	{ "stat", " -B --big-num ", ANYWAY },
	{ "stat", " -F --freq ", "stat counts, and samples nothing; stapwatch record does" },
	{ "stat", " -g ", "stat has no stacks; stapwatch record has" },
	{ "latency", " -C --cpu ", "calls are recorded on all CPUs; --by cpu has a row for each" },
	{ "latency", " -F ", "functions have a row each anyway; leave it out" },
	{ "latency", " -d --duration ", "so long as a command runs: -a -- sleep 10" },
	{ "latency", " -i ", "here it is -I MS" },
	{ "latency", " -r --regexp ", "patterns are those of file names, as 'vfs_*'" },
	{ "latency", " -u --microseconds -m --milliseconds ", "tables have microseconds, histograms nanoseconds" },
	{ "latency", " -s --summary ", "system calls are 'syscall:*'" },
	{ "latency", " -g --call-graph ", "latency has no stacks; stapwatch record --wall has" },
	{ "record", " -b --branch-any -j --branch-filter ",
	  "a PMU that records branches does so for a script's samples: see sample_branches() in man tapset::stapwatch-profile" },
	{ "record", " -T --timestamp -s --stat -d --data ", "a sample has what there is of it anyway; leave it out" },
	{ "record", " -i --no-inherit ", "-t TID samples one thread alone" },
	{ "record", " -D --delay ", "here it is --activate, as --activate +2s" },
	{ "record", " --off-cpu ", "here it is --wall" },
	{ "record", " --overwrite --switch-output ", "of a timeline, --keep SECS and --dump PROBE" },
	{ "record", " -I ", "a trace has the time of each sample, and stapwatch report --time takes a part" },
	{ "report", " --stdio --tui --gtk ", "it is text anyway; leave it out" },
	{ "report", " -n --show-nr-samples --show-total-period ", "a row has its number of samples and of events anyway; leave it out" },
	{ "report", " -s ", "here it is --by, as --by comm,image,symbol" },
	{ "report", " -F --fields ", "--by NAMES says what a row is of" },
	{ "report", " -g --call-graph ", "here it is --callees" },
	{ "report", " -G --inverted ", "here it is --callers" },
	{ "report", " --children ", "here it is --inclusive" },
	{ "report", " --no-children ", "it is so without --inclusive; leave it out" },
	{ "report", " -c --comms ", "here it is --comm PATTERN" },
	{ "report", " -d --dsos ", "here it is --image PATTERN" },
	{ "report", " -S --symbols ", "here it is --symbol PATTERN" },
	{ "report", " --percent-limit ", "here it is --limit PERCENT" },
	{ "report", " -b --branch-stack ", "here it is --branches" },
	{ "report", " --symfs ", "here it is --root DIR" },
	{ "report", " -D --dump-raw-trace ", "here it is --samples" },
	{ "report", " -k --vmlinux ", "it is found by its build-id; see FILES in man stapwatch-report" },
};

const char *elsewhere_option(const char *command, const char *option,
			     size_t len)
{
	struct buf word = { 0 };
	const char *ours = NULL;
	size_t i;

	buf_printf(&word, " %.*s ", (int)len, option);
	for (i = 0; !ours && i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(options[i].command, command) &&
		    strstr(options[i].options, word.s))
			ours = options[i].ours;
	free(word.s);
	return ours;
}
