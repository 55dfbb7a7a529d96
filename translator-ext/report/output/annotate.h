/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, line by line and instruction by instruction. */
#ifndef STAPWATCH_ANNOTATE_H
#define STAPWATCH_ANNOTATE_H

#include "base/warnings.h"
#include "report/output/view.h"

/**
 * annotate_print - each function that the view has samples of, for each event
 *
 * Shares are those of the function's.
 * @w: gets the sources that cannot be shown
 */
void annotate_print(struct view *v, struct warnings *w, struct buf *out);

#endif
