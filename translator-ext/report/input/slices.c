/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CPUs say in a timeline; slices.h says what is wanted of it. */
#include "report/input/slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

static struct slices_cpu *cpu_of(struct slices *s, unsigned int cpu)
{
	s->cpus = array_room(s->cpus, &s->nr_cpus, cpu + 1, sizeof(*s->cpus));
	return &s->cpus[cpu];
}

static void add_gap(struct slices *s, uint64_t from, uint64_t to, int32_t cpu)
{
	s->gaps = array_room(s->gaps, &s->size_gaps, s->nr_gaps + 1,
			     sizeof(*s->gaps));
	s->gaps[s->nr_gaps++] = (struct gap){ from, to, cpu };
}

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

static struct told *new_told(struct slices *s, const struct sw_slice *e,
			     unsigned int cpu)
{
	struct told *d;

	s->told = array_room(s->told, &s->size_told, s->nr_told + 1,
			     sizeof(*s->told));
	d = &s->told[s->nr_told];
	*d = (struct told){
		.order = s->nr_told++,
		.tid = e->tid,
		.cpu = cpu,
		.call = e->call,
		.part = e->part,
		.flags = e->flags,
	};
	return d;
}

/* Returns whether it can be what it says. */
static bool on_slice(struct slices *s, const struct sw_slice *e,
		     unsigned int nr)
{
	struct slices_cpu *c = cpu_of(s, nr);
	struct told *d;

	if (e->flags & (SW_SLICE_BORN | SW_SLICE_NAME)) {
		d = new_told(s, e, nr);
		d->prev = e->system;
		memcpy(d->words, e->more, sizeof(d->words));
		d->time = e->flags & SW_SLICE_BORN ? d->words[0] : c->time;
		return true;
	}
	if (e->flags & SW_SLICE_BEGIN) {
		if (c->known && e->more[0] >= c->time)
			add_gap(s, c->time, e->more[0], nr);
		d = new_told(s, e, nr);
		d->time = e->more[0];
		*c = (struct slices_cpu){
			.known = true,
			.time = d->time,
			.tid = e->tid,
			.taken = c->taken,
			.lost = c->lost,
			.ended = c->ended,
		};
		return true;
	}
	/* what came before is missing */
	if (!c->known)
		return true;
	d = new_told(s, e, nr);
	fill_told(d, e);
	if (d->dt > UINT64_MAX - c->time) {
		s->nr_told--;
		return false;
	}
	d->prev = c->tid;
	d->time = c->time + d->dt;
	bound_told(d);
	c->time = d->time;
	c->tid = d->tid;
	return true;
}

void slices_record(struct slices *s, const struct sw_trace_slices *r)
{
	const char *at = (const char *)r->more;
	const char *end = (const char *)r + r->r.size;
	struct slices_cpu *c = cpu_of(s, r->r.cpu);
	const struct sw_slice *e;
	size_t size;

	if (r->flags & SW_TRACE_SLICES_SINCE) {
		/* records between are missing */
		if (c->known && (c->time != r->from || c->tid != r->tid))
			add_gap(s, c->time < r->from ? c->time : r->from,
				r->from, -1);
		c->known = true;
		c->time = r->from;
		c->tid = r->tid;
	}
	while (at < end) {
		e = (const void *)at;
		if ((size_t)(end - at) < sizeof(*e) || !(e->flags & SW_SLICE))
			break;
		size = sizeof(*e) + 8 * sw_slice_more(e->flags);
		if ((size_t)(end - at) < size || !on_slice(s, e, r->r.cpu))
			break;
		at += size;
	}
	s->damaged += at < end;
}

static int compare_gaps(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* A CPU that lost nothing was off. */
static bool is_gap(const struct slices *s, const struct gap *g)
{
	return g->cpu < 0 || !s->cpus[g->cpu].ended || s->cpus[g->cpu].lost;
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

static int compare_told(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void slices_end(struct slices *s, const struct sw_trace_slices_end *r)
{
	struct slices_cpu *c = cpu_of(s, r->r.cpu);

	c->ended = true;
	c->taken = r->taken;
	c->lost = r->lost;
}

void slices_order(struct slices *s)
{
	order_gaps(s);
	if (s->nr_told)
		qsort(s->told, s->nr_told, sizeof(*s->told), compare_told);
}

void slices_free(struct slices *s)
{
	free(s->cpus);
	free(s->told);
	free(s->gaps);
	*s = (struct slices){ 0 };
}
