/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gates: counts that stand still, while their counters go on.
 *
 * A slot's gate on a CPU is shut where its set is not the one that the CPU counts,
 * or where the script has stopped it.  The count is then what it was when the gate
 * shut, and what is counted until it opens again is nobody's.  The perf event is
 * not touched, which could not be done in a handler: so a gate shuts and opens at
 * once, in any context.
 *
 * Who may run what, against whom:
 *
 *   sw_gate_apply(), sw_gate_look(), sw_gate_park()
 *				on its CPU, interrupts off, c->busy held
 *   sw_gate_try()		any context, NMI included
 *   sw_gate_stop()		the same
 *   sw_gates_look_again()	any but NMI
 *   sw_gate_begin(), _end()	sleepable, under sw_session_lock
 *
 * Where an NMI finds c->busy held, the gate is shut or opened as soon as
 * interrupts are on again; and on the other CPUs as soon as theirs are: only they
 * can read their counters.
 */
#ifndef STAPWATCH_COUNT_GATE_H
#define STAPWATCH_COUNT_GATE_H

#include "base/ask.h"
#include "base/cpus.h"
#include "base/kernel.h"
#include "base/nmi.h"
#include "base/session.h"
#include "count/cpu.h"
#include "count/pmu.h"
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/smp.h>

/* Who keeps the time of gates, and what their counters had counted by then, is told
 * before they change. */
static void (*sw_gate_before)(struct sw_cpu *c);

/* How an NMI has this CPU follow, and that one the others.  Set up when the session
 * begins: Linux 6.12 does not relocate what a module's variables of CPUs point to. */
static DEFINE_PER_CPU(struct irq_work, sw_gate_work);
static DEFINE_PER_CPU(struct sw_ask, sw_gate_asks);
static bool sw_gates_on;		/* these are set up */

/* Who switches threads is told when nothing counts any more, so that a switch costs nothing:
 * after the last gate has shut, and before the first one opens. */
static void (*sw_gate_parks)(struct sw_cpu *c, bool park);

/* A clock goes on, and so does the time of sets. */
static bool sw_gate_can_park(unsigned int slots)
{
	unsigned int slot;

	for (slot = 0; slot < slots; slot++)
		if (sw_slot_is_tsc(slot) || READ_ONCE(sw_pmu.set[slot]))
			return false;
	return READ_ONCE(sw_gate_parks);
}

static void sw_gate_park(struct sw_cpu *c, bool park)
{
	void (*parks)(struct sw_cpu *c, bool park) = READ_ONCE(sw_gate_parks);

	if (c->parked == park || !parks)
		return;
	c->parked = park;
	parks(c, park);
}

/* A counter of the active set is off the PMU, or stopped.  In an NMI it may be just now
 * that perf changes it. */
static noinline void sw_gate_missed(struct sw_cpu *c, unsigned int slot)
{
	if (sw_counter_of(c, slot)->event && !sw_in_nmi())
		c->missed |= SW_SLOT_BIT(slot);
}

/*
 * Bring the counters up to date whose gates may change from set FROM to set TO.  All in
 * one go, by the same instructions when a set begins and when it ends: so what lies
 * between two counters' readings is the same at both, and their counts are of one time.
 */
static noinline void sw_gate_read(struct sw_cpu *c, unsigned int slots,
				  unsigned int from, unsigned int to)
{
	struct perf_event *e;
	unsigned int slot, of;

	for (slot = 0; slot < slots; slot++) {
		of = READ_ONCE(sw_pmu.set[slot]);
		if (sw_slot_is_tsc(slot) || (of && of != from && of != to))
			continue;
		e = sw_counter_of(c, slot)->opened;
		if (likely(e && READ_ONCE(e->oncpu) == smp_processor_id() &&
			   !READ_ONCE(e->hw.state)))
			e->pmu->read(e);
		else if (of && of == from)
			sw_gate_missed(c, slot);
	}
}

static void sw_gate_shut(struct sw_cpu *c, unsigned int slot, unsigned int why)
{
	/* nobody but this CPU changes what it reads */
	struct sw_counter *k = (struct sw_counter *)sw_counter_of(c, slot);

	if (!k->shut) {
		k->before = sw_last(k);
		WRITE_ONCE(k->event, NULL);
	}
	k->shut = why;
}

static void sw_gate_open(struct sw_cpu *c, unsigned int slot)
{
	struct sw_counter *k = (struct sw_counter *)sw_counter_of(c, slot);
	struct perf_event *e = k->opened;

	if (!k->shut)
		return;
	if (e)
		k->before -= local64_read(&e->count);
	WRITE_ONCE(k->event, e);
	k->shut = 0;
}

/**
 * sw_gate_apply - shut and open the gates of this CPU's slots
 * @set: the set that it counts from now on; 0: none
 * Context: on CPU C, interrupts off, c->busy held.
 */
static void sw_gate_apply(struct sw_cpu *c, unsigned int set)
{
	/* with smp_store_release() in sw_pmu_open(): which are a set's is known */
	unsigned int slot, of, slots = smp_load_acquire(&sw_pmu.slots);
	void (*before)(struct sw_cpu *c) = READ_ONCE(sw_gate_before);
	bool stopped = READ_ONCE(sw_pmu.stopped);
	bool park = stopped && sw_gate_can_park(slots);
	u32 sets_stopped = atomic_read(&sw_pmu.sets_stopped);

	WRITE_ONCE(c->gate_seq, c->gate_seq + 1);
	/* with sw_set_count_on() on other CPUs */
	smp_wmb();
	sw_gate_read(c, slots, c->set, set);
	if (before)
		before(c);
	if (!park)
		sw_gate_park(c, false);
	if (c->set != set) {
		c->set = set;
		c->set_gen++;
	}
	c->halted = stopped || (set && (sets_stopped & (1U << set)));
	for (slot = 0; slot < slots; slot++) {
		of = READ_ONCE(sw_pmu.set[slot]);
		if (sw_slot_is_tsc(slot) || of == SW_SET_FREE)
			continue;
		if (of && of != set)
			sw_gate_shut(c, slot, SW_SHUT_INACTIVE);
		else if (of ? c->halted : stopped)
			sw_gate_shut(c, slot, SW_SHUT_STOPPED);
		else
			sw_gate_open(c, slot);
	}
	if (park)
		sw_gate_park(c, true);
	/* with sw_set_count_on() */
	smp_store_release(&c->gate_seq, c->gate_seq + 1);
}

/**
 * sw_gate_look - bring up to date what other CPUs read of this one's sets
 *
 * Their time and their counts, of one instant.
 * Context: on CPU C, interrupts off, c->busy held.
 */
static void sw_gate_look(struct sw_cpu *c)
{
	/* as in sw_gate_apply() */
	unsigned int slots = smp_load_acquire(&sw_pmu.slots);
	void (*before)(struct sw_cpu *c) = READ_ONCE(sw_gate_before);

	if (!before)
		return;
	WRITE_ONCE(c->gate_seq, c->gate_seq + 1);
	/* with sw_set_count_on() on other CPUs */
	smp_wmb();
	sw_gate_read(c, slots, c->set, c->set);
	before(c);
	/* with sw_set_count_on() */
	smp_store_release(&c->gate_seq, c->gate_seq + 1);
}

/* How often who reads what another CPU changes tries it. */
#define SW_GATE_TRIES 64

/* Is what perf has counted in the events, or to be had from the counters?  An NMI may
 * come while perf takes one from the other. */
static bool sw_gate_is_settled(const struct sw_cpu *c)
{
	unsigned int slot, slots = READ_ONCE(sw_pmu.slots);
	const struct sw_counter *k;
	const struct perf_event *e;
	int state;

	for (slot = 0; slot < slots; slot++) {
		k = sw_counter_of(c, slot);
		e = k ? k->opened : NULL;
		state = e ? READ_ONCE(e->hw.state) : 0;
		if ((state & PERF_HES_STOPPED) && !(state & PERF_HES_UPTODATE))
			return false;
	}
	return true;
}

/**
 * sw_gate_enter - begin to change this CPU's gates, or to look, in any context
 * @asked: in an interrupt of its own, which comes to no holder of a driver's lock
 * Return: false where this CPU is within a reading, or may be within a driver that a
 * counter is read by.  Else sw_gate_leave() must follow.
 */
static bool
sw_gate_enter(struct sw_cpu **c, unsigned long *flags, bool asked)
{
	local_irq_save(*flags);
	*c = this_cpu_ptr(&sw_cpus);
	if ((*c)->busy || (sw_in_nmi() && !sw_gate_is_settled(*c)) ||
	    /* what has begun to switch threads goes by what it has found */
	    (sw_in_nmi() && (*c)->running && (*c)->running != current) ||
	    (READ_ONCE(sw_pmu.locking) && !asked &&
	     sw_may_hold_locks(*flags))) {
		local_irq_restore(*flags);
		return false;
	}
	WRITE_ONCE((*c)->busy, 1);
	barrier();
	(*c)->flags = *flags;
	(*c)->unlocked = asked;
	return true;
}

static void sw_gate_leave(struct sw_cpu *c, unsigned long flags)
{
	c->unlocked = false;
	sw_leave(c, flags);
}

/**
 * sw_gate_try - apply them in any context
 * @asked: as of sw_gate_enter()
 * Return: false where this CPU is within one that must end first: it is to be done later.
 */
static bool sw_gate_try(unsigned int set, bool asked)
{
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_gate_enter(&c, &flags, asked))
		return false;
	/* a handler that reads on does so anew, see hit.h */
	c->hit.cpu_found = 0;
	c->hit.thread_found = 0;
	sw_gate_apply(c, set);
	sw_gate_leave(c, flags);
	return true;
}

/* This CPU is within no reading: those have interrupts off.  A handler that reads on may
 * do so as before where nothing is stopped, and nothing was. */
static void sw_gate_on_ask(void)
{
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_gate_enter(&c, &flags, true))
		return;
	if (READ_ONCE(sw_pmu.stopped) || atomic_read(&sw_pmu.sets_stopped) ||
	    c->halted) {
		c->hit.cpu_found = 0;
		c->hit.thread_found = 0;
	}
	sw_gate_apply(c, c->set);
	sw_gate_leave(c, flags);
}

/*
 * One CPU at a time tells all others, however many want it: who comes meanwhile has it
 * do so once more.
 */
enum sw_gate_round { SW_GATE_NONE, SW_GATE_UNDER_WAY, SW_GATE_AGAIN };
static u32 sw_gate_round;

static void sw_gate_on_irq_work(struct irq_work *work)
{
	/* with the cmpxchg() below, or who tells the others sees what is to be seen */
	bool first = xchg(&sw_gate_round, SW_GATE_AGAIN) == SW_GATE_NONE;
	int cpu;

	if (first)
		xchg(&sw_gate_round, SW_GATE_UNDER_WAY);
	sw_gate_on_ask();
	if (!first)
		return;
	sw_for_each_online_cpu(cpu)
		if (cpu != smp_processor_id())
			sw_ask_cpu(per_cpu_ptr(&sw_gate_asks, cpu));
	if (cmpxchg(&sw_gate_round, SW_GATE_UNDER_WAY, SW_GATE_NONE) ==
	    SW_GATE_UNDER_WAY)
		return;
	/* with the next xchg() */
	smp_store_release(&sw_gate_round, SW_GATE_NONE);
	irq_work_queue(work);
}

/**
 * sw_gates_look_again - counters have come that CPUs may have found stopped, or not
 *
 * Whether a new counter counts was asked before it was there, so what a script has
 * stopped or started in between did not reach it.
 *
 * Context: any but NMI.
 */
static void sw_gates_look_again(void)
{
	preempt_disable();
	/* with sw_gate_stop(): it sees the new counters, or we what it wants */
	smp_mb();
	/* with sw_gate_begin() and _end() */
	if (smp_load_acquire(&sw_gates_on))
		irq_work_queue(this_cpu_ptr(&sw_gate_work));
	preempt_enable();
}

/**
 * sw_gate_stop - stop or start what is counted: at once here, soon on other CPUs
 * @set: a set's number; 0: all
 * Context: any.
 */
static void __maybe_unused sw_gate_stop(unsigned int set, bool stop)
{
	if (!set)
		WRITE_ONCE(sw_pmu.stopped, stop);
	else if (stop)
		atomic_or(1U << set, &sw_pmu.sets_stopped);
	else
		atomic_andnot(1U << set, &sw_pmu.sets_stopped);
	/* before the session there is nothing to be shut yet, and a script that only
	 * samples has none; with sw_gate_begin() */
	if (!sw_is_running() || !smp_load_acquire(&sw_gates_on))
		return;
	sw_gate_try(this_cpu_read(sw_cpus.set), false);
	irq_work_queue(this_cpu_ptr(&sw_gate_work));
}

/**
 * sw_gate_begin - gates can be shut from now on
 */
static void sw_gate_begin(void)
{
	int cpu;

	sw_ask_init(&sw_gate_asks, sw_gate_on_ask, NULL);
	for_each_possible_cpu(cpu)
		per_cpu(sw_gate_work, cpu) =
			IRQ_WORK_INIT_HARD(sw_gate_on_irq_work);
	/* with sw_gate_stop() */
	smp_store_release(&sw_gates_on, true);
}

/**
 * sw_gate_end - no gate changes any more
 * Context: sleepable, when no handler runs any more.
 */
static void sw_gate_end(void)
{
	int cpu;

	WRITE_ONCE(sw_gates_on, false);
	/* sw_gates_look_again() has preemption off */
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&sw_gate_work, cpu));
	sw_ask_end(&sw_gate_asks);
}

#endif
