/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who ran on threads' CPUs while these were ready, in an interval. */
#ifndef STAPWATCH_CMD_PPA_COMPETITORS_H
#define STAPWATCH_CMD_PPA_COMPETITORS_H

#include "base/json.h"
#include "cmd/ppa_interval.h"

/**
 * ppa_competitors_put - add what ran while a thread was ready, in shares of that time
 *
 * These are the two threads that ran for longest, and what no thread is known of; nothing
 * below a hundredth.
 *
 * Return: whether it is known who ran; where false is returned nothing may be added
 */
bool ppa_competitors_put(const struct ppa_interval *p,
			 const struct ppa_thread *t, struct buf *out);

/** ppa_competitors_json - the member of a thread that has all of it */
void ppa_competitors_json(const struct ppa_interval *p,
			  const struct ppa_thread *t, struct json *j);

#endif
