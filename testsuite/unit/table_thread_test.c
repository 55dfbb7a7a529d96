/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of watched threads, with many CPUs at it: each comes and goes with
 * keys of its own, as threads that start, count and exit on it.
 */
#include <pthread.h>
#include <stdlib.h>
#include "table.h"
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

static void test_cpus(int max, bool roomy)
{
	static struct cpu cpus[CPUS];
	long wrong = 0, refused = 0, lives = 0;
	void *mem = calloc(1, sw_table_bytes(&table, max, COUNTERS));
	int i;

	if (!mem)
		abort();
	sw_table_init(&table, mem);
	for (i = 0; i < CPUS; i++) {
		cpus[i] = (struct cpu){ .seed = i, .number = i };
		if (pthread_create(&cpus[i].thread, NULL, run, &cpus[i]))
			abort();
	}
	for (i = 0; i < CPUS; i++) {
		pthread_join(cpus[i].thread, NULL);
		wrong += cpus[i].wrong;
		refused += cpus[i].refused;
		lives += cpus[i].lives;
	}
	TEST_EQUAL("no thread is lost, found twice or given another's sums",
		   wrong, 0);
	TEST("threads came and went", lives > 1000);
	TEST_EQUAL("each refusal is counted", refused, table.refused.counter);
	TEST(roomy ? "with room for all none is refused"
		   : "without room some are", !refused == roomy);
	TEST_EQUAL("all are gone in the end", table.used.counter, 0);
	free(mem);
}

int main(void)
{
	test_cpus(CPUS * LIVE, true);
	test_cpus(20, false);
	return test_failures != 0;
}
