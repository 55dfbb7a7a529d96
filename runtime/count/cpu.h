/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each CPU has: its counter of each event, the watched thread that it runs,
 * and a flag that one of us is at work there.
 *
 * Who may run what, against whom:
 *
 *   sw_enter(), sw_leave()	any context, NMI included
 *   sw_withheld()		the same
 *
 * c->busy: reading a counter takes two steps in every PMU driver (move the
 * last hardware value up, then add the difference to the count), and switching
 * threads takes several here.  An NMI between them would see half of it.
 * So whoever does either holds this CPU's busy flag, with interrupts off, and
 * whoever finds it held (an NMI, or a probe on a function that we call) says
 * that it has no value: SW_NONE, counted in c->nested.  The flag is this CPU's
 * alone, so compiler barriers are enough: what is between those of sw_enter()
 * and sw_leave() stays there.
 */
#ifndef STAPWATCH_COUNT_CPU_H
#define STAPWATCH_COUNT_CPU_H

#include "base/compat.h"
#include "base/nmi.h"
#include <linux/irqflags.h>
#include <linux/percpu.h>

struct perf_event;
struct sw_thread;
struct task_struct;

/* Distinct events in one script: six sets of eight.  A word has a bit for each. */
#define SW_MAX_SLOTS 48
#define SW_SLOT_BIT(slot) (1ULL << (slot))
/* Sets of events, with 0, which is no set.  A word has a bit for each. */
#define SW_MAX_SETS 17

/* What a reading is when there is none.  No count comes near: 2^63 ns are 292
 * years.  SW_MISSING: this machine cannot count the event, and the user said
 * to go on.  SW_NONE: there is no right value just now. */
#define SW_NONE ((s64)(1ULL << 63))
#define SW_MISSING (SW_NONE + 1)

/* Why a counter's gate is shut: its set is not the one that the CPU counts, or
 * the script has stopped it.  See gate.h. */
#define SW_SHUT_INACTIVE 1
#define SW_SHUT_STOPPED 2

/* A slot's counter on one CPU.  Others than that CPU never change what its readers
 * can see: a CPU that comes online gets the other of its pair. */
struct sw_counter {
	struct perf_event *event;	/* NULL: there is none, or the gate is shut */
	u64 before;			/* counted by those before it, or till it shut */
	struct perf_event *opened;	/* NULL: the CPU could not have one */
	unsigned int shut;
	int cpu;			/* whose it is; -2: its driver may take a lock */
	bool absent;			/* the event's PMU is not of that CPU */
	bool refused;			/* and what else perf may have said */
};

/* What one pass over the slots found, of a CPU and of its thread, by slot; bits of those
 * that are there, and that no reading has taken yet. */
struct sw_seen {
	u64 *cpu;
	u64 *thread;
	u64 cpu_found;
	u64 cpu_left;
	u64 thread_found;
	u64 thread_left;
};

struct sw_cpu {
	unsigned int busy;
	bool unlocked;		/* what runs here holds no lock, see base/nmi.h */
	unsigned long flags;	/* of interrupts, as sw_enter() found them */
	unsigned int irq_depth;
	/* which of the sets counts, 0: none; and how often that has changed */
	u32 set;
	u32 set_gen;
	u32 gate_seq;		/* odd: they change; see gate.h */
	bool halted;		/* by the script: what the CPU counts is nobody's */
	bool parked;		/* nothing counts: threads run as if none were watched */
	u64 missed;		/* bit per slot that has missed some of its set's time */
	/* thread virtualisation, see vthread.h */
	struct sw_thread *cur;
	struct task_struct *running;
	/* per slot: where the counts go of a thread that is not watched */
	u64 nobody[SW_MAX_SLOTS];
	/* see hit.h: of the handler that runs; of a call's begin or end */
	bool sets_seen;		/* the handler has had other CPUs look, see set/read.h */
	bool together;		/* what it reads is of the instant of what it has read */
	struct sw_seen hit;
	struct sw_seen call;
	/* per slot: NULL means tsc */
	const struct sw_counter *counter[SW_MAX_SLOTS];
	/* values that were withheld, and why */
	unsigned long nested;	/* asked for within a reading or a switch */
	unsigned long locked;	/* its driver may have had a lock */
	unsigned long stopped;	/* the PMU had the counter stopped */
	unsigned long moved;	/* the call returned on another CPU */
	unsigned long early;	/* the call began before the session */
	unsigned long holed;	/* the thread ran uncounted for a while */
	unsigned long anew;	/* or has another entry than it had */
	unsigned long leaving;	/* of a thread between two threads */
	unsigned long undefined;	/* a rate, of nothing to nothing */
	unsigned long full;	/* the thread is not watched: no room */
	unsigned long elsewhere;	/* the script counts on other CPUs only */
	unsigned long absent;	/* the event's PMU is of other CPUs only */
	unsigned long socketless;	/* of a socket without such a counter */
	unsigned long unwatched;	/* of others: nobody has asked for it */
	unsigned long changing;	/* of others: it changed at every try */
	unsigned long incomplete;	/* of others: some of it was not counted */
	unsigned long inactive;	/* the slot's set was not the active one */
	unsigned long switched;	/* a difference over a switch of sets */
};

static DEFINE_PER_CPU(struct sw_cpu, sw_cpus);

/**
 * sw_counter_of - what counts in a CPU's slot; NULL means tsc
 *
 * Once, since who opens and closes counters may put another one there meanwhile, with
 * smp_store_release().  By a pointer, since a kernel with UBSAN checks each index.
 * Context: any.
 */
static __always_inline const struct sw_counter *
sw_counter_of(const struct sw_cpu *c, unsigned int slot)
{
	return READ_ONCE(*(c->counter + slot));
}

/* Nobody else changes these, but an NMI may add to them in between. */
#define sw_withheld(why) this_cpu_inc(sw_cpus.why)

/**
 * sw_enter - take this CPU's busy flag
 * Context: any.
 * Return: false when it is held already.  Else sw_leave() must follow.
 */
static __always_inline bool sw_enter(struct sw_cpu **c, unsigned long *flags)
{
	local_irq_save(*flags);
	*c = this_cpu_ptr(&sw_cpus);
	if (unlikely((*c)->busy)) {
		sw_withheld(nested);
		local_irq_restore(*flags);
		return false;
	}
	WRITE_ONCE((*c)->busy, 1);
	barrier();
	(*c)->flags = *flags;
	return true;
}

/**
 * sw_can_call_drivers - may a PMU's driver be called that takes a lock?
 * Context: c->busy held, by sw_enter().
 */
static bool sw_can_call_drivers(const struct sw_cpu *c)
{
	return c->unlocked || !sw_may_hold_locks(c->flags);
}

static __always_inline void sw_leave(struct sw_cpu *c, unsigned long flags)
{
	barrier();
	WRITE_ONCE(c->busy, 0);
	local_irq_restore(flags);
}

#endif
