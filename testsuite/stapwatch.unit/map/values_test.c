/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writer and reader of a map of counters, by exact values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stapwatch.h"
#include "store/hist.h"
#include "test.h"

#define CPUS 3

static struct stapwatch_map *map;
static struct stapwatch *sw;

static int64_t value_of(int64_t number)
{
	int64_t sum = -12345;

	return stapwatch_read(sw, number, &sum) ? -12345 : sum;
}

static void test_counters(void)
{
	int64_t a, b, cpus[CPUS];

	a = stapwatch_map_add(map, "a");
	b = stapwatch_map_add(map, "b{dev=\"s d\\a\"}\n");
	TEST_EQUAL("the first number", a, 0);
	TEST_EQUAL("the second number", b, 1);
	TEST_EQUAL("the same name, the same number",
		   stapwatch_map_add(map, "a"), a);
	TEST("a name is of one kind", stapwatch_map_add_hist(map, "a") == -1 &&
	     errno == EEXIST);
	TEST("an empty name", stapwatch_map_add(map, "") == -1 &&
	     errno == EINVAL && *stapwatch_error());
	TEST_EQUAL("refresh: a new list", stapwatch_refresh(sw), 1);
	TEST_EQUAL("refresh: nothing new", stapwatch_refresh(sw), 0);
	TEST_EQUAL("instances", stapwatch_nr(sw), 2);
	TEST("awkward bytes in a name", !strcmp(stapwatch_instance(sw, 1)->name,
						"b{dev=\"s d\\a\"}\n"));
	TEST("no such instance", !stapwatch_instance(sw, 2));
	TEST("found by its name", stapwatch_find(sw, "a") &&
	     stapwatch_find(sw, "a")->number == a && !stapwatch_find(sw, "c"));

	TEST_EQUAL("a counter begins at 0", value_of(a), 0);
	stapwatch_map_adjust(map, a, 0, 0xffffffff);
	stapwatch_map_adjust(map, a, 0, 1);
	stapwatch_map_adjust(map, a, 1, -5);
	stapwatch_map_adjust(map, a, 2, INT64_MAX);
	stapwatch_map_adjust(map, b, 2, 7);
	TEST_EQUAL("values of CPUs", stapwatch_read_cpus(sw, a, cpus), 0);
	TEST_EQUAL("CPU 0, over 2^32", cpus[0], 0x100000000);
	TEST_EQUAL("CPU 1, below 0", cpus[1], -5);
	TEST_EQUAL("CPU 2, the most", cpus[2], INT64_MAX);
	TEST_EQUAL("a sum wraps", value_of(a),
		   (int64_t)(0x100000000 - 5 + (uint64_t)INT64_MAX));
	TEST_EQUAL("the other counter", value_of(b), 7);
	TEST("no such CPU", stapwatch_map_adjust(map, a, CPUS, 1) == -1 &&
	     errno == EINVAL);
	TEST("no such extent", stapwatch_map_adjust(map, 1 << 20, 0, 1) == -1);
	TEST("no such counter", stapwatch_read(sw, 2, cpus) == -1 &&
	     errno == ENOENT);

	TEST_EQUAL("taken away", stapwatch_map_del(map, b), 0);
	TEST("taken away twice", stapwatch_map_del(map, b) == -1 &&
	     errno == ENOENT);
	TEST_EQUAL("taken away: refresh", stapwatch_refresh(sw), 1);
	TEST_EQUAL("taken away: instances", stapwatch_nr(sw), 1);
	TEST_EQUAL("its number is not another's", stapwatch_map_add(map, "c"),
		   2);
	TEST_EQUAL("it comes back as itself",
		   stapwatch_map_add(map, "b{dev=\"s d\\a\"}\n"), b);
	stapwatch_refresh(sw);
	TEST_EQUAL("and goes on", value_of(b), 7);
}

static void test_growth(void)
{
	int64_t n = 0, last = -1, wrong = 0, i;
	char name[32];

	for (i = 0; i < 1300; i++) {
		snprintf(name, sizeof(name), "grown.%lld", (long long)i);
		n = stapwatch_map_add(map, name);
		wrong += n <= last;
		last = n;
		stapwatch_map_adjust(map, n, i % CPUS, i);
	}
	TEST_EQUAL("growth: numbers", wrong, 0);
	TEST_EQUAL("growth: refresh", stapwatch_refresh(sw), 1);
	for (i = 0; i < 1300; i++) {
		snprintf(name, sizeof(name), "grown.%lld", (long long)i);
		wrong += !stapwatch_find(sw, name) ||
			 value_of(stapwatch_find(sw, name)->number) != i;
	}
	TEST_EQUAL("growth: values", wrong, 0);
	TEST_EQUAL("growth: those of before", value_of(1), 7);
}

static void test_hist(void)
{
	static struct stapwatch_hist h, one;
	int64_t number = stapwatch_map_add_hist(map, "hist"), sum;
	uint64_t i;

	stapwatch_refresh(sw);
	TEST("a histogram is no counter", stapwatch_read(sw, number, &sum) ==
	     -1 && errno == ENOENT);
	TEST("a counter is no histogram", stapwatch_read_hist(sw, 0, &h) == -1);
	for (i = 1; i <= 1000; i++)
		stapwatch_map_record(map, number, i % CPUS, i);
	stapwatch_map_record(map, number, 0, -3);
	stapwatch_map_record(map, number, 1, 0);
	stapwatch_map_record(map, number, 2, INT64_MAX);
	stapwatch_read_hist(sw, number, &h);
	TEST_EQUAL("hist: count", h.count, 1002);
	TEST_EQUAL("hist: negative", h.negative, 1);
	TEST_EQUAL("hist: sum", h.sum,
		   (int64_t)(500500 + (uint64_t)INT64_MAX));
	TEST_EQUAL("hist: a bucket of 16", h.buckets[
		   stapwatch_hist_bucket(256)], 32);
	TEST_EQUAL("hist: a bucket of 1", h.buckets[0], 1);
	TEST_EQUAL("hist: p50", stapwatch_hist_quantile(&h, 0.5), 495);
	TEST_EQUAL("hist: p0", stapwatch_hist_quantile(&h, 0), 0);
	TEST_EQUAL("hist: the highest", h.max, INT64_MAX);
	TEST_EQUAL("hist: p100", stapwatch_hist_quantile(&h, 1), INT64_MAX);
	stapwatch_read_hist_cpu(sw, number, 0, &one);
	TEST_EQUAL("hist: of one CPU", one.count, 333);
	TEST_EQUAL("hist: the highest of one CPU", one.max, 999);
	TEST("hist: no such CPU", stapwatch_read_hist_cpu(sw, number, CPUS,
							  &one) == -1);
	memset(&h, 0, sizeof(h));
	TEST_EQUAL("hist: none", stapwatch_hist_quantile(&h, 0.5), 0);
}

/* The share Q of some values, in order, is not above this one; as readers see it. */
static uint64_t sorted_quantile(const uint64_t *values, size_t nr, double q)
{
	size_t i;

	for (i = 0; i + 1 < nr && i + 1 < q * nr - 1e-6; i++)
		;
	return values[i];
}

/* One definition: libstapwatch's is a script's, and both are that of sorted values. */
static int quantiles_wrong(const uint64_t *values, size_t nr)
{
	static struct stapwatch_hist h;
	unsigned int bucket, permille;
	int wrong = 0;
	uint64_t is;
	size_t i;
	u64 of;

	memset(&h, 0, sizeof(h));
	for (i = 0; i < nr; i++)
		h.buckets[stapwatch_hist_bucket(values[i])]++;
	h.count = nr;
	h.max = values[nr - 1];
	for (permille = 0; permille <= 1000; permille++) {
		is = stapwatch_hist_quantile(&h, permille / 1000.);
		wrong += !hist_quantile_of((const u64 *)h.buckets, h.max,
					   permille, 1000, &of) || is != of ||
			 is > h.max;
		bucket = stapwatch_hist_bucket(
			sorted_quantile(values, nr, permille / 1000.));
		wrong += stapwatch_hist_bucket(is) != bucket;
		wrong += permille == 1000 && is != h.max;
	}
	return wrong;
}

static void test_quantiles(void)
{
	uint64_t values[1000], i, n;
	int wrong = 0;

	for (n = 1; n <= 1000; n += n < 120 ? 1 : 11) {
		for (i = 0; i < n; i++)
			values[i] = i < 99 || i < n - 1 ? i * i : 1000000;
		wrong += quantiles_wrong(values, n);
	}
	TEST_EQUAL("hist: quantiles are those of sorted values", wrong, 0);
	values[0] = 10;
	values[1] = 1000;
	TEST_EQUAL("hist: two values have one definition",
		   quantiles_wrong(values, 2), 0);
}

/* How many of all sums are not what each by itself is. */
static int sums_wrong(void)
{
	const struct stapwatch_instance *in;
	const size_t nr = stapwatch_nr(sw);
	int64_t *sums = malloc(nr * sizeof(*sums));
	int wrong = 0;
	size_t i;

	memset(sums, 0xaa, nr * sizeof(*sums));
	if (stapwatch_read_all(sw, sums))
		wrong++;
	for (i = 0; i < nr; i++) {
		in = stapwatch_instance(sw, i);
		wrong += sums[i] != (in->kind == STAPWATCH_HIST ? 0 :
				     value_of(in->number));
	}
	free(sums);
	return wrong;
}

/* With gaps and histograms between, and over more than one extent. */
static void test_all(void)
{
	int64_t number, hist;
	int i;

	for (i = 0; i < 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "all.%d", i);
		if (i % 333 == 7) {
			hist = stapwatch_map_add_hist(map, name);
			stapwatch_map_record(map, hist, 0, i);
			continue;
		}
		number = stapwatch_map_add(map, name);
		stapwatch_map_adjust(map, number, i % CPUS, i);
		stapwatch_map_adjust(map, number, (i + 1) % CPUS, -2 * i);
		if (i % 97 == 3)
			stapwatch_map_del(map, number);
	}
	stapwatch_refresh(sw);
	TEST("all: there are many", stapwatch_nr(sw) > 980);
	TEST_EQUAL("all: each sum is the counter's", sums_wrong(), 0);
}

static int bucket_wrong(uint64_t v)
{
	const unsigned int b = stapwatch_hist_bucket(v);
	const uint64_t low = stapwatch_hist_low(b);
	const uint64_t high = stapwatch_hist_high(b);
	const uint64_t mid = low + (high - low) / 2;
	const uint64_t off = v > mid ? v - mid : mid - v;

	return b >= STAPWATCH_HIST_BUCKETS || v < low || v > high ||
	       off > v / 16;
}

static void test_buckets(void)
{
	unsigned long wrong = 0, gaps = 0;
	uint64_t v;
	int i, k;

	for (v = 0; v < 100000; v++)
		wrong += bucket_wrong(v);
	for (i = 0; i < 64; i++)
		for (k = -1000; k < 1000; k++)
			wrong += bucket_wrong(((uint64_t)1 << i) + k);
	TEST_EQUAL("buckets: within 6.25 %", wrong, 0);
	for (i = 1; i < STAPWATCH_HIST_BUCKETS; i++)
		gaps += stapwatch_hist_high(i - 1) + 1 != stapwatch_hist_low(i);
	TEST_EQUAL("buckets: no gap", gaps, 0);
	TEST_EQUAL("buckets: the last",
		   stapwatch_hist_bucket(UINT64_MAX), 495);
	TEST("buckets: up to the end", stapwatch_hist_high(495) == UINT64_MAX);
}

static void test_end(void)
{
	struct stapwatch_map *next;
	struct stapwatch *late;

	TEST("live", stapwatch_state(sw) == STAPWATCH_LIVE);
	stapwatch_map_close(map);
	TEST("ended", stapwatch_state(sw) == STAPWATCH_ENDED);
	TEST_EQUAL("ended: nothing new", stapwatch_refresh(sw), 0);
	TEST_EQUAL("ended: the values stay", value_of(1), 7);
	late = stapwatch_open("map");
	TEST("ended: can still be opened", late &&
	     stapwatch_nr(late) == stapwatch_nr(sw));
	next = stapwatch_map_create("map", 1, 1);
	TEST("a map in its place", next);
	TEST_EQUAL("in its place: who read before still can", value_of(1), 7);
	stapwatch_close(late);
	late = stapwatch_open("map");
	TEST("in its place: another session", late && !stapwatch_nr(late) &&
	     stapwatch_session(late) != stapwatch_session(sw));
	stapwatch_close(late);
	stapwatch_map_close(next);
}

int main(void)
{
	TEST("no map", !stapwatch_open("map") && errno == ENOENT &&
	     *stapwatch_error());
	TEST("not called names", !stapwatch_map_create("./names", 1, 1) &&
	     errno == EINVAL);
	TEST("no CPU", !stapwatch_map_create("map", 0, 1) && errno == EINVAL);
	TEST("no directory", !stapwatch_map_create("no/map", 1, 1) &&
	     errno == ENOENT);
	map = stapwatch_map_create("map", CPUS, 500);
	sw = stapwatch_open("./map");
	TEST("created and opened", map && sw);
	if (!map || !sw) {
		printf("%s\n", stapwatch_error());
		return 1;
	}
	TEST_EQUAL("CPUs", stapwatch_nr_cpus(sw), CPUS);
	TEST_EQUAL("no instance", stapwatch_nr(sw), 0);
	test_counters();
	test_growth();
	test_hist();
	test_quantiles();
	test_all();
	test_buckets();
	test_end();
	stapwatch_close(sw);
	stapwatch_close(NULL);
	stapwatch_map_close(NULL);
	return test_failures != 0;
}
