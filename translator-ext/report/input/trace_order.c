/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records by time; trace_order.h says what is wanted of it. */
#include "report/input/trace_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"

/* Four of them are a line of the processor's cache. */
struct held {
	uint64_t time;
	uint32_t nr;		/* of the same time, who came first; wraps */
	uint32_t at;		/* in words of 8 bytes */
};

#define BELOW 4			/* each in the heap has as many below it */

struct order {
	struct trace *trace;
	struct loss *loss;
	uint64_t *words;	/* with those of records that have gone */
	size_t nr_words, size_words;
	struct held *heap;	/* none is older than the one above it */
	size_t nr, size;
	size_t words_held;
	uint32_t came;		/* records, so far */
	uint64_t before;	/* all that are older may go, */
	size_t surplus;		/* and as many of the oldest */
	uint64_t last;		/* nothing older has gone */
	bool ended;
};

struct order *order_new(struct trace *trace, struct loss *loss)
{
	struct order *o = xmalloc(sizeof(*o));

	*o = (struct order) { .trace = trace, .loss = loss };
	loss_record(loss, &trace_head(trace)->r);
	return o;
}

void order_free(struct order *o)
{
	free(o->words);
	free(o->heap);
	free(o);
}

/* ---- the heap */

static bool is_older(const struct held *x, const struct held *y)
{
	return x->time != y->time ? x->time < y->time :
				    (int32_t)(x->nr - y->nr) < 0;
}

static void put_in(struct order *o, const struct held *h)
{
	size_t i = o->nr++, above;

	o->heap = array_room(o->heap, &o->size, o->nr, sizeof(*o->heap));
	for (; i; i = above) {
		above = (i - 1) / BELOW;
		if (!is_older(h, &o->heap[above]))
			break;
		o->heap[i] = o->heap[above];
	}
	o->heap[i] = *h;
}

/* The oldest of those below one; 0 if there is none. */
static size_t oldest_below(const struct order *o, size_t i)
{
	const size_t first = BELOW * i + 1;
	size_t oldest = first, k;

	if (first >= o->nr)
		return 0;
	for (k = first + 1; k < first + BELOW && k < o->nr; k++)
		if (is_older(&o->heap[k], &o->heap[oldest]))
			oldest = k;
	return oldest;
}

static struct held take_oldest(struct order *o)
{
	const struct held oldest = o->heap[0], h = o->heap[--o->nr];
	size_t i = 0, below;

	while ((below = oldest_below(o, i)) &&
	       is_older(&o->heap[below], &h)) {
		o->heap[i] = o->heap[below];
		i = below;
	}
	o->heap[i] = h;
	return oldest;
}

/* ---- their bytes */

static const struct sw_trace_record *record_of(const struct order *o,
					       const struct held *h)
{
	return (const void *)(o->words + h->at);
}

static size_t words_of(const struct sw_trace_record *r)
{
	return r->size / sizeof(uint64_t);
}

/*
 * Records that have gone make room when that is needed, and when they are at
 * least half of all: so each is moved once on the average.
 */
static void make_room(struct order *o, size_t len)
{
	const struct sw_trace_record *r;
	uint64_t *words;
	size_t i, used = 0;

	if (o->nr_words + len <= o->size_words)
		return;
	if (o->words_held > o->nr_words / 2) {
		o->words = array_room(o->words, &o->size_words,
				      o->nr_words + len, sizeof(*o->words));
		return;
	}
	/* not in place: they do not stand in the order of the heap */
	words = xmalloc((o->size_words + len) * sizeof(*words));
	for (i = 0; i < o->nr; i++) {
		r = record_of(o, &o->heap[i]);
		memcpy(words + used, r, r->size);
		o->heap[i].at = used;
		used += words_of(r);
	}
	free(o->words);
	o->words = words;
	o->size_words += len;
	o->nr_words = used;
}

static void hold(struct order *o, const struct sw_trace_record *r)
{
	struct held h = { .time = r->time, .nr = o->came++ };

	make_room(o, words_of(r));
	h.at = o->nr_words;
	memcpy(o->words + h.at, r, r->size);
	o->nr_words += words_of(r);
	o->words_held += words_of(r);
	put_in(o, &h);
	o->loss->late += r->time < o->last;
}

/* ---- who may go */

static bool may_go(const struct order *o)
{
	return o->nr && (o->ended || o->surplus ||
			 o->heap[0].time < o->before);
}

static const struct sw_trace_record *let_go(struct order *o)
{
	const struct held h = take_oldest(o);
	const struct sw_trace_record *r = record_of(o, &h);

	o->words_held -= words_of(r);
	if (o->surplus && !--o->surplus && o->nr &&
	    o->heap[0].time > o->last)
		o->last = o->heap[0].time;
	return r;
}

static bool is_timeless(const struct sw_trace_record *r)
{
	return r->type == SW_TRACE_EVENT || r->type == SW_TRACE_COUNT ||
	       r->type == SW_TRACE_STACK;
}

static void take(struct order *o, const struct sw_trace_record *r)
{
	const struct sw_trace_round *round = (const void *)r;

	if (r->type == SW_TRACE_ROUND) {
		o->before = round->oldest;
		if (o->before > o->last)
			o->last = o->before;
	} else if (r->type != SW_TRACE_END) {
		hold(o, r);
		if (o->words_held >= ORDER_HELD / sizeof(*o->words))
			o->surplus = o->nr / 2;
	}
}

const struct sw_trace_record *order_next(struct order *o)
{
	const struct sw_trace_record *r;

	while (!may_go(o)) {
		if (o->ended)
			return NULL;
		/* what comes later than its round waits for the next one */
		o->before = 0;
		r = trace_next(o->trace);
		o->ended = !r;
		if (!r)
			continue;
		loss_record(o->loss, r);
		if (is_timeless(r))
			return r;
		take(o, r);
	}
	return let_go(o);
}
