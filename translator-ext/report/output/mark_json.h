/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mark as JSON. */
#ifndef STAPWATCH_MARK_JSON_H
#define STAPWATCH_MARK_JSON_H

#include "base/buf.h"
#include "report/input/marks.h"

/**
 * mark_json - add a mark as a line
 * @zero: when the first trace began, of the mark's clock
 * @trace: what its trace is called; NULL: there is no other
 */
void mark_json(struct buf *out, const struct mark *m, uint64_t zero,
	       const char *trace);

#endif
