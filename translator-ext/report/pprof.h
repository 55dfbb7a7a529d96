/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as pprof's profile.proto, which pprof, speedscope and other viewers
 * open; compressed, if this was built with zlib.
 */
#ifndef STAPWATCH_PPROF_H
#define STAPWATCH_PPROF_H

#include "columns.h"
#include "view.h"

/**
 * pprof_print - all events of a view
 * @columns: what becomes labels of samples
 */
void pprof_print(struct view *v, const struct columns *columns,
		 struct buf *out);

#endif
