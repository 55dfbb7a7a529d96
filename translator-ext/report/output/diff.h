/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two runs beside each other. */
#ifndef STAPWATCH_DIFF_H
#define STAPWATCH_DIFF_H

#include "report/output/columns.h"
#include "report/output/rows.h"
#include "report/output/view.h"

/**
 * diff_print - the shares of two runs
 * @before: the earlier one, whose shares are the first; events are the same if
 *	their names are
 * @sort: by SORT_CHANGE the greatest change is first; events and samples are those of NOW
 * @limit: rows that changed by less, in percent, are counted, not shown
 */
void diff_print(struct view *before, struct view *now,
		const struct columns *columns, enum rows_sort sort,
		double limit, struct buf *out);

#endif
