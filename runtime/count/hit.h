/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the readings of one probe hit are: of one instant.
 *
 * A handler asks for its events one after the other, by a function each.  The first
 * of them has all slots read, in one pass; those that come after take what that
 * pass found.  Who asks for a slot twice has it read anew, and all others with it; but
 * for a rate of two events, which is of what is there (c->together).
 * So a quotient or a difference of two events has none of SystemTap's own code in
 * it, and the pass is the one that switches threads: what lies between two
 * counters' readings is the same wherever they are read.
 *
 * SystemTap takes its context of this CPU at the beginning of each hit, by
 * _stp_runtime_entryfn_get_context(), and no other hit can come on this CPU before
 * it is given back.  That is where a pass of an earlier hit is forgotten.
 *
 * Who may run what, against whom:
 *
 *   sw_hit_begins()	any context, preemption off, SystemTap's context held
 *   sw_hit_cpu(), sw_hit_thread(), sw_hit_thread_of_set(), sw_hit_thread_in_span()
 *			in a handler, NMI included
 *   sw_pass_for_call()	any context, interrupts off, this CPU's busy flag held
 *   sw_seen_begin(), _end()	sleepable, while nobody reads
 *
 * A gate that changes makes the pass forgotten as well (gate.h).  An NMI's hit can only come
 * between two of ours, since it wants the same context; its other readings are
 * sw_read_cpu() and sw_read_thread(), which know no pass.
 */
#ifndef STAPWATCH_COUNT_HIT_H
#define STAPWATCH_COUNT_HIT_H

#include "base/access.h"
#include "count/cpu.h"
#include "count/pass.h"
#include "count/pmu.h"
#include "count/vthread.h"

/* Not in struct sw_cpu: the kernel has some kilobytes of that kind for all modules. */
struct sw_seen_values {
	u64 hit_cpu[SW_MAX_SLOTS];
	u64 hit_thread[SW_MAX_SLOTS];
	u64 call_cpu[SW_MAX_SLOTS];
	u64 call_thread[SW_MAX_SLOTS];
};
_Static_assert(sizeof(struct sw_seen_values) == 1536,
	       "as stapwatch-production(7) has it");
static struct sw_seen_values __percpu *sw_seen_values;

static bool sw_seen_begin(void)
{
	int cpu;

	sw_seen_values = alloc_percpu(struct sw_seen_values);
	if (!sw_seen_values)
		return false;
	for_each_possible_cpu(cpu) {
		struct sw_seen_values *v = per_cpu_ptr(sw_seen_values, cpu);
		struct sw_cpu *c = per_cpu_ptr(&sw_cpus, cpu);

		c->hit = (struct sw_seen) { v->hit_cpu, v->hit_thread };
		c->call = (struct sw_seen) { v->call_cpu, v->call_thread };
	}
	return true;
}

static void sw_seen_end(void)
{
	free_percpu(sw_seen_values);
	sw_seen_values = NULL;
}

/* One slot has nothing that it could be apart from. */
static __always_inline bool sw_is_alone(void)
{
	return sw_pmu.slots <= 1;
}

/*
 * Read all slots into SEEN, which is C's own, and, where the script reads threads'
 * counts, those of the thread that runs.
 */
static noinline void sw_pass_all(struct sw_cpu *c, struct sw_seen *seen)
{
	/* as in sw_pass(), which may find more: those are shut */
	unsigned int i, slots = smp_load_acquire(&sw_pmu.slots);
	const struct sw_thread *t = c->cur;
	u64 found = sw_passable(c, slots);

	seen->cpu_found = found;
	seen->cpu_left = found;
	seen->thread_found = 0;
	seen->thread_left = 0;
	if (!found)
		return;
	memset(seen->cpu, 0, slots * sizeof(*seen->cpu));
	sw_pass(c, seen->cpu, c->nobody, c->cur);
	if (!t || t->task != current || c->irq_depth)
		return;
	for (i = 0; i < slots; i++)
		*(seen->thread + i) = *(t->sum + i) + *(seen->cpu + i);
	seen->thread_found = found;
	seen->thread_left = found;
}

/*
 * The same for a call's begin or end, which may come in the middle of a handler.  A
 * thread's first call begins to watch it, or each of its readings says why not.  What is
 * not in c->call after it is read alone.
 */
static void sw_pass_for_call(struct sw_cpu *c, bool of_thread)
{
	enum sw_found how;

	if (of_thread && unlikely(!c->cur || c->cur->task != current))
		sw_find_current(c, &how);
	sw_pass_all(c, &c->call);
	/* the first reading after a hole is withheld */
	if (c->cur)
		c->call.thread_found &= ~c->cur->lost | sw_pmu.in_sets;
}

/* sw_hit_begins - this CPU begins to run a handler */
static __always_inline void sw_hit_begins(void)
{
	this_cpu_write(sw_cpus.hit.cpu_found, 0);
	this_cpu_write(sw_cpus.hit.thread_found, 0);
	this_cpu_write(sw_cpus.together, false);
}

/* Is a pass to be made for a slot?  Not for one that the last had to leave out. */
static bool
sw_wants_pass(const struct sw_cpu *c, u64 found, u64 left, u64 bit)
{
	return !found || (!c->together && (found & ~left & bit));
}

static noinline bool sw_hit_cpu_now(struct sw_cpu *c, unsigned int slot, u64 *v)
{
	u64 bit = SW_SLOT_BIT(slot);

	if (sw_wants_pass(c, c->hit.cpu_found, c->hit.cpu_left, bit))
		sw_pass_all(c, &c->hit);
	if (!(c->hit.cpu_found & bit))
		return sw_now(c, slot, v);
	c->hit.cpu_left &= ~bit;
	*v = *(c->hit.cpu + slot);
	return true;
}

/**
 * sw_hit_cpu - this CPU's count of a slot, as of the hit's first reading
 * Return: the count, or SW_NONE.
 */
static s64 __maybe_unused sw_hit_cpu(unsigned int slot)
{
	unsigned long flags;
	struct sw_cpu *c;
	bool ok;
	u64 v;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	ok = sw_is_alone() ? sw_now(c, slot, &v) : sw_hit_cpu_now(c, slot, &v);
	sw_leave(c, flags);
	return ok ? v : SW_NONE;
}

/*
 * The thread's, without a pass if need be.  A thread's first reading begins to watch
 * it; the pass comes after.
 */
static noinline s64
sw_hit_thread_now(struct sw_cpu *c, unsigned int slot, bool in_span)
{
	const struct sw_thread *t = c->cur;
	enum sw_found how = SW_FOUND;
	u64 bit = SW_SLOT_BIT(slot);

	if (unlikely(!t || t->task != current)) {
		t = sw_find_current(c, &how);
		if (!t) {
			sw_withhold_thread(how);
			return SW_NONE;
		}
		c->hit.thread_found = 0;
	}
	if (!c->irq_depth && how == SW_FOUND &&
	    sw_wants_pass(c, c->hit.thread_found, c->hit.thread_left, bit))
		sw_pass_all(c, &c->hit);
	/* the first reading after a hole is withheld */
	if ((c->hit.thread_found & bit) && (in_span || !(t->lost & bit))) {
		c->hit.thread_left &= ~bit;
		return *(c->hit.thread + slot);
	}
	return in_span ? sw_thread_now_in_span(c, slot) :
			 sw_thread_now(c, slot);
}

/**
 * sw_hit_thread - the current thread's count of a slot, as of the hit's first reading
 *
 * The first read of any slot begins to watch the thread, at zero.
 * Return: the count, or SW_NONE.
 */
static s64 __maybe_unused sw_hit_thread(unsigned int slot)
{
	unsigned long flags;
	struct sw_cpu *c;
	s64 v;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	v = sw_is_alone() ? sw_thread_now(c, slot) :
			    sw_hit_thread_now(c, slot, false);
	sw_leave(c, flags);
	return v;
}

/* ... of a set's slot: the first reading after its set did not count is withheld. */
static s64 __maybe_unused sw_hit_thread_of_set(unsigned int slot)
{
	struct sw_thread_set *s;
	unsigned long flags;
	struct sw_cpu *c;
	s64 v = SW_NONE;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	s = c->cur && c->cur->task == current ? sw_thread_set(c->cur) : NULL;
	if (s && s->lost & SW_SLOT_BIT(slot) && !sw_is_inactive(c, slot)) {
		s->lost &= ~SW_SLOT_BIT(slot);
		sw_withheld(switched);
	} else {
		v = sw_hit_thread_now(c, slot, false);
	}
	sw_leave(c, flags);
	return v;
}

/* ... of a set's slot, for who finds a switch of sets by sw_spans() itself. */
static s64 __maybe_unused sw_hit_thread_in_span(unsigned int slot)
{
	unsigned long flags;
	struct sw_cpu *c;
	s64 v;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	v = sw_hit_thread_now(c, slot, true);
	sw_leave(c, flags);
	return v;
}

#endif
