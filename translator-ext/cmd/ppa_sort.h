/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows of precise process accounting come first. */
#ifndef STAPWATCH_PPA_SORT_H
#define STAPWATCH_PPA_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "ppa/abi.h"

enum ppa_sort {
	PPA_BY_DEFAULT,		/* what a view goes by if nobody asks */
	PPA_BY_CPU,
	PPA_BY_SYSTEM,
	PPA_BY_READY,
	PPA_BY_BLOCKED,
	PPA_BY_SYSCALLS,
	PPA_BY_LATENCY,
	PPA_BY_SWITCHES,
	PPA_BY_TIME,
	PPA_BY_COUNT,
	PPA_BY_ERRORS,
	PPA_BY_LONGEST,
	PPA_BY_SPUN,
	PPA_BY_PART,		/* and an enum ppa_part, which is a cause */
	PPA_NR_SORTS = PPA_BY_PART + PPA_NR_PARTS
};

/* What the rows are of. */
enum ppa_view {
	PPA_VIEW_THREADS,
	PPA_VIEW_PROCESSES,
	PPA_VIEW_CGROUPS,
	PPA_VIEW_CPUS,
	PPA_VIEW_IRQS,
	PPA_VIEW_SYSCALLS,
	PPA_VIEW_LOCKS,
	PPA_NR_VIEWS
};

/**
 * ppa_sort_of - the order of a name
 * Return: PPA_BY_DEFAULT if rows of VIEW have none of that name
 */
enum ppa_sort ppa_sort_of(const char *name, enum ppa_view view);

/** ppa_sort_names - "of interrupts there are time, count" */
void ppa_sort_names(enum ppa_view view, struct buf *out);

/** ppa_is_ours - is a thread SystemTap's or stapwatch's own, by its name? */
bool ppa_is_ours(const char *comm);

/**
 * ppa_sort_ours - which of two threads or processes comes first by whose they are
 *
 * Those that ppa_is_ours() come last.
 *
 * Return: as a comparison does; 0: both are ours, or neither is
 */
int ppa_sort_ours(const char *comm, const char *other);

/**
 * ppa_sort_parts - what an order goes by, of rows that have parts
 *
 * There are PPA_BY_SYSTEM, PPA_BY_READY, PPA_BY_BLOCKED and causes; any other is time
 * on CPUs.
 */
uint64_t ppa_sort_parts(const uint64_t *parts, enum ppa_sort sort);

#endif
