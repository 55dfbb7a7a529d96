/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switching: a thread on each CPU turns perf events off and on.
 *
 * perf_event_enable() sleeps.  So each CPU has a thread of ours, which tasks.h makes.
 * When the session ends, or the CPU goes off, that thread may go on elsewhere, in the
 * middle of a switch.  So what only its own CPU can do asks sw_set_is_here() first, with
 * interrupts off.
 *
 * Who may run what, against whom:
 *
 *   sw_set_thread_run()	this CPU's thread, one call at a time
 *   sw_set_pause()		on its CPU, hard interrupt too
 *   sw_set_on_timer()		hard interrupt
 *   sw_set_exchange()		sleepable; p->lock is held, or no CPU switches yet
 */
#ifndef STAPWATCH_SET_SWITCH_H
#define STAPWATCH_SET_SWITCH_H

#include "base/clock.h"
#include "base/kernel.h"
#include "count/cpu.h"
#include "count/event.h"
#include "count/gate.h"
#include "count/perf.h"
#include "count/pmu.h"
#include "set/cpu.h"
#include "set/overflow.h"
#include "set/rules.h"
#include "set/set.h"
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

/* ---- perf's events of a set */

/*
 * Are all of its counters open that this CPU can have?  Where it has just come they may
 * not be yet.
 */
static bool sw_set_is_there(unsigned int set, int cpu)
{
	const struct sw_set *s = &sw_sets.of[set];
	const struct sw_counter *k;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (s->slot[i] >= SW_MAX_SLOTS)
			continue;
		k = sw_set_counter(cpu, s->slot[i]);
		if (!k->absent && !k->refused && !sw_pmu_is_live(s->slot[i], k))
			return false;
	}
	return true;
}

/*
 * What perf_event_enable() and perf_event_disable() leave undone of an event: the next
 * time that perf takes its PMU's events off and puts them on it does the rest.
 */
static void sw_set_mark(struct perf_event *e, bool on)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&e->ctx->lock, flags);
	if (on && (e->state == PERF_EVENT_STATE_OFF ||
		   e->state == PERF_EVENT_STATE_ERROR))
		e->state = PERF_EVENT_STATE_INACTIVE;
	else if (!on && e->state == PERF_EVENT_STATE_ACTIVE)
		e->pending_disable = 1;
	raw_spin_unlock_irqrestore(&e->ctx->lock, flags);
}

/* Is there an event of that PMU among the first N of a set? */
static bool sw_set_has_pmu(unsigned int set, unsigned int n, int cpu,
			   const struct pmu *pmu)
{
	const struct sw_set *s = &sw_sets.of[set];
	const struct perf_event *e;
	unsigned int i;

	for (i = 0; i < n; i++) {
		e = sw_set_perf_event(cpu, s->slot[i]);
		if (e && e->pmu == pmu)
			return true;
	}
	return false;
}

/*
 * Turn a set's events off, and those of another one on; who wants to know asks
 * sw_set_lacking() which of these have a counter.
 *
 * Each time perf turns one on it takes all of that PMU off and puts them on again.  So
 * one of each PMU is turned on, and all others are only marked.  Where perf has not
 * followed it is told of each.
 */
static void sw_set_exchange(unsigned int from, unsigned int to, int cpu)
{
	const struct sw_set *old = &sw_sets.of[from], *new = &sw_sets.of[to];
	struct perf_event *e;
	unsigned int i;

	for (i = 0; i < old->nr; i++) {
		e = sw_set_perf_event(cpu, old->slot[i]);
		if (e && sw_set_has_pmu(to, new->nr, cpu, e->pmu))
			sw_set_mark(e, false);
	}
	/* the first of each PMU is the last one to be on */
	for (i = new->nr; i--; ) {
		e = sw_set_perf_event(cpu, new->slot[i]);
		if (e && sw_set_has_pmu(to, i, cpu, e->pmu))
			sw_set_mark(e, true);
		else if (e)
			perf_event_enable(e);
	}
	for (i = 0; i < old->nr; i++) {
		e = sw_set_perf_event(cpu, old->slot[i]);
		if (e && READ_ONCE(e->state) > PERF_EVENT_STATE_OFF)
			perf_event_disable(e);
	}
}

/* Bit per event of a set that is on, and found no counter on the PMU; or which perf would
 * not open there. */
static u32 sw_set_lacking(unsigned int set, int cpu)
{
	const struct sw_set *s = &sw_sets.of[set];
	struct perf_event *e;
	unsigned int i;
	u32 lacks = 0;

	for (i = 0; i < s->nr; i++) {
		e = sw_set_perf_event(cpu, s->slot[i]);
		if (e ? !sw_pmu_is_on(e) :
		    s->slot[i] < SW_MAX_SLOTS &&
		    sw_set_counter(cpu, s->slot[i])->refused)
			lacks |= 1U << i;
	}
	return lacks;
}

static void sw_set_lacks(unsigned int set, struct sw_set_cpu *p, int cpu,
			 u32 lacks)
{
	struct sw_set *s = &sw_sets.of[set];
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (!(lacks & (1U << i)))
			continue;
		sw_set_lose(p, SW_SLOT_BIT(s->slot[i]));
		if (!xchg(&s->warned[i], true))
			_stp_warn("stapwatch: set %s: event %s found no counter on CPU %d; its counts are withheld\n",
				  s->name, s->event[i]->name, cpu);
	}
}

/* ---- time */

static enum hrtimer_restart sw_set_on_timer(struct hrtimer *timer)
{
	sw_set_due();
	return HRTIMER_NORESTART;
}

static void sw_set_timer_setup(struct hrtimer *timer,
			       enum hrtimer_restart (*function)(struct hrtimer *))
{
	sw_hrtimer_setup(timer, function, HRTIMER_MODE_REL_PINNED_HARD);
}

/* ---- the thread */

/* Are we on that CPU?  Interrupts are off. */
static bool sw_set_is_here(const struct sw_set_cpu *p)
{
	return p == this_cpu_ptr(sw_set_cpus);
}

/* Change this CPU's clocks, of which others have what is before or after that.  An NMI
 * that reads them finds the CPU busy.  Interrupts are off. */
static struct sw_cpu *sw_set_clocks_change(void)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);

	WRITE_ONCE(c->busy, 1);
	barrier();
	WRITE_ONCE(c->gate_seq, c->gate_seq + 1);
	/* with sw_set_as_of_last() */
	smp_wmb();
	return c;
}

static void sw_set_clocks_changed(struct sw_cpu *c, unsigned long flags)
{
	/* with sw_set_as_of_last(), too */
	smp_store_release(&c->gate_seq, c->gate_seq + 1);
	sw_leave(c, flags);
}

/* With sw_sets_let_go(), which interrupts this CPU after RUNNING is false: what began
 * before that is over then. */
static bool sw_set_may_go_on(const struct sw_set_cpu *p)
{
	return sw_set_is_here(p) && READ_ONCE(sw_sets.running);
}

static void sw_set_begin(struct sw_set_cpu *p)
{
	unsigned long flags;
	struct sw_cpu *c;

	local_irq_save(flags);
	if (!sw_set_may_go_on(p)) {
		local_irq_restore(flags);
		return;
	}
	c = sw_set_clocks_change();
	WRITE_ONCE(p->since, sw_clock_ns());
	WRITE_ONCE(p->last, p->since);
	WRITE_ONCE(p->began, true);
	sw_set_clocks_changed(c, flags);
}

/* This CPU's gates: it counts that set, or none.  A handler of ours may be on its way
 * through a reading only in an interrupt, which has ended here.  Return: false elsewhere. */
static bool sw_set_gate(struct sw_set_cpu *p, unsigned int set)
{
	unsigned long flags;
	bool here;

	local_irq_save(flags);
	here = sw_set_is_here(p);
	if (here)
		WARN_ON_ONCE(!sw_gate_try(set, true));
	local_irq_restore(flags);
	return here;
}

/* A CPU's clocks stand from now on. */
static void sw_set_stand(struct sw_set_cpu *p, struct sw_cpu *c)
{
	u64 now = sw_clock_ns();

	sw_set_charge_at(p, c, now);
	WRITE_ONCE(p->session, p->session + sw_set_since(p->since, now));
	WRITE_ONCE(p->began, false);
}

/* The time of this CPU's session is over, or it makes a pause. */
static void sw_set_pause(struct sw_set_cpu *p)
{
	unsigned long flags;
	struct sw_cpu *c;

	local_irq_save(flags);
	if (!p->began || !sw_set_is_here(p)) {
		local_irq_restore(flags);
		return;
	}
	sw_set_gate(p, 0);
	c = sw_set_clocks_change();
	sw_set_stand(p, c);
	sw_set_clocks_changed(c, flags);
}

/* The set that is active may be so until its time is over.  Interrupts are off. */
static void sw_set_time_begins(struct sw_set_cpu *p, unsigned int set, u64 now)
{
	u64 ns = sw_set_cpu_ns(set), left;

	if (!ns) {
		if (p->until)
			hrtimer_try_to_cancel(&p->timer);
		p->until = 0;
		return;
	}
	left = max(sw_set_since(now, p->arrived + ns),
		   sw_set_pause_left(p, now));
	p->until = now + left;
	hrtimer_start(&p->timer, ns_to_ktime(left),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* It may be asked to go on to another set at once. */
static void sw_set_arrive(struct sw_set_cpu *p, unsigned int set)
{
	unsigned long flags;

	local_irq_save(flags);
	if (READ_ONCE(p->to) == set && sw_set_may_go_on(p)) {
		WRITE_ONCE(p->runs[set], p->runs[set] + 1);
		if (sw_sets.overflowing)
			memset(p->overflows, 0, sizeof(p->overflows));
		sw_set_gate(p, set);
		p->arrived = p->last;
		sw_set_time_begins(p, set, p->last);
	}
	local_irq_restore(flags);
}

/* Are its counters there?  Who opens them says when, by then; and perhaps while we
 * look. */
static bool sw_set_can_turn_on(struct sw_set_cpu *p, unsigned int set, int cpu)
{
	if (!set)
		return false;
	WRITE_ONCE(p->blocked, true);
	/* with sw_set_filled() */
	smp_mb();
	if (!sw_set_is_there(set, cpu))
		return false;
	WRITE_ONCE(p->blocked, false);
	return true;
}

/* What is sampled while a set is active only, if there is such: see sample/in_sets.h. */
static void (*sw_set_samples)(int cpu, unsigned int set, bool on);

static noinline void
sw_set_sample(struct sw_set_cpu *p, unsigned int set, int cpu)
{
	sw_set_samples(cpu, set ?: p->sampled, set);
	p->sampled = set;
}

/* SET's events count from now on, and no others; 0: none. */
static void sw_set_turn(struct sw_set_cpu *p, unsigned int set, int cpu)
{
	u32 lacks, overflow = 0, no_overflow = 0;

	if (sw_sets.overflowing)
		sw_set_say_throttled(p, cpu);
	sw_set_overflow_off(p);
	if (unlikely(p->sampled))
		sw_set_sample(p, 0, cpu);
	if (!sw_set_can_turn_on(p, set, cpu))
		set = 0;
	if (set && sw_sets.overflowing)
		overflow = sw_set_overflows_anew(p, set, cpu, &no_overflow);
	/* who has asked for another one may have changed its mind */
	if (set != p->on)
		sw_set_exchange(p->on, set, cpu);
	p->on = set;
	if (!set)
		return;
	if (!sw_set_overflow_on(p, set))
		no_overflow = overflow = 1;
	if (unlikely(sw_set_samples))
		sw_set_sample(p, set, cpu);
	lacks = sw_set_lacking(set, cpu);
	if (no_overflow || lacks & overflow)
		sw_set_overflow_lacks(cpu);
	if (lacks)
		sw_set_lacks(set, p, cpu, lacks);
}

/* A set that is there no more gives its run to the next one. */
static unsigned int sw_set_wanted(struct sw_set_cpu *p)
{
	unsigned int to = READ_ONCE(p->to), other;

	if (to && sw_set_state(to) == SW_SET_OPEN)
		return to;
	other = sw_set_after(to);
	return cmpxchg(&p->to, to, other) == to ? other : READ_ONCE(p->to);
}

/*
 * Wait until this CPU may switch again.  Who stops the thread wakes it up.
 * Return: is the pause over?
 */
static bool sw_set_make_pause(struct sw_set_cpu *p)
{
	u64 left = sw_set_pause_left(p, sw_clock_ns());
	ktime_t wait = ns_to_ktime(left);

	if (!left)
		return true;
	set_current_state(TASK_IDLE);
	if (!kthread_should_stop())
		schedule_hrtimeout(&wait, HRTIMER_MODE_REL);
	__set_current_state(TASK_RUNNING);
	return !sw_set_pause_left(p, sw_clock_ns());
}

/*
 * A switch that began THEN is over.  It took the thread at least as long as the one
 * before with its going to sleep and waking up, which the scheduler has charged by now.
 */
static void sw_set_took(struct sw_set_cpu *p, u64 then)
{
	u64 now = sw_clock_ns();
	/* which a tick may add to */
	u64 ran = READ_ONCE(current->se.sum_exec_runtime);
	u64 took = max(sw_set_since(then, now), ran - p->ran);

	p->ran = ran;
	WRITE_ONCE(p->earliest,
		   now + min_t(u64, SW_SET_PAUSE * took, SW_SET_LONGEST_PAUSE));
}

static void sw_set_look(struct sw_set_cpu *p, unsigned int cpu)
{
	unsigned int to;
	u64 then;

	mutex_lock(&p->lock);
	then = sw_clock_ns();
	if (!p->down && !p->began)
		sw_set_begin(p);
	to = p->down || p->blocked ? 0 : sw_set_wanted(p);
	/* what is counted stays on until its gate is shut */
	if ((xchg(&p->due, false) || p->on != to ||
	     per_cpu(sw_cpus, cpu).set != to) &&
	    (!per_cpu(sw_cpus, cpu).set || sw_set_gate(p, 0))) {
		sw_set_turn(p, to, cpu);
		sw_set_took(p, then);
		if (to && p->on == to)
			sw_set_arrive(p, to);
	}
	mutex_unlock(&p->lock);
}

static void sw_set_thread_run(unsigned int cpu)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

	WRITE_ONCE(p->at_work, true);
	if (sw_set_make_pause(p))
		sw_set_look(p, cpu);
	/* on this CPU, as sw_set_on_ask(): what did not wake us up is seen when
	 * sw_set_thread_should_run() is asked next */
	WRITE_ONCE(p->at_work, false);
}

#endif
