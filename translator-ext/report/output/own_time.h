/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of threads: of those that are alike in the columns of a thread, its name, process
 * and number.  Beside a share of all threads' time it tells which part of its own life a
 * thread spends at a place.
 */
#ifndef STAPWATCH_OWN_TIME_H
#define STAPWATCH_OWN_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "report/output/columns.h"
#include "report/output/view.h"

struct own_thread {
	const uint32_t *texts;	/* of its columns */
	uint64_t samples;
	uint64_t ns;		/* on CPUs and off them */
	uint64_t off_ns;
	uint32_t nr;		/* in the order in which they came */
};

struct own_time {
	uint8_t columns[COLUMNS_MAX];	/* that are a thread's, by their numbers */
	size_t nr_columns;
	struct intern keys;
	struct own_thread *threads;
	size_t size;
	size_t nr;
};

/**
 * own_time_make - sum up what a view has of an event that is time
 * @columns: where none is a thread's there is nothing to tell, and nr stays 0
 */
void own_time_make(struct own_time *o, struct view *v, uint32_t event,
		   const struct columns *columns);
void own_time_free(struct own_time *o);

/**
 * own_time_share - NS as a part of its thread's time, in percent
 * @texts: of all columns, of which some say which thread it is
 */
double own_time_share(struct own_time *o, const uint32_t *texts, uint64_t ns);

/**
 * own_time_print - a line for each of the threads that have most time, with what of it
 * they were off CPUs
 * @limit: without those that have a smaller share of all, in percent
 *
 * It sorts them: nothing can be asked for after that.
 */
void own_time_print(struct own_time *o, const struct view *v, uint32_t event,
		    double limit, struct buf *out);

#endif
