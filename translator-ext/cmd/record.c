/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch record: a trace of samples for stapwatch report, without a script to
 * write.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/cgroups.h"
#include "cmd/line.h"
#include "cmd/proc.h"
#include "cmd/program.h"
#include "cmd/record_when.h"
#include "cmd/words.h"
#include "event/event.h"
#include "event/event_declare.h"
#include "stap/run.h"

#define MAX_EVENTS 16
#define MAX_MARKS 16

struct record {
	struct sampled {
		const char *text;
		bool is_wait;
		struct event_attr attr;	/* of all but waits */
	} events[MAX_EVENTS];
	size_t nr_events;
	char *made[MAX_EVENTS + 2];	/* texts of events, to be freed */
	size_t nr_made;
	uint64_t hz;		/* -F; 0: it is not given */
	struct {
		char *name;
		const char *probe;
	} marks[MAX_MARKS];
	size_t nr_marks;
	bool all;
	bool timeline;
	const char *keep;	/* so many seconds of it; NULL: all */
	const char *dump;	/* until that probe hits */
	bool wall;
	struct record_when when;
	const char *cpus;
	const char *pid, *tid, *cgroup;
	const char *file;
	char *command;
	const char *program;	/* of that, as it was given; NULL: a shell finds it */
	bool verbose;
};

static int take_digits(const char *what, const char *s, const char **number)
{
	if (!*s || s[strspn(s, "0123456789")] || strlen(s) > 9)
		return cmd_line_say("record", what, s);
	*number = s;
	return 0;
}

static uint64_t number_of(const char *digits)
{
	return digits ? strtoull(digits, NULL, 10) : 0;
}

/* There is nobody else whose end the session could wait for. */
static int check_target(const struct record *r)
{
	if (r->cgroup)
		return cgroups_check("record", r->cgroup);
	return proc_check_target("record", number_of(r->pid), number_of(r->tid));
}

static int read_event(const struct event_profile *parts, struct sampled *s,
		      char *why, size_t size)
{
	struct event ev;

	s->is_wait = event_is_wait(parts->event);
	if (s->is_wait)
		return event_profile_wait(parts, why, size);
	if (event_resolve(parts->event, NULL, &ev, why, size))
		return -1;
	s->attr = ev.attr;
	if (parts->precise >= 0)
		s->attr.precise_ip = parts->precise;
	event_free(&ev);
	return 0;
}

/* The one that samples the same event, by whatever name and period; or NULL. */
static const struct sampled *find_event(const struct record *r,
					const struct sampled *s)
{
	size_t i;

	for (i = 0; i < r->nr_events; i++) {
		const struct sampled *have = &r->events[i];

		if (have->is_wait == s->is_wait &&
		    event_same_attr(&have->attr, &s->attr))
			return have;
	}
	return NULL;
}

/* SAID: what the user wrote for it */
static int take_event(struct record *r, const char *said, const char *text)
{
	struct sampled s = { .text = text };
	const struct sampled *have;
	struct event_profile parts;
	char why[512];
	int rc;

	rc = event_profile_split(text, &parts, why, sizeof(why));
	if (!rc) {
		rc = read_event(&parts, &s, why, sizeof(why));
		free(parts.event);
	}
	if (rc) {
		shown_line(stderr, "stapwatch record: -e: \"%s\": %s", said, why);
		return -1;
	}
	have = find_event(r, &s);
	if (have) {
		shown_line(stderr, "stapwatch record: -e: \"%s\": \"%s\" samples that event already; leave out one of them",
			   said, have->text);
		return -1;
	}
	if (r->nr_events == MAX_EVENTS)
		return cmd_line_fail("record", "there can be 16 events at most");
	r->events[r->nr_events++] = s;
	return 0;
}

/* The rate at which an event without a period is sampled.  It keeps step with nothing
 * that the machine does at a round rate. */
#define USUAL_HZ 997

/* Keeps a text for as long as the events. */
static const char *keep(struct record *r, struct buf *text)
{
	return r->made[r->nr_made++] = buf_take(text);
}

static int take_events(struct record *r, char *const *texts, size_t nr)
{
	struct buf text = { 0 };
	bool rated = !nr;
	size_t i;

	for (i = 0; i < nr; i++) {
		const char *s = texts[i];

		if (!event_has_period(s)) {
			buf_puts(&text, s);
			if (event_is_wait(s))
				buf_puts(&text, ":1");
			else
				buf_printf(&text, ":%" PRIu64 ",hz",
					   r->hz ?: USUAL_HZ);
			rated |= !event_is_wait(s);
			s = keep(r, &text);
		}
		if (take_event(r, texts[i], s))
			return -1;
	}
	if (r->hz && !rated)
		return cmd_line_fail("record", "-F is of events without a period; leave it out, or the periods");
	return 0;
}

/* Of time on CPUs, where nothing else is asked for. */
static void take_usual(struct record *r)
{
	struct buf text = { 0 };

	buf_printf(&text, "cpu_clock:%" PRIu64,
		   1000000000 / (r->hz ?: USUAL_HZ));
	r->events[r->nr_events++].text = keep(r, &text);
	if (r->wall)
		r->events[r->nr_events++] = (struct sampled) {
			.text = "off_cpu:1",
			.is_wait = true,
		};
}

static int take_hz(struct record *r, const char *s)
{
	if (words_number(s, &r->hz) && r->hz <= 100000)
		return 0;
	return cmd_line_say("record", "-F wants samples a second, from 1 to 100000",
			    s);
}

/* perf's, of which one is what samples have in any case. */
static int take_call_graph(const char *s)
{
	if (!strcmp(s, "fp"))
		return 0;
	return cmd_line_say("record", "--call-graph: stacks are by frame pointers; a script has user stacks by debug information with ustack_id_dwarf(), see man stapwatch-profile",
			    s);
}

static int take_mark(struct record *r, char *text)
{
	char *probe = strchr(text, '=');

	if (!probe || probe == text || !probe[1])
		return cmd_line_say("record", "--mark wants NAME=PROBE", text);
	if (r->nr_marks == MAX_MARKS)
		return cmd_line_fail("record", "there can be 16 marks at most");
	*probe++ = '\0';
	r->marks[r->nr_marks].name = text;
	r->marks[r->nr_marks++].probe = probe;
	return 0;
}

static int read_options(struct record *r, int argc, char **argv)
{
	static const struct option names[] = {
		{ "activate", required_argument, NULL, 'A' },
		{ "call-graph", required_argument, NULL, 'H' },
		{ "dump", required_argument, NULL, 'D' },
		{ "for", required_argument, NULL, 'L' },
		{ "keep", required_argument, NULL, 'K' },
		{ "mark", required_argument, NULL, 'M' },
		{ "timeline", no_argument, NULL, 'T' },
		{ "wall", no_argument, NULL, 'W' },
		{ NULL, 0, NULL, 0 },
	};
	struct cmd_line line = {
		/* what comes after the command's name is the command's */
		.letters = "+:e:F:gaC:p:t:G:c:o:v",
		.names = names,
		.several = "eM",
		.argc = argc,
		.argv = argv,
	};
	char **texts = xmalloc(argc * sizeof(*texts));
	size_t nr_texts = 0;
	int c, rc = 0;

	while (!rc && (c = cmd_line_next(&line)) != CMD_LINE_END) {
		switch (c) {
		case 'e':
			texts[nr_texts++] = optarg;
			break;
		case 'F':
			rc = take_hz(r, optarg);
			break;
		case 'H':
			rc = take_call_graph(optarg);
			break;
		case 'c':
			r->command = xstrdup(optarg);
			break;
		case 'g':
			/* a sample has its stacks in any case */
			break;
		case 'a':
			r->all = true;
			break;
		case 'C':
			r->cpus = optarg;
			break;
		case 'p':
			rc = take_digits("-p wants a process's number", optarg,
					 &r->pid);
			break;
		case 't':
			rc = take_digits("-t wants a thread's number", optarg,
					 &r->tid);
			break;
		case 'G':
			r->cgroup = optarg;
			break;
		case 'o':
			r->file = optarg;
			break;
		case 'M':
			rc = take_mark(r, optarg);
			break;
		case 'T':
			r->timeline = true;
			break;
		case 'W':
			r->wall = true;
			break;
		case 'K':
			rc = take_digits("--keep wants seconds", optarg,
					 &r->keep);
			break;
		case 'D':
			r->dump = optarg;
			break;
		case 'A':
			if (record_when_begins(&r->when, optarg, time(NULL)))
				rc = cmd_line_say("record", "--activate wants +30s, /10s or @14:30",
					 optarg);
			break;
		case 'L':
			if (record_when_lasts(&r->when, optarg))
				rc = cmd_line_say("record", "--for wants a time, as 500ms, 10s, 5m or 1h",
					 optarg);
			break;
		case 'v':
			r->verbose = true;
			break;
		default:
			rc = -1;
		}
	}
	rc = rc ?: take_events(r, texts, nr_texts);
	free(texts);
	if (rc)
		return rc;
	if ((r->all || r->cpus) + !!r->pid + !!r->tid + !!r->cgroup > 1)
		return cmd_line_fail("record", "-a and -C, -p, -t and -G exclude each other");
	if (r->wall && r->nr_events)
		return cmd_line_fail("record", "--wall is -e cpu_clock -e off_cpu:1; leave out -e, or write both there with other periods");
	if (r->timeline && (r->nr_events || r->hz || r->wall || r->all || r->cpus || r->pid ||
			    r->tid || r->cgroup))
		return cmd_line_fail("record", "--timeline is of all threads on all CPUs, and has no samples; leave out -e, -F, --wall, -a, -C, -p, -t and -G");
	if (r->timeline && r->when.begins)
		return cmd_line_fail("record", "--activate is of samples; of a timeline stapwatch report --time takes a part");
	if (!r->keep != !r->dump)
		return cmd_line_fail("record", "--keep SECS and --dump PROBE go together: what is kept is put out when the probe hits");
	if (r->keep && !r->timeline)
		return cmd_line_fail("record", "--keep is of a --timeline");
	if (optind < argc && r->command)
		return cmd_line_say("record", "-c has the command already",
				    argv[optind]);
	r->program = argv[optind];
	if (r->program)
		r->command = words_of_shell(argc - optind, argv + optind);
	else if (!r->command && !r->all && !r->cpus && !r->pid && !r->tid && !r->cgroup &&
		 !r->timeline)
		return cmd_line_say("record", "a COMMAND, -p, -t, -G, -C or -a must say what to sample", NULL);
	if (r->pid && r->command)
		return cmd_line_fail("record", "-p samples a process that runs; leave out the command, or -p");
	if (check_target(r))
		return -1;
	if (!r->nr_events && !r->timeline)
		take_usual(r);
	return 0;
}

static bool has_waits(const struct record *r)
{
	size_t i;

	for (i = 0; i < r->nr_events; i++)
		if (r->events[i].is_wait)
			return true;
	return false;
}

static void write_script(const struct record *r, struct buf *out)
{
	const bool waits = has_waits(r);
	size_t i;

	record_when_script(&r->when, out);
	if (r->timeline) {
		buf_puts(out, "probe begin { ppa_timeline() }\n");
		if (r->dump)
			buf_printf(out, "probe %s { ppa_dump() }\n", r->dump);
	} else if (r->cgroup) {
		buf_puts(out, "probe begin { cgroup_watch(");
		buf_stap_string(out, r->cgroup);
		buf_puts(out, "); profile_only_watched() }\n");
	} else if (r->tid) {
		buf_puts(out, "global record_tid = 0\n"
			      "probe begin { profile_only_watched(); if (!thread_watch(record_tid) || !profile_thread(record_tid)) exit() }\n");
		/* or the command ends it */
		if (!r->command)
			buf_puts(out, "probe timer.ms(100) { if (!thread_is_watched(record_tid)) exit() }\n");
	} else if (r->pid) {
		buf_puts(out, "probe begin { if (!profile_only(target()) || !profile_process(target())) exit() }\n"
			      "probe timer.ms(100) { if (!tree_threads(target())) exit() }\n");
	} else if (!r->all && !r->cpus) {
		buf_puts(out, "probe begin { profile_process(target()) }\n");
		/* which are sampled of all threads */
		if (waits)
			buf_puts(out, "probe begin { profile_only(target()) }\n");
	}
	for (i = 0; i < r->nr_events; i++) {
		buf_puts(out, "probe kernel.pmu_profile(");
		buf_stap_string(out, r->events[i].text);
		buf_puts(out, ") { profile_sample() }\n");
	}
	if (waits)
		buf_puts(out, "probe begin { profile_open_waits() }\n");
	for (i = 0; i < r->nr_marks; i++) {
		buf_printf(out, "probe %s { stapwatch_mark(", r->marks[i].probe);
		buf_stap_string(out, r->marks[i].name);
		buf_puts(out, ") }\n");
	}
}

static int run_script(const struct record *r, char *script)
{
	struct script_list list;
	struct buf output = { 0 };
	struct options opts;
	char *argv[24], *given = NULL, *at = NULL, ms[24];
	int n = 0, status = 1;

	argv[n++] = "stapwatch";
	argv[n++] = "-o";
	argv[n++] = (char *)r->file;
	if (r->command) {
		argv[n++] = "-c";
		argv[n++] = r->command;
	}
	if (r->pid) {
		argv[n++] = "-x";
		argv[n++] = (char *)r->pid;
	}
	if (r->tid)
		given = words_of_global("record_tid", r->tid);
	else if (r->cpus)
		given = words_of_cpus(r->cpus);
	else if (r->keep)
		given = words_of_global("ppa_timeline_keep", r->keep);
	if (given) {
		argv[n++] = "-G";
		argv[n++] = given;
	}
	if (r->when.begins == '@') {
		snprintf(ms, sizeof(ms), "%" PRIu64, r->when.ms);
		at = words_of_global("record_at", ms);
		argv[n++] = "-G";
		argv[n++] = at;
	}
	argv[n++] = "-e";
	argv[n++] = script;
	argv[n] = NULL;
	if (!options_parse(n, argv, &opts)) {
		buf_puts(&output, "stapwatch record: ");
		shown_name(&output, r->file);
		opts.ours = true;
		opts.output = output.s;
		if (!scripts_load(&opts, false, &list)) {
			status = run_stap(&opts, &list, NULL);
			scripts_free(&list);
		}
		options_free(&opts);
	}
	free(output.s);
	free(given);
	free(at);
	return status;
}

static int run(const struct record *r)
{
	struct buf script = { 0 };
	int status;

	write_script(r, &script);
	if (r->verbose)
		shown_out(stderr, script.s, script.len);
	status = run_script(r, script.s);
	free(script.s);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct record r = { .file = "stapwatch.trace" };
	int status = 1;
	size_t i;

	if (!read_options(&r, argc, argv))
		status = program_check("record", r.program) ?: run(&r);
	for (i = 0; i < r.nr_made; i++)
		free(r.made[i]);
	free(r.command);
	return status;
}
