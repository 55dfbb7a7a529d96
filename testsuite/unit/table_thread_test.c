/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of watched threads, with many CPUs at it: each comes and goes with
 * keys of its own, as threads that start, count and exit on it.
 */
#include <pthread.h>
#include <stdlib.h>
#include "count/table.h"
#include "test.h"

#define CPUS 8
#define ROUNDS 20000
#define LIVE 40
#define COUNTERS 2

static struct sw_table table;

struct cpu {
	pthread_t thread;
	unsigned int seed;
	unsigned int number;
	long wrong, refused, lives;
};

static struct task_struct *key(const struct cpu *c, int i)
{
	return (struct task_struct *)(0xffff888000000000UL +
				      (c->number * LIVE + i) * 0x1280UL);
}

/* Every sum has two halves that its owner keeps equal. */
static void *run(void *arg)
{
	struct cpu *c = arg;
	u64 sum[LIVE] = { 0 };
	bool live[LIVE] = { false };
	int i, round;

	for (round = 0; round < ROUNDS; round++) {
		struct sw_thread *e;

		i = rand_r(&c->seed) % LIVE;
		e = sw_table_find(&table, key(c, i));
		c->wrong += !e == live[i];
		if (!live[i]) {
			e = sw_table_insert(&table, key(c, i), COUNTERS);
			if (!e) {
				c->refused++;
				continue;
			}
			c->wrong += e->sum[0] || e->sum[1];
			live[i] = true;
			sum[i] = 0;
			c->lives++;
		} else if (e && rand_r(&c->seed) % 4) {
			e->sum[0] += i;
			e->sum[1] += i;
			sum[i] += i;
			c->wrong += e->sum[0] != sum[i] || e->sum[1] != sum[i];
		} else if (e) {
			c->wrong += e->sum[0] != sum[i];
			sw_table_remove(&table, e);
			live[i] = false;
		}
	}
	for (i = 0; i < LIVE; i++)
		if (live[i])
			sw_table_remove(&table,
					sw_table_find(&table, key(c, i)));
	return NULL;
}

struct sum {
	long wrong, refused, lives;
};

/* All CPUs at once, on a table for MAX threads that they leave for a look. */
static struct sum run_all(void *(*run_one)(void *), int max, void **mem)
{
	static struct cpu cpus[CPUS];
	struct sum sum = { 0 };
	int i;

	*mem = calloc(1, sw_table_bytes(&table, max, COUNTERS));
	if (!*mem)
		abort();
	sw_table_init(&table, *mem);
	for (i = 0; i < CPUS; i++) {
		cpus[i] = (struct cpu){ .seed = i, .number = i };
		if (pthread_create(&cpus[i].thread, NULL, run_one, &cpus[i]))
			abort();
	}
	for (i = 0; i < CPUS; i++) {
		pthread_join(cpus[i].thread, NULL);
		sum.wrong += cpus[i].wrong;
		sum.refused += cpus[i].refused;
		sum.lives += cpus[i].lives;
	}
	return sum;
}

static void test_cpus(int max, bool roomy)
{
	void *mem;
	struct sum sum = run_all(run, max, &mem);

	TEST_EQUAL("no thread is lost, found twice or given another's sums",
		   sum.wrong, 0);
	TEST("threads came and went", sum.lives > 1000);
	TEST_EQUAL("each refusal is counted", sum.refused, table.refused.counter);
	TEST(roomy ? "with room for all none is refused"
		   : "without room some are", !sum.refused == roomy);
	TEST_EQUAL("all are gone in the end", table.used.counter, 0);
	free(mem);
}

/*
 * Entries that others make, under a lock: each CPU's keys are inserted by the next
 * one, with sums that are there when the key is.  Their own CPU finds them without
 * the lock, counts, and removes them under it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_there;

static void *run_others(void *arg)
{
	struct cpu *c = arg;
	struct cpu next = { .number = (c->number + 1) % CPUS };
	u64 sum[LIVE] = { 0 };
	int i, round;

	for (round = 0; round < ROUNDS; round++) {
		struct sw_thread *e;

		/* lest one is done before another has begun */
		if (round % 100 == 0)
			pthread_barrier_wait(&all_there);
		i = rand_r(&c->seed) % LIVE;
		pthread_mutex_lock(&lock);
		if (!sw_table_find(&table, key(&next, i))) {
			e = sw_table_claim(&table, key(&next, i), COUNTERS);
			if (e) {
				e->sum[0] = 1000 + i;
				e->sum[1] = 1000 + i;
				sw_table_publish(e, key(&next, i));
			}
			c->refused += !e;
		}
		pthread_mutex_unlock(&lock);

		i = rand_r(&c->seed) % LIVE;
		e = sw_table_find(&table, key(c, i));
		if (!e)
			continue;
		if (!sum[i])
			sum[i] = 1000 + i;
		c->wrong += e->sum[0] != sum[i] || e->sum[1] != sum[i];
		e->sum[0] += 3;
		e->sum[1] += 3;
		sum[i] += 3;
		if (rand_r(&c->seed) % 4)
			continue;
		pthread_mutex_lock(&lock);
		sw_table_remove(&table, e);
		pthread_mutex_unlock(&lock);
		sum[i] = 0;
		c->lives++;
	}
	return NULL;
}

static void test_others(void)
{
	struct sum sum;
	void *mem;

	pthread_barrier_init(&all_there, NULL, CPUS);
	sum = run_all(run_others, CPUS * LIVE, &mem);
	TEST_EQUAL("an entry that another CPU makes is found whole, and once",
		   sum.wrong, 0);
	TEST("such threads came and went", sum.lives > 1000);
	TEST_EQUAL("none was refused", sum.refused, 0);
	free(mem);
}

int main(void)
{
	test_cpus(CPUS * LIVE, true);
	test_cpus(20, false);
	test_others();
	return test_failures != 0;
}
