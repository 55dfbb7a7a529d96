/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timeline as it is shown: as text, for Chrome's viewer, for Perfetto's. */
#ifndef STAPWATCH_TIMELINE_VIEW_H
#define STAPWATCH_TIMELINE_VIEW_H

#include <stdio.h>

#include "report/input/timeline.h"

/* Of several timelines there are as many, one after the other. */
struct timeline_view {
	struct timeline *timeline; /* its slices are told once */
	size_t nr; /* of these, of which this is the first */
	int trace_width; /* what the names of several take; 0: there is one */
	struct timeline_filter filter;
	/* what a part of a thread's life is called; NULL: it has no name */
	const char *(*part_name)(unsigned int part);
	/* what a system call of that number is called; the same */
	const char *(*call_name)(uint32_t call);
};

/** timeline_state - what a slice is of, as a word; no name of others' */
const char *timeline_state(const struct timeline_view *v,
			   const struct timeline_slice *s);

/** timeline_call - the name of the call that it was in; NULL: none, or none is known */
const char *timeline_call(const struct timeline_view *v,
			  const struct timeline_slice *s);

/** timeline_waker - who is no thread and woke this one; NULL: nobody */
const char *timeline_waker(const struct timeline_slice *s);

/** timeline_values - the ticks that a slice on a CPU is made of
 * @values: user mode's, system mode's, in interrupts, in softirqs */
void timeline_values(const struct timeline_slice *s, uint64_t values[4]);
extern const char *const timeline_value_names[4];

/* What a list does with each. */
struct timeline_visit {
	void (*slice)(const struct timeline_view *v,
		      const struct timeline_slice *s, struct buf *out);
	void (*mark)(const struct timeline_view *v, const struct mark *m,
		     struct buf *out);
};

/** timeline_view_next - the next slice that the view wants, as timeline_next() */
const struct timeline_slice *timeline_view_next(const struct timeline_view *v);

/** timeline_visit - what all views want, slices and marks, in the order of time */
void timeline_visit(const struct timeline_view *v,
		    const struct timeline_visit *visit, struct buf *out,
		    FILE *to);

/**
 * timeline_text, timeline_json, timeline_chrome, timeline_perfetto - print it
 *
 * The first two take several.
 *
 * @out: what is left to be written; what grows goes to @to
 */
void timeline_text(const struct timeline_view *v, struct buf *out, FILE *to);
void timeline_json(const struct timeline_view *v, struct buf *out, FILE *to);
void timeline_chrome(const struct timeline_view *v, struct buf *out, FILE *to);
void timeline_perfetto(const struct timeline_view *v, struct buf *out,
		       FILE *to);

#endif
