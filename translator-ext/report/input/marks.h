/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The marks of a trace: moments that its script named. */
#ifndef STAPWATCH_MARKS_H
#define STAPWATCH_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/abi.h"

struct mark {
	uint64_t ns;		/* of the clock of all traces */
	uint32_t pid, tid;	/* whose handler made it; 0: none's */
	uint32_t cpu;
	uint32_t trace;		/* the number of the one that it is in */
	size_t order;		/* in the stream */
	char *name;
};

/* { 0 } has none. */
struct marks {
	struct mark *list;
	size_t nr, size;
};

/**
 * marks_add - one more, which is copied
 * @trace: whose it is
 * @ns: when it was, by the clock of all traces
 */
void marks_add(struct marks *m, const struct sw_trace_note *r, uint32_t trace,
	       uint64_t ns);

/** marks_sort - in the order of time */
void marks_sort(struct marks *m);
void marks_free(struct marks *m);

#endif
