/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of a cgroup (v2) and of those below it: those that are in it when somebody asks
 * for it, a begin probe or a program, those that begin there, and those that are moved into
 * it.  Those that are moved out count for it no more.
 *
 * A cgroup's threads are not inherited: where a child begins is asked anew, since
 * clone3() can put it elsewhere.
 *
 * Who may run what, against whom:
 *
 *   sw_cgroup_bits()		RCU; any context
 *   sw_cgroup_on_attach()	who moves threads, interrupts off
 *   sw_cgroup_watch()		begin probes
 *   sw_cgroup_take()		processes, while handlers may run; one at a time
 *   sw_cgroup_fill()		sleepable; for as long as it looks the session's memory stays
 *   sw_cgroups_let_go()	a work, and sw_cgroups_stop()
 *   sw_target_take_cgroup(), sw_cgroups_stop()	sleepable, one at a time
 */
#ifndef STAPWATCH_WATCH_CGROUP_H
#define STAPWATCH_WATCH_CGROUP_H

#include "watch/attach.h"
#include "watch/fold.h"
#include "watch/state.h"
#include "watch/target.h"
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/sched/signal.h>
#include <trace/events/cgroup.h>

#ifdef CONFIG_CGROUPS

/* The targets that a thread is in by its cgroup. */
static u64 sw_cgroup_bits(struct task_struct *task)
{
	/* with smp_store_release() in sw_target_take_cgroup() */
	u64 left = READ_ONCE(sw_watch.cgroups), bits = 0;
	struct cgroup *cgroup;
	struct cgroup *of;
	unsigned int nr;

	if (likely(!left))
		return 0;
	rcu_read_lock();
	cgroup = task_dfl_cgroup(task);
	for (; left; left &= left - 1) {
		nr = __ffs64(left);
		/* it is put, and there for a grace period more */
		of = READ_ONCE(sw_watch.targets[nr].cgroup);
		if (of && cgroup_is_descendant(cgroup, of))
			bits |= 1ULL << nr;
	}
	rcu_read_unlock();
	return bits;
}

/* A thread is where it is: it counts for these cgroups, and for no others. */
static void sw_cgroup_move(struct task_struct *task)
{
	struct sw_thread *e;
	struct sw_watched *w;
	unsigned long flags;
	struct sw_cpu *c;
	u64 bits, out;

	if (!sw_watch_enter(&c, &flags))
		return;
	bits = sw_cgroup_bits(task) & sw_watch.active;
	e = sw_table_find(&sw_threads, task);
	if (e) {
		w = sw_watched_of(e);
		out = w->want & sw_watch.cgroups & ~bits;
		WRITE_ONCE(w->want, w->want & ~out);
		for (; out; out &= out - 1)
			sw_watch.targets[__ffs64(out)].members--;
	}
	if (bits && sw_watch_can(task))
		sw_watch_add(task, bits, 0, 0);
	sw_watch_leave(c, flags);
}

static void
sw_cgroup_on_attach(void *data, struct cgroup *to, const char *path,
		    struct task_struct *task, bool threadgroup)
{
	struct task_struct *t;
	unsigned int n = 0;

	/* with sw_cgroup_fill() */
	smp_mb();
	if (!READ_ONCE(sw_watch.cgroups))
		return;
	rcu_read_lock();
	if (threadgroup) {
		for_each_thread(task, t) {
			if (n++ == SW_WATCH_THREADS) {
				WRITE_ONCE(sw_watch_rest_moved, true);
				irq_work_queue(&sw_watch_rest_kick);
				break;
			}
			sw_cgroup_move(t);
		}
	} else {
		sw_cgroup_move(task);
	}
	rcu_read_unlock();
	sw_watch_ask();
}

/* Threads of a large process are where they were moved: the machine's are looked at. */
static void sw_cgroups_move_rest(void)
{
	struct task_struct *p, *t;

	if (!xchg(&sw_watch_rest_moved, false))
		return;
	rcu_read_lock();
	for_each_process_thread(p, t)
		sw_cgroup_move(t);
	rcu_read_unlock();
}

static void __maybe_unused sw_check_cgroup_callbacks(void)
{
	check_trace_callback_type_cgroup_attach_task(sw_cgroup_on_attach);
}

/* From here on CGROUP has a target; the lock is held. */
static void sw_cgroup_open(struct sw_target *t, struct cgroup *cgroup)
{
	WRITE_ONCE(t->cgroup, cgroup);
	sw_target_open(t);
	/* with sw_cgroup_bits(), which goes from the bit to the cgroup */
	smp_store_release(&sw_watch.cgroups,
			  sw_watch.cgroups | 1ULL << (t - sw_watch.targets));
}

/* The threads that are in it. */
static void sw_cgroup_fill(struct sw_target *t)
{
	u64 bit = 1ULL << (t - sw_watch.targets);
	struct task_struct *p, *task;
	unsigned long flags;
	struct sw_cpu *c;

	/* who comes meanwhile is seen by the tracepoints; with sw_watch_on_new() and
	 * sw_cgroup_on_attach() */
	smp_mb();
	rcu_read_lock();
	/* sw_watch_stop() waits for readers before it lets go of what is changed here */
	if (READ_ONCE(sw_watch.on)) {
		for_each_process_thread(p, task) {
			if (!sw_watch_can(task) || !(sw_cgroup_bits(task) & bit) ||
			    !sw_watch_enter(&c, &flags))
				continue;
			/* with sw_cgroup_move(), which may have come in between */
			if (sw_cgroup_bits(task) & bit)
				sw_watch_add(task, bit, 0, 0);
			sw_watch_leave(c, flags);
		}
		t->filled = true;
		sw_watch_ask();
	}
	rcu_read_unlock();
}

static void sw_target_take_cgroup(struct sw_target *t)
{
	struct cgroup *cgroup = cgroup_get_from_path(t->path);
	unsigned long flags;
	struct sw_cpu *c;

	if (IS_ERR(cgroup)) {
		_stp_warn("stapwatch: cgroup_watch(\"%s\"): there is no such cgroup of version 2 (%d)\n",
			  t->path, (int)PTR_ERR(cgroup));
		WRITE_ONCE(t->state, SW_TARGET_FREE);
		return;
	}
	if (sw_watch_enter(&c, &flags)) {
		sw_cgroup_open(t, cgroup);
		sw_watch_leave(c, flags);
	}
	sw_cgroup_fill(t);
}

/* The target that counts for it; the lock is held. */
static struct sw_target *sw_cgroup_target(const struct cgroup *cgroup)
{
	struct sw_target *t;

	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++)
		if (t->state == SW_TARGET_ON && t->cgroup == cgroup)
			return t;
	return NULL;
}

/**
 * sw_cgroup_take - count for a cgroup while the session runs, for programs
 * @cgroup: of version 2; its target has a reference of its own
 * @order: of its target
 * Return: the target if it is a new one, for sw_cgroup_fill(); or NULL: ORDER is 0 if
 * there is no room.
 */
static struct sw_target *__maybe_unused
sw_cgroup_take(struct cgroup *cgroup, bool stopped, u64 *order)
{
	struct sw_target *t, *new = NULL;
	char path[SW_TARGET_PATH];
	unsigned long flags;
	struct sw_cpu *c;

	*order = 0;
	/* as a script has it; one that is longer no script can have */
	cgroup_path(cgroup, path, sizeof(path));
	if (!sw_watch_enter(&c, &flags))
		return NULL;
	t = sw_cgroup_target(cgroup);
	if (!t) {
		/* a script's of that path is another cgroup, which has gone: no script
		 * can name a newline */
		if (sw_target_find(SW_TARGET_CGROUP, 0, path, SW_TARGET_ON,
				   SW_TARGET_CLOSED))
			strscpy(path, "\n", sizeof(path));
		t = new = sw_target_declare(SW_TARGET_CGROUP, 0, path);
		sw_watch.crowded -= !t;
	}
	if (t) {
		sw_target_is_by(t, t->by | SW_BY_PROGRAMS);
		*order = t->order;
		if (stopped)
			sw_target_stop(t, SW_BY_PROGRAMS, true);
	}
	if (new) {
		css_get(&cgroup->self);
		sw_cgroup_open(new, cgroup);
	}
	sw_watch_leave(c, flags);
	return new;
}

/* Cgroups whose targets' places others have by now. */
static void sw_cgroups_let_go(void)
{
	struct cgroup *cgroup;
	struct sw_target *t;

	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++) {
		cgroup = xchg(&t->gone, NULL);
		if (cgroup)
			cgroup_put(cgroup);
	}
}

static void sw_cgroups_stop(void)
{
	struct sw_target *t;

	sw_cgroups_let_go();
	sw_watch.cgroups = 0;
	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++) {
		if (t->cgroup)
			cgroup_put(t->cgroup);
		t->cgroup = NULL;
	}
}

#endif

/**
 * sw_cgroup_watch - count for a cgroup when the session begins
 * Context: begin probes.
 * Return: whether there is room.
 */
static s64 __maybe_unused sw_cgroup_watch(const char *path)
{
	struct sw_target *t;
	unsigned long flags;
	struct sw_cpu *c;
	bool is_new;

	if (!sw_watch_enter(&c, &flags))
		return 0;
	t = sw_target_get(SW_TARGET_CGROUP, 0, 0, path, &is_new);
	if (t)
		sw_target_is_by(t, SW_BY_SCRIPT);
	sw_watch_leave(c, flags);
	return t ? 1 : 0;
}

#endif
