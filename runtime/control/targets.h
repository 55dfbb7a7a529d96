/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and processes that programs are attached to.
 *
 * Who may run what, against whom: all of it processes, within an operation of the file.
 * What is done to sets, threads and counts is what a handler does, and stands between
 * sw_control_enter() and sw_control_leave().
 */
#ifndef STAPWATCH_CONTROL_TARGETS_H
#define STAPWATCH_CONTROL_TARGETS_H

#include "base/cpus.h"
#include "control/counters.h"
#include "control/sets.h"
#include "control/state.h"
#include "control/step.h"
#include "count/gate.h"
#include "watch/cgroup.h"
#include "watch/programs.h"
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

/* Whom ID is, as the caller's pid namespace has it; with a reference. */
static struct pid *sw_control_pid(unsigned int target, s64 id)
{
	if (!id)
		return get_pid(target == SW_CONTROL_THREAD ?
			       task_pid(current) : task_tgid(current));
	return sw_is_pid(id) ? find_get_pid(id) : NULL;
}

/* Whom a step names.  Return: false: there is none; else sw_control_forget() follows. */
static bool
sw_control_whom(unsigned int target, s64 id, struct sw_control_who *who)
{
	struct pid *pid;

	*who = (struct sw_control_who) { .target = target, .id = id };
	if (target == SW_CONTROL_CPU)
		return sw_control_is_cpu(id) && sw_cpu_is_online(id);
	if (target == SW_CONTROL_CGROUP) {
		who->cgroup = sw_control_cgroup(id);
		return who->cgroup;
	}
	pid = sw_control_pid(target, id);
	if (!id)
		who->id = pid_vnr(pid);
	if (target == SW_CONTROL_PROCESS) {
		who->pid = pid;
		return pid;
	}
	if (pid)
		who->task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	return who->task;
}

static int sw_control_no_target(struct sw_control_run *r)
{
	const unsigned int target = r->step.target;

	if (target == SW_CONTROL_CPU)
		return sw_control_say(r, -ENODEV, "there is no CPU %lld online",
				      r->step.id);
	if (target == SW_CONTROL_CGROUP)
		return sw_control_say(r, -ESRCH,
				      "descriptor %lld is of no directory of a cgroup of version 2",
				      r->step.id);
	return sw_control_say(r, -ESRCH, "there is no %s %lld",
			      target == SW_CONTROL_THREAD ? "thread" : "process",
			      r->step.id);
}

/* ---- what a session is attached to */

/* Is there somebody for whom a process's or a cgroup's target counts? */
static bool sw_control_counts(const struct sw_attached *a)
{
	bool counts = false;

	if (sw_control_enter()) {
		counts = sw_program_still_counts(a->order);
		sw_control_leave();
	}
	return counts;
}

/* Those that have ended, with all that they made, make room.  The lock is held. */
static void sw_control_make_room(struct sw_controller *p)
{
	struct sw_attached *a, *next;

	list_for_each_entry_safe(a, next, &p->attached, list) {
		if (!sw_attached_has_ended(a) ||
		    (!a->who.task && sw_control_counts(a)))
			continue;
		sw_control_keep(p, a, true);
		sw_control_detach(p, a);
	}
}

/* Closed targets of threads that sleep hold places that others want. */
static void sw_control_sweep(void)
{
	unsigned int at = 0;
	bool more = true;

	while (more && sw_control_enter()) {
		more = sw_program_sweep(&at);
		sw_control_leave();
		cond_resched();
	}
}

/* Until a work has taken the threads of a large process.  Return: as sw_program_fill(). */
static int sw_control_fill(const struct sw_attached *a)
{
	unsigned int tries;
	int rc = -EAGAIN;

	if (!a->order)
		return 0;
	for (tries = 0; rc == -EAGAIN && tries < SW_CONTROL_TRIES; tries++) {
		if (tries)
			usleep_range(20, 50);
		if (!sw_control_enter())
			return 0;
		rc = sw_program_fill(a->order);
		sw_control_leave();
	}
	return rc;
}

static enum sw_take sw_control_take_cgroup(struct sw_attached *a)
{
#ifdef CONFIG_CGROUPS
	struct sw_target *t;

	if (!sw_control_enter())
		return SW_TAKE_GONE;
	t = sw_cgroup_take(a->who.cgroup, a->stopped, &a->order);
	sw_control_leave();
	/* all threads are looked at, with preemption on; with sw_session_end() */
	rcu_read_lock();
	if (t && sw_is_running())
		sw_cgroup_fill(t);
	rcu_read_unlock();
#endif
	return a->order ? SW_TAKE_OK : SW_TAKE_FULL;
}

static enum sw_take sw_control_take_in(struct sw_attached *a)
{
	enum sw_take took = SW_TAKE_GONE;

	if (sw_attached_is_cpu(a))
		return SW_TAKE_OK;
	if (a->who.cgroup)
		return sw_control_take_cgroup(a);
	if (sw_control_enter()) {
		took = sw_program_takes(a->who.task, a->who.pid, a->stopped,
					&a->order);
		sw_control_leave();
	}
	return took;
}

/* The lock is held, and A is ready but for its order. */
static int sw_control_attach_now(struct sw_control_run *r, struct sw_attached *a)
{
	struct sw_controller *p = r->by;
	enum sw_take took;

	if (sw_control_find(p, &a->who))
		return sw_control_say(r, -EBUSY,
				      "this session is attached to that already");
	if (p->nr_attached == SW_CONTROL_TARGETS)
		sw_control_make_room(p);
	if (p->nr_attached == SW_CONTROL_TARGETS)
		return sw_control_say(r, -ENOSPC,
				      "a session is attached to no more than %d targets",
				      SW_CONTROL_TARGETS);
	took = sw_control_take_in(a);
	if (took == SW_TAKE_FULL && !a->who.task) {
		sw_control_sweep();
		took = sw_control_take_in(a);
	}
	if (!sw_is_running())
		return -ESHUTDOWN;
	if (took == SW_TAKE_GONE)
		return sw_control_no_target(r);
	if (took == SW_TAKE_OK && sw_control_fill(a) == -ENOSPC) {
		took = SW_TAKE_FULL;
		sw_control_changed(a);
	}
	if (took == SW_TAKE_FULL)
		return sw_control_say(r, -ENOSPC,
				      "no more can be watched: 64 processes and cgroups, and threads as -G stapwatch_threads=N says");
	list_add(&a->list, &p->attached);
	p->nr_attached++;
	sw_control_changed(a);
	sw_control_begin(p, a, sw_control_settle(p));
	return 0;
}

static int sw_control_attach(struct sw_control_run *r)
{
	const struct sw_control_step *s = &r->step;
	struct sw_attached *a;
	int rc;

	if (s->target == SW_CONTROL_CGROUP && !READ_ONCE(sw_watch.programs))
		return sw_control_say(r, -EOPNOTSUPP,
				      "this kernel has no cgroups, or no tracepoint cgroup_attach_task");
	a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	if (!a)
		return -ENOMEM;
	a->stopped = s->flags & SW_CONTROL_STOPPED;
	rc = sw_control_whom(s->target, s->id, &a->who) ? 0 : sw_control_no_target(r);
	rc = rc ?: mutex_lock_killable(&sw_control.lock);
	if (!rc) {
		rc = sw_control_attach_now(r, a);
		mutex_unlock(&sw_control.lock);
	}
	if (rc)
		sw_attached_free(a);
	return rc;
}

/*
 * What the step names, of those that the session is attached to: one that is there goes
 * before one of that number that has ended.  The lock is held.
 */
static struct sw_attached *sw_control_attached(struct sw_control_run *r)
{
	const struct sw_control_step *s = &r->step;
	const unsigned int target = s->target == SW_CONTROL_TREE ?
				    SW_CONTROL_PROCESS : s->target;
	struct sw_attached *a, *found;
	struct sw_control_who who;
	bool is_other;

	/* a CPU that has gone offline, too */
	is_other = sw_control_whom(target, s->id, &who) && who.cgroup;
	found = sw_control_find(r->by, &who);
	sw_control_forget(&who);
	if (found)
		return found;
	if (is_other) {
		sw_control_say(r, 0, "this session is not attached to that");
		return NULL;
	}
	list_for_each_entry(a, &r->by->attached, list)
		if (a->who.target == target && a->who.id == s->id &&
		    sw_attached_has_ended(a))
			return a;
	sw_control_say(r, 0, "this session is not attached to that");
	return NULL;
}

static int sw_control_let_go(struct sw_control_run *r)
{
	struct sw_attached *a;
	int rc = mutex_lock_killable(&sw_control.lock);

	if (rc)
		return rc;
	a = sw_control_attached(r);
	if (a) {
		sw_control_keep(r->by, a, sw_control_settle(r->by));
		sw_control_detach(r->by, a);
	}
	mutex_unlock(&sw_control.lock);
	return a ? 0 : -ESRCH;
}

/* ---- start and stop */

static int sw_control_stop_sets(const struct sw_controller *p, bool stop)
{
	unsigned int set;

	if (!sw_control_enter())
		return -ESHUTDOWN;
	for (set = 1; set < SW_MAX_SETS; set++)
		if (sw_control_owns(p, set))
			sw_gate_stop(set, stop);
	sw_control_leave();
	return 0;
}

static void
sw_attached_stop(struct sw_controller *p, struct sw_attached *a, bool stop,
		 bool settled)
{
	if (a->stopped == stop)
		return;
	/* of a CPU nothing stands still but what its session has counted */
	if (sw_attached_is_cpu(a) && stop)
		sw_control_keep(p, a, settled);
	a->stopped = stop;
	if (sw_attached_is_cpu(a) && !stop)
		sw_control_begin(p, a, settled);
	sw_control_changed(a);
}

static int sw_control_stop(struct sw_control_run *r)
{
	const struct sw_control_step *s = &r->step;
	const bool stop = s->what == SW_CONTROL_STOP;
	struct sw_attached *a;
	bool settled;
	int rc;

	if (s->target == SW_CONTROL_SET)
		return sw_control_set(r);
	if (s->target == SW_CONTROL_ALL)
		return sw_control_stop_sets(r->by, stop);
	rc = mutex_lock_killable(&sw_control.lock);
	if (rc)
		return rc;
	settled = (s->target == SW_CONTROL_SESSION || s->target == SW_CONTROL_CPU) &&
		  sw_control_settle(r->by);
	if (s->target == SW_CONTROL_SESSION) {
		list_for_each_entry(a, &r->by->attached, list)
			sw_attached_stop(r->by, a, stop, settled);
	} else {
		a = sw_control_attached(r);
		if (a)
			sw_attached_stop(r->by, a, stop, settled);
		rc = a ? 0 : -ESRCH;
	}
	mutex_unlock(&sw_control.lock);
	return rc;
}

#endif
