/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beginning of a trace; opening.h says what is wanted of it. */
#include "report/input/opening.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"

/* The look takes some 100 ms.  What comes later is known from then on. */
#define OPENING_NS 2000000000
#define OPENING_BYTES (16u * 1024 * 1024)

/* What has changed since the trace began: of a process its maps, of a thread its name. */
struct changed {
	struct intern pids;
	struct intern tids;
};

static void change(struct intern *ids, uint32_t id)
{
	intern(ids, &id, sizeof(id));
}

static bool has_changed(const struct intern *ids, uint32_t id)
{
	uint32_t nr;

	return intern_find(ids, &id, sizeof(id), &nr);
}

static void look_at_comm(struct changed *c, const struct sw_trace_comm *r,
			 struct procs *procs)
{
	if (!(r->flags & SW_TRACE_COMM_START))
		change(&c->tids, r->tid);
	else if (!has_changed(&c->tids, r->tid))
		procs_record(procs, &r->r);
	if (r->flags & SW_TRACE_COMM_EXEC)
		change(&c->pids, r->pid);
}

static void look_at_map(struct changed *c, const struct sw_trace_mmap *r,
			struct procs *procs)
{
	if (!(r->flags & SW_TRACE_MMAP_START))
		change(&c->pids, r->pid);
	else if (!has_changed(&c->pids, r->pid))
		procs_record(procs, &r->r);
}

/* Numbers of threads that ended may come again. */
static void look_at(struct changed *c, const struct sw_trace_record *r,
		    struct procs *procs)
{
	const struct sw_trace_fork *f = (const void *)r;
	const struct sw_trace_exit *x = (const void *)r;

	switch (r->type) {
	case SW_TRACE_COMM:
		look_at_comm(c, (const void *)r, procs);
		break;
	case SW_TRACE_MMAP:
		look_at_map(c, (const void *)r, procs);
		break;
	case SW_TRACE_FORK:
		change(&c->tids, f->tid);
		if (f->pid != f->parent_pid)
			change(&c->pids, f->pid);
		break;
	case SW_TRACE_EXIT:
		change(&c->tids, x->tid);
		if (x->pid == x->tid)
			change(&c->pids, x->pid);
		break;
	}
}

static void keep(struct opening *o, const struct sw_trace_record *r)
{
	const size_t len = r->size / sizeof(*o->words);

	o->words = array_room(o->words, &o->size, o->nr + len,
			      sizeof(*o->words));
	memcpy(o->words + o->nr, r, r->size);
	o->nr += len;
}

static const struct sw_trace_record *next_kept(struct opening *o)
{
	const struct sw_trace_record *r;

	if (o->at == o->nr)
		return NULL;
	r = (const void *)(o->words + o->at);
	o->at += r->size / sizeof(*o->words);
	return r;
}

void opening_read(struct opening *o, struct order *order, uint64_t began,
		  struct procs *procs)
{
	const struct sw_trace_record *r;
	struct changed c = { 0 };

	*o = (struct opening) { .order = order };
	while (o->nr < OPENING_BYTES / sizeof(*o->words) &&
	       (r = order_next(order))) {
		keep(o, r);
		if (!order_is_timeless(r) && r->time > began &&
		    r->time - began > OPENING_NS)
			break;
	}
	while ((r = next_kept(o)))
		look_at(&c, r, procs);
	o->at = 0;
	intern_free(&c.pids);
	intern_free(&c.tids);
}

void opening_free(struct opening *o)
{
	free(o->words);
}

const struct sw_trace_record *opening_next(struct opening *o)
{
	const struct sw_trace_record *r = next_kept(o);

	if (r)
		return r;
	free(o->words);
	*o = (struct opening) { .order = o->order };
	return order_next(o->order);
}
