/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Overflows that switch sets.
 *
 * A set's own counter counts, and overflows after each PERIOD; perf's event is made for
 * both (count/pmu.h).  Only where sets lack the event that pmu_switch_every() names there
 * is one more on each CPU, which counts nothing for anybody.
 *
 * Who may run what, against whom:
 *
 *   sw_set_on_overflow()	an overflow, NMI included
 *   sw_set_overflows_anew(), sw_set_overflow_on(), _off(), sw_set_say_throttled()
 *				sleepable; p->lock is held, or no CPU switches yet
 *   sw_set_overflow_open(), _close()	sleepable
 */
#ifndef STAPWATCH_SET_OVERFLOW_H
#define STAPWATCH_SET_OVERFLOW_H

#include "count/cpu.h"
#include "count/event.h"
#include "count/perf.h"
#include "count/pmu.h"
#include "set/cpu.h"
#include "set/rules.h"
#include "set/set.h"
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>

/* Which of a set's events that is, of this CPU; or SW_SET_EVENTS. */
static unsigned int sw_set_event_of(const struct sw_cpu *c, unsigned int set,
				    const struct perf_event *event)
{
	const struct sw_set *s = &sw_sets.of[set];
	unsigned int i, slot;

	for (i = 0; i < s->nr; i++) {
		/* which the opener takes away */
		slot = READ_ONCE(s->slot[i]);
		if (slot < SW_MAX_SLOTS &&
		    sw_counter_of(c, slot)->opened == event)
			return i;
	}
	return SW_SET_EVENTS;
}

/* Perf stops a counter whose interrupts are too many, up to the next tick: what its set
 * counts misses some of the set's time, or will, if it is about to become active. */
static void
sw_set_throttled(struct sw_set_cpu *p, const struct perf_event *event)
{
	const struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	unsigned int set, i = SW_SET_EVENTS, slot;

	for (set = 1; set < SW_MAX_SETS && i == SW_SET_EVENTS; set++)
		i = sw_set_event_of(c, set, event);
	if (i == SW_SET_EVENTS)
		return;
	set--;
	slot = READ_ONCE(sw_sets.of[set].slot[i]);
	if (slot >= SW_MAX_SLOTS)
		return;
	sw_set_lose(p, SW_SLOT_BIT(slot));
	atomic64_or(SW_SLOT_BIT(slot), &sw_sets.throttled);
	WRITE_ONCE(p->throttled_event, i);
	WRITE_ONCE(p->throttled, set);
}

static void sw_set_on_overflow(struct perf_event *event,
			       struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	const unsigned int set = this_cpu_read(sw_cpus.set);
	u64 limit;
	unsigned int i;

	/* before that nothing is counted, and after it slots go; with sw_sets_let_go() */
	if (!READ_ONCE(sw_sets.running))
		return;
	if (unlikely(event->hw.interrupts == U64_MAX))
		sw_set_throttled(p, event);
	if (!set)
		return;
	i = sw_set_event_of(this_cpu_ptr(&sw_cpus), set, event);
	if (i < SW_SET_EVENTS) {
		WRITE_ONCE(p->overflowed[set], i + 1);
		limit = sw_set_overflows(set, i);
	} else {
		limit = sw_set_wants_other(set) ?
			READ_ONCE(sw_sets.rules.overflows) : 0;
	}
	/* once for a run; a set that was alone is followed when there is another one */
	if (++p->overflows[i] >= (limit ?: U64_MAX) && READ_ONCE(p->to) == set)
		sw_set_ask_next();
}

/**
 * sw_set_overflow_open - the event whose overflows are counted, on a CPU, where a set has
 * no counter of it
 *
 * Before those of the sets: of events that software counts perf goes from the
 * newest to the oldest, so that they have counted what overflows.
 *
 * Return: 0, or what perf said.
 */
static int sw_set_overflow_open(int cpu)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);
	struct perf_event *e, *old = READ_ONCE(p->overflow);

	if (!sw_sets.others ||
	    (old && READ_ONCE(old->attach_state) & PERF_ATTACH_CONTEXT))
		return 0;
	/* pinned as those of the sets: perf keeps to the order of each kind */
	e = sw_pmu_counter_every(sw_sets.rules.event, cpu, true,
				 sw_sets.rules.period, sw_set_on_overflow);
	if (IS_ERR(e))
		return PTR_ERR(e);
	/* not around all of that: perf waits for CPUs, and those for the lock */
	mutex_lock(&p->lock);
	old = p->overflow;
	p->overflow = e;
	mutex_unlock(&p->lock);
	if (old)
		perf_event_release_kernel(old);
	return 0;
}

/*
 * What overflows of the set's own counters begins anew; perf does so for those that are
 * off, as software's events go on from what they had left.
 *
 * Return: bit per event whose overflows switch, and with *LACKS those that have no counter.
 */
static u32 sw_set_overflows_anew(const struct sw_set_cpu *p, unsigned int set,
				 int cpu, u32 *lacks)
{
	const struct sw_set *s = &sw_sets.of[set];
	struct perf_event *e;
	unsigned int i;
	u64 period;
	u32 all = 0;

	*lacks = 0;
	for (i = 0; i < s->nr; i++) {
		if (!sw_set_overflows(set, i))
			continue;
		all |= 1U << i;
		e = sw_set_perf_event(cpu, s->slot[i]);
		period = e ? sw_pmu.period[s->slot[i]] : 0;
		if (!period) {
			*lacks |= 1U << i;
			continue;
		}
		if (set == p->on)
			perf_event_disable(e);
		perf_event_period(e, period);
		if (set == p->on)
			perf_event_enable(e);
	}
	return all;
}

/*
 * The event whose overflows are counted begins anew.  It may take a counter from the
 * set's own, so those are looked at after that.
 *
 * Return: false: it has no counter itself.
 */
static bool sw_set_overflow_on(struct sw_set_cpu *p, unsigned int set)
{
	if (!p->overflow || !sw_set_wants_other(set))
		return true;
	/* which begins anew by that */
	perf_event_period(p->overflow, sw_sets.rules.period);
	perf_event_enable(p->overflow);
	return sw_pmu_is_on(p->overflow);
}

static void sw_set_overflow_off(struct sw_set_cpu *p)
{
	if (p->overflow)
		perf_event_disable(p->overflow);
}

/* In the thread, of what the handler of an overflow must not say. */
static void sw_set_say_throttled(struct sw_set_cpu *p, int cpu)
{
	const unsigned int set = READ_ONCE(p->throttled) ?
				 xchg(&p->throttled, 0) : 0;
	struct sw_set *s = &sw_sets.of[set];

	if (set && !xchg(&s->throttled, true))
		_stp_warn("stapwatch: set %s: perf stopped event %s on CPU %d, as it overflowed too often; its counts are withheld\n",
			  s->name,
			  s->event[READ_ONCE(p->throttled_event)]->name, cpu);
}

static void sw_set_overflow_lacks(int cpu)
{
	static bool warned;

	if (!xchg(&warned, true))
		_stp_warn("stapwatch: the event of overflow:... found no counter on CPU %d; sets are not switched by it there\n",
			  cpu);
}

/* Nobody switches that CPU any more. */
static void sw_set_overflow_close(int cpu)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);

	if (p->overflow)
		perf_event_release_kernel(p->overflow);
	p->overflow = NULL;
}

#endif
