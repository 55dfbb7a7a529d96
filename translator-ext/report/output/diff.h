/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two runs beside each other. */
#ifndef STAPWATCH_DIFF_H
#define STAPWATCH_DIFF_H

#include "report/output/columns.h"
#include "report/output/view.h"

/**
 * diff_print - the shares of two runs, the greatest change first
 * @before: the earlier one, whose shares are the first; events are the same if
 *	their names are
 * @limit: rows that changed by less, in percent, are counted, not shown
 */
void diff_print(struct view *before, struct view *now,
		const struct columns *columns, double limit, struct buf *out);

#endif
