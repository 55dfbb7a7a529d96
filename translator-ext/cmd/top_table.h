/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of stapwatch top as a table's cells, and as lines with tabs. */
#ifndef STAPWATCH_TOP_TABLE_H
#define STAPWATCH_TOP_TABLE_H

#include "base/buf.h"
#include "cmd/top_rows.h"

enum top_column {
	TOP_NAME,
	TOP_VALUE,
	TOP_RATE,
	TOP_MIN,
	TOP_MAX,
	TOP_P50,
	TOP_P99,
	TOP_SHAPE,
	TOP_NR_COLUMNS,
};

extern const char *const top_titles[TOP_NR_COLUMNS];

struct top_cells {
	const char *text[TOP_NR_COLUMNS];
	char numbers[TOP_NR_COLUMNS][32];
	char shape[TOP_SPARKS * 4 + 48];
};

/** top_cells - a row's text in each column; valid as long as @r and @c are */
void top_cells(const struct top_row *r, struct top_cells *c);

/** top_table - for whatever is no terminal: a tab between two columns */
void top_table(const struct top_rows *r, struct buf *out);

#endif
