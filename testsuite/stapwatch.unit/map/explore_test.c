/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's protocol in every interleaving.
 *
 * First a model: one adds an instance, one adds twice to a 64-bit counter in
 * two halves, and one reads, each of them a step at a time.  All states that
 * can be reached are gone through; a protocol that lacks a check has to fail.
 *
 * Then the library's own code, with each of its loads a point where the writer
 * may have gone on by any number of steps.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static void explore_point(void);

#define MAP_HALVES
#define MAP_LOAD(p) ({ explore_point(); *(p); })
#include "lib/map.h"

/* ---- the model */

#define ADDS 4		/* steps of who adds */
#define UPDATES 8	/* steps of who updates */

static const uint64_t up[] = { 0xffffffff, 0x100000000, 0x1ffffffff };
static const uint64_t updown[] = { 0xffffffff, 0x100000000, 0xffffffff };
static const uint64_t *values;

struct memory {
	int gen1, gen2, nr, names, flag;
	uint32_t half[2];
};

/* What memory holds when they have come that far. */
static struct memory memory_at(int adds, int updates)
{
	const int half = updates % 4;
	const int lo = half >= 2 ? updates / 4 + 1 : updates / 4;
	const int hi = half >= 3 ? updates / 4 + 1 : updates / 4;

	return (struct memory) {
		.gen1 = adds >= 1,
		.nr = 1 + (adds >= 2),
		.names = 1 + (adds >= 3),
		.gen2 = adds >= 4,
		.flag = half != 0,
		.half = { values[lo], values[hi] >> 32 },
	};
}

enum protocol {
	WHOLE,
	NO_FLAG,
	NO_REREAD,
	NO_LAST_GEN,	/* what was copied is believed */
	NO_GEN2,	/* an update that had begun before is not seen */
	NR_PROTOCOLS,
};

enum at {
	AT_GEN,
	AT_GEN1,
	AT_NR,
	AT_NAMES,
	AT_LAST_GEN,
	AT_LOW,
	AT_HIGH,
	AT_FLAG,
	AT_LOW_AGAIN,
	AT_HIGH_AGAIN,
	AT_DONE,
};

struct reader {
	uint8_t at, gen, nr, names;
	uint32_t half[2];
	uint32_t again;
};

struct state {
	struct reader r;
	uint8_t adds, updates;
};

static struct state *seen;
static size_t nr_seen, size_seen;
static int half_added, torn, stuck, finished;

static void counter_step(struct reader *r, const struct memory *m,
			 enum protocol how)
{
	switch (r->at) {
	case AT_LOW:
		r->half[0] = m->half[0];
		r->at = AT_HIGH;
		break;
	case AT_HIGH:
		r->half[1] = m->half[1];
		r->at = how != NO_FLAG ? AT_FLAG : AT_LOW_AGAIN;
		break;
	case AT_FLAG:
		r->at = m->flag ? AT_LOW :
			how == NO_REREAD ? AT_DONE : AT_LOW_AGAIN;
		break;
	case AT_LOW_AGAIN:
		r->again = m->half[0];
		r->at = AT_HIGH_AGAIN;
		break;
	case AT_HIGH_AGAIN:
		r->at = r->again == r->half[0] && m->half[1] == r->half[1] ?
			AT_DONE : AT_LOW;
		r->again = 0;
		break;
	}
}

static void reader_step(struct reader *r, const struct memory *m,
			enum protocol how)
{
	switch (r->at) {
	case AT_GEN:
		r->gen = how == NO_GEN2 ? m->gen1 : m->gen2;
		r->at = AT_GEN1;
		break;
	case AT_GEN1:
		r->at = m->gen1 == r->gen ? AT_NR : AT_GEN;
		break;
	case AT_NR:
		r->nr = m->nr;
		r->at = AT_NAMES;
		break;
	case AT_NAMES:
		r->names = m->names;
		r->at = how == NO_LAST_GEN ? AT_LOW : AT_LAST_GEN;
		break;
	case AT_LAST_GEN:
		r->at = m->gen1 == r->gen ? AT_LOW : AT_GEN;
		break;
	default:
		counter_step(r, m, how);
	}
}

static uint64_t whole(const uint32_t *half)
{
	return (uint64_t)half[1] << 32 | half[0];
}

static void judge(const struct reader *r)
{
	const uint64_t v = whole(r->half);

	finished++;
	half_added += r->nr != r->names;
	torn += v != values[0] && v != values[1] && v != values[2];
}

static bool is_new(const struct state *s)
{
	size_t i;

	for (i = 0; i < nr_seen; i++)
		if (!memcmp(&seen[i], s, sizeof(*s)))
			return false;
	if (nr_seen == size_seen) {
		size_seen = size_seen ? size_seen * 2 : 1024;
		seen = realloc(seen, size_seen * sizeof(*seen));
		if (!seen)
			abort();
	}
	seen[nr_seen++] = *s;
	return true;
}

/* With nobody writing any more, a reader gets there. */
static void check_end(struct reader r, enum protocol how)
{
	const struct memory m = memory_at(ADDS, UPDATES);
	int steps;

	for (steps = 0; steps < 30 && r.at != AT_DONE; steps++)
		reader_step(&r, &m, how);
	stuck += r.at != AT_DONE;
}

/* @s: all of it was set to 0 before, for memcmp() */
static void explore(struct state s, enum protocol how)
{
	const struct memory m = memory_at(s.adds, s.updates);
	struct state next;

	if (!is_new(&s))
		return;
	if (s.r.at == AT_DONE) {
		judge(&s.r);
		return;
	}
	check_end(s.r, how);
	if (s.adds < ADDS) {
		next = s;
		next.adds++;
		explore(next, how);
	}
	if (s.updates < UPDATES) {
		next = s;
		next.updates++;
		explore(next, how);
	}
	next = s;
	reader_step(&next.r, &m, how);
	explore(next, how);
}

static void model(enum protocol how, const uint64_t *v)
{
	struct state s;

	memset(&s, 0, sizeof(s));
	nr_seen = 0;
	half_added = torn = stuck = finished = 0;
	values = v;
	explore(s, how);
	printf("protocol %d: %zu states, %d ends, %d torn, %d half-added\n",
	       how, nr_seen, finished, torn, half_added);
}

static void test_model(void)
{
	model(WHOLE, up);
	TEST_EQUAL("model: no torn value", torn, 0);
	TEST_EQUAL("model: no half-added instance", half_added, 0);
	TEST_EQUAL("model: the reader comes to an end", stuck, 0);
	TEST("model: there was something to go through", finished > 20);
	model(NO_FLAG, up);
	TEST("model: without the flag a value is torn", torn && !half_added);
	model(NO_REREAD, up);
	TEST("model: read once, a value is torn", torn && !half_added);
	model(NO_LAST_GEN, up);
	TEST("model: without the last generation half is added",
	     half_added && !torn);
	model(NO_GEN2, up);
	TEST("model: without gen2 half is added", half_added && !torn);
	model(WHOLE, updown);
	TEST("model: what goes back over 2^32 may be torn, as is documented",
	     torn && !half_added);
}

/* ---- the library's code */

#define LOADS 15	/* after so many, the writer is let go to its end */

static uint32_t flag;
static union {
	uint32_t half[2];
	uint64_t value;
} counter;
static int choice[LOADS], left[LOADS], nr_loads, steps;

static void writer_step(void)
{
	const union {
		uint32_t half[2];
		uint64_t value;
	} next = { .value = values[steps / 4 + 1] };

	switch (steps++ % 4) {
	case 0:
		flag++;
		break;
	case 1:
		counter.half[0] = next.half[0];
		break;
	case 2:
		counter.half[1] = next.half[1];
		break;
	case 3:
		flag--;
	}
}

static void explore_point(void)
{
	int n = UPDATES;

	if (nr_loads < LOADS) {
		left[nr_loads] = UPDATES - steps;
		n = choice[nr_loads++];
	}
	while (n-- && steps < UPDATES)
		writer_step();
}

/* The next way to go on, changed as late as can be; false after all. */
static bool next_choice(void)
{
	int i;

	for (i = nr_loads - 1; i >= 0; i--) {
		if (choice[i] < left[i]) {
			choice[i]++;
			return true;
		}
		choice[i] = 0;
	}
	return false;
}

static void test_code(void)
{
	unsigned long ways = 0, wrong = 0, endless = 0;
	uint64_t v;
	int tries;

	values = up;
	memset(choice, 0, sizeof(choice));
	do {
		counter.value = values[0];
		flag = 0;
		steps = nr_loads = 0;
		v = 0;
		for (tries = 0; tries < 20; tries++)
			if (map_try_counters(&flag, &counter.value, &v, 1))
				break;
		endless += tries == 20;
		wrong += v != values[0] && v != values[1] && v != values[2];
		ways++;
	} while (next_choice());
	printf("%lu ways\n", ways);
	TEST("code: many ways", ways > 1000);
	TEST_EQUAL("code: no torn value", wrong, 0);
	TEST_EQUAL("code: it comes to an end", endless, 0);
}

int main(void)
{
	test_model();
	test_code();
	free(seen);
	return test_failures != 0;
}
