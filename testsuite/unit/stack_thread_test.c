/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of stacks, by itself and with many CPUs at it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "sample/stack.h"
#include "test.h"

#define CPUS 8
#define ROUNDS 40000
#define DIFFERENT 500

static struct sw_stacks table;

/* The stack number I of this test: some share all but one frame. */
static unsigned int make(u64 *ip, unsigned int i)
{
	unsigned int nr = 1 + i % 40, k;

	for (k = 0; k < nr; k++)
		ip[k] = 0xffffffff81000000ULL + 16 * k;
	ip[nr / 2] += i;
	return nr;
}

static void *start(int max)
{
	void *mem = calloc(1, sw_stacks_bytes(max));

	if (!mem)
		abort();
	sw_stacks_init(&table, max, mem);
	return mem;
}

static u32 get(unsigned int i)
{
	u64 ip[64];
	unsigned int nr = make(ip, i);

	return sw_stack_get(&table, ip, nr, 0);
}

static bool is(u32 number, unsigned int i)
{
	const struct sw_stack *s = sw_stack_find(&table, number);
	u64 ip[64];
	unsigned int nr = make(ip, i);

	return s && s->nr == nr && !memcmp(s->ip, ip, nr * sizeof(u64));
}

static void test_alone(void)
{
	void *mem = start(4);
	u64 ip[3] = { 1, 2, 3 };
	u32 first = sw_stack_get(&table, ip, 3, 0);

	TEST("a number is not 0", first);
	TEST_EQUAL("the same stack, the same number",
		   sw_stack_get(&table, ip, 3, 0), first);
	TEST("a shorter one is another", sw_stack_get(&table, ip, 2, 0) != first);
	TEST("so is one of other flags", sw_stack_get(&table, ip, 3, 1) != first);
	ip[2]++;
	TEST("and one of another address", sw_stack_get(&table, ip, 3, 0) != first);
	TEST_EQUAL("all four are in", table.nr.counter, 4);
	ip[2]++;
	TEST_EQUAL("a fifth finds no room", sw_stack_get(&table, ip, 3, 0), 0);
	TEST_EQUAL("which is counted", table.refused.counter, 1);
	ip[2] = 3;
	TEST_EQUAL("while those that are there are found",
		   sw_stack_get(&table, ip, 3, 0), first);
	TEST_EQUAL("the first is first", sw_stack_at(&table, 0), first);
	TEST_EQUAL("there is no fifth", sw_stack_at(&table, 4), 0);
	TEST("numbers that no stack has", !sw_stack_find(&table, 0) &&
	     !sw_stack_find(&table, -1) && !sw_stack_find(&table, 1LL << 40));
	free(mem);
}

/* Frames beyond the mean take the room of other stacks, and no more. */
static void test_words(void)
{
	void *mem = start(4);
	u64 ip[127] = { 0 };
	int i, in = 0;

	for (i = 0; i < 4; i++) {
		ip[0] = i;
		in += !!sw_stack_get(&table, ip, 127, 0);
	}
	TEST_EQUAL("as many long ones as there is room for", in,
		   4 * (SW_STACK_MEAN + 1) / 128);
	for (i = 0; i < 100; i++) {
		ip[0] = 10 + i;
		sw_stack_get(&table, ip, 127, 0);
	}
	TEST("refusals use nothing up", table.next_word.counter <=
	     table.nr_words && table.claimed.counter == in);
	free(mem);
}

struct cpu {
	pthread_t thread;
	unsigned int seed;
	u32 number[DIFFERENT];
	long wrong, refused;
};

static void *run(void *arg)
{
	struct cpu *c = arg;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		unsigned int i = rand_r(&c->seed) % DIFFERENT;
		u32 number = get(i);

		if (!number) {
			c->refused++;
			c->wrong += !!c->number[i];
			continue;
		}
		c->wrong += c->number[i] && c->number[i] != number;
		c->wrong += !is(number, i);
		c->number[i] = number;
	}
	return NULL;
}

static void test_cpus(int max, bool roomy)
{
	static struct cpu cpus[CPUS];
	void *mem = start(max);
	long wrong = 0, refused = 0, differ = 0, lost = 0;
	int i, k;

	for (i = 0; i < CPUS; i++) {
		cpus[i] = (struct cpu) { .seed = i };
		if (pthread_create(&cpus[i].thread, NULL, run, &cpus[i]))
			abort();
	}
	for (i = 0; i < CPUS; i++) {
		pthread_join(cpus[i].thread, NULL);
		wrong += cpus[i].wrong;
		refused += cpus[i].refused;
		for (k = 0; k < DIFFERENT; k++)
			differ += cpus[i].number[k] && cpus[0].number[k] &&
				  cpus[i].number[k] != cpus[0].number[k];
	}
	for (i = 0; i < table.nr.counter; i++)
		lost += !sw_stack_find(&table, sw_stack_at(&table, i));
	TEST_EQUAL("no stack is torn, or changes its number", wrong, 0);
	TEST_EQUAL("CPUs agree on the numbers", differ, 0);
	TEST_EQUAL("each refusal is counted", refused, table.refused.counter);
	TEST_EQUAL("all that came are in order", lost, 0);
	TEST_EQUAL("claims and stacks agree", table.claimed.counter,
		   table.nr.counter);
	if (roomy) {
		TEST_EQUAL("with room for all none is refused", refused, 0);
		TEST_EQUAL("each is in once", table.nr.counter, DIFFERENT);
	} else {
		TEST_EQUAL("without, there are as many as there is room for",
			   table.nr.counter, max);
	}
	free(mem);
}

int main(void)
{
	test_alone();
	test_words();
	test_cpus(2 * DIFFERENT, true);
	test_cpus(DIFFERENT / 4, false);
	return test_failures != 0;
}
