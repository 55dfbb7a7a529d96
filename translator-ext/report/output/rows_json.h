/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as JSON, an object on a line of its own for each row or sample; the manual
 * has their members.
 */
#ifndef STAPWATCH_ROWS_JSON_H
#define STAPWATCH_ROWS_JSON_H

#include <stdio.h>

#include "report/output/columns.h"
#include "report/output/rows.h"
#include "report/output/view.h"

/**
 * rows_json - what table_print() has
 * @limit: in percent; what is less is left out
 */
void rows_json(struct view *v, const struct columns *columns,
	       enum rows_sort sort, bool inclusive, double limit,
	       struct buf *out, FILE *to);

/** samples_json - what samples_print() has */
void samples_json(struct view *v, const struct columns *columns,
		  struct buf *out, FILE *to);

#endif
