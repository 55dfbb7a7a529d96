/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch stat: counts of a command, a process, a thread, a cgroup or of CPUs,
 * without a script to write.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "cmd/cgroups.h"
#include "cmd/line.h"
#include "cmd/output.h"
#include "cmd/proc.h"
#include "cmd/program.h"
#include "cmd/stat.h"
#include "cmd/words.h"

#define USUAL_EVENTS "task_clock,context_switches,cpu_migrations,page_faults"

static int take_whom(struct stat_request *req, enum stat_whom whom)
{
	if (req->whom != STAT_COMMAND && req->whom != whom)
		return cmd_line_fail("stat", "-a and -C, -p, -t and -G exclude each other");
	req->whom = whom;
	return 0;
}

static int read_options(struct stat_request *req, int argc, char **argv,
			struct buf *events)
{
	static const struct option options[] = {
		{ "every", required_argument, NULL, 'E' },
		{ "estimate", no_argument, NULL, 'M' },
		{ "per-thread", no_argument, NULL, 'T' },
		{ "json", no_argument, NULL, 'j' },
		{ "repeat", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	struct cmd_line line = {
		/* what comes after the command's name is the command's */
		.letters = "+:e:aC:p:t:G:I:c:o:r:v",
		.names = options,
		.several = "e",
		.argc = argc,
		.argv = argv,
	};
	int c, rc = 0;

	while (!rc && (c = cmd_line_next(&line)) != CMD_LINE_END) {
		switch (c) {
		case 'e':
			buf_printf(events, "%s%s", events->s ? "," : "",
				   optarg);
			break;
		case 'E':
			req->every.text = optarg;
			break;
		case 'a':
			rc = take_whom(req, STAT_CPUS);
			break;
		case 'C':
			rc = take_whom(req, STAT_CPUS);
			req->cpus = optarg;
			break;
		case 'p':
			rc = take_whom(req, STAT_PROCESS) ?:
			     cmd_line_number("stat", "-p wants a process's number", optarg,
					 &req->id);
			break;
		case 't':
			rc = take_whom(req, STAT_THREAD) ?:
			     cmd_line_number("stat", "-t wants a thread's number", optarg,
					 &req->id);
			break;
		case 'G':
			rc = take_whom(req, STAT_CGROUP);
			req->cgroup = optarg;
			break;
		case 'I':
			rc = cmd_line_number("stat", "-I wants milliseconds", optarg,
					 &req->interval_ms);
			break;
		case 'r':
			rc = cmd_line_number("stat", "-r wants how many runs", optarg,
					 &req->repeat);
			break;
		case 'c':
			req->command = xstrdup(optarg);
			break;
		case 'T':
			req->per_thread = true;
			break;
		case 'M':
			req->estimate = true;
			break;
		case 'j':
			req->json = true;
			break;
		case 'o':
			req->file = optarg;
			break;
		case 'v':
			req->verbose = true;
			break;
		default:
			rc = -1;
		}
	}
	if (!rc && optind < argc && req->command)
		return cmd_line_say("stat", "-c has the command already",
				    argv[optind]);
	if (!rc && optind < argc) {
		req->program = argv[optind];
		req->command = words_of_shell(argc - optind, argv + optind);
	}
	return rc;
}

/* What does not go together. */
static int check(const struct stat_request *req)
{
	if (req->whom == STAT_COMMAND && !req->command)
		return cmd_line_say("stat", "a COMMAND, -p, -t, -G, -C or -a must say what to count for", NULL);
	if (req->whom == STAT_PROCESS && req->command)
		return cmd_line_fail("stat", "-p counts for a process that runs; leave out the command, or -p");
	if (req->every.text && req->nr_sets == 1)
		return cmd_line_fail("stat", "--every is for several sets: -e \"EVENT,EVENT;EVENT,EVENT\"");
	if (req->estimate && (req->nr_sets == 1 || req->interval_ms))
		return cmd_line_fail("stat", "--estimate is for several sets, and for the whole time: -e \"EVENT,EVENT;EVENT,EVENT\", and leave out -I");
	if (req->repeat && !req->command)
		return cmd_line_fail("stat", "-r is how often a COMMAND is run; give one");
	if (req->repeat && (req->interval_ms || req->estimate ||
			    req->per_thread))
		return cmd_line_fail("stat", "-r is of whole runs; leave out -I, --estimate and --per-thread, or -r");
	if (req->per_thread && (req->whom == STAT_CPUS ||
				req->whom == STAT_THREAD))
		return cmd_line_fail("stat", "--per-thread is for a command, -p and -G");
	if (stat_every_is_of_threads(req) && req->whom == STAT_CPUS &&
	    !req->command)
		return cmd_line_fail("stat", "--every thread:TIME goes by the time of threads: give a COMMAND, -p, -t or -G, or another time");
	/* it would be waited for, for ever */
	if (req->cgroup)
		return cgroups_check("stat", req->cgroup);
	return proc_check_target("stat", req->whom == STAT_PROCESS ? req->id : 0,
				 req->whom == STAT_THREAD ? req->id : 0);
}

/* ---- intervals */

static struct stat_block before;

static int64_t difference(int64_t now, int64_t *last)
{
	const int64_t was = *last;

	*last = now;
	return now == STAT_NO_COUNT || was == STAT_NO_COUNT ? STAT_NO_COUNT :
							       now - was;
}

/* All blocks but the last one are there to tell how certain that is. */
static int print_estimates(const struct stat_request *req, struct stat_block b)
{
	int rc;

	b.estimates = stat_estimate(req, &b);
	if (!b.estimates)
		return 0;
	rc = stat_print(req, &b);
	free(b.estimates);
	return rc;
}

/* With -I each block is what came since the one before. */
static int on_block(const struct stat_request *req,
		    const struct stat_block *block)
{
	struct stat_block b = *block;
	size_t i;

	if (req->repeat) {
		stat_repeat_take(req, block);
		return 0;
	}
	if (req->estimate)
		return print_estimates(req, b);
	if (!req->interval_ms)
		return stat_print(req, block);
	if (!before.counts) {
		before.counts = calloc(req->nr_events, sizeof(*before.counts));
		before.sets = calloc(req->nr_sets, sizeof(*before.sets));
		if (!before.counts || !before.sets)
			return cmd_line_fail("stat", "out of memory");
	}
	for (i = 0; i < req->nr_events; i++)
		b.counts[i] = difference(b.counts[i], &before.counts[i]);
	for (i = 0; i < req->nr_sets; i++) {
		b.sets[i].runs = difference(b.sets[i].runs,
					    &before.sets[i].runs);
		b.sets[i].active_ns = difference(b.sets[i].active_ns,
						 &before.sets[i].active_ns);
	}
	b.session_ns = difference(b.session_ns, &before.session_ns);
	b.span_ns = difference(b.ns, &before.ns);
	return stat_print(req, &b);
}

static int open_output(struct stat_request *req)
{
	if (req->file)
		req->out = output_open("stat", req->file);
	return req->out < 0 ? -1 : 0;
}

/* Some file systems say only now that there was no room. */
static int close_output(const struct stat_request *req, int status)
{
	if (!req->file || !close(req->out))
		return status;
	shown_line(stderr, "stapwatch stat: %s: %s", req->file,
		   strerror(errno));
	return status ?: 1;
}

/* Until the last one, or one whose session fails.  Return: the first status that is not
 * 0. */
static int run_several(const struct stat_request *req, const char *script)
{
	struct stat_block means;
	int status = 0, of_run;
	bool more = true;
	uint64_t i;

	for (i = 0; i < req->repeat && more; i++) {
		of_run = stat_session(req, script, on_block, &more);
		status = status ?: of_run;
	}
	if (stat_repeat_block(req, &means) && stat_print(req, &means))
		status = status ?: 1;
	stat_repeat_free();
	return status;
}

static int run(struct stat_request *req)
{
	struct buf script = { 0 };
	bool more;
	int status;

	if (open_output(req))
		return 1;
	stat_script(req, &script);
	if (req->verbose)
		shown_out(stderr, script.s, script.len);
	status = req->repeat ? run_several(req, script.s) :
			       stat_session(req, script.s, on_block, &more);
	free(script.s);
	return close_output(req, status);
}

int cmd_stat(int argc, char **argv)
{
	struct stat_request req = {
		.whom = STAT_COMMAND, .out = STDOUT_FILENO
	};
	struct buf events = { 0 };
	int status = 1;

	if (!read_options(&req, argc, argv, &events) &&
	    !stat_events_parse(&req, events.s ?: USUAL_EVENTS) &&
	    !stat_every_parse(&req) && !check(&req))
		status = program_check("stat", req.program) ?: run(&req);
	stat_events_free(&req);
	free(req.command);
	free(events.s);
	free(before.counts);
	free(before.sets);
	return status;
}
