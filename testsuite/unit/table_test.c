/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of watched threads, with nobody else at it. */
#include <stdlib.h>
#include "count/table.h"
#include "test.h"

#define COUNTERS 3

/* Keys as the kernel's are: addresses, some hundred bytes apart. */
static struct task_struct *key(int i)
{
	return (struct task_struct *)(0xffff888000000000UL + i * 0x1280UL);
}

static void table_new(struct sw_table *t, int max)
{
	void *mem = calloc(1, sw_table_bytes(t, max, COUNTERS));

	if (!mem)
		abort();
	sw_table_init(t, mem);
}

static struct sw_thread *insert(struct sw_table *t, int i)
{
	return sw_table_insert(t, key(i), COUNTERS);
}

static int slots_in_use(const struct sw_table *t)
{
	size_t at;
	int n = 0;

	for (at = 0; at < t->size; at += t->stride)
		n += ((struct sw_thread *)(t->slots + at))->task != NULL;
	return n;
}

static int homes(const struct sw_table *t)
{
	size_t at;
	int n = 0;

	for (at = 0; at < t->size; at += t->stride)
		n += ((struct sw_thread *)(t->slots + at))->home.counter;
	return n;
}

/* As many as it says, and not one more; each found again, with its own sums. */
static void test_full(int max)
{
	struct sw_table t;
	int i, refused = 0, wrong = 0;

	table_new(&t, max);
	for (i = 0; i < max; i++) {
		struct sw_thread *e = insert(&t, i);

		if (!e)
			refused++;
		else
			e->sum[COUNTERS - 1] = i + 1;
	}
	TEST_EQUAL("every thread up to the limit is taken", refused, 0);
	TEST("one more is refused", !insert(&t, max));
	TEST_EQUAL("the refusal is counted", t.refused.counter, 1);
	for (i = 0; i < max; i++) {
		struct sw_thread *e = sw_table_find(&t, key(i));

		wrong += !e || e->task != key(i) ||
			 e->sum[COUNTERS - 1] != (u64)i + 1;
	}
	TEST_EQUAL("each is found, with its own sums", wrong, 0);
	TEST("a thread that is not watched is not found",
	     !sw_table_find(&t, key(max)));
	TEST_EQUAL("no slot more is used", slots_in_use(&t), max);

	sw_table_remove(&t, sw_table_find(&t, key(0)));
	TEST("what is removed is gone", !sw_table_find(&t, key(0)));
	TEST("its room can be had again", insert(&t, max));
	for (i = 1; i <= max; i++)
		sw_table_remove(&t, sw_table_find(&t, key(i)));
	TEST_EQUAL("nothing is left in the end", slots_in_use(&t), 0);
	TEST_EQUAL("nor in the filter", homes(&t), 0);
	TEST_EQUAL("nor in the count", t.used.counter, 0);
	free(t.slots);
}

/* A slot that is used again starts at zero. */
static void test_reuse(void)
{
	struct sw_table t;
	struct sw_thread *e;
	u64 stretch;

	table_new(&t, 1);
	e = insert(&t, 1);
	e->sum[0] = 7;
	e->lost = 1;
	stretch = ++e->stretch;
	sw_table_remove(&t, e);
	e = insert(&t, 1);
	TEST("a thread's sums start at zero", e && !e->sum[0] && !e->lost);
	TEST("its stretch is none that there was", e && e->stretch > stretch);
	free(t.slots);
}

/* What is claimed takes room, and is no thread's until it is published. */
static void test_claim(void)
{
	struct sw_table t;
	struct sw_thread *e;

	table_new(&t, 1);
	e = sw_table_claim(&t, key(1), COUNTERS);
	TEST("a claimed entry is not found", e && !sw_table_find(&t, key(1)));
	TEST("it takes room", !sw_table_claim(&t, key(2), COUNTERS) &&
			      t.refused.counter == 1);
	e->sum[0] = 7;
	sw_table_publish(e, key(1));
	TEST("published it is found, with its sums",
	     sw_table_find(&t, key(1)) == e && e->sum[0] == 7);
	TEST("its place is one of the table's, its own",
	     sw_table_index(&t, e) < sw_table_slots(&t) &&
	     t.slots + (size_t)sw_table_index(&t, e) * t.stride == (char *)e);
	sw_table_remove(&t, e);
	TEST_EQUAL("and nothing is left", homes(&t) + slots_in_use(&t), 0);
	free(t.slots);
}

/*
 * Threads that all hash alike fill one window.  Those displaced are found when
 * the ones before them have gone, and one more than the window is refused.
 */
static void test_collisions(void)
{
	struct task_struct *alike[SW_TABLE_WINDOW + 1];
	struct sw_table t;
	struct sw_thread *home;
	int i, n = 0, wrong = 0;

	table_new(&t, 1000);
	home = sw_table_home(&t, key(0));
	for (i = 0; n <= SW_TABLE_WINDOW; i++)
		if (sw_table_home(&t, key(i)) == home)
			alike[n++] = key(i);
	for (i = 0; i < SW_TABLE_WINDOW; i++)
		wrong += !sw_table_insert(&t, alike[i], COUNTERS);
	TEST_EQUAL("a window's worth of alike threads is taken", wrong, 0);
	TEST("one more is refused, and counted",
	     !sw_table_insert(&t, alike[i], COUNTERS) &&
	     t.refused.counter == 1 && t.used.counter == SW_TABLE_WINDOW);
	for (i = 0; i < SW_TABLE_WINDOW; i++) {
		struct sw_thread *e = sw_table_find(&t, alike[i]);

		wrong += !e || e->task != alike[i];
		if (e)
			sw_table_remove(&t, e);
	}
	TEST_EQUAL("each is found while those before it go", wrong, 0);
	TEST_EQUAL("nothing is left", homes(&t) + slots_in_use(&t), 0);
	free(t.slots);
}

static void test_geometry(void)
{
	static const int sizes[] = { 1, 2, 3, 64, 1000, 4096, 1 << 20 };
	struct sw_table t;
	unsigned int i, counters, wrong = 0;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (counters = 1; counters <= 32; counters++) {
			sw_table_bytes(&t, sizes[i], counters);
			wrong += t.stride < sizeof(struct sw_thread) +
					    counters * sizeof(u64) ||
				 t.stride & (t.stride - 1) ||
				 t.mask + (1 + SW_TABLE_WINDOW) * (size_t)
					t.stride != t.size ||
				 (t.mask / t.stride + 1) < 4UL * sizes[i];
		}
	TEST_EQUAL("slots are aligned, hold all counters, and are four times the threads",
		   wrong, 0);
}

int main(void)
{
	test_geometry();
	test_full(1);
	test_full(100);
	test_full(4096);
	test_reuse();
	test_claim();
	test_collisions();
	return test_failures != 0;
}
