/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who belongs to what: threads that are asked for, that are born, that have gone.
 *
 * A thread of another CPU gets its entry here and now, and counts from when that CPU
 * has looked (fold.h).  A child gets its entry from its parent, within fork() and
 * before anything can run it, so it is counted from its first instruction on.
 *
 * What never ran, or had ended before it was asked for, has an entry that no last
 * switch takes away.  It goes before the task_struct does, by the tracepoint
 * sched_process_free: nobody can find the task any more then, and who had found it
 * is done, since an RCU grace period lies in between.
 *
 * Who may run what, against whom:
 *
 *   sw_process_watch(), sw_thread_watch()	any context; of a process
 *			with many threads sw_watch_rest_work() takes those that are
 *			left
 *   sw_watch_rest_work()	sleepable
 *   sw_watch_on_new()	the parent, in fork()
 *   sw_watch_on_free()	softirqs, processes
 *   sw_entry_get()	in place of sw_table_insert() for current: any context, NMI
 *			included, c->busy held
 *   sw_target_get(), sw_watch_add()	the holder of sw_watch.lock
 *   sw_target_take_*()	sleepable, when all anchors are there
 */
#ifndef STAPWATCH_WATCH_ATTACH_H
#define STAPWATCH_WATCH_ATTACH_H

#include "base/clock.h"
#include "base/kernel.h"
#include "base/nmi.h"
#include "base/work.h"
#include "count/vthread.h"
#include "watch/fold.h"
#include "watch/state.h"
#include "watch/target.h"
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

/* ---- entries */

static void sw_watched_begin(struct sw_watched *w, const struct sw_thread *e)
{
	/* with who reads what was here before */
	sw_watched_change(w);
	memset((char *)w + offsetof(struct sw_watched, holes), 0,
	       sw_watch.record - offsetof(struct sw_watched, holes));
	w->holes = e->stretch;
	sw_watched_changed(w);
}

/* What a thread that is not found gets; sw_table_publish() follows.  The lock is
 * held. */
static struct sw_thread *sw_entry_claim(struct task_struct *task)
{
	struct sw_thread *e = sw_table_claim(&sw_threads, task,
					     sw_thread_words ?: sw_watch.slots);

	if (!e)
		return NULL;
	sw_watched_begin(sw_watched_of(e), e);
	/* with sw_set_forget_sums() */
	if (sw_thread_set(e))
		sw_thread_set(e)->begun = smp_load_acquire(&sw_sets_gone);
	return e;
}

/* Somebody asks again for a thread, which goes on from where it stands. */
static void sw_watch_take_back(struct sw_watched *w)
{
	if (likely(!w->let_go))
		return;
	w->let_go = false;
	w->stops = 0;
	WRITE_ONCE(w->stop, false);
}

/* One that is let go stands still, whoever stops it or not. */
static void sw_watched_stop(struct sw_watched *w, enum sw_by by, bool stop)
{
	w->stops = stop ? w->stops | by : w->stops & ~by;
	if (!w->let_go)
		WRITE_ONCE(w->stop, w->stops);
}

/* Who asks for a thread, enum sw_by; and what it shall not have. */
#define SW_KEPT SW_BY_SCRIPT
#define SW_KEPT_BY_PROGRAMS SW_BY_PROGRAMS
#define SW_KEPT_STOPPED 4
#define SW_KEPT_UNSAMPLED 8
#define SW_KEPT_STOPPED_BY_PROGRAMS 16

/**
 * sw_watch_add - a thread counts for targets, or for itself
 * @bits: targets
 * @own: those of them that are its own process
 * @kept: for itself, as SW_KEPT; and what it shall not have, as SW_KEPT_STOPPED
 *
 * Context: sw_watch.lock is held; TASK is current, cannot run yet, or is kept from
 * going by RCU.
 * Return: whether there is room; if not, what is read of its targets is withheld.
 */
static bool
sw_watch_add(struct task_struct *task, u64 bits, u64 own, unsigned int kept)
{
	struct sw_thread *e = sw_table_find(&sw_threads, task), *new = NULL;
	struct sw_watched *w;
	u64 more;

	if (!e)
		e = new = sw_entry_claim(task);
	if (!e) {
		for (; bits; bits &= bits - 1)
			WRITE_ONCE(sw_watch.targets[__ffs64(bits)].no_room, true);
		return false;
	}
	w = sw_watched_of(e);
	if (own & ~w->own)
		WRITE_ONCE(w->own, w->own | own);
	sw_watch_take_back(w);
	if (kept)
		WRITE_ONCE(w->kept, w->kept |
			   (kept & (SW_BY_SCRIPT | SW_BY_PROGRAMS)));
	if (kept & SW_KEPT_STOPPED)
		sw_watched_stop(w, SW_BY_SCRIPT, true);
	if (kept & SW_KEPT_STOPPED_BY_PROGRAMS)
		sw_watched_stop(w, SW_BY_PROGRAMS, true);
	if (kept & SW_KEPT_UNSAMPLED)
		WRITE_ONCE(w->unsampled, true);
	more = bits & ~w->want;
	WRITE_ONCE(w->want, w->want | bits);
	if (new) {
		w->targets = bits;
		sw_table_publish(new, task);
	}
	for (; more; more &= more - 1)
		sw_watch.targets[__ffs64(more)].members++;
	return true;
}

/* Current reads its own counts for the first time. */
static struct sw_thread *sw_entry_get(bool *stopped)
{
	struct sw_thread *e, *new = NULL;
	struct sw_watched *w;

	if (!sw_lock(&sw_watch.lock))
		return ERR_PTR(-EBUSY);
	e = sw_table_find(&sw_threads, current);
	if (!e)
		e = new = sw_entry_claim(current);
	if (e) {
		w = sw_watched_of(e);
		if (sw_sums_are_void(e))
			sw_fold_begin(NULL, e, false);
		sw_watched_change(w);
		w->self = true;
		sw_watch_take_back(w);
		*stopped = w->stop;
		WRITE_ONCE(w->on, !w->stop && !this_cpu_read(sw_cpus.parked));
		w->since = sw_clock_ns();
		sw_watched_changed(w);
	}
	if (new)
		sw_table_publish(new, current);
	raw_spin_unlock(&sw_watch.lock);
	return e;
}

/* ---- what scripts ask for */

/* A thread that is about to end is none any more. */
static bool sw_watch_can(const struct task_struct *task)
{
	return !(READ_ONCE(task->flags) & PF_EXITING);
}

static struct task_struct *sw_watch_task(pid_t pid, enum pid_type type)
{
	return pid_task(find_pid_ns(pid, &init_pid_ns), type);
}

/* So many threads are looked at with interrupts off: 50 us or so.  The rest begins to
 * count as soon as the work runs; until then readings of the target are withheld. */
#define SW_WATCH_THREADS 256

/* Of targets, a bit each, and of cgroups: threads are left to the work. */
static atomic64_t sw_watch_rest;
static bool sw_watch_rest_moved;
static struct work_struct sw_watch_rest_work;

static void sw_watch_on_rest(struct irq_work *work)
{
	sw_work_queue(&sw_watch_rest_work);
}

static void sw_target_leave_rest(struct sw_target *t)
{
	WRITE_ONCE(t->rest, true);
	/* with the xchg() in sw_watch_take_rest() */
	smp_mb__before_atomic();
	atomic64_or(1ULL << (t - sw_watch.targets), &sw_watch_rest);
	irq_work_queue(&sw_watch_rest_kick);
}

/*
 * Every thread that a process has, one at a time: each that comes meanwhile has a
 * parent that is in already.
 * @most: no more than these
 * @rest: there are more, or in an NMI the lock could not be had
 * Return: how many were taken.
 */
static unsigned int
sw_process_take(struct sw_target *t, unsigned int most, bool *rest)
{
	u64 bit = 1ULL << (t - sw_watch.targets);
	struct task_struct *leader, *task;
	unsigned int n = 0;
	unsigned long flags;
	struct sw_cpu *c;

	rcu_read_lock();
	leader = sw_watch_task(t->pid, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, task) {
			if (!sw_watch_can(task))
				continue;
			*rest = n == most || !sw_watch_enter(&c, &flags);
			if (*rest)
				break;
			n++;
			if (!sw_watch_add(task, bit, bit, 0))
				leader = NULL;
			sw_watch_leave(c, flags);
			/* with sw_watch_on_new() */
			smp_mb();
			/* no room for one, and so for no other */
			if (!leader)
				break;
		}
	}
	rcu_read_unlock();
	return n;
}

enum sw_take { SW_TAKE_OK, SW_TAKE_GONE, SW_TAKE_FULL };

/* RCU is held. */
static enum sw_take sw_task_take(struct task_struct *task, unsigned int kept)
{
	enum sw_take took = SW_TAKE_FULL;
	unsigned long flags;
	struct sw_cpu *c;

	if (!task || !sw_watch_can(task))
		return SW_TAKE_GONE;
	if (sw_watch_enter(&c, &flags)) {
		if (sw_watch_add(task, 0, 0, kept))
			took = SW_TAKE_OK;
		sw_watch_leave(c, flags);
	}
	return took;
}

static enum sw_take sw_thread_take(pid_t tid, unsigned int kept)
{
	enum sw_take took;

	rcu_read_lock();
	took = sw_task_take(sw_watch_task(tid, PIDTYPE_PID), kept);
	rcu_read_unlock();
	return took;
}

/*
 * One that is there, or a new one.  The lock is held.
 * @start: of a process, as of struct sw_target
 */
static struct sw_target *
sw_target_get(unsigned int kind, pid_t pid, u64 start, const char *path,
	      bool *is_new)
{
	struct sw_target *t = sw_target_find(kind, pid, path,
					     SW_TARGET_DECLARED, SW_TARGET_ON);

	*is_new = false;
	/* all of it has ended: this is another one of that number */
	if (t && t->filled && !t->members && kind == SW_TARGET_PROCESS) {
		sw_target_close(t);
		t = NULL;
	}
	/* or of another one, whose children are there still */
	if (t && t->start && start && t->start != start)
		t = NULL;
	if (!t) {
		t = sw_target_declare(kind, pid, path);
		*is_new = t;
	}
	if (t && !t->start)
		t->start = start;
	return t;
}

static void sw_target_free(struct sw_target *t)
{
	sw_target_close(t);
	WRITE_ONCE(t->state, SW_TARGET_FREE);
}

static bool sw_is_pid(s64 pid)
{
	return pid > 0 && pid <= INT_MAX;
}

/* It is counted, and said in the end, that there was no such thread or process. */
static s64 sw_watch_not_there(void)
{
	WRITE_ONCE(sw_watch.gone, sw_watch.gone + 1);
	return 0;
}

/* The threads of a target that is open.  Return: were there any? */
static bool sw_process_fill(struct sw_target *t, unsigned int most)
{
	bool rest = false, had;
	unsigned int n = sw_process_take(t, most, &rest);
	unsigned long flags;
	struct sw_cpu *c;

	had = n || READ_ONCE(t->had);
	if (n)
		WRITE_ONCE(t->had, true);
	if (rest || !sw_watch_enter(&c, &flags)) {
		sw_target_leave_rest(t);
		had = true;
	} else {
		t->filled = true;
		WRITE_ONCE(t->rest, false);
		if (!had)
			sw_target_free(t);
		sw_watch_leave(c, flags);
	}
	if (n)
		sw_watch_ask();
	return had;
}

/* What a handler has left of a target, which may be another one by now. */
static void sw_process_fill_rest(struct sw_target *t)
{
	unsigned long flags;
	struct sw_cpu *c;
	bool on = false;

	if (!sw_watch_enter(&c, &flags))
		return;
	if (!t->filled && t->kind == SW_TARGET_PROCESS) {
		on = t->state == SW_TARGET_ON;
		/* nobody fills it any more, and its place can be another's */
		if (t->state == SW_TARGET_CLOSED)
			t->filled = true;
	}
	sw_watch_leave(c, flags);
	if (on)
		sw_process_fill(t, UINT_MAX);
}

/* When a process began, which tells it from others of its number; 0: it is not there. */
static u64 sw_process_start(pid_t pid)
{
	const struct task_struct *leader;
	u64 start;

	rcu_read_lock();
	leader = sw_watch_task(pid, PIDTYPE_TGID);
	start = leader ? leader->start_boottime : 0;
	rcu_read_unlock();
	return start;
}

/*
 * A process, and what it makes.
 * @by: who asks for it
 * @order: of its target
 */
static enum sw_take
sw_process_take_in(pid_t pid, enum sw_by by, bool stopped, u64 *order)
{
	const u64 start = sw_process_start(pid);
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;
	bool is_new;

	if (!sw_watch_enter(&c, &flags))
		return SW_TAKE_FULL;
	t = sw_target_get(SW_TARGET_PROCESS, pid, start, NULL, &is_new);
	is_new = is_new && sw_watch.on;
	if (t) {
		sw_target_is_by(t, t->by | by);
		*order = t->order;
	} else if (by == SW_BY_PROGRAMS) {
		/* which are told so, and the script is not */
		sw_watch.crowded--;
	}
	if (t && stopped)
		sw_target_stop(t, by, true);
	if (is_new)
		sw_target_open(t);
	sw_watch_leave(c, flags);
	if (stopped && !is_new && READ_ONCE(sw_watch.on))
		sw_watch_ask();
	if (is_new && !sw_process_fill(t, SW_WATCH_THREADS))
		return SW_TAKE_GONE;
	return t ? SW_TAKE_OK : SW_TAKE_FULL;
}

/**
 * sw_process_watch - count for a process and what it makes
 * @stopped: only when the script says so
 * Context: any.
 * Return: whether it is watched now, or will be when the session begins.
 */
static s64 __maybe_unused sw_process_watch(s64 pid, bool stopped)
{
	u64 order;

	if (!sw_is_pid(pid) || sw_watch.ended)
		return sw_watch_not_there();
	switch (sw_process_take_in(pid, SW_BY_SCRIPT, stopped, &order)) {
	case SW_TAKE_GONE:
		return sw_watch_not_there();
	case SW_TAKE_FULL:
		return 0;
	default:
		return 1;
	}
}

/**
 * sw_thread_watch - watch one thread
 * @stopped: as of sw_process_watch()
 * Context: any.
 * Return: whether it is watched now, or will be when the session begins.
 */
static s64 __maybe_unused sw_thread_watch(s64 tid, bool stopped)
{
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;
	bool is_new;

	if (!sw_is_pid(tid) || sw_watch.ended)
		return sw_watch_not_there();
	if (!READ_ONCE(sw_watch.on)) {
		if (!sw_watch_enter(&c, &flags))
			return 0;
		t = sw_target_get(SW_TARGET_THREAD, tid, 0, NULL, &is_new);
		if (t)
			sw_target_is_by(t, SW_BY_SCRIPT);
		if (t && stopped)
			sw_target_shut(t, SW_GATE_COUNTS, true);
		sw_watch_leave(c, flags);
		return t ? 1 : 0;
	}
	switch (sw_thread_take(tid, stopped ? SW_KEPT | SW_KEPT_STOPPED : SW_KEPT)) {
	case SW_TAKE_GONE:
		return sw_watch_not_there();
	case SW_TAKE_FULL:
		return 0;
	default:
		sw_watch_ask();
		return 1;
	}
}

/* ---- what the session finds declared */

static void sw_target_take_process(struct sw_target *t)
{
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_watch_enter(&c, &flags))
		return;
	sw_target_open(t);
	sw_watch_leave(c, flags);
	if (!sw_process_fill(t, UINT_MAX))
		_stp_warn("stapwatch: process_watch(%d): there is no such process\n",
			  t->pid);
}

static void sw_target_take_thread(struct sw_target *t)
{
	unsigned int kept = SW_KEPT;

	if (sw_target_is_shut(t, SW_GATE_COUNTS))
		kept |= SW_KEPT_STOPPED;
	if (sw_target_is_shut(t, SW_GATE_SAMPLES))
		kept |= SW_KEPT_UNSAMPLED;
	WRITE_ONCE(t->state, SW_TARGET_FREE);
	if (sw_thread_take(t->pid, kept) == SW_TAKE_GONE)
		_stp_warn("stapwatch: thread_watch(%d): there is no such thread\n",
			  t->pid);
}

/* ---- threads that come and go */

/* Where the tracepoints of cgroups are heard, what a thread's cgroup belongs to. */
static u64 (*sw_bits_of_cgroup)(struct task_struct *task);

/* A child has what its parent has; but for cgroups it may begin in another. */
static void sw_watch_on_new(void *data, struct task_struct *child,
			    sw_clone_flags clone_flags)
{
	struct sw_thread *e;
	struct sw_watched *w;
	u64 bits = 0, own = 0;
	unsigned long flags;
	struct sw_cpu *c;

	/* the idle thread of a CPU that comes */
	if (!child->pid)
		return;
	/* with sw_process_take() and sw_target_take_cgroup(): either these find the child,
	 * or what it is to count for is seen here; most are nobody's, and take no lock */
	smp_mb();
	if (!sw_table_find(&sw_threads, current) &&
	    !(sw_bits_of_cgroup && sw_bits_of_cgroup(child)))
		return;
	if (!sw_watch_enter(&c, &flags))
		return;
	e = sw_table_find(&sw_threads, current);
	if (e) {
		w = sw_watched_of(e);
		bits = w->want & sw_watch.active & ~sw_watch.cgroups;
		if (child->tgid == current->tgid)
			own = w->own & bits;
	}
	if (sw_bits_of_cgroup)
		bits |= sw_bits_of_cgroup(child) & sw_watch.active;
	if (bits)
		sw_watch_add(child, bits, own, 0);
	sw_watch_leave(c, flags);
}

/* Its memory is about to go. */
static void sw_watch_on_free(void *data, struct task_struct *task)
{
	struct sw_thread *e;
	unsigned long flags;
	struct sw_cpu *c;

	if (likely(!sw_table_find(&sw_threads, task)))
		return;
	if (!sw_watch_enter(&c, &flags))
		return;
	e = sw_table_find(&sw_threads, task);
	if (e)
		sw_watch_remove(e, task, true);
	sw_watch_leave(c, flags);
}

static void __maybe_unused sw_check_watch_callbacks(void)
{
	check_trace_callback_type_task_newtask(sw_watch_on_new);
	check_trace_callback_type_sched_process_free(sw_watch_on_free);
}

#endif
