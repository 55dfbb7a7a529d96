/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several runs of a command, of stat -r; stat.h. */
#include "cmd/stat.h"

#include <math.h>
#include <stdlib.h>

static struct {
	size_t runs;
	struct stat_spread *spreads;	/* of each event, then of the time */
	struct stat_spread *sets;	/* of each set: its runs, and its time */
	struct stat_spread session;
	int64_t *counts;		/* what the block of means has */
	struct stat_set *set_means;
} all;

/* By Welford's algorithm: no sum of squares, which would lose the small differences of
 * great counts. */
static void take(struct stat_spread *s, int64_t v)
{
	double off;

	if (v == STAT_NO_COUNT)
		return;
	off = v - s->mean;
	s->runs++;
	s->mean += off / s->runs;
	s->squares += off * (v - s->mean);
}

static void *zeroed(size_t nr, size_t size)
{
	return memset(xmalloc(nr * size), 0, nr * size);
}

void stat_repeat_take(const struct stat_request *req,
		      const struct stat_block *b)
{
	size_t i;

	if (!all.runs++) {
		all.spreads = zeroed(req->nr_events + 1, sizeof(*all.spreads));
		all.sets = zeroed(2 * req->nr_sets, sizeof(*all.sets));
		all.counts = zeroed(req->nr_events, sizeof(*all.counts));
		all.set_means = zeroed(req->nr_sets, sizeof(*all.set_means));
	}
	for (i = 0; i < req->nr_events; i++)
		take(&all.spreads[i], b->counts[i]);
	take(&all.spreads[i], b->ns);
	for (i = 0; i < req->nr_sets; i++) {
		take(&all.sets[2 * i], b->sets[i].runs);
		take(&all.sets[2 * i + 1], b->sets[i].active_ns);
	}
	take(&all.session, b->session_ns);
}

/* Of those that had it. */
static int64_t mean_of(const struct stat_spread *s)
{
	return s->runs ? llround(s->mean) : STAT_NO_COUNT;
}

/* Shares are of times that belong together: of all runs, or none. */
static int64_t mean_of_all(const struct stat_spread *s)
{
	return s->runs == all.runs ? llround(s->mean) : STAT_NO_COUNT;
}

bool stat_repeat_block(const struct stat_request *req, struct stat_block *b)
{
	size_t i;

	if (!all.runs)
		return false;
	for (i = 0; i < req->nr_events; i++)
		all.counts[i] = mean_of(&all.spreads[i]);
	for (i = 0; i < req->nr_sets; i++)
		all.set_means[i] = (struct stat_set) {
			.runs = mean_of_all(&all.sets[2 * i]),
			.active_ns = mean_of_all(&all.sets[2 * i + 1]),
		};
	*b = (struct stat_block) {
		.ns = mean_of(&all.spreads[req->nr_events]),
		.span_ns = mean_of(&all.spreads[req->nr_events]),
		.session_ns = mean_of_all(&all.session),
		.counts = all.counts,
		.sets = all.set_means,
		.runs = all.runs,
		.spreads = all.spreads,
		.last = true,
	};
	return true;
}

void stat_repeat_free(void)
{
	free(all.spreads);
	free(all.sets);
	free(all.counts);
	free(all.set_means);
}

double stat_deviation(const struct stat_spread *s)
{
	return s->runs > 1 ? sqrt(s->squares / (s->runs - 1)) : NAN;
}
