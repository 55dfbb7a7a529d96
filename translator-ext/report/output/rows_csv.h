/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table as CSV (RFC 4180), for spreadsheets and whatever reads lines: one header, and
 * the rows of all events below it.
 */
#ifndef STAPWATCH_ROWS_CSV_H
#define STAPWATCH_ROWS_CSV_H

#include <stdio.h>

#include "report/output/columns.h"
#include "report/output/rows.h"
#include "report/output/view.h"

/**
 * rows_csv - what table_print() has
 * @limit: in percent; what is less is left out
 */
void rows_csv(struct view *v, const struct columns *columns,
	      enum rows_sort sort, bool inclusive, double limit,
	      struct buf *out, FILE *to);

#endif
