/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of records, from one CPU to one reader.
 *
 * Who may run what, against whom:
 *
 *   sw_ring_enter(), sw_ring_leave()	on the ring's CPU, preemption off; any
 *			context, NMI included.  One that comes within another is
 *			told so by sw_ring_enter(), and writes nothing.
 *   sw_ring_reserve(), sw_ring_commit()	between these two
 *   sw_ring_first(), sw_ring_drop()	one reader at a time, on any CPU
 *
 * A record is never torn by the ring's end: what is left there is marked by a
 * zero word, which no record begins with.
 */
#ifndef STAPWATCH_TRACE_RING_H
#define STAPWATCH_TRACE_RING_H

#include "base/compat.h"

struct sw_ring {
	char *bytes;
	unsigned long size;	/* a power of two */
	u32 busy;
	unsigned long next;	/* the writer's, when it commits */
	unsigned long head;	/* what is written up to */
	unsigned long tail;	/* what is read up to */
};

static inline void
sw_ring_init(struct sw_ring *r, void *bytes, unsigned long size)
{
	*r = (struct sw_ring) { .bytes = bytes, .size = size };
}

/**
 * sw_ring_enter - begin to write a record
 * Return: false when this came in the middle of another one's writing.
 */
static __always_inline bool sw_ring_enter(struct sw_ring *r)
{
	/* a full barrier: the reader waits for us, or we see what it did */
	return !xchg(&r->busy, 1);
}

static __always_inline void sw_ring_leave(struct sw_ring *r)
{
	/* with smp_load_acquire() of the one who waits for us to be done */
	smp_store_release(&r->busy, 0);
}

/**
 * sw_ring_reserve - room for a record of so many bytes, a multiple of eight
 * Return: NULL when it is full.  Else sw_ring_commit() must follow.
 */
static __always_inline void *
sw_ring_reserve(struct sw_ring *r, unsigned long bytes)
{
	unsigned long head = r->head, at = head & (r->size - 1), skip = 0;
	/* with sw_ring_first() and sw_ring_drop(): what was there is read */
	unsigned long used = head - smp_load_acquire(&r->tail);

	if (bytes > r->size - at)
		skip = r->size - at;
	if (bytes + skip > r->size - used)
		return NULL;
	if (skip) {
		*(u32 *)(r->bytes + at) = 0;
		at = 0;
	}
	r->next = head + skip + bytes;
	return r->bytes + at;
}

static __always_inline void sw_ring_commit(struct sw_ring *r)
{
	/* with smp_load_acquire() of head by the reader: the record is there */
	smp_store_release(&r->head, r->next);
}

/**
 * sw_ring_first - the oldest record up to HEAD, an earlier value of r->head
 * Return: NULL when there is none.
 */
static inline void *sw_ring_first(struct sw_ring *r, unsigned long head)
{
	unsigned long at = r->tail & (r->size - 1);

	if (r->tail == head)
		return NULL;
	if (!*(u32 *)(r->bytes + at)) {
		/* with smp_load_acquire() in sw_ring_reserve() */
		smp_store_release(&r->tail, r->tail + r->size - at);
		at = 0;
		if (r->tail == head)
			return NULL;
	}
	return r->bytes + at;
}

/**
 * sw_ring_drop - give the room of the oldest record, of so many bytes, back
 */
static inline void sw_ring_drop(struct sw_ring *r, unsigned long bytes)
{
	/* with smp_load_acquire() in sw_ring_reserve() */
	smp_store_release(&r->tail, r->tail + bytes);
}

#endif
