/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interval of precise process accounting as tables. */
#ifndef STAPWATCH_PPA_TABLE_H
#define STAPWATCH_PPA_TABLE_H

#include "cmd/ppa_interval.h"

/**
 * ppa_table - one of the CPUs, and one of the threads
 * @threads: there is one of the threads
 * @first: nothing is above it
 * @terminal: stdout is one: they are drawn over what it shows, as far as it has
 *	lines
 * @utf8: and has bars
 * @all: the rows are of all threads, so what has none is told of too
 */
void ppa_table(const struct ppa_interval *of, bool first, bool terminal,
	       bool utf8, bool all, bool threads, struct buf *out);

#endif
