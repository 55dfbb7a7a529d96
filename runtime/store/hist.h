/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log-linear histograms: eight steps for each power of two.
 *
 * A histogram is PERFMAP_HIST_COUNTERS numbers, as abi.h has them: the buckets,
 * the sum of the values, how many were negative and the highest.  The middle of a
 * bucket is at most 6.25 % from any value that falls into it: a bucket is as
 * wide as an eighth of its lower bound, or less.
 *
 * Who may run what: everything in any context, NMI included; what draws is for
 * where SystemTap's handlers may print.  Nothing here sleeps, takes a lock or
 * runs through more than the buckets.  Whoever looks at a histogram that is in use looks at
 * a copy of his own: the functions take the numbers to stay.
 */
#ifndef STAPWATCH_STORE_HIST_H
#define STAPWATCH_STORE_HIST_H

#include "base/compat.h"
#include "store/abi.h"

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stdio.h>
#include <string.h>
#endif

/**
 * hist_bucket - the bucket that a value falls into
 * @v: the value
 *
 * Context: any, NMI included.
 * Return: 0 to PERFMAP_HIST_BUCKETS - 1.
 */
static inline unsigned int hist_bucket(u64 v)
{
	unsigned int power;

	if (v < PERFMAP_HIST_STEPS)
		return v;
	power = ilog2(v);
	return (power - 2) * PERFMAP_HIST_STEPS +
	       (v >> (power - 3)) % PERFMAP_HIST_STEPS;
}

/* How many bits of a value a bucket does not tell apart. */
static inline unsigned int hist_bits(unsigned int i)
{
	return i < PERFMAP_HIST_STEPS ? 0 : i / PERFMAP_HIST_STEPS - 1;
}

/**
 * hist_low - the lowest value of a bucket
 * @i: the bucket, below PERFMAP_HIST_BUCKETS
 *
 * Context: any, NMI included.
 * Return: the value; it is in the bucket.
 */
static inline u64 hist_low(unsigned int i)
{
	u64 steps = i % PERFMAP_HIST_STEPS;

	if (i >= PERFMAP_HIST_STEPS)
		steps += PERFMAP_HIST_STEPS;
	return steps << hist_bits(i);
}

/**
 * hist_high - the highest value of a bucket
 * @i: the bucket, below PERFMAP_HIST_BUCKETS
 *
 * Context: any, NMI included.
 * Return: the value; it is in the bucket.
 */
static inline u64 hist_high(unsigned int i)
{
	return hist_low(i) + ((1ULL << hist_bits(i)) - 1);
}

/**
 * hist_mid - the value that stands for a bucket
 * @i: the bucket, below PERFMAP_HIST_BUCKETS
 *
 * Context: any, NMI included.
 * Return: the value, at most 6.25 % from every value in the bucket.
 */
static inline u64 hist_mid(unsigned int i)
{
	return hist_low(i) + ((1ULL << hist_bits(i)) - 1) / 2;
}

/**
 * hist_rank - which of a histogram's values, from the lowest, a quantile is
 * @count: how many values there are, not 0
 * @share: of @whole, at most 2^32 - 1; more than that is as @whole
 *
 * The smallest value that at least so large a share of all is not above: count * share /
 * whole, rounded up.  Whoever tells quantiles asks here (but for the page, whose language
 * is another).
 *
 * Context: any, NMI included.
 * Return: 1 to @count.
 */
static inline u64 hist_rank(u64 count, u32 share, u32 whole)
{
	u64 rest, rank = div64_u64_rem(count, whole, &rest);

	if (share > whole)
		share = whole;
	/* without its overflow */
	rank = rank * share + div64_u64_rem(rest * share + whole - 1, whole,
					    &rest);
	return rank ? rank : 1;
}

/**
 * hist_value - the value that a quantile is
 * @i: the bucket that it is in
 * @last: no value is above it
 * @max: the highest value of all; 0: that, or it is not known
 *
 * Context: any, NMI included.
 * Return: the highest value itself if it is that, else the middle of the bucket, and
 * no more than the highest value.
 */
static inline u64 hist_value(unsigned int i, bool last, u64 max)
{
	const u64 mid = hist_mid(i);

	/* what is counted while this is asked may not be in both yet */
	if (!max || hist_bucket(max) != i)
		return mid;
	return last || max < mid ? max : mid;
}

/**
 * hist_quantile_of - the value that a share of a histogram's are not above
 * @buckets: the histogram; only its buckets are looked at
 * @max: its highest value, as for hist_value()
 * @share: as for hist_rank(); 0 is the lowest value
 * @value: where to put it, as hist_value() has it
 *
 * Context: any, NMI included.
 * Return: false, and 0 for the value, if the histogram is empty.
 */
static inline bool
hist_quantile_of(const u64 *buckets, u64 max, u32 share, u32 whole, u64 *value)
{
	u64 count = 0, rank, rest;
	unsigned int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		count += buckets[i];
	*value = 0;
	if (!count)
		return false;
	rank = rest = hist_rank(count, share, whole);
	for (i = 0; i < PERFMAP_HIST_BUCKETS - 1 && buckets[i] < rest; i++)
		rest -= buckets[i];
	*value = hist_value(i, rank == count, max);
	return true;
}

/**
 * hist_quantile - the value that so many of a thousand are not above
 * @h: the histogram, whole
 * @permille: 500 for the median; above 1000 is as 1000, the highest value
 *
 * Context: any, NMI included.
 * Return: as hist_quantile_of()
 */
static inline bool
hist_quantile(const u64 *h, unsigned int permille, u64 *value)
{
	return hist_quantile_of(h, h[PERFMAP_HIST_MAX], permille, 1000, value);
}

/* Rows of bars: negative values, 0, and one for each power of two. */
#define HIST_ROWS 66
#define HIST_BAR 50
/* empty rows that are shown beside others */
#define HIST_MARGIN 2
/* a label, a bar and a count, of 20 characters at most each */
#define HIST_LINE (HIST_BAR + 48)

#ifdef __KERNEL__
typedef void hist_out;
#define hist_put(out, line) ((void)(out), _stp_print(line))
#else
typedef FILE hist_out;
#define hist_put(out, line) ((void)fputs(line, out))
#endif

/**
 * hist_row - the row that a bucket is drawn in
 * @i: the bucket; -1 for negative values
 *
 * Context: any, NMI included.
 * Return: 0 to HIST_ROWS - 1.
 */
static inline unsigned int hist_row(int i)
{
	if (i <= 0)
		return i + 1;
	return ilog2(hist_low(i)) + 2;
}

/* A row's label; returns its width. */
static inline int hist_label(char *label, size_t size, unsigned int row)
{
	if (!row)
		return snprintf(label, size, "<0");
	return snprintf(label, size, "%llu",
			row == 1 ? 0ULL : 1ULL << (row - 2));
}

static inline bool
hist_row_elided(const u64 *rows, unsigned int row, unsigned int first,
		unsigned int last)
{
	unsigned int i = row > first + HIST_MARGIN ? row - HIST_MARGIN : first;

	for (; i <= row + HIST_MARGIN && i <= last; i++)
		if (rows[i])
			return false;
	return true;
}

/* The first and the last row to draw, and the largest count. */
static inline u64
hist_extent(const u64 *rows, unsigned int *first, unsigned int *last)
{
	unsigned int i;
	u64 most = 0;

	*first = HIST_ROWS;
	*last = 0;
	for (i = 0; i < HIST_ROWS; i++) {
		if (!rows[i])
			continue;
		if (*first == HIST_ROWS)
			*first = i;
		*last = i;
		if (rows[i] > most)
			most = rows[i];
	}
	/* the rows of no negative values are not there to be shown */
	for (i = 0; i < HIST_MARGIN; i++) {
		if (*first > 1)
			--*first;
		if (*last < HIST_ROWS - 1)
			++*last;
	}
	return most;
}

/**
 * hist_draw - draw rows of a histogram as text, as SystemTap's @hist_log does
 * @out: where to; in the kernel it is the handler's output
 * @rows: how many values there are in each row
 *
 * One row for each power of two, beginning at that value; a tilde stands for
 * empty rows that are left out.  If there were negative values, a row <0 comes
 * before the others.
 *
 * Context: where a handler may print.
 */
static inline void hist_draw(hist_out *out, const u64 *rows)
{
	int width = sizeof("value") - 1, count_width, n;
	unsigned int first, last, i, bar;
	char line[HIST_LINE], label[24];
	bool elided = false;
	u64 most, scale;

	most = hist_extent(rows, &first, &last);
	scale = most <= HIST_BAR ? 1 : div64_u64(most - 1, HIST_BAR) + 1;
	count_width = snprintf(line, sizeof(line), "%llu",
			       (unsigned long long)most);
	if (most && hist_label(label, sizeof(label), last) > width)
		width = hist_label(label, sizeof(label), last);

	n = snprintf(line, sizeof(line), "%*s |", width, "value");
	memset(line + n, '-', HIST_BAR);
	snprintf(line + n + HIST_BAR, sizeof(line) - n - HIST_BAR, " count\n");
	hist_put(out, line);
	for (i = first; most && i <= last; i++) {
		if (hist_row_elided(rows, i, first, last)) {
			elided = true;
			continue;
		}
		if (elided) {
			snprintf(line, sizeof(line), "%*s ~\n", width, "");
			hist_put(out, line);
		}
		elided = false;
		hist_label(label, sizeof(label), i);
		bar = div64_u64(rows[i], scale);
		n = snprintf(line, sizeof(line), "%*s |", width, label);
		memset(line + n, '@', bar);
		n += bar;
		snprintf(line + n, sizeof(line) - n, "%*llu\n",
			 (int)(HIST_BAR - bar) + 1 + count_width,
			 (unsigned long long)rows[i]);
		hist_put(out, line);
	}
	hist_put(out, "\n");
}

#ifndef __KERNEL__

/**
 * hist_bars - draw a histogram, as hist_draw() does
 * @out: where to
 * @h: the histogram, whole
 */
static inline void hist_bars(FILE *out, const u64 *h)
{
	u64 rows[HIST_ROWS] = { h[PERFMAP_HIST_NEGATIVE] };
	int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		rows[hist_row(i)] += h[i];
	hist_draw(out, rows);
}

#endif

#endif
