/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters with many threads at them.  ROUNDS can be less where a sanitizer
 * looks on.
 */
#include <sched.h>
#include "hooks.h"
#include "test.h"

#ifndef ROUNDS
#define ROUNDS 100000
#endif
#define COUNTERS 5
#define MAX 64

static statctr_t counters[COUNTERS];
static bool stop;

struct worker {
	pthread_t thread;
	unsigned int seed;
	unsigned long sum[COUNTERS];
};

static void *mix(void *arg)
{
	struct worker *w = arg;
	int n, i;

	for (n = 0; n < ROUNDS; n++) {
		unsigned long v = (unsigned long)rand_r(&w->seed) << 33 |
				  rand_r(&w->seed);

		i = rand_r(&w->seed) % COUNTERS;
		switch (rand_r(&w->seed) % 4) {
		case 0:
			statctr_inc(&counters[i]);
			w->sum[i]++;
			break;
		case 1:
			statctr_dec(&counters[i]);
			w->sum[i]--;
			break;
		case 2:
			statctr_add(&counters[i], v);
			w->sum[i] += v;
			break;
		default:
			statctr_sub(&counters[i], v);
			w->sum[i] -= v;
		}
	}
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	if (pthread_create(thread, NULL, run, arg))
		abort();
}

static void test_sums(void)
{
	static const int threads[] = { 1, 2, 3, 4, 8, 16, 33, 64 };
	static struct worker w[MAX];
	unsigned int t;
	int i, n;

	for (t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
		unsigned long sum[COUNTERS] = { 0 };
		int wrong = 0;
		char name[64];

		if (statctr_ninit(counters, COUNTERS, 0))
			abort();
		for (n = 0; n < threads[t]; n++) {
			w[n] = (struct worker){ .seed = 100 * t + n };
			start(&w[n].thread, mix, &w[n]);
		}
		for (n = 0; n < threads[t]; n++) {
			pthread_join(w[n].thread, NULL);
			for (i = 0; i < COUNTERS; i++)
				sum[i] += w[n].sum[i];
		}
		for (i = 0; i < COUNTERS; i++)
			wrong += statctr_read(&counters[i]) != sum[i];
		snprintf(name, sizeof(name), "%d threads: sums are exact",
			 threads[t]);
		TEST_EQUAL(name, wrong, 0);
		statctr_ncleanup(counters, COUNTERS);
	}
}

static void *count_up(void *arg)
{
	long n;

	for (n = 0; n < ROUNDS; n++)
		statctr_inc(arg);
	return NULL;
}

/* Who reads meanwhile never sees a counter that only rises fall. */
static void *watch(void *arg)
{
	unsigned long last = 0, now;
	long falls = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		now = statctr_read(arg);
		falls += now < last;
		last = now;
		sched_yield();
	}
	return (void *)falls;
}

static void test_reader(void)
{
	pthread_t reader, thread[8];
	statctr_t c;
	void *falls;
	int n;

	if (statctr_init(&c, 0))
		abort();
	start(&reader, watch, &c);
	for (n = 0; n < 8; n++)
		start(&thread[n], count_up, &c);
	for (n = 0; n < 8; n++)
		pthread_join(thread[n], NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(reader, &falls);
	TEST_EQUAL("to a reader, a rising counter rises", (long)falls, 0);
	TEST_EQUAL("and ends at the sum", statctr_read(&c), 8L * ROUNDS);
	statctr_cleanup(&c);
}

/*
 * One thread sets, the others count: what is counted after a set is on top of
 * it, what was before may be.
 */
static void test_set(void)
{
	enum { THREADS = 4, SETS = 50 };
	pthread_t thread[THREADS];
	unsigned long value, low, high;
	int n, i, wrong = 0;
	statctr_t c;

	if (statctr_init(&c, 0))
		abort();
	for (i = 0; i < SETS; i++) {
		unsigned long v = 1000000000UL * (i + 1);

		for (n = 0; n < THREADS; n++)
			start(&thread[n], count_up, &c);
		statctr_set(&c, v);
		low = statctr_read(&c);
		for (n = 0; n < THREADS; n++)
			pthread_join(thread[n], NULL);
		value = statctr_read(&c);
		high = v + (unsigned long)THREADS * ROUNDS;
		wrong += low < v || low > high || value < low || value > high;
		/* and with nobody there, exactly */
		statctr_set(&c, v);
		wrong += statctr_read(&c) != v;
	}
	TEST_EQUAL("a set loses no update that it has not seen", wrong, 0);
	statctr_cleanup(&c);
}

static int slots_taken(void)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < STATCTR_SHARED; i++)
		n += READ_ONCE(statctr_taken[i]);
	return n;
}

static void *count_once(void *arg)
{
	statctr_inc(arg);
	return (void *)(size_t)statctr_self;
}

/* 1,000 threads, one after the other, need one number. */
static void test_short(void)
{
	long highest = 0;
	pthread_t thread;
	statctr_t c;
	void *slot;
	int i;

	if (statctr_init(&c, 0))
		abort();
	statctr_inc(&c);
	for (i = 0; i < 1000; i++) {
		start(&thread, count_once, &c);
		pthread_join(thread, &slot);
		if ((long)slot > highest)
			highest = (long)slot;
	}
	TEST_EQUAL("short threads are all counted", statctr_read(&c), 1001);
	TEST_EQUAL("they have one number, one after the other", highest, 1);
	TEST_EQUAL("which is free in the end", slots_taken(), 1);
	statctr_cleanup(&c);
}

/* A destructor that runs after ours. */
static statctr_t last_words;

static void count_late(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < 100; i++)
		statctr_inc(&last_words);
}

static pthread_key_t late;

static void *leave_late(void *arg)
{
	pthread_setspecific(late, &late);
	statctr_inc(&last_words);
	return arg;
}

static void test_late(void)
{
	pthread_t thread[16];
	int n;

	if (statctr_init(&last_words, 0))
		abort();
	statctr_inc(&last_words);
	if (pthread_key_create(&late, count_late))
		abort();
	for (n = 0; n < 16; n++)
		start(&thread[n], leave_late, NULL);
	for (n = 0; n < 16; n++)
		pthread_join(thread[n], NULL);
	TEST_EQUAL("what a thread counts while it exits is counted",
		   statctr_read(&last_words), 1 + 16 * 101);
	if (STATCTR_SHARED > 16)
		TEST_EQUAL("but not under the number that it has given back",
			   *PCPU_CTR(last_words.ctr, STATCTR_SHARED), 16 * 100);
	TEST_EQUAL("no number is kept for that", slots_taken(), 1);
	pthread_key_delete(late);
	statctr_cleanup(&last_words);
}

/* Counters are made and freed while others are counted on. */
static void *churn(void *arg)
{
	struct worker *w = arg;
	statctr_t c[3];
	long wrong = 0;
	int n, i;

	for (n = 0; n < ROUNDS / 20; n++) {
		unsigned long v = rand_r(&w->seed);

		if (statctr_ninit(c, 3, v))
			abort();
		for (i = 0; i < 3; i++)
			statctr_add(&c[i], i);
		for (i = 0; i < 3; i++)
			wrong += statctr_read(&c[i]) != v + i;
		statctr_inc(&counters[0]);
		statctr_ncleanup(c, 3);
	}
	return (void *)wrong;
}

static void test_churn(void)
{
	static struct worker w[8];
	long wrong = 0;
	void *result;
	int n;

	if (statctr_ninit(counters, COUNTERS, 0))
		abort();
	for (n = 0; n < 8; n++) {
		w[n] = (struct worker){ .seed = n };
		start(&w[n].thread, churn, &w[n]);
	}
	for (n = 0; n < 8; n++) {
		pthread_join(w[n].thread, &result);
		wrong += (long)result;
	}
	TEST_EQUAL("counters that come and go have their own values", wrong, 0);
	TEST_EQUAL("and others theirs", statctr_read(&counters[0]),
		   8L * (ROUNDS / 20));
	statctr_ncleanup(counters, COUNTERS);
}

#ifdef STATCTR_FLEXIBLE
/* No memory for a thread's words: it counts all the same. */
static void test_no_words(void)
{
	pthread_t thread[4];
	statctr_t c;
	int n;

	/* the numbers that have words by now are below any new one */
	for (n = 0; n < (int)STATCTR_SHARED; n++)
		statctr_taken[n]++;
	for (n = STATCTR_SHARED - 4; n < (int)STATCTR_SHARED; n++)
		statctr_taken[n]--;
	if (statctr_init(&c, 0))
		abort();
	hooks_fail = -1;
	for (n = 0; n < 4; n++)
		start(&thread[n], count_up, &c);
	for (n = 0; n < 4; n++)
		pthread_join(thread[n], NULL);
	hooks_fail = 0;
	TEST_EQUAL("threads without memory for words are counted",
		   statctr_read(&c), 4L * ROUNDS);
	TEST_EQUAL("in the shared one",
		   *PCPU_CTR(c.ctr, STATCTR_SHARED), 4L * ROUNDS);
	for (n = 0; n < (int)STATCTR_SHARED - 4; n++)
		statctr_taken[n]--;
	TEST_EQUAL("and keep no number", slots_taken(), 1);
	statctr_cleanup(&c);
}
#endif

int main(void)
{
	statctr_t c;

	/* the first number is this thread's */
	if (statctr_init(&c, 0))
		abort();
	statctr_inc(&c);
	statctr_cleanup(&c);

	test_sums();
	test_reader();
	test_set();
	if (STATCTR_SHARED > 1)
		test_short();
	test_late();
	test_churn();
#ifdef STATCTR_FLEXIBLE
	if (STATCTR_SHARED > 4)
		test_no_words();
#endif
	TEST_EQUAL("in the end nothing is allocated", hooks_live, 0);
	return test_failures != 0;
}
