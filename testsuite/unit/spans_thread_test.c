/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spans, by themselves and with many CPUs at them.
 */
#include <pthread.h>
#include <stdlib.h>
#include "row/spans.h"
#include "test.h"

#define CPUS 8
#define ROUNDS 20000
#define UNDER_WAY 20

static struct sw_spans spans;

static void begin(u64 a, u64 b, u64 now, u64 value)
{
	sw_span_begin(&spans, sw_span_key(a, b), now, value);
}

static s64 end(u64 a, u64 b, u64 now)
{
	return sw_span_end(&spans, sw_span_key(a, b), now);
}

static u64 value(u64 a, u64 b)
{
	return sw_span_value(&spans, sw_span_key(a, b));
}

static void test_one(void)
{
	TEST_EQUAL("what has not begun does not end", end(1, 0, 100), -1);
	TEST_EQUAL("and has no value", value(1, 0), 0);
	begin(1, 0, 100, 7);
	begin(0, 1, 105, 8);
	TEST_EQUAL("a value", value(1, 0), 7);
	TEST_EQUAL("another one's value", value(0, 1), 8);
	TEST_EQUAL("how long it was", end(1, 0, 130), 30);
	TEST_EQUAL("it ends once", end(1, 0, 140), -1);
	begin(0, 1, 110, 9);
	TEST_EQUAL("what begins twice begins anew", value(0, 1), 9);
	TEST_EQUAL("from the second time on", end(0, 1, 120), 10);
	TEST_EQUAL("and is there once", end(0, 1, 130), -1);
	begin(2, 0, 100, 0);
	TEST_EQUAL("time does not go back", end(2, 0, 90), 0);
}

/* Keys of one bucket. */
static void of_a_bucket(u64 *a, int n)
{
	const struct sw_span_bucket *b = sw_span_bucket(&spans, sw_span_key(1, 0));
	u64 i;

	for (i = 1; n; i++)
		if (sw_span_bucket(&spans, sw_span_key(i, 0)) == b) {
			*a++ = i;
			n--;
		}
}

static void test_full(void)
{
	u64 a[SW_SPANS_IN_BUCKET + 1];
	int i, ended = 0;

	of_a_bucket(a, SW_SPANS_IN_BUCKET + 1);
	/* the third begins first */
	for (i = 0; i <= SW_SPANS_IN_BUCKET; i++)
		begin(a[i], 0, i == 2 ? 500 : 1000 + i, i);
	TEST_EQUAL("one gives way", spans.lost.counter, 1);
	TEST_EQUAL("which began first", end(a[2], 0, 2000), -1);
	for (i = 0; i <= SW_SPANS_IN_BUCKET; i++)
		ended += end(a[i], 0, 2000) == 1000 - i;
	TEST_EQUAL("the others end as they began", ended, SW_SPANS_IN_BUCKET);
	spans.lost.counter = 0;
}

/* Each CPU has keys of its own, which are in all buckets; none is ever full of those
 * under way but by chance, which is counted. */
static void *work(void *arg)
{
	const u64 me = (u64)arg;
	long i, wrong = 0, lost = 0;
	s64 was;

	for (i = 0; i < ROUNDS; i++) {
		if (i >= UNDER_WAY) {
			was = end(i - UNDER_WAY, me, i);
			lost += was < 0;
			wrong += was >= 0 && was != UNDER_WAY;
		}
		begin(i, me, i, me * i);
		was = value(i, me);
		wrong += was && (u64)was != me * i;
	}
	for (i = ROUNDS - UNDER_WAY; i < ROUNDS; i++)
		lost += end(i, me, ROUNDS) < 0;
	return (void *)(wrong << 32 | lost);
}

static void test_threads(void)
{
	pthread_t thread[CPUS];
	long i, wrong = 0, lost = 0, left = 0;
	void *rc;

	for (i = 0; i < CPUS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (i = 0; i < CPUS; i++) {
		pthread_join(thread[i], &rc);
		wrong += (long)rc >> 32;
		lost += (long)rc & 0xffffffff;
	}
	for (i = 0; i < CPUS * ROUNDS; i++)
		left += end(i % ROUNDS, i / ROUNDS + 1, ROUNDS) >= 0;
	TEST_EQUAL("each has its own time and value", wrong, 0);
	TEST("what is lost is counted", lost <= spans.lost.counter);
	TEST_EQUAL("none is left", left, 0);
}

/* More than there are buckets for: what never ended is forgotten, the newest are there. */
static void test_crowd(void)
{
	const long all = 10L << SW_SPAN_BUCKET_BITS;
	long i, newest = 0;

	spans.lost.counter = 0;
	for (i = 0; i < 10 * all; i++)
		begin(i, 0, i, i);
	TEST("most gave way", spans.lost.counter > 9 * all);
	for (i = 10 * all - 1000; i < 10 * all; i++)
		newest += end(i, 0, 10 * all) == 10 * all - i;
	TEST_EQUAL("the newest did not", newest, 1000);
}

int main(void)
{
	test_one();
	test_full();
	test_threads();
	test_crowd();
	return test_failures != 0;
}
