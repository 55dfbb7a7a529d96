/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stapwatch report is asked for. */
#ifndef STAPWATCH_REPORT_OPTIONS_H
#define STAPWATCH_REPORT_OPTIONS_H

#include <stdbool.h>

#include "report/input/align.h"
#include "report/input/profile.h"
#include "report/names/places.h"
#include "report/output/columns.h"
#include "report/output/rows.h"
#include "report/output/view.h"

enum output {
	OUTPUT_TABLE,
	OUTPUT_CALLEES,
	OUTPUT_CALLERS,
	OUTPUT_FOLDED,
	OUTPUT_FLAMEGRAPH,
	OUTPUT_PPROF,
	OUTPUT_ANNOTATE,
	OUTPUT_BRANCHES,
	OUTPUT_SAMPLES,
	OUTPUT_DIFF,
	/* of a timeline, not of samples */
	OUTPUT_TIMELINE,
	OUTPUT_CHROME,
	OUTPUT_PERFETTO,
};

struct settings {
	const char *paths[ALIGN_TRACES];
	size_t nr_paths;
	const char *file;	/* the report goes there; NULL: to stdout */
	const char *other;	/* of --diff */
	struct places_from from;
	enum output output;
	const char *by;
	struct columns columns;
	enum rows_sort sort;
	bool sorted;		/* as it is asked for */
	struct profile_filter filter;
	struct view_filter view;
	unsigned int fields;	/* PROFILE_..., what the output wants */
	double limit;
	bool idle;		/* is to be drawn */
	bool inclusive;		/* of a table */
	bool json;		/* not a table */
	bool csv;		/* the same */
	bool verbose;		/* notes of few samples are wanted, too */
	bool wall;		/* of time on CPUs and off them */
	bool follow;		/* the trace is still written */
};

/** report_wrong - a line on stderr that says what cannot be asked for; returns -1 */
int report_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** report_options - read them; returns 0, or -1 after a message */
int report_options(int argc, char **argv, struct settings *s);

/**
 * report_of_boots - may what is asked for be of traces of several boots?
 * @first: a trace
 * @other: one of another boot
 *
 * Return: 0, or -1 after a message
 */
int report_of_boots(const struct settings *s, const char *first,
		    const char *other);

/** report_is_timeline - is the output of a timeline, not of samples? */
bool report_is_timeline(enum output output);

#endif
