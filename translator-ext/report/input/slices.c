/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CPUs say in a timeline; slices.h says what is wanted of it. */
#include "report/input/slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

#define MEMORY (16 << 20)

/* A record of slices in the spool. */
struct place {
	uint64_t at;
	uint32_t size;
	uint32_t nr; /* in the order of the trace */
};

struct slices_stream {
	/* how far it is read */
	bool known;
	uint64_t time;
	uint32_t tid;
	uint64_t taken, lost;
	bool ended;
	struct place *places;
	size_t nr_places, size_places;
	/* of what is read again: the place after that of the record */
	size_t next;
	struct sw_trace_slices *record;
	uint32_t largest; /* of the records */
	const char *at; /* in it; NULL: none is begun */
	uint64_t key; /* none that was told came later */
	struct told told; /* what comes next */
};

void slices_init(struct slices *s)
{
	*s = (struct slices){ .spool = { .most = MEMORY },
			      .oldest = UINT64_MAX };
}

void slices_free(struct slices *s)
{
	size_t i;

	for (i = 0; i < s->nr_cpus; i++) {
		if (!s->cpus[i])
			continue;
		free(s->cpus[i]->places);
		free(s->cpus[i]->record);
		free(s->cpus[i]);
	}
	free(s->cpus);
	free(s->gaps);
	heap_free(&s->heap);
	spool_free(&s->spool);
}

static struct slices_stream *stream_of(struct slices *s, unsigned int cpu)
{
	s->cpus = array_room(s->cpus, &s->nr_cpus, cpu + 1, sizeof(*s->cpus));
	if (!s->cpus[cpu]) {
		s->cpus[cpu] = xmalloc(sizeof(**s->cpus));
		*s->cpus[cpu] = (struct slices_stream){ 0 };
	}
	return s->cpus[cpu];
}

static void add_gap(struct slices *s, uint64_t from, uint64_t to, int32_t cpu)
{
	s->gaps = array_room(s->gaps, &s->size_gaps, s->nr_gaps + 1,
			     sizeof(*s->gaps));
	s->gaps[s->nr_gaps++] = (struct gap){ from, to, cpu };
}

/* ---- what a slice tells */

static void fill_told(struct told *d, const struct sw_slice *e)
{
	const uint64_t *more = e->more;

	d->dt = e->dt;
	d->system = e->system;
	if (e->flags & SW_SLICE_IRQ) {
		d->irq = (uint32_t)*more;
		d->soft = *more++ >> 32;
	}
	if (e->flags & SW_SLICE_WOKEN) {
		d->ready = (uint32_t)*more;
		d->waker = *more++ >> 32;
	}
	if (e->flags & SW_SLICE_WIDE) {
		d->dt |= more[0] << 32;
		d->system |= more[0] >> 32 << 32;
		d->irq |= more[1] << 32;
		d->soft |= more[1] >> 32 << 32;
		d->ready |= more[2] << 32;
	}
}

/* More than it ran it cannot have run. */
static void bound_told(struct told *d)
{
	uint64_t left = d->dt;

	if (d->irq > left)
		d->irq = left;
	left -= d->irq;
	if (d->soft > left)
		d->soft = left;
	left -= d->soft;
	if (d->system > left)
		d->system = left;
	if (d->ready > d->time)
		d->ready = d->time;
}

enum told_by { TOLD_NOTHING, TOLD_SWITCH, TOLD_ELSE, TOLD_WRONG };

/* What E tells after what C has told. */
static enum told_by tell(struct slices_stream *c, const struct sw_slice *e,
			 struct told *d)
{
	*d = (struct told){
		.tid = e->tid,
		.call = e->call,
		.part = e->part,
		.flags = e->flags,
	};
	if (e->flags & (SW_SLICE_BORN | SW_SLICE_NAME)) {
		d->prev = e->system;
		memcpy(d->words, e->more, sizeof(d->words));
		d->time = e->flags & SW_SLICE_BORN ? d->words[0] : c->time;
		return TOLD_ELSE;
	}
	if (e->flags & SW_SLICE_BEGIN) {
		d->time = e->more[0];
		c->known = true;
		c->time = d->time;
		c->tid = e->tid;
		return TOLD_ELSE;
	}
	/* what came before is missing */
	if (!c->known)
		return TOLD_NOTHING;
	fill_told(d, e);
	if (d->dt > UINT64_MAX - c->time)
		return TOLD_WRONG;
	d->prev = c->tid;
	d->time = c->time + d->dt;
	bound_told(d);
	c->time = d->time;
	c->tid = d->tid;
	return TOLD_SWITCH;
}

/* The slice at *AT of a record, after which *AT stands then; NULL: there is none. */
static const struct sw_slice *slice_at(const struct sw_trace_slices *r,
				       const char **at)
{
	const size_t left = (const char *)r + r->r.size - *at;
	const struct sw_slice *e = (const void *)*at;
	size_t size;

	if (left < sizeof(*e) || !(e->flags & SW_SLICE))
		return NULL;
	size = sizeof(*e) + 8 * sw_slice_more(e->flags);
	if (left < size)
		return NULL;
	*at += size;
	return e;
}

/* ---- records, as they come */

/* Returns whether it can be what it says. */
static bool on_slice(struct slices *s, struct slices_stream *c,
		     const struct sw_slice *e, unsigned int cpu)
{
	const bool begins = e->flags & SW_SLICE_BEGIN &&
			    !(e->flags & (SW_SLICE_BORN | SW_SLICE_NAME));
	struct told d;
	uint64_t at;

	if (begins && c->known && e->more[0] >= c->time)
		add_gap(s, c->time, e->more[0], cpu);
	switch (tell(c, e, &d)) {
	case TOLD_WRONG:
		return false;
	case TOLD_NOTHING:
		return true;
	case TOLD_SWITCH:
		at = d.time - (d.prev ? d.dt : d.irq + d.soft);
		if (at < s->oldest)
			s->oldest = at;
		break;
	case TOLD_ELSE:
		if (begins && d.tid && d.time < s->oldest)
			s->oldest = d.time;
		break;
	}
	s->nr_told++;
	return true;
}

/* What a record says of what was before it. */
static void begin_record(struct slices_stream *c,
			 const struct sw_trace_slices *r)
{
	if (!(r->flags & SW_TRACE_SLICES_SINCE))
		return;
	c->known = true;
	c->time = r->from;
	c->tid = r->tid;
}

static void keep(struct slices *s, struct slices_stream *c,
		 const struct sw_trace_slices *r)
{
	c->places = array_room(c->places, &c->size_places, c->nr_places + 1,
			       sizeof(*c->places));
	c->places[c->nr_places++] = (struct place){
		.at = spool_add(&s->spool, r, r->r.size),
		.size = r->r.size,
		.nr = s->records++,
	};
	if (r->r.size > c->largest)
		c->largest = r->r.size;
}

void slices_record(struct slices *s, const struct sw_trace_slices *r)
{
	struct slices_stream *c = stream_of(s, r->r.cpu);
	const char *at = (const char *)r->more;
	const struct sw_slice *e;

	keep(s, c, r);
	/* records between are missing */
	if (r->flags & SW_TRACE_SLICES_SINCE && c->known &&
	    (c->time != r->from || c->tid != r->tid))
		add_gap(s, c->time < r->from ? c->time : r->from, r->from, -1);
	begin_record(c, r);
	while ((e = slice_at(r, &at)))
		if (!on_slice(s, c, e, r->r.cpu))
			break;
	s->damaged += e || at < (const char *)r + r->r.size;
}

void slices_end(struct slices *s, const struct sw_trace_slices_end *r)
{
	struct slices_stream *c = stream_of(s, r->r.cpu);

	c->ended = true;
	c->lost = r->lost;
	c->taken = r->taken;
}

/* ---- gaps */

static int compare_gaps(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* A CPU that lost nothing was off. */
static bool is_gap(const struct slices *s, const struct gap *g)
{
	return g->cpu < 0 || !s->cpus[g->cpu]->ended ||
	       s->cpus[g->cpu]->lost;
}

/* In order, and none within another. */
static void order_gaps(struct slices *s)
{
	struct gap *g = s->gaps;
	size_t i, nr = 0;

	for (i = 0; i < s->nr_gaps; i++)
		if (is_gap(s, &g[i]))
			g[nr++] = g[i];
	s->nr_gaps = nr;
	nr = 0;
	if (!s->nr_gaps)
		return;
	qsort(g, s->nr_gaps, sizeof(*g), compare_gaps);
	for (i = 1; i < s->nr_gaps; i++) {
		if (g[i].from > g[nr].to)
			g[++nr] = g[i];
		else if (g[i].to > g[nr].to)
			g[nr].to = g[i].to;
	}
	s->nr_gaps = nr + 1;
}

bool slices_have_gap(const struct slices *s, uint64_t from, uint64_t to)
{
	size_t nr = array_up_to(s->gaps, s->nr_gaps, sizeof(*s->gaps),
				offsetof(struct gap, from), to);

	return nr && s->gaps[nr - 1].to > from;
}

/* ---- all of them, in the order of time */

/* Return: is there a next record? */
static bool load(struct slices *s, struct slices_stream *c)
{
	const struct place *p;

	if (c->next == c->nr_places) {
		free(c->record);
		c->record = NULL;
		return false;
	}
	p = &c->places[c->next];
	c->record = c->record ?: xmalloc(c->largest);
	if (!spool_read(&s->spool, p->at, c->record, p->size))
		return false;
	c->next++;
	begin_record(c, c->record);
	c->at = (const char *)c->record->more;
	return true;
}

/* Return: does it tell anything more?  That is in c->told then. */
static bool go_on(struct slices *s, struct slices_stream *c)
{
	const struct sw_slice *e;

	for (;;) {
		e = c->at ? slice_at(c->record, &c->at) : NULL;
		if (!e && !load(s, c))
			return false;
		if (!e)
			continue;
		switch (tell(c, e, &c->told)) {
		case TOLD_SWITCH:
		case TOLD_ELSE:
			return true;
		case TOLD_WRONG:
			c->at = NULL;
			break;
		case TOLD_NOTHING:
			break;
		}
	}
}

static void put_next(struct slices *s, uint32_t cpu)
{
	struct slices_stream *c = s->cpus[cpu];

	if (!go_on(s, c))
		return;
	c->told.cpu = cpu;
	/* what is damaged may go back in time, and does not keep what comes later */
	if (c->told.time > c->key)
		c->key = c->told.time;
	heap_put(&s->heap, &(struct heap_entry){
				   .key = c->key,
				   .nr = c->places[c->next - 1].nr,
				   .at = cpu,
			   });
}

void slices_order(struct slices *s)
{
	struct slices_stream *c;
	size_t i;

	order_gaps(s);
	for (i = 0; i < s->nr_cpus; i++) {
		c = s->cpus[i];
		if (!c)
			continue;
		s->taken += c->taken;
		s->lost += c->lost;
		c->known = false;
		c->time = 0;
		c->tid = 0;
		put_next(s, i);
	}
}

const struct told *slices_next(struct slices *s)
{
	uint32_t cpu;

	if (!s->heap.nr || s->spool.error)
		return NULL;
	cpu = heap_take(&s->heap).at;
	s->told = s->cpus[cpu]->told;
	put_next(s, cpu);
	return &s->told;
}
