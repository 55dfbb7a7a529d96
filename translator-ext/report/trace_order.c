/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records by time; trace_order.h says what is wanted of it. */
#include "trace_order.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "intern.h"

struct held {
	uint64_t time;
	uint32_t nr;		/* of the same time, who came first */
	uint32_t at;		/* in words of 8 bytes */
};

struct order {
	struct trace *trace;
	struct loss *loss;
	uint64_t *words;
	size_t nr_words, size_words;
	struct held *held;	/* sorted as far as they may go */
	size_t nr, size;
	size_t next, ready;	/* of these, who goes next, and who may */
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
	free(o->held);
	free(o);
}

static int by_time(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->nr > y->nr) - (x->nr < y->nr);
}

static const struct trace_record *record_of(const struct order *o,
					    const struct held *h)
{
	return (const void *)(o->words + h->at);
}

/* What has gone makes room. */
static void drop_gone(struct order *o)
{
	uint64_t *words;
	size_t i, len, used = 0;

	if (!o->next)
		return;
	memmove(o->held, o->held + o->next,
		(o->nr - o->next) * sizeof(*o->held));
	o->nr -= o->next;
	o->next = o->ready = 0;
	if (!o->nr) {
		o->nr_words = 0;
		return;
	}
	/* not in place: they do not stand in the order of time */
	words = xmalloc(o->size_words * sizeof(*words));
	for (i = 0; i < o->nr; i++) {
		len = record_of(o, &o->held[i])->size / 8;
		memcpy(words + used, o->words + o->held[i].at, len * 8);
		o->held[i].at = used;
		o->held[i].nr = i;
		used += len;
	}
	free(o->words);
	o->words = words;
	o->nr_words = used;
}

static void hold(struct order *o, const struct trace_record *r)
{
	const size_t len = r->size / 8;

	o->words = array_room(o->words, &o->size_words, o->nr_words + len,
			      sizeof(*o->words));
	o->held = array_room(o->held, &o->size, o->nr + 1, sizeof(*o->held));
	memcpy(o->words + o->nr_words, r, r->size);
	o->held[o->nr] = (struct held) { r->time, o->nr, o->nr_words };
	o->nr++;
	o->nr_words += len;
	o->loss->late += r->time < o->last;
}

/* All that are older than @oldest may go, or the older half, or all. */
static void sort_held(struct order *o)
{
	if (o->nr)
		qsort(o->held, o->nr, sizeof(*o->held), by_time);
}

static void release_before(struct order *o, uint64_t oldest)
{
	sort_held(o);
	while (o->ready < o->nr && o->held[o->ready].time < oldest)
		o->ready++;
	if (oldest > o->last)
		o->last = oldest;
}

static void release_half(struct order *o)
{
	sort_held(o);
	o->ready = o->nr / 2;
	o->last = o->held[o->ready].time;
}

static bool is_timeless(const struct trace_record *r)
{
	return r->type == TRACE_EVENT || r->type == TRACE_COUNT ||
	       r->type == TRACE_STACK;
}

const struct trace_record *order_next(struct order *o)
{
	const struct trace_record *r;

	for (;;) {
		if (o->next < o->ready)
			return record_of(o, &o->held[o->next++]);
		drop_gone(o);
		if (o->ended)
			return NULL;
		r = trace_next(o->trace);
		if (!r) {
			o->ended = true;
			sort_held(o);
			o->ready = o->nr;
			continue;
		}
		loss_record(o->loss, r);
		if (is_timeless(r))
			return r;
		if (r->type == TRACE_ROUND)
			release_before(o, ((const struct trace_round *)
					   r)->oldest);
		else if (r->type != TRACE_END)
			hold(o, r);
		if (o->nr_words >= ORDER_HELD / 8)
			release_half(o);
	}
}
