/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks: outermost;...;innermost COUNT, a line for each stack. */
#ifndef STAPWATCH_FOLDED_H
#define STAPWATCH_FOLDED_H

#include "report/output/calltree.h"

/**
 * folded_print - the tree's stacks, by events or, without them, by samples
 * @out: gets it
 * @to: where it goes as it grows, or NULL
 */
void folded_print(const struct calltree *t, const struct intern *texts,
		  struct buf *out, FILE *to);

#endif
