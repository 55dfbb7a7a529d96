/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs have of a session: sets that they made, whom they are attached to.
 *
 * Each opening of the file `control' is one of these, whoever has it.  What it has made goes
 * with it.  A target that several are attached to is let go by the last one, and stands still
 * as long as one of them has stopped it, a thread for all targets that it is part of.  What
 * the script asks for goes on after that.
 *
 * Who may run what, against whom:
 *
 *   sw_control_enter(), _leave()	processes; in between, what handlers may do: the
 *				session does not end meanwhile
 *   all else			processes, under sw_control.lock
 */
#ifndef STAPWATCH_CONTROL_STATE_H
#define STAPWATCH_CONTROL_STATE_H

#include "base/session.h"
#include "control/abi.h"
#include "set/open.h"
#include "set/set.h"
#include "watch/programs.h"
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

/* So many targets one may be attached to. */
#define SW_CONTROL_TARGETS 64
/* So many counters one may have: a bit each of struct sw_attached. */
#define SW_CONTROL_COUNTERS 32

/* See control/counters.h. */
struct sw_control_counter {
	u64 word;
	u64 event;		/* the event's word */
	s64 sum;		/* of what was attached before, or as it was preset */
	bool lost;		/* some of that is not known */
};

struct sw_controller {
	struct list_head list;		/* of sw_control */
	struct list_head attached;
	unsigned int nr_attached;
	/* which set of its number one of its own is; 0: none */
	u64 own[SW_MAX_SETS];
	struct sw_control_counter counters[SW_CONTROL_COUNTERS];
	unsigned int nr_counters;
	u64 made;		/* so many counters were */
};

/* Of these pointers one is set, with a reference, or of a CPU none. */
struct sw_control_who {
	unsigned int target;	/* of enum sw_control_target */
	struct task_struct *task;
	struct pid *pid;	/* a process's */
	struct cgroup *cgroup;
	s64 id;			/* as who asks for it has it */
};

struct sw_attached {
	struct list_head list;		/* of its controller */
	struct sw_control_who who;
	u64 order;			/* see watch/programs.h */
	bool stopped;			/* this controller has stopped it */
	/* of each counter, by its place: what stood there when it began */
	s64 from[SW_CONTROL_COUNTERS];
	u32 unknown;			/* ... a bit each: that is not known */
};

static struct {
	struct mutex lock;
	struct list_head controllers;
	unsigned int nr, max;
	unsigned int reads;	/* so often a step may read anew; see counters.h */
} sw_control = {
	.lock = __MUTEX_INITIALIZER(sw_control.lock),
	.controllers = LIST_HEAD_INIT(sw_control.controllers),
};

/* With sw_session_end(), which waits for who has preemption off, as a handler has. */
static bool sw_control_enter(void)
{
	preempt_disable();
	if (sw_is_running())
		return true;
	preempt_enable();
	return false;
}

static void sw_control_leave(void)
{
	preempt_enable();
}

/* ---- sets */

/* Which set of its number that WORD is of, from 1 on. */
static u64 sw_control_which(u32 word)
{
	return 1ULL + word / SW_SET_STATES;
}

/* Can a set of that word be found? */
static bool sw_control_is_there(u32 word)
{
	const int state = word % SW_SET_STATES;

	return state == SW_SET_DECLARED || state == SW_SET_OPENING ||
	       state == SW_SET_OPEN;
}

/* Preemption is off, so the set keeps its number. */
static bool sw_control_owns(const struct sw_controller *p, unsigned int set)
{
	const u32 word = sw_set_word(set);

	return sw_control_is_there(word) &&
	       READ_ONCE(p->own[set]) == sw_control_which(word);
}

/* A set of that name is its own.  Return: its number, or 0. */
static unsigned int
sw_control_own(const struct sw_controller *p, const char *name)
{
	unsigned int set = sw_set_find(name);

	return set && sw_control_owns(p, set) ? set : 0;
}

/* ---- targets */

#ifdef CONFIG_CGROUPS
/* The one of version 2 whose directory that descriptor is, or NULL; with a reference. */
static struct cgroup *sw_control_cgroup(s64 fd)
{
	struct cgroup *cgroup = fd == (int)fd ? cgroup_get_from_fd(fd) :
						ERR_PTR(-EBADF);

	if (IS_ERR(cgroup))
		return NULL;
	if (cgroup->root == &cgrp_dfl_root)
		return cgroup;
	cgroup_put(cgroup);
	return NULL;
}

static void sw_control_put_cgroup(struct cgroup *cgroup)
{
	if (cgroup)
		cgroup_put(cgroup);
}

static bool sw_control_cgroup_has_ended(struct cgroup *cgroup)
{
	return !(READ_ONCE(cgroup->self.flags) & CSS_ONLINE);
}
#else
static struct cgroup *sw_control_cgroup(s64 fd)
{
	return NULL;
}

static void sw_control_put_cgroup(struct cgroup *cgroup)
{
}

static bool sw_control_cgroup_has_ended(struct cgroup *cgroup)
{
	return true;
}
#endif

/* For the session's counters only: all CPUs count. */
static bool sw_attached_is_cpu(const struct sw_attached *a)
{
	return a->who.target == SW_CONTROL_CPU;
}

static bool sw_attached_has_ended(const struct sw_attached *a)
{
	bool is;

	if (sw_attached_is_cpu(a))
		return false;
	rcu_read_lock();
	is = a->who.task ? !pid_alive(a->who.task) :
	     a->who.pid ? !pid_task(a->who.pid, PIDTYPE_TGID) :
			  sw_control_cgroup_has_ended(a->who.cgroup);
	rcu_read_unlock();
	return is;
}

static struct sw_attached *
sw_control_find(const struct sw_controller *p, const struct sw_control_who *who)
{
	struct sw_attached *a;

	list_for_each_entry(a, &p->attached, list)
		if (a->who.target == who->target && a->who.task == who->task &&
		    a->who.pid == who->pid && a->who.cgroup == who->cgroup &&
		    (who->target != SW_CONTROL_CPU || a->who.id == who->id))
			return a;
	return NULL;
}

/* Is somebody attached to what A is, and has one of them stopped it? */
static bool sw_control_any(const struct sw_attached *a, bool *stopped)
{
	const struct sw_controller *p;
	const struct sw_attached *other;
	bool any = false;

	*stopped = false;
	list_for_each_entry(p, &sw_control.controllers, list) {
		list_for_each_entry(other, &p->attached, list) {
			/* of processes and cgroups the order is that of the target */
			if (other->who.task != a->who.task || other->order != a->order)
				continue;
			any = true;
			*stopped |= other->stopped;
		}
	}
	return any;
}

/* What is attached to it, or has stopped it, is others now. */
static void sw_control_changed(const struct sw_attached *a)
{
	bool any, stopped;

	/* nothing is there any more once the session is over */
	if (sw_attached_is_cpu(a) || !sw_is_running())
		return;
	any = sw_control_any(a, &stopped);
	if (!sw_control_enter())
		return;
	if (any)
		sw_program_stops(a->who.task, a->order, stopped);
	else
		sw_program_leaves(a->who.task, a->order);
	sw_control_leave();
}

static void sw_control_forget(struct sw_control_who *who)
{
	if (who->task)
		put_task_struct(who->task);
	put_pid(who->pid);
	sw_control_put_cgroup(who->cgroup);
}

static void sw_attached_free(struct sw_attached *a)
{
	sw_control_forget(&a->who);
	kfree(a);
}

static void sw_control_detach(struct sw_controller *p, struct sw_attached *a)
{
	list_del(&a->list);
	p->nr_attached--;
	sw_control_changed(a);
	sw_attached_free(a);
}

/* ---- from its opening to its end */

static struct sw_controller *sw_controller_get(void)
{
	struct sw_controller *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	INIT_LIST_HEAD(&p->attached);
	mutex_lock(&sw_control.lock);
	if (sw_control.nr == sw_control.max) {
		mutex_unlock(&sw_control.lock);
		kfree(p);
		return ERR_PTR(-EUSERS);
	}
	sw_control.nr++;
	list_add(&p->list, &sw_control.controllers);
	mutex_unlock(&sw_control.lock);
	return p;
}

/* What it made goes, and it is the last one that has it. */
static void sw_controller_put(struct sw_controller *p)
{
	struct sw_attached *a, *next;
	unsigned int set;

	mutex_lock(&sw_control.lock);
	list_del(&p->list);
	sw_control.nr--;
	list_for_each_entry_safe(a, next, &p->attached, list)
		sw_control_detach(p, a);
	if (sw_control_enter()) {
		for (set = 1; set < SW_MAX_SETS; set++)
			if (p->own[set])
				sw_set_leave(set, (p->own[set] - 1) *
						  SW_SET_STATES);
		sw_set_kick();
		sw_control_leave();
	}
	mutex_unlock(&sw_control.lock);
	kfree(p);
}

#endif
