/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits that have not ended when the session does.
 *
 * They count up to when it is first seen that handlers run no more, by whoever sees it: a
 * thread that comes back, or the one that ends the session.  All threads are looked at
 * then, also those that the table has never heard of, since they have not run.  Who comes
 * back before its turn brings its own wait, with its own stacks.
 *
 * Nobody is woken or kept for it, and nothing is waited for that a user can stall.  What
 * comes back in the very moment in which handlers stop is in no sample: it is seen by
 * neither.
 *
 * Who may run what, against whom:
 *
 *   sw_wait_late()		at a switch's end, as the hooks of off_cpu.h
 *   sw_wait_look()		a thread of ours, while all of these may run
 *   sw_wait_have_looked()	sleepable, under sw_profile.lock
 */
#ifndef STAPWATCH_SAMPLE_LAST_LOOK_H
#define STAPWATCH_SAMPLE_LAST_LOOK_H

#include "base/compat.h"
#include "base/clock.h"
#include "base/kernel.h"
#include "base/session.h"
#include "count/chosen.h"
#include "count/pmu.h"
#include "count/table.h"
#include "sample/open_wait.h"
#include "sample/overflow.h"
#include "sample/wait_state.h"
#include "trace/abi.h"
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/kthread.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

static bool sw_wait_is_over(void)
{
	return READ_ONCE(sw_off_cpu.ran) && !sw_is_running();
}

/* The session runs no more: its waits count up to now.  With sw_trace_round(): a round
 * that has it run is not after this. */
static void sw_wait_ends(void)
{
	/* with the second cmpxchg(): the first has been */
	if (smp_load_acquire(&sw_off_cpu.ended))
		return;
	cmpxchg(&sw_off_cpu.ended_ns, 0, sw_clock_ns());
	cmpxchg(&sw_off_cpu.ended, 0, sw_off_cpu_now());
}

/*
 * How long a wait is that began then and had not ended when the session did.
 * Return: false: it is none of those that are sampled.
 */
static bool sw_wait_is_open(u64 left, struct sw_open_wait *w)
{
	const u64 ended = READ_ONCE(sw_off_cpu.ended);
	const u64 begun = READ_ONCE(sw_off_cpu.begun);
	const bool before = left <= begun;
	u64 ns, least = U64_MAX;
	unsigned int i;

	if (before)
		left = begun;
	if (left >= ended || ended - left < READ_ONCE(sw_off_cpu.least))
		return false;
	ns = sw_off_cpu_ns(ended - left);
	w->ns = sw_off_cpu_counted(ns, READ_ONCE(sw_off_cpu.ended_ns));
	w->flags = SW_TRACE_OPEN |
		   (before || w->ns < ns ? SW_TRACE_THROUGHOUT : 0);
	/* with smp_store_release() in sw_off_cpu_create() */
	for (i = 0; i < smp_load_acquire(&sw_off_cpu.nr); i++)
		least = min(least, sw_off_cpu.probes[i].least);
	return w->ns && w->ns >= least;
}

/* For how many of its NS nanoseconds a thread was ready that left at LEFT, and is BACK;
 * E: its place in the table, if it has one. */
static u64
sw_wait_was_ready(const struct sw_thread *e, u64 left, bool back, u64 ns)
{
	const u64 since = e && sw_off_cpu.wakers ?
			  sw_wait_ready_since(e, left, back) : 0;
	const u64 ended = READ_ONCE(sw_off_cpu.ended);

	return since && since < ended ? min(ns, sw_off_cpu_ns(ended - since)) : 0;
}

static bool sw_wait_wants(const struct task_struct *task)
{
	return !READ_ONCE(sw_profile.off) &&
	       sw_sample_asks(&sw_sample_is_wanted, task, true) &&
	       !sw_sample_asks(&sw_sample_is_off, task, false);
}

static struct sw_sample sw_wait_first_sample(void)
{
	/* with smp_store_release() in sw_off_cpu_create() */
	struct perf_event *event = smp_load_acquire(&sw_off_cpu.nr) ?
				   sw_off_cpu.probes[0].event : NULL;

	return (struct sw_sample) {
		.event = event,
		.sampler = event ? event->overflow_handler_context : NULL,
	};
}

/* Current is back, and no handler runs any more. */
static noinline void sw_wait_late(u64 ticks, struct pt_regs *regs)
{
	const struct sw_thread *e = sw_table_find(&sw_off_cpu.table, current);
	struct sw_sample s = sw_wait_first_sample();
	const u64 left = sw_off_cpu_now() - ticks;
	struct sw_open_wait w = { 0 };
	struct perf_sample_data data;

	if (!sw_open.list || !s.event)
		return;
	sw_wait_ends();
	if (!sw_wait_is_open(e ? left : 0, &w) ||
	    !sw_wait_wants(current))
		return;
	perf_sample_data_init(&data, 0, w.ns);
	s.data = &data;
	s.regs = regs;
	w.ready = sw_wait_was_ready(e, left, true, w.ns);
	sw_capture(&s, sw_profile.uses & (SW_KSTACKS | SW_USTACKS));
	sw_open_add(current, &w, &s);
}

/* ---- and does not end */

/*
 * When a thread left that is on no CPU now; 0: it is on one, or that is not known.
 * @e: its place in the table, if it has one
 */
static u64 sw_wait_away(const struct task_struct *task,
			const struct sw_thread **e)
{
	u64 left;

	/* it may come back at any moment */
	if (sw_task_is_on_cpu(task))
		return 0;
	*e = sw_table_find(&sw_off_cpu.table, task);
	if (*e) {
		left = READ_ONCE((*e)->sum[SW_WAIT_LEFT]);
		return READ_ONCE((*e)->task) == task ? left : 0;
	}
	/* as sw_off_cpu_left() */
	if (atomic_read(&sw_off_cpu.table.refused) ||
	    task->start_time >= READ_ONCE(sw_off_cpu.begun_ns))
		return 0;
	return READ_ONCE(sw_off_cpu.begun);
}

/* Is it away, and had the table no room to say since when? */
static bool sw_wait_has_no_room(const struct task_struct *task)
{
	return atomic_read(&sw_off_cpu.table.refused) &&
	       !sw_task_is_on_cpu(task) &&
	       !sw_table_find(&sw_off_cpu.table, task);
}

static void sw_wait_look_at(struct task_struct *task)
{
	struct sw_sample s = sw_wait_first_sample();
	const struct sw_thread *e = NULL;
	struct sw_open_wait w = { 0 };
	const u64 left = sw_wait_away(task, &e);

	/* who has ended waits for nothing */
	if (READ_ONCE(task->exit_state) || !sw_cpu_is_chosen(task_cpu(task)) ||
	    !sw_wait_wants(task))
		return;
	if (sw_wait_has_no_room(task))
		atomic_inc(&sw_open.refused);
	if (!left || !sw_wait_is_open(left, &w))
		return;
	w.ready = sw_wait_was_ready(e, left, false, w.ns);
	sw_open_stacks(&s, task);
	/* with the kernel's that a thread is on a CPU, before it runs there: what was
	 * read of it was read before */
	smp_rmb();
	/* or it has come back, and has seen to it itself */
	if (sw_wait_away(task, &e) == left)
		sw_open_add(task, &w, &s);
}

/* The thread of that number or the next one, with a reference; NULL: there is none. */
static struct task_struct *sw_wait_next(int *tid)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!task && (pid = idr_get_next(&init_pid_ns.idr, tid))) {
		task = pid_task(pid, PIDTYPE_PID);
		++*tid;
	}
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

/* All threads but those that come meanwhile; one at a time, since there may be many. */
static int sw_wait_look(void *done)
{
	struct task_struct *task;
	int tid = 1;

	while ((task = sw_wait_next(&tid))) {
		sw_wait_look_at(task);
		put_task_struct(task);
		cond_resched();
	}
	complete(done);
	return 0;
}

/* A thread of ours has no memory of its own, and so can take a program's for a moment. */
static void sw_wait_have_looked(void)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *task = kthread_create(sw_wait_look, &done,
						  "stapwatch_waits");

	if (IS_ERR(task)) {
		_stp_warn("stapwatch: waits that had not ended are in no sample: there was no thread to look at them (%ld)\n",
			  PTR_ERR(task));
		return;
	}
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&done);
	kthread_stop(task);
	put_task_struct(task);
}

#endif
