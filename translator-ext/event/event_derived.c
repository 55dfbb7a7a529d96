/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Derived values: names for what two events say of each other.  Scripts have
 * whole numbers only, so each of them counts thousandths.
 */
#include <string.h>

#include "event/event_notation.h"

static const struct event_derived derived[] = {
	{ "ipc", "instructions_retired", "cpu_cycles", 1000,
	  "instructions per cycle, in thousandths" },
	{ "cpi", "cpu_cycles", "instructions_retired", 1000,
	  "cycles per instruction, in thousandths" },
	{ "l1d_miss_rate", "l1d_read_misses", "l1d_read_accesses", 1000,
	  "thousandths of the level 1 data cache's reads that missed it" },
	{ "l1i_miss_rate", "l1i_read_misses", "l1i_read_accesses", 1000,
	  "thousandths of the level 1 instruction cache's fetches that missed"
	  " it" },
	{ "llc_miss_rate", "llc_read_misses", "llc_read_accesses", 1000,
	  "thousandths of the last level of cache's reads that missed it" },
	{ "cache_miss_rate", "cache_misses", "cache_references", 1000,
	  "thousandths of the last level of cache's accesses that missed it" },
	{ "dtlb_miss_rate", "dtlb_read_misses", "dtlb_read_accesses", 1000,
	  "thousandths of the translations for reads that missed the TLB" },
	{ "itlb_miss_rate", "itlb_read_misses", "itlb_read_accesses", 1000,
	  "thousandths of the translations for instructions that missed the"
	  " TLB" },
	{ "node_miss_rate", "node_read_misses", "node_read_accesses", 1000,
	  "thousandths of the memory reads that went to another NUMA node" },
	{ "branch_miss_rate", "branch_misses", "branch_instructions", 1000,
	  "thousandths of the branches that were predicted wrong" },
	{ "frontend_stall_rate", "stalled_cycles_frontend", "cpu_cycles", 1000,
	  "thousandths of the cycles in which no instruction could be issued" },
	{ "backend_stall_rate", "stalled_cycles_backend", "cpu_cycles", 1000,
	  "thousandths of the cycles in which no instruction could retire" },
};

const struct event_derived *event_derived_get(size_t i)
{
	return i < sizeof(derived) / sizeof(derived[0]) ? &derived[i] : NULL;
}

const struct event_derived *event_derived_find(const char *name)
{
	const struct event_derived *d;
	size_t i;

	for (i = 0; (d = event_derived_get(i)); i++)
		if (!strcmp(d->name, name))
			return d;
	return NULL;
}
