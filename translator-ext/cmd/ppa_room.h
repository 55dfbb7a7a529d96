/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many threads there are, and how many accounting has room for. */
#ifndef STAPWATCH_PPA_ROOM_H
#define STAPWATCH_PPA_ROOM_H

#include "cmd/ppa_interval.h"

/* What a session may be asked for; ppa_start() has the same. */
#define PPA_ROOM_MOST (1 << 20)

/**
 * ppa_room_wanted - how many threads a session of our own shall have room for
 *
 * Return: half as many again as there are; 0 where ppa_threads has that already, or
 * nobody can tell how many there are
 */
uint64_t ppa_room_wanted(void);

/** ppa_room_put - a line that ends with EOL, if threads found no room */
void ppa_room_put(const struct ppa_interval *p, const char *eol,
		  struct buf *out);

#endif
