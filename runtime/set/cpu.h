/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets on a CPU: which one it counts, which one it should count, and the time.
 *
 * Every nanosecond of a CPU is charged to the active set (later, if it is deleted, to
 * deleted sets), to the gap, in which no set counts, or to the time for which the
 * script stopped counting.  Code that changes this charges the time since the last
 * change.  So these times sum to the session's.
 *
 * A switch has two halves.  Who asks for it shuts the old set's gate at once
 * (count/gate.h): that is where its time and its counts end.  This CPU's thread
 * (switch.h) changes the counters, and opens the new set's gate.  Where only the
 * set's time is over, it counts on until that thread is there.
 *
 * Who may run what, against whom:
 *
 *   sw_set_ask(), sw_set_ask_next(), sw_set_wish(), sw_set_kick()
 *				any context, NMI included
 *   sw_set_grant()		interrupts off, NMI included
 *   sw_set_next(), sw_set_due()	hard interrupt
 *   sw_set_charge()		on its CPU, interrupts off, its busy flag held
 *   sw_set_sum(), sw_set_count_on()
 *				any context; of another CPU, by a few tries
 *
 * Of another CPU both are as of its last change, or sw_gate_look(): of one instant.
 */
#ifndef STAPWATCH_SET_CPU_H
#define STAPWATCH_SET_CPU_H

#include "base/clock.h"
#include "base/work.h"
#include "count/chosen.h"
#include "count/cpu.h"
#include "count/gate.h"
#include "count/pmu.h"
#include "count/vthread.h"
#include "set/rules.h"
#include "set/set.h"
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

struct sw_set_cpu {
	struct mutex lock;	/* of who changes what perf counts */
	unsigned int to;	/* the set that should count; others change it, too */
	unsigned int on;	/* whose perf events are on */
	unsigned int sampled;	/* whose samplers are on */
	bool began;		/* the session's time runs */
	bool down;		/* the CPU is off, or not quite on */
	bool blocked;		/* its counters are not open yet */
	bool next;		/* an NMI asked for the next set */
	bool due;		/* the set's time is over */
	struct irq_work ask;
	struct irq_work taken_in;	/* a thread while it runs */
	struct hrtimer timer;	/* the end of the set's time */
	struct hrtimer of_thread;	/* and of the thread's time for it */
	u64 until;		/* when TIMER goes off */
	u64 arrived;		/* when the active set's run began */
	u64 wish;		/* the set that is to run once it is open, see sw_set_wish() */
	u64 thread_in;		/* since when the thread's time goes by */
	struct perf_event *overflow;	/* of an event that sets lack */
	/* since the set is active, of each of its events, then of that one */
	u64 overflows[SW_SET_EVENTS + 1];
	u8 overflowed[SW_MAX_SETS];	/* its event that did so last, and one; 0: none */
	/* the set whose counter perf has stopped, as it did so too often, and which one */
	u8 throttled;
	u8 throttled_event;
	/* time, ns */
	u64 earliest;		/* when the next switch may begin */
	u64 ran;		/* what the thread had run when it switched last, ns */
	bool at_work;		/* the thread looks again before it sleeps */
	u64 since;
	u64 last;
	u64 session;
	u64 gap;
	u64 stopped;
	u64 deleted;		/* of sets that are no more */
	u64 active[SW_MAX_SETS];
	u64 runs[SW_MAX_SETS];
	u64 merged;		/* by how many requests another one was undone */
	atomic64_t lost;	/* bit per slot that has missed its set's time */
	u64 count[SW_MAX_SLOTS];	/* of sets' slots, as of LAST */
};

/* From the session's beginning to after the end probes */
static struct sw_set_cpu __percpu *sw_set_cpus;
/* This CPU's thread, which switches */
static DEFINE_PER_CPU(struct task_struct *, sw_set_tasks);

/* Opens and closes what handlers have asked for; see open.h */
static struct work_struct sw_set_opener;
/* Gives back the numbers of those that were never opened */
static struct work_struct sw_set_dropper;

/* ---- perf's events of a set on a CPU */

static const struct sw_counter *sw_set_counter(int cpu, unsigned int slot)
{
	return sw_counter_of(&per_cpu(sw_cpus, cpu), slot);
}

static struct perf_event *sw_set_perf_event(int cpu, unsigned int slot)
{
	return slot < SW_MAX_SLOTS ? sw_set_counter(cpu, slot)->opened : NULL;
}

/* ---- time */

static u64 *sw_set_whose(struct sw_set_cpu *p, const struct sw_cpu *c)
{
	if (c->halted)
		return &p->stopped;
	return c->set ? &p->active[c->set] : &p->gap;
}

/* Since the last change; a clock that is adjusted may go back a little. */
static u64 sw_set_since(u64 then, u64 now)
{
	return (s64)(now - then) > 0 ? now - then : 0;
}

/* Other CPUs read the time meanwhile, see sw_set_as_of_last(). */
static void sw_set_charge_at(struct sw_set_cpu *p, struct sw_cpu *c, u64 now)
{
	u64 *to = sw_set_whose(p, c), d = sw_set_since(p->last, now);

	WRITE_ONCE(*to, *to + d);
	WRITE_ONCE(p->last, p->last + d);
}

/* Slots have missed some of their set's time on a CPU. */
static void sw_set_lose(struct sw_set_cpu *p, u64 slots)
{
	atomic64_or(slots, &p->lost);
	atomic64_or(slots, &sw_sets.lost);
}

/* ... with what the active set's slots have counted by then; they are up to date, or have
 * missed some of their set's time. */
static void sw_set_charge(struct sw_cpu *c)
{
	struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	/* it does not change as long as a CPU has it on */
	const struct sw_set *s = &sw_sets.of[c->set];
	const u8 *slot = s->slot, *end = slot + (c->set ? s->nr : 0);

	if (!p->began)
		return;
	sw_set_charge_at(p, c, sw_clock_ns());
	for (; slot < end; slot++)
		/* or the session goes on without it */
		if (likely(*slot < SW_MAX_SLOTS))
			WRITE_ONCE(p->count[*slot],
				   sw_last(sw_counter_of(c, *slot)));
	if (unlikely(c->missed)) {
		sw_set_lose(p, c->missed);
		c->missed = 0;
	}
}

/* A CPU programs its counters anew within a change: so often it is looked at again. */
#define SW_SET_TRIES 1000

/* Bring up to date what is read of this CPU, where it is within nothing. */
static void sw_set_see(void)
{
	unsigned long flags;
	struct sw_cpu *c;

	if (!READ_ONCE(sw_sets.running))
		return;
	if (!sw_gate_enter(&c, &flags, false))
		return;
	sw_gate_look(c);
	sw_gate_leave(c, flags);
}

/*
 * A time of a CPU, or what it has counted, as of LAST there.  In the middle of a change
 * of this CPU itself there is none.
 */
static s64 sw_set_as_of_last(int cpu, const u64 *what)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);
	struct sw_cpu *c = per_cpu_ptr(&sw_cpus, cpu);
	u32 seq;
	u64 v;
	int i;

	for (i = 0; i < SW_SET_TRIES; i++) {
		/* with sw_gate_apply() */
		seq = smp_load_acquire(&c->gate_seq);
		if (seq & 1) {
			if (cpu == raw_smp_processor_id())
				break;
			cpu_relax();
			continue;
		}
		v = READ_ONCE(*what);
		if (READ_ONCE(p->began) && what == &p->session)
			v += sw_set_since(READ_ONCE(p->since),
					  READ_ONCE(p->last));
		/* with its smp_wmb() */
		smp_rmb();
		if (READ_ONCE(c->gate_seq) == seq)
			return v;
	}
	sw_withheld(nested);
	return SW_NONE;
}

/**
 * sw_set_sum - a time of a CPU, or how often a set was active on it
 * @at: which member of struct sw_set_cpu
 *
 * On this CPU up to now, but for who comes in the middle of a reading; on another one as
 * of its last change, or look.
 *
 * Context: any.
 * Return: it; SW_NONE if that CPU does not stop to change it.
 */
static s64 sw_set_sum(int cpu, size_t at)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

	if (cpu == raw_smp_processor_id())
		sw_set_see();
	return sw_set_as_of_last(cpu, (u64 *)((char *)p + at));
}

static s64 sw_set_count_now(int cpu, unsigned int slot)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);
	s64 v;

	if (cpu == raw_smp_processor_id())
		sw_set_see();
	v = sw_set_as_of_last(cpu, &p->count[slot]);
	if (atomic64_read(&p->lost) & SW_SLOT_BIT(slot)) {
		sw_withheld(stopped);
		return SW_NONE;
	}
	return v;
}

/**
 * sw_set_count_on - what a set's slot has counted on a CPU, all its runs together
 *
 * As of the instant that sw_set_sum() has.
 *
 * Context: any.
 * Return: the count, SW_NONE, or SW_MISSING.
 */
static s64 __maybe_unused sw_set_count_on(int cpu, unsigned int slot)
{
	s64 v;

	if (slot >= SW_MAX_SLOTS)
		return SW_MISSING;
	v = sw_set_count_now(cpu, slot);
	/* with sw_pmu_free(): the counter may be the one that has counted nothing */
	smp_rmb();
	if (v != SW_NONE && READ_ONCE(sw_pmu.set[slot]) == SW_SET_FREE) {
		sw_withheld(inactive);
		return SW_NONE;
	}
	return v;
}

/* ---- asking for a switch */

/*
 * Switching takes a fifth of a CPU's time, whoever asks for it, and a quarter with the
 * interrupts that belong to it: after each switch comes a pause of four
 * times what it took.  The threads that switch come before others, so a CPU that is
 * slow would do nothing else, and what waits for it, as CPU hotplug does, would wait
 * for good.
 */
#define SW_SET_PAUSE 4
/* A thread that something stopped for long is not made to pause for longer. */
#define SW_SET_LONGEST_PAUSE (100 * NSEC_PER_MSEC)

/* How long it is until this CPU may switch again, ns. */
static u64 sw_set_pause_left(const struct sw_set_cpu *p, u64 now)
{
	return sw_set_since(now, READ_ONCE(p->earliest));
}

/* The thread that runs goes on with that set when it comes again. */
static void sw_set_move_thread(struct sw_cpu *c, unsigned int to)
{
	struct sw_thread_set *s = c->cur ? sw_thread_set(c->cur) : NULL;

	if (!READ_ONCE(sw_sets.of_threads) || !s)
		return;
	s->set = to;
	s->used = 0;
}

/* Interrupts are off.  The rest may have to wait for an interrupt. */
static void sw_set_leave_for(struct sw_set_cpu *p, struct sw_cpu *c,
			     unsigned int to)
{
	WRITE_ONCE(p->to, to);
	if (c->set && c->set != to)
		sw_gate_try(0, false);
}

/* Interrupts are off, and it is no NMI that found this CPU busy. */
static bool sw_set_leave_for_next(struct sw_set_cpu *p, struct sw_cpu *c)
{
	unsigned int to;

	/* it is on its way already */
	if (!c->set || READ_ONCE(p->to) != c->set)
		return false;
	to = sw_set_after(c->set);
	if (!to || to == c->set)
		return false;
	sw_set_move_thread(c, to);
	sw_set_leave_for(p, c, to);
	return true;
}

/**
 * sw_set_kick - let this CPU's thread, and who opens sets, look what there is to do
 * Context: any.
 */
static void sw_set_kick(void)
{
	if (READ_ONCE(sw_sets.running))
		irq_work_queue(&this_cpu_ptr(sw_set_cpus)->ask);
}

/* Another one is asked for: that one never ran.  Interrupts are off. */
static void sw_set_unwish(struct sw_set_cpu *p)
{
	if (unlikely(READ_ONCE(p->wish)) && xchg(&p->wish, 0))
		this_cpu_inc(sw_set_cpus->merged);
}

/* Interrupts are off. */
static void sw_set_turn_to(struct sw_set_cpu *p, unsigned int to)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	const unsigned int was = READ_ONCE(p->to);

	if (was == to && c->set == to)
		return;
	/* who was asked for before this one does not run */
	if (was != to && was != c->set)
		this_cpu_inc(sw_set_cpus->merged);
	sw_set_move_thread(c, to);
	sw_set_leave_for(p, c, to);
	irq_work_queue(&p->ask);
}

/**
 * sw_set_ask - this CPU shall count that set
 * Context: any.
 */
static void __maybe_unused sw_set_ask(unsigned int to)
{
	struct sw_set_cpu *p;
	unsigned long flags;

	if (!READ_ONCE(sw_sets.running))
		return;
	local_irq_save(flags);
	p = this_cpu_ptr(sw_set_cpus);
	sw_set_unwish(p);
	sw_set_turn_to(p, to);
	local_irq_restore(flags);
}

/* A set that is still to be opened: its number, and which one of that number it is. */
static u64 sw_set_wished(unsigned int set, u32 word)
{
	return (u64)(word / SW_SET_STATES) << 32 | set;
}

/* Has it come?  Or, if it was deleted before that, it never will. */
static void sw_set_grant(void)
{
	struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	u64 wish = READ_ONCE(p->wish);
	u32 word = sw_set_word((u32)wish);
	const int state = word % SW_SET_STATES;

	if (!wish)
		return;
	if (sw_set_wished((u32)wish, word) == wish &&
	    (state == SW_SET_DECLARED || state == SW_SET_OPENING))
		return;
	if (cmpxchg(&p->wish, wish, 0) != wish)
		return;
	/* not as sw_set_ask(): what an NMI wishes now is newer */
	if (sw_set_wished((u32)wish, word) == wish && state == SW_SET_OPEN &&
	    READ_ONCE(sw_sets.running))
		sw_set_turn_to(p, (u32)wish);
	else
		this_cpu_inc(sw_set_cpus->merged);
}

/* The set that a CPU waits for, where that is open by now; or 0. */
static unsigned int sw_set_granted(const struct sw_set_cpu *p)
{
	const u64 wish = READ_ONCE(p->wish);
	const u32 word = sw_set_word((u32)wish);

	return sw_set_wished((u32)wish, word) == wish &&
	       word % SW_SET_STATES == SW_SET_OPEN ? (u32)wish : 0;
}

/**
 * sw_set_wish - this CPU shall count that set, as soon as it is open
 * @word: the set's word when it was not
 * Context: any.
 */
static void __maybe_unused sw_set_wish(unsigned int set, u32 word)
{
	const u64 wish = sw_set_wished(set, word);
	unsigned long flags;
	u64 before;

	if (!READ_ONCE(sw_sets.running))
		return;
	local_irq_save(flags);
	/* orders as a full barrier does, with the opener, which has the set open before
	 * it has us look */
	before = xchg(&this_cpu_ptr(sw_set_cpus)->wish, wish);
	if (before && before != wish)
		this_cpu_inc(sw_set_cpus->merged);
	sw_set_grant();
	local_irq_restore(flags);
}

/**
 * sw_set_ask_next - this CPU shall count the next set
 * Context: any.
 */
static void sw_set_ask_next(void)
{
	struct sw_set_cpu *p;
	struct sw_cpu *c;
	unsigned long flags;

	if (!READ_ONCE(sw_sets.running))
		return;
	local_irq_save(flags);
	p = this_cpu_ptr(sw_set_cpus);
	c = this_cpu_ptr(&sw_cpus);
	if (c->busy) {
		WRITE_ONCE(p->next, true);
		irq_work_queue(&p->ask);
	} else if (sw_set_leave_for_next(p, c)) {
		irq_work_queue(&p->ask);
	}
	local_irq_restore(flags);
}

/* Has a CPU's thread something to do, and can it do that?  Preemption is off. */
static int sw_set_thread_should_run(unsigned int cpu)
{
	const struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);
	unsigned int to = READ_ONCE(p->to);

	if (!READ_ONCE(sw_sets.running) || READ_ONCE(p->down) ||
	    !sw_cpu_is_chosen(cpu))
		return false;
	if (!p->began)
		return true;
	if (READ_ONCE(p->blocked))
		return false;
	return READ_ONCE(p->due) || to != p->on ||
	       to != per_cpu(sw_cpus, cpu).set ||
	       (to && sw_set_state(to) != SW_SET_OPEN);
}

/*
 * In hard interrupt.  The thread comes before all others.  If it were woken up where it
 * can do nothing (counters are still to be opened, a lock is somebody else's, it makes a
 * pause), and who has just been switched in asked for that, nobody would run any more:
 * each switch would be followed by the next.
 */
static void sw_set_wake_thread(const struct sw_set_cpu *p)
{
	struct task_struct *task = this_cpu_read(sw_set_tasks);

	if (task && !READ_ONCE(p->at_work) &&
	    sw_set_thread_should_run(smp_processor_id()))
		wake_up_process(task);
}

/* In hard interrupt: what could not be done at once, and the thread's wake-up. */
static void sw_set_on_ask(struct irq_work *work)
{
	struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);

	if (READ_ONCE(p->next)) {
		WRITE_ONCE(p->next, false);
		sw_set_leave_for_next(p, c);
	}
	if (c->set && READ_ONCE(p->to) != c->set)
		sw_gate_try(0, true);
	/* with sw_sets_end(), which cancels them */
	if (READ_ONCE(sw_sets.running) && READ_ONCE(sw_sets.asked))
		sw_work_queue(&sw_set_opener);
	if (READ_ONCE(sw_sets.running) && READ_ONCE(sw_sets.dropped))
		sw_work_queue(&sw_set_dropper);
	sw_set_wake_thread(p);
}

/**
 * sw_set_next - sw_set_ask_next() in hard interrupt, without another one
 */
static void sw_set_next(void)
{
	if (!READ_ONCE(sw_sets.running))
		return;
	this_cpu_ptr(sw_set_cpus)->next = true;
	sw_set_on_ask(NULL);
}

/**
 * sw_set_due - the active set's time is over
 *
 * Nobody wants its counts to end just here, and what they miss until the next set's
 * begin is the less, the later they do.  Threads that have sets of their own are
 * moved to the next one here, so there the gate is shut.
 */
static void sw_set_due(void)
{
	struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	unsigned int set = this_cpu_read(sw_cpus.set), to;

	/* or rules are others by now */
	if (!READ_ONCE(sw_sets.running) || !set || !sw_set_cpu_ns(set))
		return;
	if (READ_ONCE(sw_sets.of_threads)) {
		sw_set_next();
		return;
	}
	to = sw_set_after(set);
	if (READ_ONCE(p->to) != set || !to || to == set)
		return;
	WRITE_ONCE(p->due, true);
	WRITE_ONCE(p->to, to);
	sw_set_wake_thread(p);
}

#endif
