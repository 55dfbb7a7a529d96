/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of stapwatch top for other programs. */
#ifndef STAPWATCH_TOP_PRINT_H
#define STAPWATCH_TOP_PRINT_H

#include <stdbool.h>

#include "base/buf.h"
#include "cmd/top_rows.h"

/**
 * top_json - a round as a JSON object, in a line
 * @seconds: since the round before
 * @ended: nothing changes any more
 */
void top_json(const struct top_rows *r, double seconds, bool ended,
	      struct buf *out);

/** top_csv - a round as lines of CSV; the first round begins with the titles */
void top_csv(const struct top_rows *r, struct buf *out);

#endif
