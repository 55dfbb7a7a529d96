/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sets of a session: how they come and go, and when CPUs begin to switch.
 *
 * Begin probes have declared sets before the session.  The session opens their
 * counters and tries each set on the PMU, where an error still stops the script;
 * CPUs begin to switch just before handlers run.  What handlers declare or delete from
 * then on is opened and closed by a work item.
 *
 *	sw_sets_begin(), sw_sets_open(), sw_sets_try(), sw_sets_ready(),
 *	sw_sets_end(), sw_set_opener_work()	sleepable, under sw_session_lock
 *	sw_set_dropper_work()	sleepable, against all of them: the sets are its own;
 *				as a work item, or when that runs no more
 *	sw_sets_run()		sleepable, after sw_sets_ready() and before sw_sets_end()
 *	sw_set_look_again()	hard interrupt
 *	sw_sets_free()		after the end probes
 */
#ifndef STAPWATCH_SET_OPEN_H
#define STAPWATCH_SET_OPEN_H

#include "base/ask.h"
#include "base/contexts.h"
#include "base/cpus.h"
#include "base/hooks.h"
#include "base/kernel.h"
#include "base/session.h"
#include "count/chosen.h"
#include "count/gate.h"
#include "count/hotplug.h"
#include "count/pmu.h"
#include "set/cpu.h"
#include "set/rules.h"
#include "set/set.h"
#include "set/switch.h"
#include "set/tasks.h"
#include "set/thread.h"
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

static int sw_set_hotplug;	/* cpuhp state; 0: none */
static bool sw_set_has_threads;	/* CPUs have their threads */

/* ---- one set */

/* The next set of that number begins at nothing. */
static void sw_set_forget(unsigned int set)
{
	const struct sw_set *s = &sw_sets.of[set];
	unsigned int i;
	u64 slots = 0;
	int cpu;

	for (i = 0; i < s->nr; i++)
		if (s->slot[i] < SW_MAX_SLOTS)
			slots |= SW_SLOT_BIT(s->slot[i]);
	for_each_possible_cpu(cpu) {
		struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

		WRITE_ONCE(p->runs[set], 0);
		WRITE_ONCE(p->overflowed[set], 0);
		WRITE_ONCE(p->deleted, p->deleted + p->active[set]);
		WRITE_ONCE(p->active[set], 0);
		/* it names the set by its number */
		if (READ_ONCE(p->throttled) == set)
			WRITE_ONCE(p->throttled, 0);
	}
	atomic64_andnot(slots, &sw_sets.throttled);
}

/* Who reads them sees that they are free, so what they have missed is no matter. */
static void sw_set_forget_lost(u64 slots)
{
	int cpu;

	for_each_possible_cpu(cpu)
		atomic64_andnot(slots, &per_cpu_ptr(sw_set_cpus, cpu)->lost);
	atomic64_andnot(slots, &sw_sets.lost);
}

/* Nobody finds it any more, and who has found it is waited for. */
static void sw_set_close(unsigned int set)
{
	struct sw_set *s = &sw_sets.of[set];
	unsigned int i, slot;
	u64 slots = 0;
	int cpu;

	sw_set_is_now(set, SW_SET_LEAVING);
	sw_set_forget(set);
	for (i = 0; i < s->nr; i++) {
		if (s->slot[i] < SW_MAX_SLOTS)
			slots |= SW_SLOT_BIT(s->slot[i]);
		WRITE_ONCE(s->slot[i], SW_MAX_SLOTS);
	}
	sw_pmu_free(set);
	sw_set_forget_lost(slots);
	sw_set_forget_sums(set, slots);
	/* who reads them now sees that they are free */
	for_each_possible_cpu(cpu)
		for (slot = 0; slot < SW_MAX_SLOTS; slot++)
			if (slots & SW_SLOT_BIT(slot))
				per_cpu_ptr(sw_set_cpus, cpu)->count[slot] = 0;
	/* with sw_set_claim(), after which it is filled in anew */
	sw_set_is_now(set, SW_SET_NONE);
}

/* An event that cannot be counted; @set's event number @i. */
static int (*sw_set_refused)(unsigned int set, unsigned int i, int rc);

/*
 * Open the counters of a set that was declared.  A handler that deletes it meanwhile
 * leaves it to sw_sets_close_left(), for which it asks.
 * Return: 0; or what sw_set_refused() has returned for an event that cannot be had.
 */
static int sw_set_open(unsigned int set)
{
	struct sw_set *s = &sw_sets.of[set];
	unsigned int i;
	int rc;

	if (!sw_set_move(set, SW_SET_DECLARED, SW_SET_OPENING))
		return 0;
	for (i = 0; i < s->nr; i++) {
		rc = sw_pmu_open(s->event[i], false, set, sw_set_period(set, i));
		if (rc >= 0) {
			WRITE_ONCE(s->slot[i], rc);
			continue;
		}
		rc = sw_set_refused(set, i, rc);
		if (rc) {
			sw_set_close(set);
			return rc;
		}
	}
	/* orders like the release that sw_set_state() goes with */
	sw_set_move(set, SW_SET_OPENING, SW_SET_OPEN);
	return 0;
}

/* ---- all of them */

/**
 * sw_sets_open - open what was declared, and close what was deleted
 * Context: sleepable, under sw_session_lock.
 * Return: 0, or what sw_set_refused() has returned.
 */
static int sw_sets_open(void)
{
	unsigned int set;
	int rc = 0;

	for (set = 1; set < SW_MAX_SETS; set++)
		if (sw_set_state(set) == SW_SET_DECLARED)
			rc = sw_set_open(set) ?: rc;
	return rc;
}

/*
 * Has a CPU gone on from a set that is leaving?  Who has the lock is on its way from a
 * set to another, which it chose when it had the lock.  It does not come back to it.
 */
static bool sw_set_has_left(unsigned int set, int cpu)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);
	bool left;

	if (!mutex_trylock(&p->lock))
		return false;
	left = p->on != set;
	mutex_unlock(&p->lock);
	return left;
}

/* Return: false: the session ends before that. */
static bool sw_set_wait_until_left(unsigned int set)
{
	int cpu;

	sw_sets_wake();
	for_each_possible_cpu(cpu)
		while (!sw_set_has_left(set, cpu)) {
			if (!READ_ONCE(sw_sets.running))
				return false;
			sw_set_wake(cpu);
			/* a CPU that makes a pause takes its time: others need
			 * the lock */
			mutex_unlock(&sw_session_lock);
			usleep_range(100, 1000);
			mutex_lock(&sw_session_lock);
		}
	return true;
}

/* A set is closed when no CPU has it on: each one's thread sees to that.  Nobody else
 * touches a set that is leaving, so the lock is not needed to wait for it. */
static void sw_sets_close_left(void)
{
	unsigned int set;

	for (set = 1; set < SW_MAX_SETS; set++)
		if (sw_set_state(set) == SW_SET_LEAVING &&
		    sw_set_wait_until_left(set))
			sw_set_close(set);
}

/*
 * On a CPU: sets have come, or rules are others.  A set that was alone when its time was
 * over has its time once more.
 */
static void sw_set_look_again(void *unused)
{
	struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	const unsigned int set = this_cpu_read(sw_cpus.set);
	const u64 now = sw_clock_ns();

	sw_set_grant();
	if (!set || READ_ONCE(p->to) != set)
		return;
	if (p->until && !hrtimer_active(&p->timer))
		p->arrived = now;
	sw_set_time_begins(p, set, now);
	if (READ_ONCE(sw_sets.of_threads))
		sw_set_thread_again(p);
}

/* As with what sets count, a CPU of another kind is no failure; that there is no other
 * CPU is. */
static int sw_set_overflows_open(void)
{
	int cpu, rc, without = -1;
	bool has = false;

	sw_for_each_online_cpu(cpu) {
		if (!sw_cpu_is_chosen(cpu))
			continue;
		rc = sw_set_overflow_open(cpu);
		if (rc == -ENOENT)
			without = cpu;
		else if (rc && rc != -ENODEV)
			return rc;
		has |= !rc;
	}
	if (without < 0)
		return 0;
	if (!has)
		return -ENOENT;
	sw_set_overflow_lacks(without);
	return 0;
}

/* Is there a set that needs the event of overflow:... beside its own, the first one? */
static bool sw_sets_look_for_others(void)
{
	unsigned int set;
	int state;

	if (sw_sets.others)
		return false;
	for (set = 1; set < SW_MAX_SETS; set++) {
		state = sw_set_state(set);
		if (state == SW_SET_DECLARED || state == SW_SET_OPEN)
			sw_sets.others |= sw_set_wants_other(set);
	}
	return sw_sets.others;
}

static void sw_set_opener_work(struct work_struct *work)
{
	unsigned int first;
	int cpu;

	mutex_lock(&sw_session_lock);
	while (READ_ONCE(sw_sets.running) && xchg(&sw_sets.asked, false)) {
		/* before CPUs are waited for */
		sw_rules_look();
		on_each_cpu(sw_set_look_again, NULL, 1);
		sw_sets_close_left();
		if (sw_sets_look_for_others())
			sw_set_filled(false);
		sw_sets_open();
		sw_set_tasks_bind();
		sw_rules_look();
		first = sw_set_after(0);
		/* who has had none begins with the first */
		for_each_possible_cpu(cpu)
			cmpxchg(&per_cpu_ptr(sw_set_cpus, cpu)->to, 0,
				sw_set_granted(per_cpu_ptr(sw_set_cpus, cpu)) ?:
				first);
		sw_sets_wake();
		on_each_cpu(sw_set_look_again, NULL, 1);
	}
	mutex_unlock(&sw_session_lock);
}

/*
 * Sets that were deleted before they were opened.  It is not for the opener, which waits
 * for CPUs: numbers would run out.
 */
static void sw_set_dropper_work(struct work_struct *work)
{
	u32 dropped = 0;
	unsigned int set;

	/* with sw_set_drop(): orders as a full barrier does */
	if (!xchg(&sw_sets.dropped, false))
		return;
	for (set = 1; set < SW_MAX_SETS; set++)
		if (sw_set_state(set) == SW_SET_DROPPED)
			dropped |= 1U << set;
	/* handlers, which have preemption off, may have found them */
	synchronize_rcu();
	for (set = 1; set < SW_MAX_SETS; set++)
		if (dropped & (1U << set))
			sw_set_is_now(set, SW_SET_NONE);
}

/**
 * sw_sets_try - does each set fit on each CPU's PMU, beside what counts always?
 *
 * Before CPUs switch, after each event that the session has come to count.
 *
 * Return: 0, or what sw_set_refused() has returned.
 */
static int sw_sets_try(void)
{
	unsigned int set, i;
	int cpu, rc = 0;
	u32 lacks;

	for (set = 1; sw_set_cpus && set < SW_MAX_SETS; set++) {
		if (sw_set_state(set) != SW_SET_OPEN)
			continue;
		lacks = 0;
		sw_for_each_online_cpu(cpu) {
			struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

			if (!sw_cpu_is_chosen(cpu))
				continue;
			sw_set_exchange(0, set, cpu);
			if (!sw_set_overflow_on(p, set))
				rc = rc ?: sw_set_refused(set, SW_SET_EVENTS,
							    -ENOSPC);
			if (!sw_pmu_counts(cpu))
				lacks |= 1U << (sw_sets.of[set].nr - 1);
			lacks |= sw_set_lacking(set, cpu);
			sw_set_overflow_off(p);
			sw_set_exchange(set, 0, cpu);
		}
		for (i = 0; i < sw_sets.of[set].nr && !rc; i++)
			if (lacks & (1U << i))
				rc = sw_set_refused(set, i, -ENOSPC);
	}
	return rc;
}

/**
 * sw_sets_ready - all counters are there: those of sets go after all others
 *
 * Context: sleepable, under sw_session_lock.
 */
static void sw_sets_ready(void)
{
	unsigned int slot;

	if (!sw_set_has_threads)
		return;
	for (slot = 0; slot < sw_pmu.slots; slot++)
		if (sw_pmu.set[slot] && sw_pmu.set[slot] != SW_SET_FREE)
			sw_pmu_renew(slot);
}

/**
 * sw_sets_run - handlers are about to run: CPUs begin to switch
 *
 * The CPUs' threads have begun when this returns, but for CPUs that others keep.
 * SystemTap lets the session's command go after it, so a set has all that the command
 * does.
 *
 * Context: sleepable, in module init; so before sw_sets_end(), in module exit.
 */
static void sw_sets_run(void)
{
	if (!sw_set_has_threads)
		return;
	/* the thread of a CPU that comes after this is woken by sw_set_cpu_up() */
	cpus_read_lock();
	sw_sets.ran = true;
	WRITE_ONCE(sw_sets.running, true);
	sw_sets_wake();
	cpus_read_unlock();
	sw_set_tasks_wait();
}

static int sw_set_alloc(void)
{
	int cpu;

	if (sw_set_cpus)
		return 0;
	sw_set_cpus = alloc_percpu(struct sw_set_cpu);
	if (!sw_set_cpus)
		return -ENOMEM;
	INIT_WORK(&sw_set_opener, sw_set_opener_work);
	INIT_WORK(&sw_set_dropper, sw_set_dropper_work);
	for_each_possible_cpu(cpu) {
		struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

		mutex_init(&p->lock);
		p->ask = IRQ_WORK_INIT_HARD(sw_set_on_ask);
		p->taken_in = IRQ_WORK_INIT_HARD(sw_set_on_taken_in);
		sw_set_timer_setup(&p->timer, sw_set_on_timer);
		sw_set_timer_setup(&p->of_thread, sw_set_on_thread_timer);
	}
	return 0;
}

/* All CPUs begin with the same set. */
static void sw_sets_first(void)
{
	unsigned int first = sw_sets.first;
	int cpu;

	if (!first || sw_set_state(first) != SW_SET_OPEN)
		first = sw_set_after(0);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(sw_set_cpus, cpu)->to = first;
}

/**
 * sw_sets_begin - open what begin probes have declared, and be ready to switch
 * @has_threads: threads may be watched
 *
 * Context: sleepable, under sw_session_lock; before handlers run.
 * Return: 0; what sw_set_refused() has returned; or an errno, with @what that could
 * not be done.
 */
static int sw_sets_begin(bool has_threads, const char **what)
{
	int rc;

	*what = "get memory for sets";
	rc = sw_set_alloc();
	if (rc)
		return rc;
	WRITE_ONCE(sw_gate_before, sw_set_charge);
	WRITE_ONCE(sw_ask_looks[SW_ASK_SETS], sw_set_see);
	sw_filled = sw_set_filled;
	sw_pmu.on_overflow = sw_set_on_overflow;
	sw_sets_look_for_others();
	*what = "count the overflows of that event";
	rc = sw_set_overflows_open();
	if (rc)
		return rc;
	*what = NULL;
	sw_sets.asked = false;
	rc = sw_sets_open();
	if (rc)
		return rc;
	sw_sets_first();
	*what = "follow CPUs going on and off";
	rc = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "stapwatch:sets",
				       sw_set_cpu_up, sw_set_cpu_down);
	if (rc < 0)
		return rc;
	sw_set_hotplug = rc;
	*what = "start a thread on each CPU";
	rc = sw_set_tasks_make();
	if (rc)
		return rc;
	sw_set_has_threads = true;
	*what = "watch threads: this kernel has no tracepoint sched_switch";
	if (has_threads && sw_thread_words) {
		sw_hooks_find(sw_set_hooks, ARRAY_SIZE(sw_set_hooks));
		rc = sw_hook_on(&sw_set_hooks[0]);
		if (rc)
			return rc;
		WRITE_ONCE(sw_taken_in, sw_set_taken_in);
		sw_thread_times = &sw_set_thread_times;
	}
	*what = NULL;
	return 0;
}

/* What end probes are to read, of slots that go with the session. */
static void sw_sets_keep(void)
{
	unsigned int slot, set;
	int cpu;

	for (set = 1; set < SW_MAX_SETS; set++)
		if (sw_set_state(set) != SW_SET_OPEN)
			sw_set_forget(set);
	for (slot = 0; slot < sw_pmu.slots; slot++) {
		if (!sw_pmu.set[slot] || sw_pmu.set[slot] == SW_SET_FREE)
			continue;
		for_each_possible_cpu(cpu)
			per_cpu_ptr(sw_set_cpus, cpu)->count[slot] =
				sw_last(sw_counter_of(&per_cpu(sw_cpus, cpu),
						      slot));
	}
}

/* A script that asks faster than CPUs switch lacks runs. */
static void sw_sets_report(void)
{
	u64 merged = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		merged += READ_ONCE(per_cpu_ptr(sw_set_cpus, cpu)->merged);
	if (merged)
		_stp_warn("stapwatch: runs of sets that were asked for and never came: %llu; others were asked for before the CPU had switched\n",
			  merged);
}

/**
 * sw_sets_end - what sets need goes, after sw_sets_let_go()
 *
 * What was counted stays for end probes.
 *
 * Context: sleepable, under sw_session_lock, which is let go of meanwhile; when no
 * handler runs any more.
 */
static void sw_sets_end(void)
{
	int cpu;

	if (!sw_set_cpus)
		return;
	WRITE_ONCE(sw_taken_in, NULL);
	sw_hooks_off(sw_set_hooks, ARRAY_SIZE(sw_set_hooks));
	/* whoever calls sw_taken_in() has preemption off, which is no section of a
	 * tracepoint's since Linux 7.0 */
	synchronize_rcu();
	sw_filled = NULL;
	/* the works take the lock, or start each other */
	mutex_unlock(&sw_session_lock);
	if (sw_set_hotplug > 0)
		cpuhp_remove_state_nocalls(sw_set_hotplug);
	for_each_possible_cpu(cpu) {
		irq_work_sync(&per_cpu_ptr(sw_set_cpus, cpu)->ask);
		irq_work_sync(&per_cpu_ptr(sw_set_cpus, cpu)->taken_in);
	}
	cancel_work_sync(&sw_set_opener);
	cancel_work_sync(&sw_set_dropper);
	/* what it was to do: end probes declare sets, too */
	sw_set_dropper_work(NULL);
	sw_set_tasks_stop();
	mutex_lock(&sw_session_lock);
	sw_set_hotplug = 0;
	sw_set_has_threads = false;
	for_each_possible_cpu(cpu) {
		struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

		hrtimer_cancel(&p->timer);
		hrtimer_cancel(&p->of_thread);
		sw_set_overflow_close(cpu);
		/* whose interrupt may have asked once more */
		irq_work_sync(&p->ask);
		/* it went off when nobody followed CPUs any more */
		if (p->began)
			sw_set_stand(p, per_cpu_ptr(&sw_cpus, cpu));
		sw_set_unwish(p);
		sw_set_say_throttled(p, cpu);
		p->on = 0;
	}
	WRITE_ONCE(sw_gate_before, NULL);
	sw_sets_keep();
	sw_sets_report();
}

static void sw_sets_free(void)
{
	sw_thread_times = NULL;
	free_percpu(sw_set_cpus);
	sw_set_cpus = NULL;
}

#undef SW_SETS_END
#define SW_SETS_END() sw_sets_free()

#endif
