/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bars of a histogram that is drawn in a line of text. */
#ifndef STAPWATCH_BAR_H
#define STAPWATCH_BAR_H

#include <stdbool.h>

/**
 * bar - one of eight bars, of a column's width
 * @level: 0, the lowest, to 7
 * @utf8: whether whoever reads it has more than ASCII
 */
const char *bar(unsigned int level, bool utf8);

#endif
