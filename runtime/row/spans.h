/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spans: when something began that is not over.
 *
 * A script notes when a system call, an interrupt or a request begins, and asks for
 * how long it took when it ends.  A global array for that is written by all CPUs under
 * one lock.  Here a begin and an end are a compare-and-exchange each.
 *
 * Who may run what, against whom:
 *
 *   all functions		any context, NMI included, on all CPUs; for one key
 *				one at a time
 *
 * The table is an array of buckets, whose keys are in one cache line.  Where a bucket is
 * full, the span that began first gives way, and its end finds nothing.  So what never
 * ends takes no room for good.
 */
#ifndef STAPWATCH_ROW_SPANS_H
#define STAPWATCH_ROW_SPANS_H

#include "base/compat.h"

#define SW_SPAN_BUCKET_BITS 12
#define SW_SPANS_IN_BUCKET 8
/* The key of a place that is being written, and is nobody else's meanwhile. */
#define SW_SPAN_BUSY 1

struct sw_span_bucket {
	u64 key[SW_SPANS_IN_BUCKET];	/* 0: free */
	u64 begun[SW_SPANS_IN_BUCKET];
	u64 value[SW_SPANS_IN_BUCKET];
};

struct sw_spans {
	struct sw_span_bucket bucket[1 << SW_SPAN_BUCKET_BITS];
	atomic64_t lost;	/* spans that gave way */
};

/**
 * sw_span_key - the key that two numbers are
 */
static __always_inline u64 sw_span_key(u64 a, u64 b)
{
	const u64 odd = 0x9e3779b97f4a7c15ULL;
	u64 key = (a * odd ^ b ^ a >> 32) * odd;

	return key > SW_SPAN_BUSY ? key : SW_SPAN_BUSY + 1;
}

static __always_inline struct sw_span_bucket *
sw_span_bucket(struct sw_spans *t, u64 key)
{
	return &t->bucket[key >> (64 - SW_SPAN_BUCKET_BITS)];
}

/* Return: where in the bucket; -1: nowhere. */
static __always_inline int sw_span_find(const struct sw_span_bucket *b, u64 key)
{
	int i;

	for (i = 0; i < SW_SPANS_IN_BUCKET; i++)
		/* with smp_store_release() in sw_span_begin() */
		if (smp_load_acquire(&b->key[i]) == key)
			return i;
	return -1;
}

/* A full bucket: take the place of the span that began first.  Return: -1: somebody else
 * was faster. */
static inline int sw_span_displace(struct sw_spans *t, struct sw_span_bucket *b)
{
	u64 was, begun, least = ~0ULL;
	int i, first = 0;

	for (i = 0; i < SW_SPANS_IN_BUCKET; i++) {
		begun = READ_ONCE(b->begun[i]);
		if (begun < least) {
			least = begun;
			first = i;
		}
	}
	was = READ_ONCE(b->key[first]);
	atomic64_add_return(1, &t->lost);
	return was != SW_SPAN_BUSY &&
	       cmpxchg(&b->key[first], was, SW_SPAN_BUSY) == was ? first : -1;
}

/**
 * sw_span_begin - a span begins
 * @key: of sw_span_key(); one that has begun begins anew
 * @now: a time
 * @value: for sw_span_value()
 */
static __always_inline void
sw_span_begin(struct sw_spans *t, u64 key, u64 now, u64 value)
{
	struct sw_span_bucket *b = sw_span_bucket(t, key);
	int i, at = sw_span_find(b, key);

	if (at >= 0 && cmpxchg(&b->key[at], key, SW_SPAN_BUSY) != key)
		at = -1;
	for (i = 0; at < 0 && i < SW_SPANS_IN_BUCKET; i++)
		if (!READ_ONCE(b->key[i]) &&
		    !cmpxchg(&b->key[i], 0, SW_SPAN_BUSY))
			at = i;
	if (at < 0)
		at = sw_span_displace(t, b);
	if (at < 0)
		return;
	WRITE_ONCE(b->begun[at], now);
	WRITE_ONCE(b->value[at], value);
	/* with sw_span_find() */
	smp_store_release(&b->key[at], key);
}

/**
 * sw_span_end - a span ends
 * Return: how long it was; -1: it has not begun, or gave way.
 */
static __always_inline s64 sw_span_end(struct sw_spans *t, u64 key, u64 now)
{
	struct sw_span_bucket *b = sw_span_bucket(t, key);
	int at = sw_span_find(b, key);
	u64 begun;

	if (at < 0)
		return -1;
	begun = READ_ONCE(b->begun[at]);
	/* sw_span_displace() may have it for another one, whose time that is */
	if (cmpxchg(&b->key[at], key, 0) != key)
		return -1;
	return now > begun ? now - begun : 0;
}

/**
 * sw_span_value - what a span began with
 * Return: 0: it has not begun, or gave way.
 */
static __always_inline u64 sw_span_value(struct sw_spans *t, u64 key)
{
	struct sw_span_bucket *b = sw_span_bucket(t, key);
	int at = sw_span_find(b, key);
	u64 value;

	if (at < 0)
		return 0;
	/* with the cmpxchg() of sw_span_displace(): the value is the span's, if its key is
	 * still there afterwards */
	value = smp_load_acquire(&b->value[at]);
	return READ_ONCE(b->key[at]) == key ? value : 0;
}

#endif
