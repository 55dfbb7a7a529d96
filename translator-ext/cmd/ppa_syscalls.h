/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of all threads in an interval, by number. */
#ifndef STAPWATCH_PPA_SYSCALLS_H
#define STAPWATCH_PPA_SYSCALLS_H

#include "cmd/ppa_interval.h"

/** ppa_call_name - a system call of the machine that this is built for; NULL: none */
const char *ppa_call_name(uint32_t nr);

/** ppa_syscalls_table - a row for each call that there was, sorted */
void ppa_syscalls_table(const struct ppa_interval *p, struct buf *out);

/** ppa_syscalls_json - the same, whose parts sum to its time */
void ppa_syscalls_json(const struct ppa_interval *p, struct buf *out);

#endif
