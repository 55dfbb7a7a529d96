/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a table: what cells are alike in its columns, together. */
#ifndef STAPWATCH_ROWS_H
#define STAPWATCH_ROWS_H

#include "report/output/columns.h"
#include "report/output/view.h"

/* Of one value of its samples. */
struct row_stat {
	struct stat_values values;
	uint32_t value;		/* the profile's number */
};

struct row {
	const uint32_t *texts;	/* of each column, numbers of the texts */
	uint32_t event;
	uint32_t nr_stats;
	uint64_t samples;
	uint64_t events;
	struct row_stat *stats;	/* of the values that it has, in the order of numbers */
	/* of samples in whose stacks it is, wherever */
	uint64_t total_samples;
	uint64_t total_events;
	uint32_t seen;		/* the last cell that it was in the stack of, plus 1 */
};

struct rows {
	struct intern keys;	/* an event's number, and texts */
	struct row *all;
	size_t size;
	bool inclusive;		/* totals are wanted */
};

enum rows_sort {
	SORT_EVENTS,		/* the greatest first */
	SORT_SAMPLES,
	SORT_NAME,		/* by the columns */
	SORT_CHANGE,		/* of two runs only */
};

/* What the samples of rows carry: which of the columns of values they have. */
struct rows_values {
	bool has[UINT8_MAX + 1];
	uint32_t nr;
};

/** row_stat - what a row has of a value; NULL: nothing */
const struct stat_values *row_stat(const struct row *row, uint32_t value);

/** rows_values - which have NR rows? */
void rows_values(const struct row *rows, size_t nr, struct rows_values *vals);

/** rows_by_name - the order of two rows' texts, as strverscmp() has it */
int rows_by_name(const struct intern *texts, const uint32_t *x,
		 const uint32_t *y, size_t nr);

/**
 * rows_make - the rows of a view, event by event
 * @inclusive: also who has called, with their totals, by which the rows are sorted then
 */
void rows_make(struct rows *rows, struct view *v,
	       const struct columns *columns, enum rows_sort sort,
	       bool inclusive);
void rows_free(struct rows *rows);

#endif
