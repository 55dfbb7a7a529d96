/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several traces as one: they are opened together, get one clock (align.h), and their
 * records come in its order.
 *
 * Each trace is put in order as if it were alone (trace_order.h) and the oldest record of
 * all is taken; where times are equal the first trace comes first.  So as much is held as
 * for all of them, each alone: a smaller share would be less than a round of a fast trace.  What does not depend on time comes at once, too.
 */
#ifndef STAPWATCH_MERGE_H
#define STAPWATCH_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "report/input/align.h"
#include "report/input/opening.h"
#include "report/input/trace_order.h"

struct merge_source {
	struct trace *trace;
	struct aligned clock;
	struct order *order;	/* NULL: it has not begun */
	struct opening opening;
	const struct sw_trace_record *next;	/* NULL: that was all */
	uint64_t time;		/* of it, by the common clock */
};

struct merge {
	struct merge_source sources[ALIGN_TRACES];	/* as they were named */
	size_t nr;
	size_t first;		/* the one that began first */
	uint32_t nr_boots;	/* that they are of */
	size_t last;		/* whose record is in use, plus 1; 0: none's */
};

/**
 * merge_open - open traces, and find their clock
 * @paths: files, of which one may be "-" for stdin; they are kept
 * @nr: up to ALIGN_TRACES
 * @why: what is wrong with which of them: a line without its end
 *
 * Return: 0, or -1; merge_close() closes what was opened in any case
 */
int merge_open(struct merge *m, const char *const *paths, size_t nr,
	       struct buf *why);
void merge_close(struct merge *m);

/**
 * merge_begin - begin to read one of them, after which merge_next() has its records, too
 * @loss: is told of every record of it
 * @procs: gets what was there before it
 */
void merge_begin(struct merge *m, size_t source, struct loss *loss,
		 struct procs *procs);

/**
 * merge_next - the next record, as its trace has it, valid until the next call
 * @source: gets whose it is
 *
 * Return: NULL at the end of all
 */
const struct sw_trace_record *merge_next(struct merge *m, size_t *source);

/** merge_time - a time of one of the traces by the common clock */
static inline uint64_t merge_time(const struct merge *m, size_t source,
				  uint64_t time)
{
	return align_time(m->sources[source].clock.shift, time);
}

/** merge_permille - how much of all has been read; -1 if nobody knows of how much */
int merge_permille(const struct merge *m);

#endif
