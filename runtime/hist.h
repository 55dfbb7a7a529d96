/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log-linear histograms: eight steps for each power of two.
 *
 * A histogram is PERFMAP_HIST_COUNTERS numbers, as perfmap_abi.h has them: the
 * buckets, the sum of the values and how many were negative.  The middle of a
 * bucket is at most 6.25 % from any value that falls into it: a bucket is as
 * wide as an eighth of its lower bound, or less.
 *
 * Who may run what: everything but hist_bars(), which is for user space, in any
 * context, NMI included.  Nothing here sleeps, takes a lock or runs through
 * more than the buckets.  Whoever looks at a histogram that is in use looks at
 * a copy of his own: the functions take the numbers to stay.
 */
#ifndef STAPWATCH_HIST_H
#define STAPWATCH_HIST_H

#include "compat.h"
#include "perfmap_abi.h"

#ifndef __KERNEL__
#include <stdio.h>
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
 * @permille: as for hist_quantile()
 *
 * Context: any, NMI included.
 * Return: 1 to @count.
 */
static inline u64 hist_rank(u64 count, unsigned int permille)
{
	u64 rank;

	if (permille > 1000)
		permille = 1000;
	/* count * permille / 1000, rounded up, without its overflow */
	rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
	return rank ? rank : 1;
}

/**
 * hist_quantile - the value that so many of a thousand are not above
 * @buckets: the histogram; only its buckets are looked at
 * @permille: 500 for the median; above 1000 is as 1000, the highest value, and
 *	0 is the lowest
 * @value: where to put the middle of the bucket that the value is in
 *
 * Context: any, NMI included.
 * Return: false, and 0 for the value, if the histogram is empty.
 */
static inline bool
hist_quantile(const u64 *buckets, unsigned int permille, u64 *value)
{
	u64 count = 0, rank;
	unsigned int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		count += buckets[i];
	*value = 0;
	if (!count)
		return false;
	rank = hist_rank(count, permille);
	for (i = 0; i < PERFMAP_HIST_BUCKETS - 1 && buckets[i] < rank; i++)
		rank -= buckets[i];
	*value = hist_mid(i);
	return true;
}

/**
 * hist_merge - add a histogram to another
 * @into: the one that has both in the end
 * @from: the other one
 *
 * Both are whole: buckets, sum and negative ones.
 *
 * Context: any, NMI included.
 */
static inline void hist_merge(u64 *into, const u64 *from)
{
	unsigned int i;

	for (i = 0; i < PERFMAP_HIST_COUNTERS; i++)
		into[i] += from[i];
}

#ifndef __KERNEL__

/* Rows of bars: negative values, 0, and one for each power of two. */
#define HIST_ROWS 66
#define HIST_BAR 50
/* empty rows that are shown beside others */
#define HIST_MARGIN 2

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

/**
 * hist_bars - draw a histogram as text, as SystemTap's @hist_log does
 * @out: where to
 * @h: the histogram, whole
 *
 * One row for each power of two, beginning at that value; a tilde stands for
 * empty rows that are left out.  If there were negative values, a row <0 comes
 * before the others.
 */
static inline void hist_bars(FILE *out, const u64 *h)
{
	unsigned int first = HIST_ROWS, last = 0, i, j;
	u64 rows[HIST_ROWS] = { h[PERFMAP_HIST_NEGATIVE] };
	u64 most = 0, scale;
	int width = sizeof("value") - 1, count_width;
	bool elided = false;
	char label[24];

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		rows[i ? ilog2(hist_low(i)) + 2 : 1] += h[i];
	for (i = 0; i < HIST_ROWS; i++) {
		if (!rows[i])
			continue;
		if (first == HIST_ROWS)
			first = i;
		last = i;
		if (rows[i] > most)
			most = rows[i];
	}
	/* the rows of no negative values are not there to be shown */
	for (i = 0; i < HIST_MARGIN; i++) {
		if (first > 1)
			first--;
		if (last < HIST_ROWS - 1)
			last++;
	}
	scale = most <= HIST_BAR ? 1 : (most - 1) / HIST_BAR + 1;
	count_width = snprintf(NULL, 0, "%llu", (unsigned long long)most);
	if (most && hist_label(label, sizeof(label), last) > width)
		width = hist_label(label, sizeof(label), last);

	fprintf(out, "%*s |", width, "value");
	for (i = 0; i < HIST_BAR; i++)
		putc('-', out);
	fputs(" count\n", out);
	for (i = first; most && i <= last; i++) {
		u64 bar = rows[i] / scale;

		if (hist_row_elided(rows, i, first, last)) {
			elided = true;
			continue;
		}
		if (elided)
			fprintf(out, "%*s ~\n", width, "");
		elided = false;
		hist_label(label, sizeof(label), i);
		fprintf(out, "%*s |", width, label);
		for (j = 0; j < bar; j++)
			putc('@', out);
		fprintf(out, "%*llu\n", (int)(HIST_BAR - bar) + 1 + count_width,
			(unsigned long long)rows[i]);
	}
	putc('\n', out);
}

#endif

#endif
