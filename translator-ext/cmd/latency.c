/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch latency: how long calls of the kernel's functions take, and what they
 * count, without a script to write.
 */
#include "cmd/cmd.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/latency.h"
#include "cmd/words.h"

#define USAGE "there are -e EVENTS, -p PID, --by cpu, --over US, -I MS, -n COUNT, --json, -v, FUNCTIONs and -- COMMAND"

static int say(const char *what, const char *value)
{
	shown_line(stderr, "stapwatch latency: %s: \"%s\"; " USAGE, what,
		   value);
	return -1;
}

static int fail(const char *why)
{
	shown_line(stderr, "stapwatch latency: %s", why);
	return -1;
}

static int take_number(const char *what, const char *s, uint64_t *n)
{
	return words_number(s, n) ? 0 : say(what, s);
}

static int take_functions(struct latency_request *req, int argc, char **argv)
{
	int i, rc = 0;

	if (!argc)
		return fail("which functions? " USAGE);
	for (i = 0; i < argc && !rc; i++)
		rc = latency_names_add(req, argv[i]);
	return rc;
}

static int read_options(struct latency_request *req, int argc, char **argv)
{
	static const struct option options[] = {
		{ "by", required_argument, NULL, 'b' },
		{ "over", required_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	char letter[3];
	int c, end, rc = 0;

	/* behind -- is the command */
	for (end = 1; end < argc && strcmp(argv[end], "--"); end++)
		;
	if (end < argc - 1)
		req->command = words_of_shell(argc - end - 1, argv + end + 1);
	opterr = 0;
	optind = 1;
	while (!rc && (c = getopt_long(end, argv, ":e:p:I:n:v", options,
				       NULL)) >= 0) {
		switch (c) {
		case 'e':
			rc = latency_events_parse(req, optarg);
			break;
		case 'p':
			rc = take_number("-p wants a process's number", optarg,
					 &req->pid);
			break;
		case 'b':
			if (strcmp(optarg, "cpu"))
				rc = say("--by wants cpu", optarg);
			req->by_cpu = true;
			break;
		case 'o':
			rc = take_number("--over wants microseconds", optarg,
					 &req->over_us);
			break;
		case 'I':
			rc = take_number("-I wants milliseconds", optarg,
					 &req->interval_ms);
			break;
		case 'n':
			rc = take_number("-n wants a number of intervals",
					 optarg, &req->count);
			break;
		case 'j':
			req->json = true;
			break;
		case 'v':
			req->verbose = true;
			break;
		default:
			rc = say(c == ':' ? "a value is missing" :
					    "unknown option",
				 cmd_refused(c, argv, letter));
		}
	}
	return rc ?: take_functions(req, end - optind, argv + optind);
}

/* What does not go together. */
static int check(const struct latency_request *req)
{
	if (req->pid && req->command)
		return fail("-p records calls of a process that runs; leave out the command, or -p");
	if (req->count && !req->interval_ms)
		return fail("-n counts intervals; say how long they are by -I MS");
	return 0;
}

/* ---- intervals */

static struct latency_block before;
static uint64_t shown;

static void subtract(struct latency_hist *h, struct latency_hist *was)
{
	struct latency_hist now = *h;
	size_t i;

	for (i = 0; i < PERFMAP_HIST_COUNTERS; i++)
		h->n[i] -= was->n[i];
	h->count -= was->count;
	*was = now;
}

/* With -I each block is what came since the one before. */
static int on_block(const struct latency_request *req,
		    struct latency_block *b)
{
	const size_t nr = latency_nr_hists(req);
	struct latency_function *f, *was;
	uint64_t missed;
	size_t i, j;

	if (!req->interval_ms)
		return latency_print(req, b);
	if (!before.functions) {
		before.nr_functions = b->nr_functions;
		before.functions = calloc(b->nr_functions, sizeof(*was));
		for (i = 0; before.functions && i < b->nr_functions; i++)
			before.functions[i].hists =
				calloc(nr, sizeof(*f->hists));
	}
	for (i = 0; i < b->nr_functions; i++) {
		f = &b->functions[i];
		was = &before.functions[i];
		if (!before.functions || !was->hists)
			return fail("out of memory");
		for (j = 0; j < nr; j++)
			subtract(&f->hists[j], &was->hists[j]);
		missed = f->missed;
		f->missed -= was->missed;
		was->missed = missed;
	}
	if (latency_print(req, b))
		return -1;
	return req->count && ++shown == req->count;
}

static void free_before(void)
{
	size_t i;

	for (i = 0; i < before.nr_functions; i++)
		free(before.functions[i].hists);
	free(before.functions);
}

int cmd_latency(int argc, char **argv)
{
	struct latency_request req = { 0 };
	struct buf script = { 0 }, lists = { 0 };
	size_t nr_lists, i;
	int status = 1;

	if (!read_options(&req, argc, argv) && !check(&req)) {
		nr_lists = latency_lists(&req, &lists);
		latency_script(&req, nr_lists, &script);
		if (req.verbose)
			shown_out(stderr, script.s, script.len);
		if (nr_lists > LATENCY_LISTS)
			fail("the functions' names are too many to hand over; take a narrower pattern");
		else
			status = latency_session(&req, script.s, &lists,
						 nr_lists, on_block);
	}
	latency_events_free(&req);
	for (i = 0; i < req.nr_functions; i++)
		free(req.functions[i].name);
	free(req.functions);
	free(req.command);
	free(script.s);
	free(lists.s);
	free_before();
	return status;
}
