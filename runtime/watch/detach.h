/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is asked for no more.  What was counted can still be read; what others ask for goes
 * on.
 *
 * Who may run what, against whom:
 *
 *   sw_target_unwatch(), sw_thread_unwatch()	any context
 *   sw_target_let_go(), sw_watch_let_go()	the holder of sw_watch.lock
 */
#ifndef STAPWATCH_WATCH_DETACH_H
#define STAPWATCH_WATCH_DETACH_H

#include "watch/attach.h"
#include "watch/fold.h"
#include "watch/state.h"
#include "watch/target.h"
#include <linux/pid.h>
#include <linux/rcupdate.h>

/* A target is there no more for who asked for it.  The lock is held. */
static void sw_target_let_go(struct sw_target *t, enum sw_by by)
{
	sw_target_is_by(t, t->by & ~by);
	if (!t->by) {
		sw_target_close(t);
		return;
	}
	/* what one side has shut the other one does not know of */
	sw_target_stop(t, by, false);
	if (by == SW_BY_SCRIPT)
		sw_target_shut(t, SW_GATE_SAMPLES, false);
}

/**
 * sw_target_unwatch - a process or a cgroup is counted for no more
 *
 * What it stood at can still be read.  It goes on for programs that are attached to it.
 *
 * Context: any.
 * Return: whether it was watched.
 */
static s64 __maybe_unused
sw_target_unwatch(unsigned int kind, s64 pid, const char *path)
{
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_watch_enter(&c, &flags))
		return 0;
	t = sw_target_find(kind, pid, path, SW_TARGET_DECLARED, SW_TARGET_ON);
	if (t && !(t->by & SW_BY_SCRIPT))
		t = NULL;
	if (t && t->state == SW_TARGET_DECLARED)
		WRITE_ONCE(t->state, SW_TARGET_FREE);
	else if (t)
		sw_target_let_go(t, SW_BY_SCRIPT);
	sw_watch_leave(c, flags);
	/* what runs is counted for it up to here */
	if (t && READ_ONCE(sw_watch.on))
		sw_watch_ask();
	return t ? 1 : 0;
}

/* Return: had they asked for it, for itself? */
static bool sw_watch_let_go(struct sw_watched *w, enum sw_by by)
{
	const bool was = w->kept & by;

	WRITE_ONCE(w->kept, w->kept & ~by);
	if (was && w->kept)
		sw_watched_stop(w, by, false);
	/* targets that are closed are taken off at the next switch */
	if (was && !w->kept && !(w->want & sw_watch.active) && !w->self) {
		w->let_go = true;
		WRITE_ONCE(w->stop, true);
	}
	return was;
}

/**
 * sw_thread_unwatch - a thread is no longer watched for itself
 *
 * If it counts for nobody else it stands still, and can be read until it ends, and in the
 * list after that.  Who watches it again goes on from there.
 *
 * Context: any.
 * Return: whether it was watched.
 */
static s64 __maybe_unused sw_thread_unwatch(s64 tid)
{
	struct task_struct *task;
	struct sw_thread *e;
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;
	bool was = false;

	if (!sw_is_pid(tid) || !sw_watch_enter(&c, &flags))
		return 0;
	t = sw_target_find(SW_TARGET_THREAD, tid, NULL, SW_TARGET_DECLARED,
			   SW_TARGET_DECLARED);
	if (t) {
		WRITE_ONCE(t->state, SW_TARGET_FREE);
		was = true;
	} else if (sw_watch.on) {
		rcu_read_lock();
		task = sw_watch_task(tid, PIDTYPE_PID);
		e = task ? sw_table_find(&sw_threads, task) : NULL;
		if (e)
			was = sw_watch_let_go(sw_watched_of(e), SW_BY_SCRIPT);
		rcu_read_unlock();
	}
	sw_watch_leave(c, flags);
	if (was && READ_ONCE(sw_watch.on))
		sw_watch_ask();
	return was;
}

#endif
