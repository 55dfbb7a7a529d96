/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders of rows; ppa_sort.h says what is wanted of it. */
#include "cmd/ppa_sort.h"

#include <string.h>

#include "cmd/ppa_files.h"

static const char *const part_names[PPA_NR_PARTS] = PPA_PART_NAMES;

#define OF(view) (1U << PPA_VIEW_##view)
/* Rows of lives that are divided into parts. */
#define OF_LIVES (OF(THREADS) | OF(PROCESSES) | OF(CGROUPS) | OF(SYSCALLS))

/* A view has what its rows know: of threads that have ended there are parts alone. */
static const struct {
	const char *name;
	enum ppa_sort sort;
	unsigned int views;
} orders[] = {
	{ "cpu", PPA_BY_CPU, OF_LIVES | OF(CPUS) },
	{ "system", PPA_BY_SYSTEM, OF_LIVES | OF(CPUS) },
	{ "syscalls", PPA_BY_SYSCALLS, OF(THREADS) | OF(CPUS) },
	{ "latency", PPA_BY_LATENCY, OF(THREADS) | OF(CPUS) },
	{ "switches", PPA_BY_SWITCHES, OF(THREADS) | OF(CPUS) },
	{ "ready", PPA_BY_READY, OF_LIVES },
	{ "time", PPA_BY_TIME, OF(IRQS) | OF(SYSCALLS) | OF(LOCKS) },
	{ "count", PPA_BY_COUNT, OF(IRQS) | OF(SYSCALLS) | OF(LOCKS) },
	{ "errors", PPA_BY_ERRORS, OF(SYSCALLS) },
	{ "longest", PPA_BY_LONGEST, OF(THREADS) | OF(SYSCALLS) | OF(LOCKS) },
	{ "spun", PPA_BY_SPUN, OF(LOCKS) },
	{ "blocked", PPA_BY_BLOCKED, OF_LIVES | OF(LOCKS) },
};

#define NR_ORDERS (sizeof(orders) / sizeof(*orders))

static bool has(size_t order, enum ppa_view view)
{
	return orders[order].views >> view & 1;
}

static bool has_causes(enum ppa_view view)
{
	return OF_LIVES >> view & 1;
}

/* What a script of an earlier version says of calls. */
static const char *alias(const char *name, enum ppa_view view)
{
	return view == PPA_VIEW_SYSCALLS && !strcmp(name, "syscalls") ?
	       "count" : name;
}

enum ppa_sort ppa_sort_of(const char *name, enum ppa_view view)
{
	unsigned int part;
	size_t i;

	name = alias(name, view);
	for (i = 0; i < NR_ORDERS; i++)
		if (has(i, view) && !strcmp(name, orders[i].name))
			return orders[i].sort;
	for (part = PPA_PART_DISK; part <= PPA_PART_KERNEL; part++)
		if (has_causes(view) && !strcmp(name, part_names[part]))
			return PPA_BY_PART + part;
	return PPA_BY_DEFAULT;
}

void ppa_sort_names(enum ppa_view view, struct buf *out)
{
	static const char *const whose[PPA_NR_VIEWS] = {
		[PPA_VIEW_THREADS] = "threads",
		[PPA_VIEW_PROCESSES] = "processes",
		[PPA_VIEW_CGROUPS] = "cgroups",
		[PPA_VIEW_CPUS] = "CPUs",
		[PPA_VIEW_IRQS] = "interrupts",
		[PPA_VIEW_SYSCALLS] = "system calls",
		[PPA_VIEW_LOCKS] = "locks",
	};
	const char *between = "";
	size_t i;

	buf_printf(out, "of %s there are ", whose[view]);
	for (i = 0; i < NR_ORDERS; i++) {
		if (!has(i, view))
			continue;
		buf_printf(out, "%s%s", between, orders[i].name);
		between = ", ";
	}
	if (has_causes(view))
		buf_puts(out, ", and causes that ppa(5) has: disk, futex, ...");
}

bool ppa_is_ours(const char *comm)
{
	static const char *const ours[] = { "stapio", "staprun", "stapwatch" };
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!strncmp(comm, ours[i], PPA_COMM))
			return true;
	return false;
}

int ppa_sort_ours(const char *comm, const char *other)
{
	return ppa_is_ours(comm) - ppa_is_ours(other);
}

static uint64_t sum(const uint64_t *parts, enum ppa_part from, enum ppa_part to)
{
	uint64_t all = 0;

	for (; from <= to; from++)
		all += parts[from];
	return all;
}

uint64_t ppa_sort_parts(const uint64_t *parts, enum ppa_sort sort)
{
	if (sort >= PPA_BY_PART)
		return parts[sort - PPA_BY_PART];
	switch (sort) {
	case PPA_BY_SYSTEM:
		return parts[PPA_PART_SYSTEM];
	case PPA_BY_READY:
		return sum(parts, PPA_PART_WOKEN, PPA_PART_PREEMPTED);
	case PPA_BY_BLOCKED:
		return sum(parts, PPA_PART_DISK, PPA_PART_KERNEL);
	default:
		return sum(parts, PPA_PART_USER, PPA_PART_SOFT);
	}
}
