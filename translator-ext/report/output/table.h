/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables: histograms as text. */
#ifndef STAPWATCH_TABLE_H
#define STAPWATCH_TABLE_H

#include "report/output/columns.h"
#include "report/output/rows.h"
#include "report/output/view.h"

/**
 * table_print - a table for each event
 * @inclusive: also what is in the stacks, and the share of that
 * @limit: rows with a smaller share, in percent, are counted, not shown
 */
void table_print(struct view *v, const struct columns *columns,
		 enum rows_sort sort, bool inclusive, double limit,
		 struct buf *out);

/** table_share - by which rows are shown: their total where there is one */
double table_share(const struct view *v, const struct rows *rows,
		   const struct row *row);

/** table_event - how a title begins: what was counted */
void table_event(struct view *v, uint32_t event, struct buf *out);

/** table_small - how many rows were left out because they are below LIMIT */
void table_small(size_t nr, double limit, struct buf *out);

/** table_title - the lines above what is told of an event */
void table_title(struct view *v, uint32_t event, struct buf *out);

#endif
