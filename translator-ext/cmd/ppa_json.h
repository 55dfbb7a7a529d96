/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interval of precise process accounting as JSON. */
#ifndef STAPWATCH_PPA_JSON_H
#define STAPWATCH_PPA_JSON_H

#include "base/json.h"
#include "cmd/ppa_interval.h"

/**
 * ppa_json - an object of its CPUs and threads, or processes, in a line
 * @pid: of the process that is wanted; 0: all
 */
void ppa_json(const struct ppa_interval *p, enum ppa_by by, uint64_t pid,
	      struct buf *out);

/**
 * ppa_json_life - the members of a row's life and parts
 *
 * The parts sum to the life, in nanoseconds as they do in ticks.
 */
void ppa_json_life(const struct ppa_interval *p, const uint64_t *parts,
		   uint64_t life, struct json *j);

#endif
