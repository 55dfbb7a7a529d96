/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows, by themselves and with many CPUs at them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "row/rows.h"
#include "test.h"

#define CPUS 8
#define ROUNDS 20000
#define MAX 500

static struct sw_rows rows;

static void start(int max)
{
	free(rows.row);
	free(rows.index[0]);
	free(rows.index[1]);
	free(rows.free);
	rows = (struct sw_rows) {
		.row = calloc(2 * max, sizeof(*rows.row)),
		.index = { calloc(SW_ROWS_PLACES(max), sizeof(u32)),
			   calloc(SW_ROWS_PLACES(max), sizeof(u32)) },
		.free = calloc(2 * max, sizeof(u32)),
		.max = max,
	};
	if (!rows.row || !rows.index[0] || !rows.index[1] || !rows.free)
		abort();
	sw_rows_init(&rows, 4711);
}

static u32 get(const char *text, s64 a, s64 b, s64 c)
{
	const s64 number[] = { a, b, c };
	struct sw_row_key key;

	sw_row_key(&rows, &key, text, number);
	return sw_row_get(&rows, &key);
}

static void label(u32 row, const char *text)
{
	static const s64 none[SW_ROW_NUMBERS];
	struct sw_row_key key;

	sw_row_key(&rows, &key, text, none);
	sw_row_label(&rows, row, &key);
}

static bool named(u32 row, const char *text)
{
	char is[SW_ROW_WORDS * 8 + 1];

	sw_row_text(&rows, row, is);
	return !strcmp(is, text);
}

static void test_keys(void)
{
	char text[300] = "", cut[SW_ROW_WORDS * 8 + 1];
	u32 row, nr = 0;
	size_t i;

	start(1000);
	for (i = 0; i < sizeof(text) - 1; i++) {
		row = get(text, 0, 0, 0);
		nr += row == i + 1 && row == get(text, 0, 0, 0);
		memcpy(cut, text, sizeof(cut) - 1);
		cut[sizeof(cut) - 1] = '\0';
		nr += named(row, cut);
		text[i] = 'a' + i % 26;
		text[i + 1] = '\0';
	}
	TEST_EQUAL("texts of each length have rows, and are what they were", nr,
		   2 * (sizeof(text) - 1));
	TEST("numbers are told apart", get("", 1, 0, 0) != get("", 0, 1, 0) &&
	     get("", 0, 0, 1) != get("", 0, 1, 0) && get("", -1, 0, 0) !=
	     get("", 1, 0, 0));
	row = get("x", -5, 1LL << 40, 7);
	TEST("and are what they were", sw_row_number(&rows, row, 0) == -5 &&
	     sw_row_number(&rows, row, 1) == 1LL << 40 &&
	     sw_row_number(&rows, row, 2) == 7);
	TEST("there are three", !sw_row_number(&rows, row, 3) &&
	     !sw_row_number(&rows, row, -1));
	TEST("numbers that no row has", named(0, "") && named(-1, "") &&
	     named(1001, "") && !sw_row_number(&rows, 0, 0));
	TEST("bytes above 127", named(get("\xff\x80q", 0, 0, 0), "\xff\x80q"));
}

static void test_labels(void)
{
	u32 row, other;

	start(10);
	row = get("", 1, 0, 0);
	TEST("a row of numbers has no text", named(row, ""));
	label(row, "a file");
	TEST("but may get one", named(row, "a file"));
	label(row, "another");
	TEST("once", named(row, "a file"));
	TEST_EQUAL("by which its key stays", get("", 1, 0, 0), row);
	TEST("and is no other's", get("a file", 1, 0, 0) != row);
	other = get("name", 0, 0, 0);
	label(other, "label");
	TEST("a name stays", named(other, "name"));
	label(5, "nobody's");
	TEST("a row that nobody has gets none", named(5, ""));
}

static void test_room(void)
{
	unsigned int i, found = 0, mixed = 0, lost;

	start(4);
	for (i = 1; i <= 4; i++)
		found += get("", i, 0, 0) == i;
	TEST_EQUAL("four have room", found, 4);
	TEST("all got one", !rows.refused);
	TEST_EQUAL("a fifth has none", get("", 5, 0, 0), 0);
	TEST("which is noted", rows.refused);
	TEST_EQUAL("those that are there are found", get("", 4, 0, 0), 4);
	sw_rows_clear(&rows);
	TEST_EQUAL("in the next period one has its old row", get("", 2, 0, 0), 2);
	for (i = 11; i <= 13; i++)
		mixed += get("", i, 0, 0) > 4;
	TEST_EQUAL("three others have new ones", mixed, 3);
	TEST("all got one", !rows.refused);
	TEST_EQUAL("a fifth has none", get("", 14, 0, 0), 0);
	TEST_EQUAL("nor has one of the first period", get("", 1, 0, 0), 0);
	sw_rows_clear(&rows);
	TEST_EQUAL("who is asked for in each stays", get("", 2, 0, 0), 2);
	for (i = lost = 0; i < 30000; i++) {
		if (i % 3 == 0)
			sw_rows_clear(&rows);
		lost += !get("", 100 + i, 0, 0);
	}
	TEST_EQUAL("period after period there is room", lost, 0);
	for (i = 0; i < 3; i++)
		sw_rows_clear(&rows);
	TEST_EQUAL("all are given back", rows.nr_free, rows.nr);
	TEST_EQUAL("and none is in use", rows.in_use.counter, 0);
}

/* As many rows as there are, in windows that are never full. */
static void test_full(void)
{
	unsigned int i, lost = 0;

	start(2047);
	for (i = 0; i < 2047; i++)
		lost += !get("a name", i, 4096ULL * i, 0);
	TEST_EQUAL("2047 of 2047 have room", lost, 0);
	for (i = lost = 0; i < 5000; i++)
		lost += !get("a name", i, 4096ULL * i, 0);
	TEST_EQUAL("of 5000, 2953 have none", lost, 2953);
}

/* ---- many CPUs */

static u32 seen[CPUS][2 * MAX];
static int stop;

static void *count(void *arg)
{
	u32 *mine = arg, row;
	unsigned int i, key;
	long wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		key = (i * 7 + (mine - seen[0])) % (2 * MAX);
		row = get("a thread's name", key, 0, 0);
		if (row && mine[key] && mine[key] != row)
			wrong++;
		if (row)
			mine[key] = row;
		if (row && (sw_row_number(&rows, row, 0) != key ||
			    !named(row, "a thread's name")))
			wrong++;
	}
	return (void *)wrong;
}

static void test_threads(void)
{
	unsigned int i, key, twice = 0, have = 0;
	pthread_t thread[CPUS];
	long wrong = 0;
	void *rc;

	start(MAX);
	for (i = 0; i < CPUS; i++)
		pthread_create(&thread[i], NULL, count, seen[i]);
	for (i = 0; i < CPUS; i++) {
		pthread_join(thread[i], &rc);
		wrong += (long)rc;
	}
	TEST_EQUAL("a key keeps its row, and a row its key", wrong, 0);
	for (key = 0; key < 2 * MAX; key++) {
		u32 first = 0;

		for (i = 0; i < CPUS; i++) {
			if (first && seen[i][key] && seen[i][key] != first)
				twice++;
			if (seen[i][key])
				first = seen[i][key];
		}
		have += first != 0;
	}
	TEST_EQUAL("it is the same on all CPUs", twice, 0);
	TEST_EQUAL("as many as there is room for", have, MAX);
}

static bool is_whole(const char *text)
{
	size_t n = strlen(text) / 4;

	return !memcmp(text, text + n, 3 * n) && !text[4 * n];
}

/* Keys come and go: what a row says is some key's, as a whole.  A thread that stands
 * still for two periods, as no handler does, finds its row another's. */
static void *come_and_go(void *arg)
{
	unsigned int i, key;
	long wrong = 0;
	char text[32], is[SW_ROW_WORDS * 8 + 1];
	u32 row;

	for (i = 0; !READ_ONCE(stop); i++) {
		key = i * (long)arg % 5000;
		snprintf(text, sizeof(text), "%u%u%u%u", key, key, key, key);
		row = get(text, key, -(s64)key, 0);
		if (!row)
			continue;
		sw_row_text(&rows, row, is);
		wrong += !is_whole(is);
	}
	return (void *)wrong;
}

static void test_clear(void)
{
	pthread_t thread[CPUS];
	long i, wrong = 0;
	void *rc;

	start(64);
	for (i = 0; i < CPUS; i++)
		pthread_create(&thread[i], NULL, come_and_go, (void *)(2 * i + 1));
	for (i = 0; i < 300; i++) {
		struct timespec ms = { .tv_nsec = 1000000 };

		nanosleep(&ms, NULL);
		sw_rows_clear(&rows);
	}
	WRITE_ONCE(stop, 1);
	for (i = 0; i < CPUS; i++) {
		pthread_join(thread[i], &rc);
		wrong += (long)rc;
	}
	TEST_EQUAL("rows that come and go are told as a whole", wrong, 0);
	sw_rows_clear(&rows);
	sw_rows_clear(&rows);
	TEST_EQUAL("all are given back", rows.nr_free, rows.nr);
}

int main(void)
{
	test_keys();
	test_labels();
	test_room();
	test_full();
	test_threads();
	test_clear();
	start(1);
	free(rows.row);
	free(rows.index[0]);
	free(rows.index[1]);
	free(rows.free);
	return test_failures != 0;
}
