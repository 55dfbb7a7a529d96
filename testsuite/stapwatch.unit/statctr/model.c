/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters in one thread: values, memory, and where the words are. */
#include <limits.h>
#include "hooks.h"
#include "test.h"

#define COUNTERS 40

static unsigned long random_long(void)
{
	return (unsigned long)random() << 42 ^ (unsigned long)random() << 21 ^
	       random();
}

static void test_values(void)
{
	static const unsigned long edges[] = {
		0, 1, 2, LONG_MAX, LONG_MAX + 1UL, ULONG_MAX - 1, ULONG_MAX
	};
	static statctr_t c[COUNTERS];
	unsigned long model[COUNTERS];
	int i, n, wrong = 0;

	TEST_EQUAL("ninit returns 0", statctr_ninit(c, COUNTERS, 77), 0);
	for (i = 0; i < COUNTERS; i++) {
		model[i] = 77;
		wrong += statctr_read(&c[i]) != 77;
	}
	TEST_EQUAL("each begins at the value", wrong, 0);

	for (n = 0; n < 200000; n++) {
		unsigned long v = random_long() >> random() % 64;

		i = random() % COUNTERS;
		switch (random() % 6) {
		case 0:
			statctr_inc(&c[i]);
			model[i]++;
			break;
		case 1:
			statctr_dec(&c[i]);
			model[i]--;
			break;
		case 2:
			statctr_add(&c[i], v);
			model[i] += v;
			break;
		case 3:
			statctr_sub(&c[i], v);
			model[i] -= v;
			break;
		case 4:
			if (random() % 10)
				break;
			statctr_set(&c[i], v);
			model[i] = v;
			break;
		default:
			wrong += statctr_read(&c[i]) != model[i];
		}
	}
	for (i = 0; i < COUNTERS; i++)
		wrong += statctr_read(&c[i]) != model[i];
	TEST_EQUAL("any mix of operations gives the sum, modulo 2^64",
		   wrong, 0);

	for (i = 0; i < 7; i++) {
		for (n = 0; n < 7; n++) {
			statctr_set(&c[n], edges[i]);
			statctr_set(&c[n], edges[n]);
			wrong += statctr_read(&c[n]) != edges[n];
		}
	}
	TEST_EQUAL("a read after a set returns what was set", wrong, 0);
	statctr_set(&c[0], ULONG_MAX);
	statctr_inc(&c[0]);
	TEST("one more than the highest value is 0", !statctr_read(&c[0]));
	statctr_dec(&c[0]);
	TEST("one less than 0 is the highest value",
	     statctr_read(&c[0]) == ULONG_MAX);
	__statctr_set(&c[0], 10);
	__statctr_inc(&c[0]);
	__statctr_add(&c[0], 5);
	__statctr_sub(&c[0], 3);
	__statctr_dec(&c[0]);
	TEST_EQUAL("the forms without preemption do the same",
		   statctr_read(&c[0]), 12);
	statctr_ncleanup(c, COUNTERS);
	TEST_EQUAL("after ncleanup nothing is allocated", hooks_live, 0);

	TEST_EQUAL("none at all can be made", statctr_ninit(c, 0, 0), 0);
	statctr_ncleanup(c, 0);
	TEST_EQUAL("init returns 0", statctr_init(&c[0], ULONG_MAX), 0);
	TEST("it begins at the value", statctr_read(&c[0]) == ULONG_MAX);
	statctr_cleanup(&c[0]);
	TEST_EQUAL("after cleanup nothing is allocated", hooks_live, 0);
}

#ifdef STATCTR_UP

static void test_plain(void)
{
	statctr_t c;
	pcpu_ctr_t *p;
	long calls = hooks_calls;

	TEST("a counter is an unsigned long",
	     __builtin_types_compatible_p(statctr_t, unsigned long));
	statctr_init(&c, 3);
	statctr_inc(&c);
	TEST_EQUAL("the value is the unsigned long", c, 4);
	statctr_cleanup(&c);
	TEST_EQUAL("memory is asked for by nothing", hooks_calls, calls);
	p = pcpu_ctr_alloc(0);
	TEST("a pcpu_ctr_t is to be had", p && *PCPU_CTR(p, 0) == 0);
	TEST("and given back", !pcpu_ctr_free(p) && !hooks_live);
	hooks_fail = -1;
	TEST("or not to be had", !pcpu_ctr_alloc(0));
	hooks_fail = 0;
}

#else

/* For all K: the K-th request for memory fails. */
static void test_exhaustion(void)
{
	enum { MANY = 2 * STATCTR_PER_CHUNK + 3 };
	static statctr_t c[MANY], before;
	int wrong = 0, left = 0, failed = 0, kept = 0;
	long live, k;
	bool ok = false;
	int i;

	for (k = 1; !ok; k++) {
		hooks_fail = hooks_calls + k;
		ok = !statctr_ninit(c, MANY, 1);
		hooks_fail = 0;
		if (!ok) {
			failed++;
			left += hooks_live != 0;
			continue;
		}
		for (i = 0; i < MANY; i++)
			wrong += statctr_read(&c[i]) != 1;
		statctr_ncleanup(c, MANY);
	}
	TEST("there is memory to run out of", failed >= 3);
	TEST_EQUAL("ninit that fails leaves nothing allocated", left, 0);
	TEST_EQUAL("one that does not has all counters", wrong, 0);
	TEST_EQUAL("and leaves nothing behind", hooks_live, 0);

	/* the same, with one counter there already */
	statctr_init(&before, 5);
	live = hooks_live;
	for (ok = false, k = 1; !ok; k++) {
		hooks_fail = hooks_calls + k;
		ok = !statctr_ninit(c, MANY, 1);
		hooks_fail = 0;
		if (ok)
			statctr_ncleanup(c, MANY);
		left += hooks_live != live;
		kept += statctr_read(&before) == 5;
	}
	TEST_EQUAL("a failure takes nothing of another counter's", left, 0);
	TEST_EQUAL("nor its value", kept, k - 1);
	hooks_fail = -1;
	TEST("an error is a negative number",
	     statctr_ninit(c, MANY, 0) == -ENOMEM);
	hooks_fail = 0;
	statctr_cleanup(&before);
	TEST_EQUAL("in the end nothing is allocated", hooks_live, 0);
	TEST("to free no counter is nothing", !pcpu_ctr_free(NULL));
}

/* Counters come and go: memory is that of the ones there are. */
static void test_reuse(void)
{
	enum { MANY = 3 * STATCTR_PER_CHUNK };
	static pcpu_ctr_t *c[MANY];
	static unsigned long mark[MANY];
	int i, n, wrong = 0, dirty = 0;
	long blocks, most;
	statctr_t s;

	for (i = 0; i < MANY; i++)
		c[i] = pcpu_ctr_alloc(0);
	blocks = hooks_live_blocks;
	most = blocks;
	for (n = 0; n < 20000; n++) {
		i = random() % MANY;
		if (c[i]) {
			s.ctr = c[i];
			wrong += statctr_read(&s) != mark[i];
			c[i] = pcpu_ctr_free(c[i]);
			wrong += c[i] != NULL;
			continue;
		}
		c[i] = pcpu_ctr_alloc(0);
		if (!c[i])
			abort();
		s.ctr = c[i];
		dirty += statctr_read(&s) != 0;
		mark[i] = random_long();
		statctr_add(&s, mark[i]);
		*PCPU_CTR(c[i], STATCTR_SHARED) += 9;
		mark[i] += 9;
		if (hooks_live_blocks > most)
			most = hooks_live_blocks;
	}
	TEST_EQUAL("counters keep their values as others come and go",
		   wrong, 0);
	TEST_EQUAL("one that is used again begins at 0", dirty, 0);
	TEST_EQUAL("freed counters are used before new memory", most, blocks);
	for (i = 0; i < MANY; i++)
		pcpu_ctr_free(c[i]);
	TEST_EQUAL("with the last one all memory is freed", hooks_live, 0);
}

/* Words of different CPUs never share a line; those of one CPU fill it. */
static void test_places(void)
{
	enum { MANY = STATCTR_PER_CHUNK + 1 };
	pcpu_ctr_t *c[MANY];
	statctr_t s;
	int i, j, wrong = 0, apart = 0;

	/* a thread of this program has a number */
	statctr_init(&s, 0);
	statctr_inc(&s);
	statctr_cleanup(&s);
	for (i = 0; i < MANY; i++)
		c[i] = pcpu_ctr_alloc(0);
	for (i = 0; i < MANY; i++) {
		size_t at = (size_t)PCPU_CTR(c[i], 0);
		size_t last = (size_t)PCPU_CTR(c[i], STATCTR_SHARED);

		wrong += (long)(at % STATCTR_STRIDE) < STATCTR_FIRST;
		wrong += at % sizeof(unsigned long) != 0;
		wrong += last % STATCTR_STRIDE != at % STATCTR_STRIDE;
		wrong += at / STATCTR_STRIDE == last / STATCTR_STRIDE;
#ifndef STATCTR_FLEXIBLE
		wrong += last - at != (size_t)STATCTR_STRIDE * STATCTR_SHARED;
#endif
		for (j = 0; j < i; j++) {
			wrong += PCPU_CTR(c[j], 0) == PCPU_CTR(c[i], 0);
			apart += (size_t)PCPU_CTR(c[j], 0) / STATCTR_STRIDE !=
				 at / STATCTR_STRIDE;
		}
	}
	TEST_EQUAL("words are where they should be", wrong, 0);
	TEST_EQUAL("as many as fit share a chunk, the next is in another",
		   apart, MANY - 1);
	for (i = 0; i < MANY; i++)
		pcpu_ctr_free(c[i]);
}

#endif

int main(void)
{
	srandom(4);
	test_values();
#ifdef STATCTR_UP
	test_plain();
#else
	test_exhaustion();
	test_reuse();
	test_places();
#endif
	return test_failures != 0;
}
