/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks that threads waited for in an interval. */
#ifndef STAPWATCH_PPA_LOCKS_H
#define STAPWATCH_PPA_LOCKS_H

#include "cmd/ppa_interval.h"

/** ppa_locks_table - a row for each lock, most time first */
void ppa_locks_table(struct ppa_interval *p, struct buf *out);

/** ppa_locks_json - the same, with each place and holder */
void ppa_locks_json(struct ppa_interval *p, struct buf *out);

#endif
