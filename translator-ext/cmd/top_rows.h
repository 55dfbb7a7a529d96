/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instances of a map as rows of stapwatch top, read in rounds.
 */
#ifndef STAPWATCH_TOP_ROWS_H
#define STAPWATCH_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/stapwatch.h"

#define TOP_SPARKS 16		/* characters of a sparkline, at most */

enum top_sort {
	TOP_BY_NAME,
	TOP_BY_VALUE,
	TOP_BY_RATE,
};

struct top_row {
	uint32_t number;
	enum stapwatch_kind kind;
	const char *raw;	/* its name, until the instances are others */
	char *name;		/* as it is shown */
	int64_t value;		/* of a histogram: how many values */
	int64_t min, max;	/* of a CPU's value */
	int64_t before;
	uint64_t round;		/* that `before' is of; 0: none */
	double rate;
	bool has_rate;
	uint64_t negative;	/* values of the histogram that are not below */
	bool has_quantiles;
	uint64_t p50, p99;
	char spark[TOP_SPARKS * 4 + 1];
};

struct top_rows {
	struct stapwatch *sw;
	const char *pattern;	/* of names; NULL: all */
	bool utf8;		/* the terminal has bars */
	struct top_row *all;
	size_t nr;
	int64_t *cpus;		/* room for a value of each */
	uint64_t round;		/* how many there were */
};

/**
 * top_rows_make - rows for the instances that there are now
 *
 * A row that was there goes on, which its rate needs.
 */
void top_rows_make(struct top_rows *r);
void top_rows_free(struct top_rows *r);

/**
 * top_rows_read - what their values are now: a round
 * @passed: seconds since the round before
 *
 * Return: 0; -1 with what stapwatch_error() says
 */
int top_rows_read(struct top_rows *r, double passed);

void top_rows_sort(struct top_rows *r, enum top_sort by);

#endif
