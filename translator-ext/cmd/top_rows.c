/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of stapwatch top; top_rows.h says what is wanted of it. */
#define _GNU_SOURCE	/* FNM_CASEFOLD, strcasestr() */
#include "cmd/top_rows.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bar.h"
#include "base/buf.h"
#include "base/shown.h"

static char *name_of(const struct stapwatch_instance *in)
{
	struct buf name = { 0 };

	shown_name(&name, in->name);
	return buf_take(&name);
}

static bool matches(const char *pattern, const char *name)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, name, FNM_CASEFOLD);
	return strcasestr(name, pattern);
}

static void free_rows(struct top_row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(rows[i].name);
	free(rows);
}

void top_rows_free(struct top_rows *r)
{
	free_rows(r->all, r->nr);
	free(r->cpus);
}

static int by_number(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

void top_rows_make(struct top_rows *r)
{
	const size_t nr = stapwatch_nr(r->sw);
	const struct stapwatch_instance *in;
	struct top_row *rows, *old;
	size_t i, used = 0;

	if (r->nr)
		qsort(r->all, r->nr, sizeof(*r->all), by_number);
	rows = xmalloc((nr + 1) * sizeof(*rows));
	for (i = 0; i < nr; i++) {
		in = stapwatch_instance(r->sw, i);
		if (!matches(r->pattern, in->name))
			continue;
		rows[used] = (struct top_row) {
			.number = in->number,
			.kind = in->kind,
			.raw = in->name,
		};
		old = r->nr ? bsearch(&rows[used], r->all, r->nr, sizeof(*old),
				      by_number) : NULL;
		if (old) {
			rows[used].before = old->before;
			rows[used].round = old->round;
		}
		rows[used++].name = name_of(in);
	}
	free_rows(r->all, r->nr);
	r->all = rows;
	r->nr = used;
}

/*
 * The powers of two between the first and the last that has a value, two or
 * more to a character if they are many.
 */
static void draw_spark(const struct stapwatch_hist *h, bool utf8, char *out)
{
	uint64_t powers[65] = { 0 }, chars[TOP_SPARKS] = { 0 }, most = 0, low;
	int first = 65, last = -1, per, i, n;

	*out = '\0';
	for (i = 0; i < STAPWATCH_HIST_BUCKETS; i++) {
		low = stapwatch_hist_low(i);
		n = low ? 64 - __builtin_clzll(low) : 0;
		powers[n] += h->buckets[i];
		if (!h->buckets[i])
			continue;
		if (n < first)
			first = n;
		last = n;
	}
	if (last < 0)
		return;
	per = (last - first) / TOP_SPARKS + 1;
	for (i = first; i <= last; i++) {
		n = (i - first) / per;
		chars[n] += powers[i];
		if (chars[n] > most)
			most = chars[n];
	}
	for (i = 0; i <= (last - first) / per; i++) {
		/* any value at all is more than none */
		n = chars[i] ? 1 + (int)((double)chars[i] / most * 6.999) : 0;
		out = stpcpy(out, bar(n, utf8));
	}
}

static int read_counter(struct top_rows *rows, struct top_row *r)
{
	const uint32_t nr = stapwatch_nr_cpus(rows->sw);
	uint64_t sum = 0;
	uint32_t i;

	if (stapwatch_read_cpus(rows->sw, r->number, rows->cpus))
		return -1;
	r->min = INT64_MAX;
	r->max = INT64_MIN;
	for (i = 0; i < nr; i++) {
		sum += rows->cpus[i];
		if (rows->cpus[i] < r->min)
			r->min = rows->cpus[i];
		if (rows->cpus[i] > r->max)
			r->max = rows->cpus[i];
	}
	r->value = sum;
	return 0;
}

static int read_hist(struct top_rows *rows, struct top_row *r)
{
	const uint32_t nr = stapwatch_nr_cpus(rows->sw);
	struct stapwatch_hist all = { 0 }, one;
	int64_t count;
	uint32_t i;
	int k;

	r->min = INT64_MAX;
	r->max = INT64_MIN;
	for (i = 0; i < nr; i++) {
		if (stapwatch_read_hist_cpu(rows->sw, r->number, i, &one))
			return -1;
		for (k = 0; k < STAPWATCH_HIST_BUCKETS; k++)
			all.buckets[k] += one.buckets[k];
		all.count += one.count;
		all.negative += one.negative;
		if (one.max > all.max)
			all.max = one.max;
		count = one.count + one.negative;
		if (count < r->min)
			r->min = count;
		if (count > r->max)
			r->max = count;
	}
	r->value = all.count + all.negative;
	r->negative = all.negative;
	r->has_quantiles = all.count;
	r->p50 = stapwatch_hist_quantile(&all, 0.5);
	r->p99 = stapwatch_hist_quantile(&all, 0.99);
	draw_spark(&all, rows->utf8, r->spark);
	return 0;
}

int top_rows_read(struct top_rows *rows, double passed)
{
	struct top_row *r;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		r = &rows->all[i];
		if (r->kind == STAPWATCH_HIST ? read_hist(rows, r) :
						read_counter(rows, r))
			return -1;
		r->has_rate = r->round && r->round == rows->round;
		if (r->has_rate)
			r->rate = (int64_t)((uint64_t)r->value - r->before) /
				  passed;
		r->before = r->value;
		r->round = rows->round + 1;
	}
	rows->round++;
	return 0;
}

static int by_name(const struct top_row *x, const struct top_row *y)
{
	return strcmp(x->name, y->name);
}

static int sort_by_name(const void *a, const void *b)
{
	return by_name(a, b);
}

static int sort_by_value(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return by_name(x, y);
}

static int sort_by_rate(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;
	double p = x->has_rate ? x->rate : 0, q = y->has_rate ? y->rate : 0;

	if (p != q)
		return p < q ? 1 : -1;
	return by_name(x, y);
}

void top_rows_sort(struct top_rows *r, enum top_sort by)
{
	static int (*const how[])(const void *, const void *) = {
		[TOP_BY_NAME] = sort_by_name,
		[TOP_BY_VALUE] = sort_by_value,
		[TOP_BY_RATE] = sort_by_rate,
	};

	if (r->nr)
		qsort(r->all, r->nr, sizeof(*r->all), how[by]);
}
