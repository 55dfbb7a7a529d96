/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What scripts read of others: of a thread, of a process, a tree or a cgroup, and of
 * those that have ended.
 *
 * Of the thread that this CPU runs, a value is as of now.  Of one that runs
 * elsewhere it is as of when that CPU last switched or looked; so a sum over several
 * threads is never more than what was counted, and as much when all have ended.
 *
 * All of it: any context, NMI included, bounded.  sw_watch_refresh() waits where it may,
 * for no longer than it says.
 */
#ifndef STAPWATCH_WATCH_READ_H
#define STAPWATCH_WATCH_READ_H

#include "base/ask.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "count/vthread.h"
#include "watch/attach.h"
#include "watch/fold.h"
#include "watch/list.h"
#include "watch/state.h"
#include "watch/target.h"
#include <linux/cpumask.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>

/* How often a reading is tried while another CPU changes what is read. */
#define SW_WATCH_TRIES 1000
/* How long sw_watch_refresh() waits */
#define SW_WATCH_WAIT_NS 1000000

struct sw_watched_view {
	u64 count;
	u64 since;
	u64 holed;
	bool on;
};

/* Return: false: it changed at every try, or TASK is watched no more. */
static bool
sw_watch_read_record(struct sw_thread *e, const struct task_struct *task,
		     unsigned int slot, struct sw_watched_view *v)
{
	const struct sw_thread_set *s = sw_thread_set(e);
	const struct sw_watched *w = sw_watched_of(e);
	unsigned int tries;
	u32 seq;

	for (tries = 0; tries < SW_WATCH_TRIES; tries++) {
		seq = READ_ONCE(w->seq);
		/* with sw_watched_changed() */
		smp_rmb();
		if (READ_ONCE(e->task) != task)
			return false;
		v->count = READ_ONCE(w->last[slot]);
		v->since = READ_ONCE(w->since);
		v->holed = READ_ONCE(w->holed);
		/* it has not run since another set had counted there */
		if (s && sw_word_is_void(slot, READ_ONCE(s->begun))) {
			v->count = 0;
			v->holed = 0;
		}
		v->on = READ_ONCE(w->on);
		/* with sw_watched_change() */
		smp_rmb();
		if (!(seq & 1) && READ_ONCE(w->seq) == seq &&
		    READ_ONCE(e->task) == task)
			return true;
		/* this CPU itself is within the change */
		if (this_cpu_read(sw_cpus.busy))
			break;
		cpu_relax();
	}
	sw_withheld(changing);
	return false;
}

/* The thread of a number, as long as RCU is held. */
static struct task_struct *sw_watch_task_now(s64 tid)
{
	struct task_struct *task = current;

	return task->pid == tid ? task : sw_watch_task(tid, PIDTYPE_PID);
}

/* Of one that has ended, or that the session's end found. */
static s64 sw_read_ended(s64 tid, u64 start, unsigned int slot)
{
	struct sw_dead_view v;

	if (!sw_list_find(tid, start, slot, &v)) {
		sw_withheld(unwatched);
		return SW_NONE;
	}
	if (v.holed) {
		sw_withheld(incomplete);
		return SW_NONE;
	}
	return v.count;
}

/* A slot's bit; the time of sets is never uncounted. */
static bool sw_is_holed(u64 holed, unsigned int slot)
{
	return slot < SW_MAX_SLOTS && (holed >> slot & 1);
}

/* What counts by runs has a sum, of all its runs, also between them. */
static __always_inline s64
sw_sum_of_current(struct sw_cpu *c, struct sw_watched *w, unsigned int slot)
{
	if (!sw_fold_watched(c, w, slot))
		return SW_NONE;
	if (sw_is_holed(w->holed, slot)) {
		sw_withheld(incomplete);
		return SW_NONE;
	}
	return w->last[slot];
}

/* Was something of it not counted, which a single reading says once only? */
static bool sw_has_holes(const struct sw_thread *e, const struct sw_watched *w)
{
	return w->holed || w->holes != (u32)e->stretch;
}

/* This CPU's flag is held, and what it counts for is current, which has W. */
static __always_inline s64
sw_value_of_current(struct sw_cpu *c, struct sw_watched *w, unsigned int slot)
{
	if (slot >= SW_MAX_SLOTS || sw_pmu.set[slot] || sw_has_holes(c->cur, w))
		return sw_sum_of_current(c, w, slot);
	return sw_thread_now(c, slot);
}

static s64 sw_read_current(unsigned int slot)
{
	unsigned long flags;
	struct sw_cpu *c;
	s64 v = SW_NONE;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	if (!c->cur || c->cur->task != current)
		sw_withheld(unwatched);
	else
		v = sw_value_of_current(c, sw_watched_of(c->cur), slot);
	sw_leave(c, flags);
	return v;
}

/*
 * RCU is held, and the session is on.
 * @task: NULL: it has ended
 * @start: as of sw_list_find()
 */
static s64 sw_read_of_thread(unsigned int slot, const struct task_struct *task,
			  pid_t tid, u64 start)
{
	struct sw_thread *e = task ? sw_table_find(&sw_threads, task) : NULL;
	struct sw_watched_view v;

	if (!e)
		return sw_read_ended(tid, start, slot);
	if (task == current && !READ_ONCE(sw_watched_of(e)->stop) &&
	    !raw_cpu_read(sw_cpus.parked))
		return sw_read_current(slot);
	if (!sw_watch_read_record(e, task, slot, &v))
		return SW_NONE;
	if (!sw_is_holed(v.holed, slot))
		return v.count;
	sw_withheld(incomplete);
	return SW_NONE;
}

/**
 * sw_read_of - the count of any thread that is watched, or was
 * Return: the count, or SW_NONE.
 */
static s64 __maybe_unused sw_read_of(unsigned int slot, s64 tid)
{
	s64 count;

	if (!sw_is_pid(tid) || !READ_ONCE(sw_watch.on))
		return sw_read_ended(sw_is_pid(tid) ? tid : 0, 0, slot);
	rcu_read_lock();
	count = sw_read_of_thread(slot, sw_watch_task_now(tid), tid, 0);
	rcu_read_unlock();
	return count;
}

/**
 * sw_read_task - the same of a thread that is held, whoever has its number
 * @task: the address of its task_struct, to be like the others
 */
static s64 __maybe_unused sw_read_task(unsigned int slot, s64 task)
{
	const struct task_struct *t = (const struct task_struct *)(long)task;
	s64 count;

	if (!READ_ONCE(sw_watch.on))
		return sw_read_ended(t->pid, t->start_boottime, slot);
	rcu_read_lock();
	count = sw_read_of_thread(slot, t, t->pid, t->start_boottime);
	rcu_read_unlock();
	return count;
}

/**
 * sw_read_self - the count of the calling thread, as sw_read_of() has it
 *
 * One that is switched in needs no search.
 *
 * Context: preemption is off.
 */
static s64 __maybe_unused sw_read_self(unsigned int slot, s64 tid)
{
	unsigned long flags;
	struct sw_watched *w = NULL;
	struct sw_cpu *c;
	s64 v = SW_NONE;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	if (likely(c->cur && c->cur->task == current))
		w = sw_watched_of(c->cur);
	if (likely(w && !READ_ONCE(w->stop)))
		v = sw_value_of_current(c, w, slot);
	else
		w = NULL;
	sw_leave(c, flags);
	return likely(w) ? v : sw_read_of(slot, tid);
}

/**
 * sw_age_of - how old what sw_read_of() says is, in nanoseconds
 * Return: 0 for this CPU's thread, and for one that does not run; or SW_NONE.
 */
static s64 __maybe_unused sw_age_of(s64 tid)
{
	struct sw_watched_view v;
	struct sw_dead_view dead;
	struct task_struct *task;
	struct sw_thread *e = NULL;
	s64 age = SW_NONE;
	u64 now;

	if (!sw_is_pid(tid))
		return SW_NONE;
	rcu_read_lock();
	if (READ_ONCE(sw_watch.on)) {
		task = sw_watch_task_now(tid);
		e = task ? sw_table_find(&sw_threads, task) : NULL;
	}
	if (!e) {
		if (sw_list_find(tid, 0, UINT_MAX, &dead))
			age = 0;
		else
			sw_withheld(unwatched);
	} else if (task == current) {
		age = 0;
	} else if (sw_watch_read_record(e, task, 0, &v)) {
		now = sw_clock_ns();
		age = v.on && now > v.since ? now - v.since : 0;
	}
	rcu_read_unlock();
	return age;
}

/* What runs here is part of it: as of now.  Return: false: no value just now. */
static bool sw_read_here(unsigned int slot, u64 bit)
{
	unsigned long flags;
	struct sw_cpu *c;
	bool ok = true;

	if (!READ_ONCE(sw_watch.on))
		return true;
	if (!sw_enter(&c, &flags))
		return false;
	if (c->cur && c->cur->task == current &&
	    sw_watched_of(c->cur)->targets & bit)
		ok = sw_fold_current(c, slot);
	sw_leave(c, flags);
	return ok;
}

/*
 * What a target has counted.
 * @order: its order; after that, smp_rmb()
 * @pid, @path: as of sw_target_find(), where that has found it
 */
static s64 sw_read_sums(unsigned int slot, const struct sw_target *t, u64 order,
			s64 pid, const char *path, bool whole)
{
	const unsigned int nr = t - sw_watch.targets;
	u64 sum = 0;
	bool holed;
	int cpu;

	if (!sw_read_here(slot, 1ULL << nr))
		return SW_NONE;
	for_each_possible_cpu(cpu) {
		struct sw_watch_cpu *wc = per_cpu_ptr(&sw_watch_cpus, cpu);

		sum += READ_ONCE(sw_target_sums(wc, nr, true)[slot]);
		if (whole)
			sum += READ_ONCE(sw_target_sums(wc, nr, false)[slot]);
	}
	holed = sw_is_holed(atomic64_read(&t->holed), slot) ||
		READ_ONCE(t->rest) || READ_ONCE(t->no_room);
	/* with sw_target_declare(): it is still the one that was found */
	smp_rmb();
	if (READ_ONCE(t->order) != order || !order ||
	    (path ? strcmp(t->path, path) : t->pid != pid)) {
		sw_withheld(changing);
		return SW_NONE;
	}
	if (holed) {
		sw_withheld(incomplete);
		return SW_NONE;
	}
	return sum;
}

/**
 * sw_read_target - the count of a process, a tree or a cgroup
 * @whole: all that it has made, too, not only its own threads
 * Return: the count, or SW_NONE.
 */
static s64 sw_read_target(unsigned int slot, unsigned int kind, s64 pid,
			  const char *path, bool whole)
{
	const struct sw_target *t;
	u64 order;

	t = sw_target_find(kind, pid, path, SW_TARGET_ON, SW_TARGET_CLOSED);
	if (!t || !sw_watch.sums || slot >= sw_watch.slots) {
		sw_withheld(unwatched);
		return SW_NONE;
	}
	/* with sw_target_declare() */
	order = READ_ONCE(t->order);
	smp_rmb();
	return sw_read_sums(slot, t, order, pid, path, whole);
}

/* The same of the target of that order. */
static s64 sw_read_by_order(unsigned int slot, s64 order, bool whole)
{
	const struct sw_target *t;

	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++) {
		if (READ_ONCE(t->order) != order)
			continue;
		/* with sw_target_declare() */
		smp_rmb();
		if (sw_watch.sums && slot < sw_watch.slots)
			return sw_read_sums(slot, t, order, READ_ONCE(t->pid),
					    NULL, whole);
	}
	sw_withheld(unwatched);
	return SW_NONE;
}

/**
 * sw_read_order - the count of all that counts for the target of that order
 */
static s64 __maybe_unused sw_read_order(unsigned int slot, s64 order)
{
	return sw_read_by_order(slot, order, true);
}

/**
 * sw_read_own_of_order - of its own threads
 */
static s64 __maybe_unused sw_read_own_of_order(unsigned int slot, s64 order)
{
	return sw_read_by_order(slot, order, false);
}

/**
 * sw_tree_threads - how many threads live of a process and of what it has made
 */
static s64 __maybe_unused sw_tree_threads(s64 pid)
{
	const struct sw_target *t;

	if (!sw_is_pid(pid) || !READ_ONCE(sw_watch.on))
		return 0;
	t = sw_target_find(SW_TARGET_PROCESS, pid, NULL, SW_TARGET_ON,
			   SW_TARGET_ON);
	return t ? READ_ONCE(t->members) : 0;
}

/**
 * sw_thread_is_watched - is that thread there, and watched?
 */
static s64 __maybe_unused sw_thread_is_watched(s64 tid)
{
	const struct sw_thread *e;
	struct task_struct *task;
	bool is;

	if (!sw_is_pid(tid) || !READ_ONCE(sw_watch.on))
		return 0;
	rcu_read_lock();
	task = sw_watch_task_now(tid);
	e = task ? sw_table_find(&sw_threads, task) : NULL;
	is = e && !READ_ONCE(sw_watched_of(e)->let_go);
	rcu_read_unlock();
	return is;
}

static s64 __maybe_unused sw_read_process(unsigned int slot, s64 pid)
{
	return sw_read_target(slot, SW_TARGET_PROCESS, pid, NULL, false);
}

static s64 __maybe_unused sw_read_tree(unsigned int slot, s64 pid)
{
	return sw_read_target(slot, SW_TARGET_PROCESS, pid, NULL, true);
}

static s64 sw_count_of_cpu(unsigned int slot, int cpu)
{
	if (cpu == raw_smp_processor_id() && READ_ONCE(sw_watch.on))
		return sw_read_cpu(slot);
	if (!sw_watch.sums || slot >= sw_watch.slots)
		return SW_NONE;
	return READ_ONCE(sw_cpu_counts(per_cpu_ptr(&sw_watch_cpus,
						   cpu))[slot]);
}

/* The sum of those CPUs that have counted. */
static s64 sw_count_of_cpus(unsigned int slot)
{
	s64 sum = SW_NONE, v;
	int cpu;

	for_each_possible_cpu(cpu) {
		v = sw_count_of_cpu(slot, cpu);
		if (v != SW_NONE)
			sum = sum == SW_NONE ? v : sum + v;
	}
	return sum;
}

/**
 * sw_read_cpu_of - the count of any CPU, or of all
 * @cpu: its number; -1: all
 *
 * Of another CPU it is as of when that has looked; see sw_watch_refresh().
 *
 * Return: the count, or SW_NONE.
 */
static s64 __maybe_unused sw_read_cpu_of(unsigned int slot, s64 cpu)
{
	s64 v = SW_NONE;

	if (cpu == -1)
		v = sw_count_of_cpus(slot);
	else if (cpu >= 0 && cpu < nr_cpu_ids && cpu_possible(cpu))
		v = sw_count_of_cpu(slot, cpu);
	if (v == SW_NONE)
		sw_withheld(unwatched);
	return v;
}

/* By its path's address, to be like the others. */
static s64 __maybe_unused sw_read_cgroup(unsigned int slot, s64 path)
{
	return sw_read_target(slot, SW_TARGET_CGROUP, 0,
			      (const char *)(long)path, true);
}

/* One count of the Nth of the list. */
static s64 __maybe_unused sw_read_dead(unsigned int slot, s64 n)
{
	struct sw_dead_view v;

	if (!sw_list_at(n, slot, &v)) {
		sw_withheld(unwatched);
		return SW_NONE;
	}
	if (v.holed) {
		sw_withheld(incomplete);
		return SW_NONE;
	}
	return v.count;
}

/* How many CPUs have not looked yet.  Preemption is off. */
static s64 sw_watch_late(void)
{
	s64 late = 0;
	int cpu;

	sw_for_each_online_cpu(cpu)
		late += !sw_watch_has_looked(cpu);
	return late;
}

/**
 * sw_watch_refresh - let other CPUs bring what they run up to date
 * @may_wait: nothing that they might wait for is held here
 *
 * It waits a millisecond at most.  Two that do so at once do not keep each other, see
 * sw_ask_meanwhile().
 *
 * Context: any; in an NMI other CPUs look after it.
 * Return: how many CPUs have not done so in that time.
 */
static s64 __maybe_unused sw_watch_refresh(bool may_wait)
{
	u64 end = sw_clock_ns() + SW_WATCH_WAIT_NS;
	s64 late;

	if (!READ_ONCE(sw_watch.on))
		return 0;
	sw_watch_ask();
	do {
		sw_ask_meanwhile();
		late = sw_watch_late();
		cpu_relax();
	} while (late && may_wait && sw_clock_ns() < end);
	return late;
}

#endif
