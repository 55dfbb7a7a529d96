/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks that threads waited for in an interval. */
#ifndef STAPWATCH_PPA_LOCKS_H
#define STAPWATCH_PPA_LOCKS_H

#include "cmd/ppa_interval.h"
#include "cmd/ppa_names.h"

/**
 * ppa_locks_table - a row for each lock, sorted
 * @names: those of programs' functions
 */
void ppa_locks_table(const struct ppa_interval *p, struct ppa_names *names,
		     struct buf *out);

/** ppa_locks_json - the same, with each place and holder */
void ppa_locks_json(const struct ppa_interval *p, struct ppa_names *names,
		    struct buf *out);

#endif
