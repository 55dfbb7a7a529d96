/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What scripts ask of sets, and tell them.
 *
 * Who may run what, against whom: all of it in any context, NMI included, from
 * begin probes to end probes.  Before and after the session nothing changes.
 */
#ifndef STAPWATCH_SET_READ_H
#define STAPWATCH_SET_READ_H

#include "base/ask.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/session.h"
#include "count/cpu.h"
#include "count/gate.h"
#include "count/pmu.h"
#include "count/vthread.h"
#include "set/cpu.h"
#include "set/open.h"
#include "set/rules.h"
#include "set/set.h"
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/stddef.h>

/* Of all CPUs together.  Return: the sum, or SW_NONE if one has no value. */
static s64 __maybe_unused sw_sets_sum(size_t at)
{
	s64 sum = 0, v;
	int cpu;

	if (!sw_set_cpus)
		return 0;
	for_each_possible_cpu(cpu) {
		v = sw_set_sum(cpu, at);
		if (v == SW_NONE)
			return SW_NONE;
		sum += v;
	}
	return sum;
}

/* How many runs were asked for and never came: of all CPUs. */
static s64 __maybe_unused sw_sets_merged(void)
{
	s64 sum = 0;
	int cpu;

	if (!sw_set_cpus)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(sw_set_cpus, cpu)->merged);
	return sum;
}

/* How long sw_sets_refresh() waits */
#define SW_SETS_WAIT_NS 1000000
/* What is older than that of another CPU, a handler that may wait has it bring up to
 * date */
#define SW_SETS_OLD_NS (10 * NSEC_PER_MSEC)

/**
 * sw_sets_refresh - let other CPUs bring up to date what is read of their sets
 * @may_wait: nothing that they might wait for is held here
 *
 * It waits a millisecond at most.  Two that do so at once do not keep each other, see
 * sw_ask_meanwhile().  CPUs that have no session are left alone.
 *
 * Context: any; in an NMI the others do so after it.
 * Return: how many CPUs have not done so in that time.
 */
static s64 __maybe_unused sw_sets_refresh(bool may_wait)
{
	u64 then = sw_clock_ns();
	unsigned long flags;
	int cpu, late;

	if (!sw_set_cpus || !READ_ONCE(sw_sets.running))
		return 0;
	local_irq_save(flags);
	this_cpu_write(sw_cpus.sets_seen, true);
	sw_for_each_online_cpu(cpu)
		if (cpu != smp_processor_id() &&
		    READ_ONCE(per_cpu_ptr(sw_set_cpus, cpu)->began))
			sw_ask_cpu(per_cpu_ptr(&sw_gate_asks, cpu));
	local_irq_restore(flags);
	do {
		late = 0;
		sw_ask_meanwhile();
		sw_for_each_online_cpu(cpu) {
			struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

			late += READ_ONCE(p->began) &&
				  sw_set_since(READ_ONCE(p->last), then);
		}
		cpu_relax();
	} while (late && may_wait &&
		 sw_clock_ns() < then + SW_SETS_WAIT_NS);
	return late;
}

/**
 * sw_sets_see - a handler is about to read other CPUs' sets
 *
 * Once a hit, so that all that the handler reads is as of the same.  Where it may not
 * wait it reads what is there.
 *
 * Context: any, SystemTap's context held.
 */
static void __maybe_unused sw_sets_see(bool may_wait)
{
	u64 now = sw_clock_ns();
	int cpu;

	if (!sw_set_cpus || this_cpu_read(sw_cpus.sets_seen) || !may_wait)
		return;
	this_cpu_write(sw_cpus.sets_seen, true);
	sw_for_each_online_cpu(cpu) {
		const struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

		if (cpu != smp_processor_id() && READ_ONCE(p->began) &&
		    sw_set_since(READ_ONCE(p->last), now) > SW_SETS_OLD_NS) {
			sw_sets_refresh(true);
			return;
		}
	}
}

#define SW_SETS_SUM(member) sw_sets_sum(offsetof(struct sw_set_cpu, member))

/* Of what the set's event has counted on all CPUs, or on one. */
static s64 __maybe_unused sw_sets_count(unsigned int slot)
{
	s64 sum = 0, v;
	int cpu;

	if (!sw_set_cpus)
		return 0;
	for_each_possible_cpu(cpu) {
		v = sw_set_count_on(cpu, slot);
		if (v == SW_NONE || v == SW_MISSING)
			return v;
		sum += v;
	}
	return sum;
}

static s64 __maybe_unused sw_sets_count_cpu(s64 cpu, unsigned int slot)
{
	if (!sw_set_cpus)
		return 0;
	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return SW_MISSING;
	return sw_set_count_on(cpu, slot);
}

/* Of its time on this CPU, or of the thread's time for it. */
static s64 __maybe_unused sw_set_left(unsigned int set)
{
	u64 ns = sw_set_cpu_ns(set), now = sw_clock_ns();
	u64 of_thread = sw_set_thread_ns(set);
	const struct sw_set_cpu *p;
	const struct sw_thread_set *s;
	const struct sw_cpu *c;
	unsigned long flags;
	u64 left = ns ?: of_thread, used;

	if (!sw_set_cpus)
		return left;
	local_irq_save(flags);
	p = this_cpu_ptr(sw_set_cpus);
	c = this_cpu_ptr(&sw_cpus);
	s = c->cur ? sw_thread_set(c->cur) : NULL;
	if (c->set == set && ns) {
		left = sw_set_since(now, p->until);
	} else if (c->set == set && of_thread && s && s->set == set) {
		used = s->used + sw_set_since(p->thread_in, now);
		left = sw_set_since(used, of_thread);
	}
	local_irq_restore(flags);
	return left;
}

/* The event that overflowed last on this CPU, or NULL. */
static const struct sw_event *__maybe_unused sw_set_overflowed(unsigned int set)
{
	unsigned int i = 0;

	if (sw_set_cpus)
		i = READ_ONCE(raw_cpu_ptr(sw_set_cpus)->overflowed[set]);
	return i ? sw_sets.of[set].event[i - 1] : NULL;
}

/* In a begin probe: which set all CPUs begin with. */
static void __maybe_unused sw_set_switch(unsigned int set)
{
	const u32 word = sw_set_word(set);
	const int state = word % SW_SET_STATES;

	if (!sw_set_cpus)
		sw_sets.first = set;
	else if (state == SW_SET_OPEN)
		sw_set_ask(set);
	else if (state == SW_SET_DECLARED || state == SW_SET_OPENING)
		sw_set_wish(set, word);
}

/* A difference of two readings may lack what was not counted between them. */
static s64 __maybe_unused sw_set_if_whole(unsigned int slot, s64 v)
{
	if (slot >= SW_MAX_SLOTS ||
	    likely(!(atomic64_read(&sw_sets.throttled) >> slot & 1)))
		return v;
	sw_withheld(stopped);
	return SW_NONE;
}

static s64 __maybe_unused sw_set_reading(unsigned int slot,
					 s64 (*read)(unsigned int slot))
{
	if (slot >= SW_MAX_SLOTS)
		return SW_MISSING;
	return sw_is_running() ? sw_set_if_whole(slot, read(slot)) : SW_NONE;
}

/*
 * A set by its name, or an event of one: macros, since `CONTEXT' is only known in
 * the tapset's functions.
 */
#define SW_SET_WRONG(function, format, ...) do {			\
	snprintf(CONTEXT->error_buffer, MAXSTRINGLEN,			\
		 "stapwatch: " function "(): " format, __VA_ARGS__);	\
	CONTEXT->last_error = CONTEXT->error_buffer;			\
} while (0)

#define SW_SET_NAMED(function, name) ({					\
	unsigned int set_ = sw_set_find(name);				\
									\
	if (!set_)							\
		SW_SET_WRONG(function, "there is no set %.32s; pmu_set() makes one", \
			     name);					\
	set_; })

#define SW_SET_EVENT(function, name, event) ({				\
	unsigned int of_ = SW_SET_NAMED(function, name);		\
	unsigned int slot_ = of_ ? sw_set_slot(of_, event)		\
				 : SW_MAX_SLOTS;			\
									\
	if (of_ && !sw_set_has(of_, event))				\
		SW_SET_WRONG(function, "set %.32s has no event %.64s",	\
			     name, event);				\
	slot_; })

#endif
