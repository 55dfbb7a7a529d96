/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report of a timeline. */
#ifndef STAPWATCH_REPORT_TIMELINE_H
#define STAPWATCH_REPORT_TIMELINE_H

#include "base/warnings.h"
#include "cmd/report_options.h"
#include "report/output/timeline_view.h"

/** report_say_clock - that a trace has its times from the wall clock, unlike the first */
void report_say_clock(const char *first, const char *name, struct warnings *w);

/**
 * report_timeline - print timelines
 * @s: stdout's file is emptied when the traces have been read
 * @print: timeline_text() or one of its like
 * @w: gets what it lacks
 *
 * Return: 0, or 1 after a message
 */
int report_timeline(const struct settings *s,
		    void (*print)(const struct timeline_view *v,
				  struct buf *out, FILE *to),
		    struct warnings *w, struct buf *out);

#endif
