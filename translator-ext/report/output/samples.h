/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each sample of a profile, a line for one, in the order of time. */
#ifndef STAPWATCH_SAMPLES_H
#define STAPWATCH_SAMPLES_H

#include <stdio.h>

#include "report/output/columns.h"
#include "report/output/view.h"

/* What is done with each; NULL: nothing. */
struct samples_visit {
	void (*sample)(void *arg, const struct profile_sample *s);
	void (*mark)(void *arg, const struct mark *m);
};

/** samples_visit - those that the view wants, and marks, in the order of time */
void samples_visit(const struct view *v, const struct samples_visit *visit,
		   void *arg);

/**
 * samples_print - when it was, of which event, how many events, what else it carries,
 * and by what it is; and the marks between them
 * @out: what is left to be written; what grows goes to @to
 *
 * The profile was read with PROFILE_EACH.
 */
void samples_print(struct view *v, const struct columns *columns,
		   struct buf *out, FILE *to);

#endif
