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
