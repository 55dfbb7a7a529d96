/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of those only for whom the script has asked.
 *
 * Who may run what, against whom:
 *
 *   sw_watch_wants_current(), sw_watch_others()	any context, NMI included
 *   sw_watch_wants(), sw_watch_wants_sample(), sw_watch_is_unsampled()
 *				the same, while the thread stays
 */
#ifndef STAPWATCH_WATCH_WANTS_H
#define STAPWATCH_WATCH_WANTS_H

#include "count/table.h"
#include "count/vthread.h"
#include "watch/state.h"
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/sched.h>

/*
 * Has the script asked for a thread?  In an NMI that comes in the middle of a switch
 * `current' is who that says, whose entry may be about to go; and of a thread that does
 * not run it may go, too.
 */
static bool __maybe_unused sw_watch_wants(const struct task_struct *task)
{
	const struct sw_thread *e;
	const struct sw_watched *w;

	/* before and after the session there is no table */
	if (!READ_ONCE(sw_watch.on))
		return false;
	e = sw_table_find(&sw_threads, task);
	if (e) {
		w = sw_watched_of(e);
		if ((READ_ONCE(w->kept) & SW_BY_SCRIPT) ||
		    (READ_ONCE(w->want) & READ_ONCE(sw_watch.active) &
		     ~READ_ONCE(sw_watch.of_programs)))
			return READ_ONCE(e->task) == task;
	}
	return false;
}

static bool __maybe_unused sw_watch_wants_current(void)
{
	return sw_watch_wants(current);
}

static bool __maybe_unused sw_watch_wants_sample(const struct task_struct *task)
{
	if (sw_watch_wants(task))
		return true;
	/* before and after the session there is nobody to leave out */
	if (READ_ONCE(sw_watch.on))
		this_cpu_inc(sw_watch_cpus.others);
	return false;
}

/* Has the script asked for no samples of a thread, or of what it is part of? */
static bool __maybe_unused
sw_watch_is_unsampled(const struct task_struct *task)
{
	const struct sw_thread *e;
	const struct sw_watched *w;

	if (!READ_ONCE(sw_watch.on))
		return false;
	e = sw_table_find(&sw_threads, task);
	if (!e)
		return false;
	w = sw_watched_of(e);
	return (READ_ONCE(w->unsampled) ||
		READ_ONCE(w->want) & READ_ONCE(sw_watch.active) &
			READ_ONCE(sw_watch.unsampled)) &&
	       READ_ONCE(e->task) == task;
}

static s64 __maybe_unused sw_watch_others(void)
{
	s64 others = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		others += READ_ONCE(per_cpu(sw_watch_cpus, cpu).others);
	return others;
}

#endif
