/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of branches: from where to where, how often, and how well foreseen. */
#ifndef STAPWATCH_BRANCH_TABLE_H
#define STAPWATCH_BRANCH_TABLE_H

#include "report/output/columns.h"
#include "report/output/rows.h"
#include "report/output/view.h"

/**
 * branch_table_print - a table for each event whose samples have branches
 * @columns: those of places are there twice, for both ends
 * @limit: rows with a smaller share, in percent, are counted, not shown
 *
 * Return: how many branches there are
 */
uint64_t branch_table_print(struct view *v, const struct columns *columns,
			    enum rows_sort sort, double limit,
			    struct buf *out);

/** branch_table_takes - whether there can be such a column */
bool branch_table_takes(const struct column *column);

#endif
