/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stapwatch latency gives to stap, and what its script says; latency.h. */
#include "cmd/latency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/beside.h"
#include "cmd/words.h"

struct session {
	const struct latency_request *req;
	int (*on_block)(const struct latency_request *req,
			struct latency_block *block);
	struct latency_block block;
	bool in_block;
	bool ended;		/* the last block was there */
};

static void drop_functions(struct latency_block *b)
{
	size_t i;

	for (i = 0; i < b->nr_functions; i++) {
		free(b->functions[i].name);
		free(b->functions[i].comm);
		free(b->functions[i].hists);
	}
	free(b->functions);
	b->functions = NULL;
	b->nr_functions = 0;
}

/* The name that a function was asked for by. */
static const char *asked_by(const struct latency_request *req,
			    const char *name)
{
	size_t i;

	for (i = 0; i < req->nr_functions; i++)
		if (req->functions[i].asked &&
		    !strcmp(req->functions[i].name, name))
			return req->functions[i].asked;
	return name;
}

static struct latency_function *
new_function(struct session *s, int64_t cpu, uint64_t missed, const char *name)
{
	const size_t size = latency_nr_hists(s->req) *
			    sizeof(struct latency_hist);
	struct latency_block *b = &s->block;
	struct latency_function *f;

	b->functions = xrealloc(b->functions, (b->nr_functions + 1) *
				sizeof(*b->functions));
	f = &b->functions[b->nr_functions++];
	*f = (struct latency_function) {
		.name = xstrdup(asked_by(s->req, name)),
		.cpu = cpu,
		.missed = missed,
		.hists = xmalloc(size),
	};
	memset(f->hists, 0, size);
	return f;
}

/* "key VALUE" or "key PID:START NAME", after what has the function's name; REST comes
 * after the first number. */
static void new_key(struct session *s, int64_t key, const char *rest)
{
	struct latency_block *b = &s->block;
	struct latency_function *f;
	int at = 0;

	if (!b->nr_functions)
		return;
	f = new_function(s, -1, 0, b->functions[b->nr_functions - 1].name);
	f->has_key = true;
	f->key = key;
	if (s->req->by != LATENCY_BY_PROCESS)
		return;
	sscanf(rest, ":%" SCNu64 "%n", &f->started, &at);
	rest += at;
	f->comm = xstrdup(rest + (*rest == ' '));
}

/* "hist I SUM NEGATIVE BUCKET:COUNT ... max HIGHEST"; what is none is no harm. */
static void take_hist(struct session *s, const char *line)
{
	struct latency_block *b = &s->block;
	unsigned long long i, sum, negative, bucket, n, max;
	struct latency_hist *h;
	int at = 0;

	if (!b->nr_functions ||
	    sscanf(line, "hist %llu %llu %llu%n", &i, &sum, &negative, &at) !=
	    3 || i >= latency_nr_hists(s->req))
		return;
	h = &b->functions[b->nr_functions - 1].hists[i];
	h->n[PERFMAP_HIST_SUM] = sum;
	h->n[PERFMAP_HIST_NEGATIVE] = negative;
	for (line += at; sscanf(line, " %llu:%llu%n", &bucket, &n, &at) == 2;
	     line += at) {
		if (bucket >= PERFMAP_HIST_BUCKETS)
			continue;
		h->n[bucket] = n;
		h->count += n;
	}
	if (sscanf(line, " max %llu", &max) == 1)
		h->n[PERFMAP_HIST_MAX] = max;
}

static int take_line(void *data, const char *line)
{
	struct session *s = data;
	struct latency_block *b = &s->block;
	unsigned long long cpu, missed, nested;
	int64_t ns, under_way, clock, key;
	int at = 0;

	if (sscanf(line, "begin %" SCNd64 " %" SCNd64 " %" SCNd64, &ns,
		   &under_way, &clock) == 3) {
		drop_functions(b);
		b->ns = ns;
		b->under_way = under_way;
		b->tick_ns = clock / 1e9;
		s->in_block = true;
	} else if (!s->in_block) {
		return 0;
	} else if (sscanf(line, "function %llu %n", &missed, &at) == 1 && at) {
		new_function(s, -1, missed, line + at);
	} else if (sscanf(line, "cpu %llu %llu %n", &cpu, &missed, &at) == 2 &&
		   at) {
		new_function(s, cpu, missed, line + at);
	} else if (sscanf(line, "nested %llu", &nested) == 1 &&
		   b->nr_functions) {
		b->functions[b->nr_functions - 1].nested = nested;
	} else if (sscanf(line, "key %" SCNd64 "%n", &key, &at) == 1 && at) {
		new_key(s, key, line + at);
	} else if (!strncmp(line, "hist ", 5)) {
		take_hist(s, line);
	} else if (!strcmp(line, "end") || !strcmp(line, "last")) {
		b->last = *line == 'l';
		s->ended = b->last;
		s->in_block = false;
		return s->on_block(s->req, b);
	}
	return 0;
}

/* Rows that each function may have of its own, besides that of all others. */
static size_t keys_of(const struct latency_request *req, size_t hists)
{
	size_t most = LATENCY_HISTS / hists;

	if (!latency_has_keys(req) || most < 2)
		return 0;
	return most - 1 < LATENCY_KEYS ? most - 1 : LATENCY_KEYS;
}

static int run(struct session *s, const char *script, struct buf *lists,
	       size_t nr_lists)
{
	const struct latency_request *req = s->req;
	char *args[2 * LATENCY_LISTS + 18], *given[LATENCY_LISTS + 6], id[32];
	const char *list = lists->s;
	int n = 0, nr_given = 0, i, status;
	char name[48], number[32];
	const size_t hists = req->nr_functions * latency_nr_hists(req);
	const size_t keys = keys_of(req, hists);
	size_t l;

	if (hists > LATENCY_HISTS || (latency_has_keys(req) && !keys)) {
		shown_line(stderr, "stapwatch latency: %zu functions%s want more histograms than the %d that a map has; name fewer functions or events",
			   req->nr_functions,
			   latency_has_keys(req) ? " with rows of their own" : "",
			   LATENCY_HISTS);
		return 1;
	}
	if (req->command) {
		args[n++] = "-c";
		args[n++] = req->command;
	}
	if (req->pid) {
		snprintf(id, sizeof(id), "%" PRIu64, req->pid);
		args[n++] = "-x";
		args[n++] = id;
	}
	for (l = 0; l < nr_lists; l++) {
		snprintf(name, sizeof(name), "latency_%zu", l);
		given[nr_given++] = words_of_global(name, list);
		list += strlen(list) + 1;
	}
	snprintf(number, sizeof(number), "%zu", req->nr_functions);
	given[nr_given++] = words_of_global("call_max", number);
	snprintf(number, sizeof(number), "%zu", hists * (1 + keys));
	given[nr_given++] = words_of_global("stathist_max", number);
	if (keys) {
		snprintf(number, sizeof(number), "%zu", keys);
		given[nr_given++] = words_of_global("call_keys", number);
	}
	if (req->by == LATENCY_BY_CPU)
		given[nr_given++] = words_of_global("latency_by_cpu", "1");
	if (req->over_us) {
		snprintf(number, sizeof(number), "%" PRIu64,
			 req->over_us * 1000);
		given[nr_given++] = words_of_global("latency_over", number);
	}
	if (req->tid) {
		snprintf(number, sizeof(number), "%" PRIu64, req->tid);
		given[nr_given++] = words_of_global("latency_tid", number);
	}
	for (i = 0; i < nr_given; i++) {
		args[n++] = "-G";
		args[n++] = given[i];
	}
	args[n] = NULL;
	status = beside_run(&(struct beside) {
		.who = "latency",
		.args = args,
		.script = script,
		.on_line = take_line,
		.data = s,
	});
	for (i = 0; i < nr_given; i++)
		free(given[i]);
	return status;
}

int latency_session(const struct latency_request *req, const char *script,
		    struct buf *lists, size_t nr_lists,
		    int (*on_block)(const struct latency_request *req,
				    struct latency_block *block))
{
	struct session s = { .req = req, .on_block = on_block };
	int status = run(&s, script, lists, nr_lists);

	if (!status && !s.ended && !req->count) {
		shown_line(stderr, "stapwatch latency: no calls came (stap's message is above)");
		status = 1;
	}
	drop_functions(&s.block);
	return status;
}
