/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gates of those that are watched: what a thread, a process or a cgroup counts no more, or
 * what no samples are taken of.
 *
 * A thread that is stopped is one that runs without an entry: its sums are complete, and
 * where it is part of a target that does not count, either.  A target that is stopped is
 * none for which CPUs count; its threads' own counts go on.  Both are wanted here, and done
 * by each CPU when it looks or switches next (fold.h): this one does so at once.
 *
 * Who may run what, against whom:
 *
 *   all of it		any context, NMI included
 */
#ifndef STAPWATCH_WATCH_GATE_H
#define STAPWATCH_WATCH_GATE_H

#include "count/table.h"
#include "count/vthread.h"
#include "watch/attach.h"
#include "watch/fold.h"
#include "watch/state.h"
#include "watch/target.h"
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

/* What is counted changes on all CPUs; what is sampled is asked at each sample. */
static void sw_watch_shut(enum sw_watch_gate gate)
{
	if (gate == SW_GATE_COUNTS && READ_ONCE(sw_watch.on))
		sw_watch_ask();
}

/* The lock is held. */
static bool sw_watched_is_of_script(const struct sw_watched *w)
{
	if (w->let_go)
		return false;
	return (w->kept & SW_BY_SCRIPT) || w->self ||
	       (w->want & sw_watch.active & ~sw_watch.of_programs);
}

/* The lock is held.  Return: whether the thread is watched. */
static bool
sw_thread_shut_now(pid_t tid, enum sw_watch_gate gate, bool shut)
{
	struct task_struct *task;
	struct sw_thread *e = NULL;
	struct sw_watched *w;

	rcu_read_lock();
	task = READ_ONCE(sw_watch.on) ? sw_watch_task(tid, PIDTYPE_PID) : NULL;
	if (task)
		e = sw_table_find(&sw_threads, task);
	/* nobody asks for it any more, or programs alone do */
	if (e && !sw_watched_is_of_script(sw_watched_of(e)))
		e = NULL;
	if (e) {
		w = sw_watched_of(e);
		if (gate == SW_GATE_COUNTS)
			sw_watched_stop(w, SW_BY_SCRIPT, shut);
		else
			WRITE_ONCE(w->unsampled, shut);
	}
	rcu_read_unlock();
	return e;
}

/**
 * sw_thread_shut - a thread's counts stand still, or it is not sampled; or both again
 * Return: whether the thread is watched, or will be when the session begins.
 */
static s64 __maybe_unused
sw_thread_shut(s64 tid, enum sw_watch_gate gate, bool shut)
{
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;
	bool is = true;

	if (!sw_is_pid(tid) || !sw_watch_enter(&c, &flags))
		return 0;
	t = sw_target_find(SW_TARGET_THREAD, tid, NULL, SW_TARGET_DECLARED,
			   SW_TARGET_DECLARED);
	if (t)
		sw_target_shut(t, gate, shut);
	else
		is = sw_thread_shut_now(tid, gate, shut);
	sw_watch_leave(c, flags);
	if (is)
		sw_watch_shut(gate);
	return is;
}

/**
 * sw_targets_shut - the same of a process and what it makes, or of a cgroup
 */
static s64 __maybe_unused
sw_targets_shut(unsigned int kind, s64 pid, const char *path,
		enum sw_watch_gate gate, bool shut)
{
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_watch_enter(&c, &flags))
		return 0;
	t = sw_target_find(kind, pid, path, SW_TARGET_DECLARED, SW_TARGET_ON);
	if (t && !(t->by & SW_BY_SCRIPT))
		t = NULL;
	if (t)
		sw_target_shut(t, gate, shut);
	sw_watch_leave(c, flags);
	if (t)
		sw_watch_shut(gate);
	return t ? 1 : 0;
}

#endif
