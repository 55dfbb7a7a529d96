/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of stapwatch top as a table. */
#ifndef STAPWATCH_TOP_TABLE_H
#define STAPWATCH_TOP_TABLE_H

#include "base/buf.h"
#include "cmd/top_rows.h"

/** top_table_plain - for whatever is no terminal: a tab between two columns */
void top_table_plain(const struct top_rows *r, struct buf *out);

/**
 * top_table_terminal - drawn over what a terminal shows
 * @lines: that it has, and @width, its columns: what does not fit is left out
 * @below: a line to be said below it; or NULL
 */
void top_table_terminal(const struct top_rows *r, unsigned int lines,
			unsigned int width, const char *below, struct buf *out);

#endif
