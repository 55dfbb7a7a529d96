/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and processes that programs ask for, beside the script.
 *
 * What a program asks for is what it was then, whatever comes to have its number: a thread
 * by its task_struct, of which the program has a reference, and a process by the order of its
 * target.
 *
 * Who may run what, against whom: all of it processes, while handlers may run; one at a time
 * for each thread or process.
 */
#ifndef STAPWATCH_WATCH_PROGRAMS_H
#define STAPWATCH_WATCH_PROGRAMS_H

#include "watch/attach.h"
#include "watch/detach.h"
#include "watch/fold.h"
#include "watch/state.h"
#include "watch/target.h"
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

/**
 * sw_program_takes - count for a thread, or for a process and what it makes
 * @task: the thread; NULL: the process PID
 * @stopped: from its first instruction on
 * @order: of a process's target, for the other functions; 0: of a thread
 */
static enum sw_take __maybe_unused
sw_program_takes(struct task_struct *task, struct pid *pid, bool stopped, u64 *order)
{
	unsigned int kept = SW_KEPT_BY_PROGRAMS;
	enum sw_take took;

	*order = 0;
	if (!task)
		return sw_process_take_in(pid_nr(pid), SW_BY_PROGRAMS, stopped,
					  order);
	if (stopped)
		kept |= SW_KEPT_STOPPED_BY_PROGRAMS;
	rcu_read_lock();
	took = sw_task_take(task, kept);
	rcu_read_unlock();
	if (took == SW_TAKE_OK)
		sw_watch_ask();
	return took;
}

/* So many threads of the table are looked at in one go. */
#define SW_PROGRAM_SWEEP 256

/**
 * sw_program_sweep - take threads that do not run off targets that are closed
 * @at: where in the table to go on
 *
 * They would do so when they run next; until then the target's place is none for others.
 * One that runs has been asked to.
 *
 * Return: false: that was all of the table.
 */
static bool __maybe_unused sw_program_sweep(unsigned int *at)
{
	const unsigned int end = min(*at + SW_PROGRAM_SWEEP,
				     sw_table_slots(&sw_threads));
	struct sw_watched *w;
	struct sw_thread *e;
	unsigned long flags;
	struct sw_cpu *c;
	u64 gone;

	if (!sw_watch_enter(&c, &flags))
		return false;
	for (; *at < end; (*at)++) {
		e = (struct sw_thread *)(sw_threads.slots +
					 (size_t)*at * sw_threads.stride);
		w = sw_watched_of(e);
		if (!READ_ONCE(e->task) || READ_ONCE(w->on))
			continue;
		gone = w->want & ~sw_watch.active;
		WRITE_ONCE(w->want, w->want & ~gone);
		WRITE_ONCE(w->own, w->own & ~gone);
		WRITE_ONCE(w->targets, w->targets & ~gone);
		for (; gone; gone &= gone - 1)
			sw_watch.targets[__ffs64(gone)].members--;
	}
	sw_watch_leave(c, flags);
	return end < sw_table_slots(&sw_threads);
}

/* The target of that order, which counts; NULL: it is closed.  The lock is held. */
static struct sw_target *sw_target_of_order(u64 order)
{
	struct sw_target *t;

	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++)
		if (t->order == order && t->state == SW_TARGET_ON)
			return t;
	return NULL;
}

/* What a thread has, as long as it is watched.  The lock is held. */
static struct sw_watched *sw_watched_of_task(const struct task_struct *task)
{
	struct sw_thread *e = sw_table_find(&sw_threads, task);

	return e ? sw_watched_of(e) : NULL;
}

/**
 * sw_program_still_counts - is there somebody for whom a process's target counts?
 */
static bool __maybe_unused sw_program_still_counts(u64 order)
{
	struct sw_target *t;
	unsigned long flags;
	bool counts = true;
	struct sw_cpu *c;

	if (!sw_watch_enter(&c, &flags))
		return true;
	t = sw_target_of_order(order);
	counts = t && (t->members || !t->filled);
	sw_watch_leave(c, flags);
	return counts;
}

/**
 * sw_program_fill - what a process's or a cgroup's target lacks of its threads
 * Return: 0; -EAGAIN: some are left to a work; -ENOSPC: there is no room for some.
 */
static int __maybe_unused sw_program_fill(u64 order)
{
	const struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;
	int rc = 0;

	if (!sw_watch_enter(&c, &flags))
		return -EAGAIN;
	t = sw_target_of_order(order);
	if (t)
		rc = READ_ONCE(t->no_room) ? -ENOSPC : READ_ONCE(t->rest) ? -EAGAIN : 0;
	sw_watch_leave(c, flags);
	return rc;
}

/**
 * sw_program_stops - programs have its counts stand still, or no more
 */
static void __maybe_unused
sw_program_stops(const struct task_struct *task, u64 order, bool stop)
{
	struct sw_watched *w;
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_watch_enter(&c, &flags))
		return;
	t = order ? sw_target_of_order(order) : NULL;
	w = order ? NULL : sw_watched_of_task(task);
	if (t)
		sw_target_stop(t, SW_BY_PROGRAMS, stop);
	if (w)
		sw_watched_stop(w, SW_BY_PROGRAMS, stop);
	sw_watch_leave(c, flags);
	sw_watch_ask();
}

/**
 * sw_program_leaves - no program asks for it any more
 */
static void __maybe_unused
sw_program_leaves(const struct task_struct *task, u64 order)
{
	struct sw_watched *w;
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_watch_enter(&c, &flags))
		return;
	t = order ? sw_target_of_order(order) : NULL;
	w = order ? NULL : sw_watched_of_task(task);
	if (t)
		sw_target_let_go(t, SW_BY_PROGRAMS);
	if (w) {
		sw_watched_stop(w, SW_BY_PROGRAMS, false);
		sw_watch_let_go(w, SW_BY_PROGRAMS);
	}
	sw_watch_leave(c, flags);
	sw_watch_ask();
}

#endif
