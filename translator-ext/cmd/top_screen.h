/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of stapwatch top on a terminal's screen. */
#ifndef STAPWATCH_TOP_SCREEN_H
#define STAPWATCH_TOP_SCREEN_H

#include <stdbool.h>

#include "base/buf.h"
#include "cmd/top_rows.h"

#define TOP_GAP "   "

struct top_screen {
	unsigned int lines;	/* that the terminal has */
	unsigned int columns;
	bool colors;
	enum top_sort sort;
	const char *below;	/* text below the table, in items TOP_GAP apart; or NULL */
	size_t first;		/* row at the top, which is made one that fits */
	size_t page;		/* gets how many rows are shown */
};

/**
 * top_screen - draw a table over what the terminal shows
 *
 * A line below the rows counts those for which there is no room, and the names that the
 * pattern hides.  Columns for which there is no room are left out, the last ones first, and
 * named there.
 */
void top_screen(struct top_screen *s, const struct top_rows *r, struct buf *out);

#endif
