/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as pprof's profile.proto, which pprof, speedscope and other viewers
 * open; compressed, if this was built with zlib.
 */
#ifndef STAPWATCH_PPROF_H
#define STAPWATCH_PPROF_H

#include "report/output/columns.h"
#include "report/output/view.h"

/**
 * pprof_print - all events of a view
 * @columns: what becomes labels of samples
 * @out: gets it
 * @to: where it goes as it grows, or NULL
 */
void pprof_print(struct view *v, const struct columns *columns,
		 struct buf *out, FILE *to);

#endif
