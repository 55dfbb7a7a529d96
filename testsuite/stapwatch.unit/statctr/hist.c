/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms: buckets, quantiles, merging and bars. */
#include <stdlib.h>
#include <string.h>
#include "store/hist.h"
#include "store/numbers.h"
#include "test.h"

static u64 random_value(void)
{
	return ((u64)random() << 42 ^ (u64)random() << 21 ^ random()) >>
	       random() % 64;
}

/* 16 |a - b| <= v, which is the 6.25 %, without overflow */
static bool within(u64 a, u64 b, u64 v)
{
	return ((unsigned __int128)(a > b ? a - b : b - a) << 4) <= v;
}

static bool is_right(u64 v)
{
	unsigned int i = hist_bucket(v);

	return i < PERFMAP_HIST_BUCKETS && hist_low(i) <= v &&
	       v <= hist_high(i) && within(hist_mid(i), v, v);
}

static void test_buckets(void)
{
	int wrong = 0, gaps = 0, inexact = 0;
	unsigned int i;
	long n;

	TEST("the first bucket begins at 0", hist_low(0) == 0);
	TEST("the last one ends at the highest value",
	     hist_high(PERFMAP_HIST_BUCKETS - 1) == UINT64_MAX);
	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++) {
		u64 low = hist_low(i), high = hist_high(i);

		if (i)
			gaps += low != hist_high(i - 1) + 1;
		wrong += hist_bucket(low) != i || hist_bucket(high) != i ||
			 hist_bucket(hist_mid(i)) != i;
		wrong += !is_right(low) || !is_right(high);
		if (low < 16)
			inexact += low != high || hist_mid(i) != low;
		else
			/* the error is worst at the borders, and less within */
			wrong += high - low >= low / 8;
	}
	TEST_EQUAL("each begins where the one before ends", gaps, 0);
	TEST_EQUAL("each is found from its borders, within 6.25 %", wrong, 0);
	TEST_EQUAL("values below 16 have one each", inexact, 0);
	for (n = 0; n < 5000000; n++)
		wrong += !is_right(random_value());
	TEST_EQUAL("random values are right too", wrong, 0);
	for (n = 0; n < 1 << 20; n++)
		wrong += !is_right(n);
	TEST_EQUAL("and so are all values below 2^20", wrong, 0);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Against the values themselves, sorted. */
static void test_quantiles(void)
{
	static const unsigned int permille[] = {
		0, 1, 10, 250, 499, 500, 501, 900, 990, 999, 1000
	};
	static u64 values[20000];
	int round, wrong = 0, out = 0;

	for (round = 0; round < 200; round++) {
		int n = round < 100 ? round + 1 : 1 + random() % 20000;
		u64 h[PERFMAP_HIST_COUNTERS] = { 0 };
		u64 is, should, low, high;
		unsigned int p;
		int i;

		for (i = 0; i < n; i++) {
			values[i] = random_value();
			if (round % 2)
				values[i] %= 50;
			h[hist_bucket(values[i])]++;
			if (values[i] > h[PERFMAP_HIST_MAX])
				h[PERFMAP_HIST_MAX] = values[i];
		}
		qsort(values, n, sizeof(values[0]), compare);
		for (p = 0; p < sizeof(permille) / sizeof(permille[0]); p++) {
			i = ((long)n * permille[p] + 999) / 1000;
			should = values[i ? i - 1 : 0];
			wrong += !hist_quantile(h, permille[p], &is) ||
				 !within(is, should, should) ||
				 is > values[n - 1];
		}
		hist_quantile(h, 1000, &high);
		hist_quantile(h, 0, &low);
		hist_quantile(h, 5000, &is);
		out += is != high || low > high || high != values[n - 1];
	}
	TEST_EQUAL("a quantile is within 6.25 % of the sorted value", wrong, 0);
	TEST_EQUAL("more than 1000 is the highest", out, 0);
}

static void test_quantile_edges(void)
{
	u64 h[PERFMAP_HIST_COUNTERS] = { 0 }, v = 5;

	TEST("an empty histogram says so", !hist_quantile(h, 500, &v));
	TEST_EQUAL("and gives 0", v, 0);
	h[PERFMAP_HIST_SUM] = 7;
	h[PERFMAP_HIST_NEGATIVE] = 7;
	v = 5;
	TEST("what stands after the buckets is none",
	     !hist_quantile(h, 500, &v) && !v);
	h[PERFMAP_HIST_BUCKETS - 1] = 1;
	TEST("the highest bucket counts", hist_quantile(h, 0, &v) &&
	     v == hist_mid(PERFMAP_HIST_BUCKETS - 1));
	/* counts whose product with 1000 is beyond 64 bits */
	memset(h, 0, sizeof(h));
	h[3] = 1ULL << 62;
	h[7] = 1ULL << 62;
	TEST("counts may be large", hist_quantile(h, 500, &v) && v == 3 &&
	     hist_quantile(h, 501, &v) && v == 7);
	h[9] = 1;
	TEST("and one beside them is found", hist_quantile(h, 1000, &v) &&
	     v == 9);
	/* counted meanwhile: in the highest value, and in no bucket yet */
	memset(h, 0, sizeof(h));
	h[hist_bucket(100)] = 1;
	TEST("the highest value is that of the highest bucket alone",
	     hist_quantile_of(h, 5000, 1, 1, &v) &&
	     v == hist_mid(hist_bucket(100)));
}

/* "VALUE*COUNT ...", and what it looks like. */
static void test_bars(const char *name, const char *values, const char *wanted)
{
	static char text[20000];
	u64 h[PERFMAP_HIST_COUNTERS] = { 0 };
	FILE *out = fmemopen(text, sizeof(text), "w");
	unsigned long long count;
	char *at = (char *)values;

	if (!out)
		abort();
	while (*at) {
		bool negative = *at == '-';
		u64 v = strtoull(at, &at, 10);

		count = strtoull(at + 1, &at, 10);
		h[negative ? PERFMAP_HIST_NEGATIVE : hist_bucket(v)] += count;
		at += *at == ' ';
	}
	hist_bars(out, h);
	fclose(out);
	TEST(name, !strcmp(text, wanted));
	if (strcmp(text, wanted))
		printf("is:\n%sshould be:\n%s", text, wanted);
}

#define HEAD(s) s "value |--------------------------------------------------" \
	" count\n"

static void test_all_bars(void)
{
	test_bars("bars of nothing", "", HEAD("") "\n");
	/* as stap 5.6 prints @hist_log of the same values */
	test_bars("bars of small values", "0*1 1*2 2*1 3*2 4*1",
		  HEAD("")
"    0 |@                                                  1\n"
"    1 |@@                                                 2\n"
"    2 |@@@                                                3\n"
"    4 |@                                                  1\n"
"    8 |                                                   0\n"
"   16 |                                                   0\n"
"\n");
	test_bars("bars far apart", "5*3 6*1 1000000*120",
		  HEAD("  ")
"      1 |                                                     0\n"
"      2 |                                                     0\n"
"      4 |@                                                    4\n"
"      8 |                                                     0\n"
"     16 |                                                     0\n"
"        ~\n"
" 131072 |                                                     0\n"
" 262144 |                                                     0\n"
" 524288 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           120\n"
"1048576 |                                                     0\n"
"2097152 |                                                     0\n"
"\n");
	test_bars("bars of negative and the highest values",
		  "-1*2 18446744073709551615*1",
		  HEAD("              ")
"                 <0 |@@                                                 2\n"
"                  0 |                                                   0\n"
"                  1 |                                                   0\n"
"                    ~\n"
"2305843009213693952 |                                                   0\n"
"4611686018427387904 |                                                   0\n"
"9223372036854775808 |@                                                  1\n"
"\n");
	test_bars("a bar of 50 is the longest", "7*50 8*18446744073709551615",
		  HEAD("")
"    1 |                                                                      0\n"
"    2 |                                                                      0\n"
"    4 |                                                                     50\n"
"    8 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@  18446744073709551615\n"
"   16 |                                                                      0\n"
"   32 |                                                                      0\n"
"\n");
}

/* Each histogram within one extent, none in another's place or a counter's, and
 * each found by its number alone. */
static void test_numbers(unsigned int page, unsigned int hists)
{
	const unsigned int per = PERFMAP_COUNTERS(page), before = 3, n = 40;
	u64 number, next = before * per;
	unsigned int nth;
	int wrong = 0;
	char name[96];

	snprintf(name, sizeof(name), "pages of %u bytes hold as many as fit",
		 page);
	TEST_EQUAL(name, store_hists_per_extent(per), hists);
	for (nth = 0; nth < n; nth++) {
		number = store_hist_number(nth, per, before);
		wrong += number < next;
		next = number + PERFMAP_HIST_COUNTERS;
		wrong += number / per != (next - 1) / per;
	}
	wrong += next > (before + store_extents(n, hists)) * (u64)per;
	snprintf(name, sizeof(name), "pages of %u bytes: each has its own",
		 page);
	TEST_EQUAL(name, wrong, 0);

	wrong = 0;
	for (number = 0, nth = 0; number < 45ULL * per; number++) {
		u64 found = store_hist_nth(number, per, before);

		if (number == store_hist_number(nth, per, before))
			wrong += found != nth++;
		else
			wrong += found != STORE_NO_HIST;
	}
	for (number = -1ULL; number > -3ULL * per; number--)
		wrong += store_hist_nth(number, per, before) < 1ULL << 32;
	snprintf(name, sizeof(name),
		 "pages of %u bytes: found by their numbers, and by no other",
		 page);
	TEST_EQUAL(name, wrong, 0);
}

int main(void)
{
	srandom(16);
	test_buckets();
	test_quantiles();
	test_quantile_edges();
	test_all_bars();
	test_numbers(4096, 1);
	test_numbers(16384, 4);
	test_numbers(65536, 16);
	return test_failures != 0;
}
