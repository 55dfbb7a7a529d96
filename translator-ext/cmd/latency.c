/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch latency: how long calls of the kernel's functions take, and what they
 * count, without a script to write.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/cgroups.h"
#include "cmd/latency.h"
#include "cmd/line.h"
#include "cmd/output.h"
#include "cmd/proc.h"
#include "cmd/program.h"
#include "cmd/words.h"
#include "store/hist.h"

static int take_by(struct latency_request *req, const char *by)
{
	int end = 0;

	if (!strcmp(by, "cpu")) {
		req->by = LATENCY_BY_CPU;
	} else if (!strcmp(by, "process")) {
		req->by = LATENCY_BY_PROCESS;
	} else if (sscanf(by, "arg%1u%n", &req->argument, &end) == 1 &&
		   req->argument >= 1 && req->argument <= 6 &&
		   (!by[end] || !strcmp(by + end, ":int"))) {
		req->by = LATENCY_BY_ARGUMENT;
		req->argument_is_int = !!by[end];
	} else {
		return cmd_line_say("latency", "--by wants cpu, process, or an argument of the functions, arg1 to arg6, with :int after it for a C int",
			   by);
	}
	return 0;
}

static int take_functions(struct latency_request *req, int argc, char **argv)
{
	int i, rc = 0;

	if (!argc)
		return cmd_line_say("latency", "which functions?", NULL);
	for (i = 0; i < argc && !rc; i++)
		rc = latency_names_add(req, argv[i]);
	return rc ?: latency_functions_tell_apart(req);
}

static int read_options(struct latency_request *req, int argc, char **argv)
{
	static const struct option options[] = {
		{ "by", required_argument, NULL, 'b' },
		{ "force", no_argument, NULL, 'f' },
		{ "over", required_argument, NULL, 'O' },
		{ "svg", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	struct cmd_line line = {
		.letters = ":e:p:t:aG:I:n:c:o:v",
		.names = options,
		.several = "e",
		.argv = argv,
	};
	int c, end, rc = 0;

	/* after -- is the command */
	for (end = 1; end < argc && strcmp(argv[end], "--"); end++)
		;
	if (end < argc - 1) {
		req->program = argv[end + 1];
		req->command = words_of_shell(argc - end - 1, argv + end + 1);
	}
	line.argc = end;
	while (!rc && (c = cmd_line_next(&line)) != CMD_LINE_END) {
		switch (c) {
		case 'e':
			rc = latency_events_parse(req, optarg);
			break;
		case 'p':
			rc = cmd_line_number("latency", "-p wants a process's number", optarg,
					 &req->pid);
			break;
		case 't':
			rc = cmd_line_number("latency", "-t wants a thread's number",
					     optarg, &req->tid);
			break;
		case 'a':
			req->all = true;
			break;
		case 'G':
			req->cgroup = optarg;
			break;
		case 'c':
			if (req->command)
				rc = cmd_line_say("latency", "after -- is a command already",
						  optarg);
			else
				req->command = xstrdup(optarg);
			break;
		case 'o':
			req->file = optarg;
			break;
		case 'f':
			req->force = true;
			break;
		case 'b':
			rc = take_by(req, optarg);
			break;
		case 'O':
			rc = cmd_line_number("latency", "--over wants microseconds", optarg,
					 &req->over_us);
			break;
		case 'I':
			rc = cmd_line_number("latency", "-I wants milliseconds", optarg,
					 &req->interval_ms);
			break;
		case 'n':
			rc = cmd_line_number("latency", "-n wants a number of intervals",
					 optarg, &req->count);
			break;
		case 's':
			req->svg = optarg;
			break;
		case 'j':
			req->json = true;
			break;
		case 'v':
			req->verbose = true;
			break;
		default:
			rc = -1;
		}
	}
	return rc ?: take_functions(req, end - optind, argv + optind);
}

/* What does not go together. */
static int check(const struct latency_request *req)
{
	if (req->all + !!req->pid + !!req->tid + !!req->cgroup > 1)
		return cmd_line_fail("latency", "-a, -p, -t and -G exclude each other");
	if (req->pid && req->command)
		return cmd_line_fail("latency", "-p records calls of a process that runs; leave out the command, or -p");
	if (req->count && !req->interval_ms)
		return cmd_line_fail("latency", "-n counts intervals; say how long they are by -I MS");
	if (req->svg && !req->interval_ms)
		return cmd_line_fail("latency", "--svg draws intervals; say how long they are by -I MS");
	if (req->svg && output_spare_trace("latency", "--svg", req->svg))
		return -1;
	if (req->cgroup && cgroups_check("latency", req->cgroup))
		return -1;
	return proc_check_target("latency", req->pid, req->tid);
}

static int open_output(struct latency_request *req)
{
	int fd;

	if (!req->file)
		return 0;
	fd = output_open("latency", req->file);
	if (fd < 0)
		return -1;
	req->out = fdopen(fd, "w");
	return req->out ? 0 : cmd_line_fail("latency", "out of memory");
}

/* Some file systems say only now that there was no room. */
static int close_output(const struct latency_request *req, int status)
{
	if (!req->file || !fclose(req->out))
		return status;
	shown_line(stderr, "stapwatch latency: %s: %s", req->file,
		   strerror(errno));
	return status ?: 1;
}

/* ---- intervals */

static struct latency_block before;
static struct latency_heat heat;
static uint64_t shown;

/*
 * The highest of all is an interval's if it came within it.  Else the interval's own is
 * no more than its bucket's end.
 */
static uint64_t highest_since(const struct latency_hist *h, uint64_t max,
			      uint64_t max_before)
{
	unsigned int i = PERFMAP_HIST_BUCKETS;

	if (max > max_before)
		return max;
	while (i && !h->n[i - 1])
		i--;
	return !i ? 0 : hist_high(i - 1) < max ? hist_high(i - 1) : max;
}

static void subtract(struct latency_hist *h, struct latency_hist *was)
{
	struct latency_hist now = *h;
	size_t i;

	for (i = 0; i < PERFMAP_HIST_MAX; i++)
		h->n[i] -= was->n[i];
	h->n[PERFMAP_HIST_MAX] = highest_since(h, now.n[PERFMAP_HIST_MAX],
					       was->n[PERFMAP_HIST_MAX]);
	h->count -= was->count;
	*was = now;
}

static bool are_same(const struct latency_function *a,
		     const struct latency_function *b)
{
	return a->cpu == b->cpu && a->has_key == b->has_key &&
	       a->key == b->key && a->started == b->started &&
	       !strcmp(a->name, b->name);
}

/* Where in A F is, which is mostly at AT; or how many rows A has. */
static size_t find_in(const struct latency_block *a, size_t at,
		      const struct latency_function *f)
{
	size_t i;

	for (i = at; i < a->nr_functions; i++)
		if (are_same(&a->functions[i], f))
			return i;
	for (i = 0; i < at && i < a->nr_functions; i++)
		if (are_same(&a->functions[i], f))
			return i;
	return a->nr_functions;
}

/* What F stood at the last time. */
static struct latency_function *
before_of(const struct latency_function *f, size_t at, size_t nr_hists)
{
	struct latency_function *was;

	at = find_in(&before, at, f);
	if (at < before.nr_functions)
		return &before.functions[at];
	before.functions = xrealloc(before.functions,
				    (before.nr_functions + 1) * sizeof(*was));
	was = &before.functions[before.nr_functions++];
	*was = (struct latency_function) {
		.name = xstrdup(f->name),
		.cpu = f->cpu,
		.has_key = f->has_key,
		.key = f->key,
		.started = f->started,
		.hists = xmalloc(nr_hists * sizeof(*f->hists)),
	};
	memset(was->hists, 0, nr_hists * sizeof(*f->hists));
	return was;
}

static void drop_before(size_t at)
{
	free(before.functions[at].name);
	free(before.functions[at].hists);
	memmove(&before.functions[at], &before.functions[at + 1],
		(--before.nr_functions - at) * sizeof(*before.functions));
}

static void add(struct latency_hist *h, const struct latency_hist *more)
{
	size_t i;

	for (i = 0; i < PERFMAP_HIST_MAX; i++)
		h->n[i] += more->n[i];
	if (h->n[PERFMAP_HIST_MAX] < more->n[PERFMAP_HIST_MAX])
		h->n[PERFMAP_HIST_MAX] = more->n[PERFMAP_HIST_MAX];
	h->count += more->count;
}

/*
 * A process that has no row any more: the calls that it had made are now among the
 * function's others, and so they are among what those stood at.
 */
static void move_to_others(size_t at, size_t nr_hists)
{
	struct latency_function others = {
		.name = before.functions[at].name, .cpu = -1
	};
	const size_t to = find_in(&before, 0, &others);
	size_t i;

	for (i = 0; to < before.nr_functions && i < nr_hists; i++)
		add(&before.functions[to].hists[i],
		    &before.functions[at].hists[i]);
	drop_before(at);
}

static void forget_ended(const struct latency_block *b, size_t nr_hists)
{
	size_t i;

	for (i = before.nr_functions; i-- > 0;)
		if (before.functions[i].has_key &&
		    find_in(b, i, &before.functions[i]) == b->nr_functions)
			move_to_others(i, nr_hists);
}

/* With -I each block is what came since the one before. */
static int on_block(const struct latency_request *req,
		    struct latency_block *b)
{
	const size_t nr = latency_nr_hists(req);
	struct latency_function *f, *was;
	uint64_t missed, nested;
	size_t i, j;

	if (!req->interval_ms)
		return latency_print(req, b);
	forget_ended(b, nr);
	for (i = 0; i < b->nr_functions; i++) {
		f = &b->functions[i];
		was = before_of(f, i, nr);
		for (j = 0; j < nr; j++)
			subtract(&f->hists[j], &was->hists[j]);
		missed = f->missed;
		f->missed -= was->missed;
		was->missed = missed;
		nested = f->nested;
		f->nested -= was->nested;
		was->nested = nested;
	}
	if (req->svg)
		latency_heat_add(&heat, b);
	if (latency_print(req, b))
		return -1;
	return req->count && ++shown == req->count;
}

static void free_before(void)
{
	size_t i;

	for (i = 0; i < before.nr_functions; i++) {
		free(before.functions[i].name);
		free(before.functions[i].hists);
	}
	free(before.functions);
}

static int run(struct latency_request *req)
{
	struct buf script = { 0 }, lists = { 0 };
	size_t nr_lists;
	int status = 1;

	if (open_output(req))
		return 1;
	nr_lists = latency_lists(req, &lists);
	latency_script(req, nr_lists, &script);
	if (req->verbose)
		shown_out(stderr, script.s, script.len);
	if (nr_lists > LATENCY_LISTS)
		cmd_line_fail("latency", "the functions' names are too many to hand over; take a narrower pattern");
	else
		status = latency_session(req, script.s, &lists, nr_lists,
					 on_block);
	free(script.s);
	free(lists.s);
	return close_output(req, status);
}

int cmd_latency(int argc, char **argv)
{
	struct latency_request req = { .out = stdout };
	int status = 1;
	size_t i;

	if (!read_options(&req, argc, argv) && !check(&req))
		status = program_check("latency", req.program) ?: run(&req);
	/* also of a COMMAND that failed */
	if (req.svg && heat.nr_columns && latency_heat_write(&heat, &req))
		status = status ?: 1;
	latency_heat_free(&heat);
	latency_events_free(&req);
	for (i = 0; i < req.nr_functions; i++)
		latency_function_free(&req.functions[i]);
	free(req.functions);
	free(req.command);
	free_before();
	return status;
}
