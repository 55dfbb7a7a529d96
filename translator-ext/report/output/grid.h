/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of text under each other. */
#ifndef STAPWATCH_GRID_H
#define STAPWATCH_GRID_H

#include "base/buf.h"

/* Cells come row by row, titles as any. */
struct grid {
	char **cells;
	size_t nr, size;
	size_t columns;
	size_t numbers;		/* how many columns, the first, are numbers */
};

/** grid_text - a cell, as shown_text() has it */
void grid_text(struct grid *g, const char *text);

/** grid_title - a cell of two words */
void grid_title(struct grid *g, const char *name, const char *part);

/** grid_number - a cell that is made as by printf() */
void grid_number(struct grid *g, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** grid_print - all of them, and forget them */
void grid_print(struct grid *g, struct buf *out);

#endif
