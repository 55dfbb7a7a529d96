/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report of a timeline. */
#ifndef STAPWATCH_REPORT_TIMELINE_H
#define STAPWATCH_REPORT_TIMELINE_H

#include "base/warnings.h"
#include "report/output/timeline_view.h"

/**
 * report_timeline - print a trace's timeline
 * @file: stdout's, or NULL; is emptied when the trace has been read
 * @print: timeline_text() or one of its like
 * @w: gets what it lacks
 *
 * Return: 0, or 1 after a message
 */
int report_timeline(const char *path, const char *file,
		    const struct timeline_filter *filter,
		    void (*print)(const struct timeline_view *v,
				  struct buf *out, FILE *to),
		    struct warnings *w, struct buf *out);

#endif
