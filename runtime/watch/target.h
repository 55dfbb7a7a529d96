/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Targets: their places, and what stands there.
 *
 * Who may run what, against whom:
 *
 *   sw_target_find()		any context; who does not hold sw_watch.lock asks whether
 *				it still is the one
 *   all else			the holder of sw_watch.lock
 */
#ifndef STAPWATCH_WATCH_TARGET_H
#define STAPWATCH_WATCH_TARGET_H

#include "watch/state.h"
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/string.h>

/* What a script may have no more of a thread, or of a target. */
enum sw_watch_gate { SW_GATE_COUNTS, SW_GATE_SAMPLES };

static void sw_target_is_by(struct sw_target *t, u8 by)
{
	const u64 bit = 1ULL << (t - sw_watch.targets);

	t->by = by;
	/* of one that is nobody's it stays, until nobody counts for it */
	if (by)
		WRITE_ONCE(sw_watch.of_programs,
			   by == SW_BY_PROGRAMS ? sw_watch.of_programs | bit :
						  sw_watch.of_programs & ~bit);
}

static void sw_target_stop(const struct sw_target *t, enum sw_by by, bool stop)
{
	u64 *mask = &sw_watch.stops[by == SW_BY_PROGRAMS];
	const u64 bit = 1ULL << (t - sw_watch.targets);

	*mask = stop ? *mask | bit : *mask & ~bit;
	WRITE_ONCE(sw_watch.stopped, sw_watch.stops[0] | sw_watch.stops[1]);
}

/* By the script. */
static void
sw_target_shut(const struct sw_target *t, enum sw_watch_gate gate, bool shut)
{
	u64 *mask = &sw_watch.unsampled;
	const u64 bit = 1ULL << (t - sw_watch.targets);

	if (gate == SW_GATE_COUNTS)
		sw_target_stop(t, SW_BY_SCRIPT, shut);
	else
		WRITE_ONCE(*mask, shut ? *mask | bit : *mask & ~bit);
}

static bool
sw_target_is_shut(const struct sw_target *t, enum sw_watch_gate gate)
{
	const u64 mask = gate == SW_GATE_COUNTS ? sw_watch.stopped
						: sw_watch.unsampled;

	return mask >> (t - sw_watch.targets) & 1;
}

static struct sw_target *
sw_target_find(unsigned int kind, pid_t pid, const char *path,
	       unsigned int from, unsigned int to)
{
	struct sw_target *t, *found = NULL;

	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++) {
		unsigned int state = READ_ONCE(t->state);

		if (state < from || state > to || READ_ONCE(t->kind) != kind ||
		    (path ? strcmp(t->path, path) : READ_ONCE(t->pid) != pid))
			continue;
		if (!found || READ_ONCE(t->order) > READ_ONCE(found->order))
			found = t;
	}
	return found;
}

/* Threads that asks which cgroups they are in find it, for a grace period more. */
static void sw_target_leave_cgroup(struct sw_target *t)
{
	if (!t->cgroup)
		return;
	t->gone = t->cgroup;
	WRITE_ONCE(t->cgroup, NULL);
	WRITE_ONCE(sw_watch.cgroups,
		   sw_watch.cgroups & ~(1ULL << (t - sw_watch.targets)));
	irq_work_queue(&sw_watch_rest_kick);
}

static struct sw_target *
sw_target_declare(unsigned int kind, pid_t pid, const char *path)
{
	struct sw_target *t, *free = NULL;

	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++) {
		if (t->state == SW_TARGET_FREE) {
			free = t;
			break;
		}
		/* the one that was closed first, if nobody counts there any more */
		if (t->state == SW_TARGET_CLOSED && t->filled && !t->members &&
		    !t->gone &&
		    (!free || t->order < free->order))
			free = t;
	}
	if (!free) {
		sw_watch.crowded++;
		return NULL;
	}
	/* with the second smp_rmb() of sw_read_target(), which asks ORDER
	 * before and after */
	WRITE_ONCE(free->order, 0);
	smp_wmb();
	WRITE_ONCE(free->state, SW_TARGET_DECLARED);
	WRITE_ONCE(free->kind, kind);
	sw_target_is_by(free, 0);
	sw_target_stop(free, SW_BY_PROGRAMS, false);
	sw_target_shut(free, SW_GATE_COUNTS, false);
	sw_target_shut(free, SW_GATE_SAMPLES, false);
	free->filled = false;
	free->had = false;
	WRITE_ONCE(free->rest, false);
	free->members = 0;
	free->start = 0;
	WRITE_ONCE(free->pid, pid);
	sw_target_leave_cgroup(free);
	strscpy(free->path, path ?: "", sizeof(free->path));
	/* with the first smp_rmb() there: an order's target is complete */
	smp_wmb();
	WRITE_ONCE(free->order, ++sw_watch.orders);
	return free;
}

/* It counts from here on; nobody does so for it yet. */
static void sw_target_open(struct sw_target *t)
{
	unsigned int nr = t - sw_watch.targets;
	int cpu;

	for_each_possible_cpu(cpu)
		memset(sw_target_sums(per_cpu_ptr(&sw_watch_cpus, cpu), nr, 0),
		       0, 2 * sw_watch.slots * sizeof(u64));
	atomic64_set(&t->holed, 0);
	WRITE_ONCE(t->no_room, false);
	t->members = 0;
	WRITE_ONCE(t->state, SW_TARGET_ON);
	WRITE_ONCE(sw_watch.active, sw_watch.active | 1ULL << nr);
}

/* Nobody asks for it any more. */
static void sw_target_close(struct sw_target *t)
{
	sw_target_is_by(t, 0);
	WRITE_ONCE(t->state, SW_TARGET_CLOSED);
	WRITE_ONCE(sw_watch.active,
		   sw_watch.active & ~(1ULL << (t - sw_watch.targets)));
}

#endif
