/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates for the whole time; stat.h. */
#include "cmd/stat.h"

#include <math.h>
#include <stdlib.h>

/* Of an event: sums over stretches of time, of counts C in active times A. */
struct sums {
	size_t n;
	double c, a, cc, ca, aa;
	int64_t last_count, last_active;
	bool withheld;
};

static struct sums *sums;

static void take(struct sums *s, int64_t count, int64_t active)
{
	double c, a;

	s->withheld |= count == STAT_NO_COUNT || active == STAT_NO_COUNT;
	if (s->withheld || active <= s->last_active)
		return;
	c = count - s->last_count;
	a = active - s->last_active;
	s->n++;
	s->c += c;
	s->a += a;
	s->cc += c * c;
	s->ca += c * a;
	s->aa += a * a;
	s->last_count = count;
	s->last_active = active;
}

/*
 * The ratio estimator of sampling theory: the rate is the sum of counts by the sum of
 * active times, and its variance that of what each stretch is off it.  What was
 * counted is certain: only the rest of the time adds to the error.
 */
static struct stat_estimate estimate(const struct sums *s, int64_t session)
{
	struct stat_estimate e = { 0 };
	double rate, off, rest;

	if (s->withheld || s->a <= 0 || session == STAT_NO_COUNT ||
	    session < s->a)
		return e;
	rate = s->c / s->a;
	e.known = true;
	e.count = rate * session;
	if (s->n < 3)
		return e;
	off = s->cc - 2 * rate * s->ca + rate * rate * s->aa;
	rest = 1 - s->a / session;
	e.bounded = true;
	e.error = 1.96 * session / s->a *
		  sqrt(s->n * fmax(off, 0) / (s->n - 1) * fmax(rest, 0));
	return e;
}

struct stat_estimate *stat_estimate(const struct stat_request *req,
				    const struct stat_block *b)
{
	struct stat_estimate *all;
	size_t i;

	if (!sums) {
		sums = xmalloc(req->nr_events * sizeof(*sums));
		memset(sums, 0, req->nr_events * sizeof(*sums));
	}
	for (i = 0; i < req->nr_events; i++)
		take(&sums[i], b->counts[i],
		     b->sets[req->events[i].set].active_ns);
	if (!b->last)
		return NULL;
	all = xmalloc(req->nr_events * sizeof(*all));
	for (i = 0; i < req->nr_events; i++)
		all[i] = estimate(&sums[i], b->session_ns);
	free(sums);
	sums = NULL;
	return all;
}
