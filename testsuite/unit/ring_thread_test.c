/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring of records: a writer, who is interrupted by another, and a reader.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "trace/ring.h"
#include "test.h"

#define SIZE 4096
#define RECORDS 300000

static struct sw_ring ring;
static u64 memory[SIZE / 8];
static long written, full, nested;
static bool done;

struct record {
	u32 mark;
	u32 words;		/* with these two */
	u64 number[];
};

/* Return: could it be written? */
static bool write_one(u64 number, u32 words, bool interrupted)
{
	struct record *r;
	u32 i;

	if (!sw_ring_enter(&ring)) {
		nested++;
		return false;
	}
	r = sw_ring_reserve(&ring, words * 8);
	if (r) {
		r->mark = 1;
		r->words = words;
		for (i = 0; i + 1 < words; i++) {
			r->number[i] = number;
			if (interrupted && !i)
				write_one(number, words, false);
		}
		sw_ring_commit(&ring);
		written++;
	} else {
		full++;
	}
	sw_ring_leave(&ring);
	return r;
}

static void *run_writer(void *unused)
{
	unsigned int seed = 1;
	u64 i;

	(void)unused;
	for (i = 0; i < RECORDS; i++)
		if (!write_one(i, 2 + rand_r(&seed) % 40, i % 8 == 0))
			sched_yield();
	smp_store_release(&done, true);
	return NULL;
}

static long got, wrong;
static u64 last;

static void read_some(void)
{
	unsigned long head = smp_load_acquire(&ring.head);
	struct record *r;
	u32 i;

	while ((r = sw_ring_first(&ring, head))) {
		wrong += r->mark != 1 || (got && r->number[0] <= last);
		last = r->number[0];
		for (i = 1; i + 1 < r->words; i++)
			wrong += r->number[i] != last;
		got++;
		sw_ring_drop(&ring, r->words * 8);
	}
}

static void test_threads(void)
{
	pthread_t writer;

	sw_ring_init(&ring, memory, SIZE);
	if (pthread_create(&writer, NULL, run_writer, NULL))
		abort();
	while (!smp_load_acquire(&done))
		read_some();
	pthread_join(writer, NULL);
	read_some();
	TEST_EQUAL("no record is torn or out of order", wrong, 0);
	TEST_EQUAL("what is written is read", got, written);
	TEST("some were written, ring's end and all", written > 1000);
	TEST_EQUAL("one within another is refused, each", nested > 0 &&
		   nested <= RECORDS / 8, 1);
	TEST_EQUAL("and each that was not is written, or found it full",
		   written + full, RECORDS);
}

static void test_full(void)
{
	int n = 0;

	sw_ring_init(&ring, memory, SIZE);
	written = full = 0;
	while (write_one(n + 1, 10, false))
		n++;
	TEST_EQUAL("as many records as there is room for", n, SIZE / 80);
	TEST("a full ring refuses", !write_one(0, 10, false));
	got = wrong = 0;
	read_some();
	TEST_EQUAL("and is as it was before", got, n);
	TEST_EQUAL("record for record", wrong, 0);
	TEST("then there is room again", write_one(n + 1, 100, false));
	TEST("a record may be as long as the ring",
	     (read_some(), sw_ring_init(&ring, memory, SIZE),
	      write_one(1, SIZE / 8, false)));
	TEST("and no longer", !sw_ring_reserve(&ring, SIZE + 8));
}

int main(void)
{
	test_threads();
	test_full();
	return test_failures != 0;
}
