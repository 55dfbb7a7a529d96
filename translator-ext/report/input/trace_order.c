/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records by time; trace_order.h says what is wanted of it. */
#include "report/input/trace_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/intern.h"

struct order {
	struct trace *trace;
	struct loss *loss;
	uint64_t *words;	/* with those of records that have gone */
	size_t nr_words, size_words;
	struct heap held;	/* where each stands, in words; its time */
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
	heap_free(&o->held);
	free(o);
}

/* ---- their bytes */

static const struct sw_trace_record *record_of(const struct order *o,
					       const struct heap_entry *h)
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
	for (i = 0; i < o->held.nr; i++) {
		r = record_of(o, &o->held.list[i]);
		memcpy(words + used, r, r->size);
		o->held.list[i].at = used;
		used += words_of(r);
	}
	free(o->words);
	o->words = words;
	o->size_words += len;
	o->nr_words = used;
}

static void hold(struct order *o, const struct sw_trace_record *r)
{
	struct heap_entry h = { .key = r->time, .nr = o->came++ };

	make_room(o, words_of(r));
	h.at = o->nr_words;
	memcpy(o->words + h.at, r, r->size);
	o->nr_words += words_of(r);
	o->words_held += words_of(r);
	heap_put(&o->held, &h);
	o->loss->late += r->time < o->last;
}

/* ---- who may go */

static bool may_go(const struct order *o)
{
	return o->held.nr && (o->ended || o->surplus ||
			 o->held.list[0].key < o->before);
}

static const struct sw_trace_record *let_go(struct order *o)
{
	const struct heap_entry h = heap_take(&o->held);
	const struct sw_trace_record *r = record_of(o, &h);

	o->words_held -= words_of(r);
	if (o->surplus && !--o->surplus && o->held.nr &&
	    o->held.list[0].key > o->last)
		o->last = o->held.list[0].key;
	return r;
}

bool order_is_timeless(const struct sw_trace_record *r)
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
			o->surplus = o->held.nr / 2;
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
		if (order_is_timeless(r))
			return r;
		take(o, r);
	}
	return let_go(o);
}
