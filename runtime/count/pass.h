/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pass: all slots of a CPU are read in one go.
 *
 * Who may run what, against whom: all of it on CPU C, interrupts off, c->busy held;
 * sw_pass() holds it itself.
 */
#ifndef STAPWATCH_COUNT_PASS_H
#define STAPWATCH_COUNT_PASS_H

#include "base/access.h"
#include "base/kernel.h"
#include "base/nmi.h"
#include "count/chosen.h"
#include "count/cpu.h"
#include "count/entry.h"
#include "count/pmu.h"

/* Are these sums not a thread's, but its CPU's? */
static bool sw_is_own(const struct sw_cpu *c, const u64 *sum)
{
	return sum == c->nobody || sum == c->hit.cpu || sum == c->call.cpu;
}

/* A slot of those sums was not counted. */
static void sw_hole_of(const struct sw_cpu *c, u64 *sum, unsigned int slot)
{
	if (!sw_is_own(c, sum))
		sw_hole(container_of(sum, struct sw_thread, sum[0]), slot);
}

/*
 * The value of counter K, which a pass finds off the PMU, at its place AT; FROM and TO are
 * where the pass is in the sums.  It has no more at hand, which saves it spills.
 */
static noinline u64
sw_now_hole(const struct sw_counter *k, const struct sw_counter **at,
	    u64 *from, u64 *to)
{
	const struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	unsigned int slot = at - c->counter;
	u64 *out = from - slot, *in = to - slot;

	if (k->shut)
		return k->before;
	/* a reading's, which leaves it to who asks for that slot */
	if (sw_is_own(c, out) && sw_is_own(c, in))
		return sw_last(k);
	if (!sw_cpu_is_chosen(smp_processor_id()) || k->absent ||
	    sw_now_off_pmu(k) == SW_NONE) {
		sw_hole_of(c, out, slot);
		sw_hole_of(c, in, slot);
	}
	return sw_last(k);
}

/*
 * Read all slots once: add what each stands at to FROM, and take it from TO, which
 * are sums of a thread, or C's own; CUR is its thread from now on.  Of all slots in one go
 * and by these instructions alone, for a switch as for a reading: what lies between two
 * counters' readings is the same at both, so it is in no difference.
 *
 * It holds the busy flag itself, also where it is held already: a switch has nothing to
 * do after it.  Each switch would have an instruction more for who traces functions.
 *
 * No switch comes in the middle of what perf does to a counter: it is on the PMU or
 * off, and in both cases up to date.  Who may come there asks sw_passable() first.
 */
static noinline notrace void
sw_pass(struct sw_cpu *c, u64 *from, u64 *to, struct sw_thread *cur)
{
	const struct sw_counter **at = c->counter;
	/* with smp_store_release() in sw_pmu_open(): their counters are there */
	const struct sw_counter **end = at + smp_load_acquire(&sw_pmu.slots);
	const struct sw_counter *k;
	struct perf_event *e;
	u64 now;

	raw_cpu_inc(sw_cpus.busy);
	barrier();
	c->cur = cur;
	do {
		k = READ_ONCE(*at);
		if (!k) {
			now = sw_tsc();
		} else {
			e = k->event;
			if (likely(e && READ_ONCE(e->oncpu) ==
					smp_processor_id())) {
				e->pmu->read(e);
				now = k->before + local64_read(&e->count);
			} else {
				now = sw_now_hole(k, at, from, to);
			}
		}
		*from++ += now;
		*to++ -= now;
	} while (++at < end);
	barrier();
	raw_cpu_dec(sw_cpus.busy);
}

/*
 * Which slots can be read by a pass: those that count on this CPU's PMU.  One that
 * is shut, or has no counter, is none of them.
 * Return: a bit per slot; 0 where an NMI may have interrupted what changes one, or what
 * runs here may hold a driver's lock.
 */
static u64 sw_passable(const struct sw_cpu *c, unsigned int slots)
{
	const struct sw_counter *const *at = c->counter;
	const struct sw_counter *const *end = at + slots;
	const struct perf_event *e;
	u64 bit = 1, found = 0;

	if (unlikely(READ_ONCE(sw_pmu.locking)) && !sw_can_call_drivers(c))
		return 0;
	for (; at < end; at++, bit <<= 1) {
		const struct sw_counter *k = READ_ONCE(*at);

		if (!k) {
			found |= bit;
			continue;
		}
		if (k->shut || k->absent)
			continue;
		e = k->event;
		if (likely(e && READ_ONCE(e->oncpu) == smp_processor_id() &&
			   !(READ_ONCE(e->hw.state) & PERF_HES_STOPPED)))
			found |= bit;
		else if (sw_in_nmi())
			return 0;
	}
	return found;
}

#endif
