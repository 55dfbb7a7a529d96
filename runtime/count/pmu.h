/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters: which events this session counts, and this CPU's count of each.
 *
 * An event that a script uses gets a slot, and for each CPU a pinned counting
 * perf event.  (`tsc' needs none: it is read from the processor.)  A slot's
 * 64-bit count on a CPU never goes back: when a CPU comes back from offline it
 * gets a new perf event, on top of what the one before had counted.  A PMU may be of
 * some CPUs only: of a kind of core, or of those that stand for a socket.  On others
 * the event is absent: it has no counter there, and no reading has a value.
 *
 * Who may run what, against whom:
 *
 *   sw_now(c, slot, &v), sw_now_or_shut()
 *				on CPU c, interrupts off, c->busy held; any context
 *   sw_read_cpu(slot)		any context, NMI included
 *   sw_pmu_cpu_open(), sw_pmu_open(), sw_pmu_fill(), sw_pmu_close()
 *				sleepable, under sw_session_lock
 *
 * What cpu.h's busy flag cannot show is perf's own update of a counter that it
 * takes off the PMU for a moment, and a counter that the PMU has given up; then
 * the event is marked stopped, or not on this CPU, and we have no value either.
 */
#ifndef STAPWATCH_COUNT_PMU_H
#define STAPWATCH_COUNT_PMU_H

#include "base/compat.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/nmi.h"
#include "count/chosen.h"
#include "count/cpu.h"
#include "count/event.h"
#include "count/perf.h"
#include "count/sysfs.h"
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

struct sw_pair {
	struct sw_counter of[2];
};

/* Of a slot whose set was deleted. */
#define SW_SET_FREE 0xff

static struct {
	unsigned int slots;
	const struct sw_event *event[SW_MAX_SLOTS];
	struct sw_pair __percpu *pairs[SW_MAX_SLOTS];
	u8 set[SW_MAX_SLOTS];	/* whose slot it is; 0: it counts always */
	u64 period[SW_MAX_SLOTS];	/* after which it overflows; or 0 */
	perf_overflow_handler_t on_overflow;
	u64 in_sets;		/* bit per slot that is one of a set */
	u64 everywhere;		/* ... whose PMU is of all CPUs */
	u64 locking;		/* ... whose PMU's driver may take a lock */
	/* what the script has stopped: all; bit per set; ... or does not sample */
	bool stopped;
	atomic_t sets_stopped, sets_unsampled;
} sw_pmu;

static __always_inline bool sw_slot_is_tsc(unsigned int slot)
{
	return !sw_pmu.pairs[slot];
}

/* What a counter stood at when it was last brought up to date. */
static u64 sw_last(const struct sw_counter *k)
{
	/* another CPU's may be shut meanwhile: who reads it looks at its gate after */
	struct perf_event *e = READ_ONCE(k->event);

	return READ_ONCE(k->before) + (e ? local64_read(&e->count) : 0);
}

/* Not where the driver may have its lock. */
static s64 sw_now_by_driver(const struct sw_counter *k)
{
	if (!sw_can_call_drivers(this_cpu_ptr(&sw_cpus))) {
		sw_withheld(locked);
		return SW_NONE;
	}
	if (READ_ONCE(k->event->hw.state) & PERF_HES_STOPPED) {
		sw_withheld(stopped);
		return SW_NONE;
	}
	k->event->pmu->read(k->event);
	return sw_last(k);
}

static noinline s64 sw_now_off_pmu(const struct sw_counter *k)
{
	if (k->absent) {
		sw_withheld(absent);
		return SW_NONE;
	}
	if (k->shut == SW_SHUT_INACTIVE) {
		sw_withheld(inactive);
		return SW_NONE;
	}
	if (k->shut)
		return k->before;
	if (k->cpu < 0 && k->event &&
	    READ_ONCE(k->event->oncpu) == smp_processor_id())
		return sw_now_by_driver(k);
	/*
	 * On a CPU that is going down, or is not quite up, the counter is off
	 * the PMU for good and what it counted stands.  Elsewhere it is about
	 * to be put back, or failed.
	 */
	if (!sw_cpu_is_chosen(smp_processor_id())) {
		sw_withheld(elsewhere);
		return SW_NONE;
	}
	if (!k->event || cpu_active(smp_processor_id()) || sw_in_nmi()) {
		sw_withheld(stopped);
		return SW_NONE;
	}
	return sw_last(k);
}

/**
 * sw_now_from - this CPU's count of a slot, added to FROM
 *
 * Context: any, on this CPU, interrupts off, c->busy held.
 * Return: false when there is no right value at this moment.
 */
static __always_inline bool
sw_now_from(struct sw_cpu *c, unsigned int slot, u64 from, u64 *v)
{
	const struct sw_counter *k = sw_counter_of(c, slot);
	struct perf_event *e;
	s64 rare;

	if (!k) {
		*v = from + sw_tsc();
		return true;
	}
	e = k->event;
	if (unlikely(!e || READ_ONCE(e->oncpu) != k->cpu)) {
		rare = sw_now_off_pmu(k);
	} else if (unlikely(READ_ONCE(e->hw.state) & PERF_HES_STOPPED)) {
		/* nor is it known whether it will ever count again */
		sw_withheld(stopped);
		rare = SW_NONE;
	} else {
		from += k->before;
		e->pmu->read(e);
		*v = from + local64_read(&e->count);
		return true;
	}
	*v = from + rare;
	return rare != SW_NONE;
}

/* sw_now - this CPU's count of a slot; see above */
static __always_inline bool
sw_now(struct sw_cpu *c, unsigned int slot, u64 *v)
{
	return sw_now_from(c, slot, 0, v);
}

/* Has this CPU no such event? */
static bool sw_is_absent(const struct sw_cpu *c, unsigned int slot)
{
	const struct sw_counter *k = sw_counter_of(c, slot);

	return k && k->absent;
}

/* The same for what goes over all slots: if the gate is shut, what it shut at,
 * whatever it shut for.  What is absent nobody has asked for. */
static __always_inline bool
sw_now_or_shut(struct sw_cpu *c, unsigned int slot, u64 *v)
{
	const struct sw_counter *k = sw_counter_of(c, slot);

	if (unlikely(k && k->shut)) {
		*v = k->before;
		return true;
	}
	return !sw_is_absent(c, slot) && sw_now(c, slot, v);
}

/* Would a reading of the slot be withheld, since its set does not count? */
static bool sw_is_inactive(const struct sw_cpu *c, unsigned int slot)
{
	const struct sw_counter *k = sw_counter_of(c, slot);

	return k && k->shut == SW_SHUT_INACTIVE;
}

/**
 * sw_read_cpu - this CPU's count of a slot, in any handler
 * Context: any.
 * Return: the count, or SW_NONE.
 */
static s64 __maybe_unused sw_read_cpu(unsigned int slot)
{
	unsigned long flags;
	struct sw_cpu *c;
	u64 v;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	if (!sw_now(c, slot, &v))
		v = SW_NONE;
	sw_leave(c, flags);
	return v;
}

/* Not so when its CPU went offline.  The events of a set are off most of the
 * time; but when their CPU goes, perf takes them out of its context. */
static bool sw_pmu_is_live(unsigned int slot, const struct sw_counter *k)
{
	if (!k->opened)
		return false;
	if (sw_pmu.set[slot])
		return READ_ONCE(k->opened->attach_state) & PERF_ATTACH_CONTEXT;
	return sw_pmu_is_on(k->opened);
}

/*
 * Is that counter the CPU's own?  A socket's PMU gives its event to the CPU that
 * stands for the socket, or is one that any CPU could read.
 */
static bool
sw_pmu_is_at(unsigned int slot, const struct perf_event *e, int cpu)
{
	bool all, at;

	/* what all CPUs have */
	if (sw_pmu.event[slot]->type < PERF_TYPE_RAW ||
	    sw_pmu.everywhere >> slot & 1)
		return true;
	if (e->cpu != cpu)
		return false;
	at = sw_sysfs_is_at(e->pmu->name, cpu, &all);
	if (all)
		sw_pmu.everywhere |= SW_SLOT_BIT(slot);
	return at;
}

/* The event of a CPU.  Return: -ENOENT: it has no such event. */
static struct perf_event *sw_pmu_cpu_event(unsigned int slot, int cpu)
{
	struct perf_event *e = sw_pmu_counter_every(sw_pmu.event[slot], cpu,
						    sw_pmu.set[slot],
						    sw_pmu.period[slot],
						    sw_pmu.on_overflow);

	if (!IS_ERR(e) && !sw_pmu_is_at(slot, e, cpu)) {
		perf_event_release_kernel(e);
		return ERR_PTR(-ENOENT);
	}
	return sw_pmu.set[slot] ? e : sw_pmu_checked(e);
}

/* What a counter of a CPU stands at that its gate may just be changing. */
static u64 sw_pmu_last_on(const struct sw_cpu *c, const struct sw_counter *k)
{
	u32 seq;
	u64 v;

	do {
		/* with sw_gate_apply() */
		seq = smp_load_acquire(&c->gate_seq);
		v = sw_last(k);
		/* with its smp_wmb() */
		smp_rmb();
	} while (seq & 1 || READ_ONCE(c->gate_seq) != seq);
	return v;
}

/**
 * sw_pmu_cpu_open - give an online CPU its counter of a slot
 * @for_good: nobody asks once more if perf refuses
 *
 * It goes on from where the CPU's last one stopped, for good.
 */
static int sw_pmu_cpu_open(unsigned int slot, int cpu, bool for_good)
{
	struct sw_pair *pair = per_cpu_ptr(sw_pmu.pairs[slot], cpu);
	struct sw_cpu *c = per_cpu_ptr(&sw_cpus, cpu);
	const struct sw_counter *old = sw_counter_of(c, slot);
	struct sw_counter *new = &pair->of[old == &pair->of[0]];
	struct perf_event *e = sw_pmu_cpu_event(slot, cpu);
	int rc = PTR_ERR_OR_ZERO(e);

	/* who reads may still be at the one before */
	if (rc == -ENOENT && old->absent)
		return rc;
	new->absent = rc == -ENOENT;
	/* one that is offline will be back */
	new->refused = for_good && rc && rc != -ENOENT &&
		       (rc != -ENODEV || cpu_online(cpu));
	new->opened = IS_ERR(e) ? NULL : e;
	if (!rc && e->pmu->task_ctx_nr == perf_invalid_context)
		sw_pmu.locking |= SW_SLOT_BIT(slot);
	/* none that perf's oncpu ever is, where that is not enough */
	new->cpu = rc || sw_pmu.locking >> slot & 1 ? -2 : cpu;
	if (sw_pmu.set[slot])
		new->shut = SW_SHUT_INACTIVE;
	else
		new->shut = READ_ONCE(sw_pmu.stopped) ? SW_SHUT_STOPPED : 0;
	new->event = new->shut ? NULL : new->opened;
	new->before = sw_pmu_last_on(c, old);
	/* with sw_now_from() on that CPU, which goes on by this address */
	smp_store_release(&c->counter[slot], new);
	return rc;
}

/* Release the events of counters that others have taken the place of. */
static void sw_pmu_sweep(void)
{
	unsigned int slot;
	int cpu;

	/* their last readers have interrupts off */
	synchronize_rcu();
	for (slot = 0; slot < sw_pmu.slots; slot++) {
		if (sw_slot_is_tsc(slot))
			continue;
		for_each_possible_cpu(cpu) {
			struct sw_pair *pair =
				per_cpu_ptr(sw_pmu.pairs[slot], cpu);
			struct sw_counter *old = &pair->of[
				sw_counter_of(&per_cpu(sw_cpus, cpu), slot) ==
				&pair->of[0]];

			if (old->opened)
				perf_event_release_kernel(old->opened);
			old->opened = NULL;
			old->event = NULL;
		}
	}
}

/* Does any CPU have its counter? */
static bool sw_pmu_has(unsigned int slot)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (sw_counter_of(&per_cpu(sw_cpus, cpu), slot)->opened)
			return true;
	return false;
}

/**
 * sw_pmu_fill - counters for those online CPUs that have none
 * @may_wait: software events too: perf waits, in setting them up, for any CPU
 *	that is on its way up; and those of PMUs that may be of some CPUs, as sysfs
 *	says, which is no file for a callback of CPU hotplug
 * @wanted: whose failure is told: that slot's, or, SW_MAX_SLOTS, any one's
 * @slot_failed: the slot of the failure that is told
 * Return: the last failure, or 0.
 */
static int sw_pmu_fill(bool may_wait, unsigned int wanted,
		       unsigned int *slot_failed)
{
	unsigned int i, slot;
	int cpu, rc, slot_rc, failed = 0;
	bool replaced = false, absent;

	/* those of sets after the others: where the PMU is full perf gives its
	 * counters to those that were there first */
	for (i = 0; i < 2 * sw_pmu.slots; i++) {
		slot = i % sw_pmu.slots;
		if (!!sw_pmu.set[slot] != (i >= sw_pmu.slots))
			continue;
		if (sw_slot_is_tsc(slot) || sw_pmu.set[slot] == SW_SET_FREE ||
		    (!may_wait &&
		     (sw_pmu.event[slot]->type == PERF_TYPE_SOFTWARE ||
		      (sw_pmu.event[slot]->type >= PERF_TYPE_RAW &&
		       !(sw_pmu.everywhere >> slot & 1)))))
			continue;
		absent = false;
		slot_rc = 0;
		sw_for_each_online_cpu(cpu) {
			const struct sw_counter *k =
				sw_counter_of(&per_cpu(sw_cpus, cpu), slot);

			if (!sw_cpu_is_chosen(cpu) || sw_pmu_is_live(slot, k))
				continue;
			replaced |= !!k->opened;
			rc = sw_pmu_cpu_open(slot, cpu, may_wait);
			absent |= rc == -ENOENT;
			/* gone offline meanwhile; it will be back */
			if (!rc || rc == -ENODEV || rc == -ENOENT)
				continue;
			slot_rc = rc;
		}
		/* a hole is no failure; that there is nothing else is */
		if (absent && !sw_pmu_has(slot))
			slot_rc = -ENOENT;
		if (slot_rc && (wanted == SW_MAX_SLOTS || wanted == slot)) {
			failed = slot_rc;
			*slot_failed = slot;
		}
	}
	if (replaced)
		sw_pmu_sweep();
	return failed;
}

/**
 * sw_pmu_renew - other perf events for a set's slot, which are after all others
 *
 * While nobody reads and nobody switches.
 */
static void sw_pmu_renew(unsigned int slot)
{
	struct sw_counter *k;
	struct perf_event *e;
	int cpu;

	sw_for_each_online_cpu(cpu) {
		k = (struct sw_counter *)sw_counter_of(&per_cpu(sw_cpus, cpu),
						       slot);
		if (!k->opened)
			continue;
		e = sw_pmu_counter_every(sw_pmu.event[slot], cpu, true,
					 sw_pmu.period[slot],
					 sw_pmu.on_overflow);
		if (IS_ERR(e))
			continue;
		perf_event_release_kernel(k->opened);
		k->opened = e;
	}
}

/* Does what counts always do so on that CPU, or has something taken its counter? */
static bool sw_pmu_counts(int cpu)
{
	const struct sw_counter *k;
	unsigned int slot;

	for (slot = 0; slot < sw_pmu.slots; slot++) {
		k = sw_counter_of(&per_cpu(sw_cpus, cpu), slot);
		if (!sw_pmu.set[slot] && k && k->opened &&
		    !sw_pmu_is_on(k->opened))
			return false;
	}
	return true;
}

static void sw_pmu_drop(unsigned int slot)
{
	int cpu;

	if (sw_slot_is_tsc(slot))
		return;
	for_each_possible_cpu(cpu) {
		struct sw_cpu *c = per_cpu_ptr(&sw_cpus, cpu);
		const struct sw_counter *k = sw_counter_of(c, slot);

		if (k->opened)
			perf_event_release_kernel(k->opened);
		c->counter[slot] = NULL;
	}
	free_percpu(sw_pmu.pairs[slot]);
	sw_pmu.pairs[slot] = NULL;
	sw_pmu.set[slot] = 0;
	sw_pmu.in_sets &= ~SW_SLOT_BIT(slot);
	sw_pmu.locking &= ~SW_SLOT_BIT(slot);
	sw_pmu.everywhere &= ~SW_SLOT_BIT(slot);
}

static void sw_pmu_close(void)
{
	while (sw_pmu.slots)
		sw_pmu_drop(--sw_pmu.slots);
	sw_pmu.stopped = false;
	atomic_set(&sw_pmu.sets_stopped, 0);
}

/* A counter of a set's slot that has counted nothing and is nobody's. */
static void sw_pmu_blank(unsigned int slot)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sw_pair *pair = per_cpu_ptr(sw_pmu.pairs[slot], cpu);
		struct sw_cpu *c = per_cpu_ptr(&sw_cpus, cpu);
		struct sw_counter *new =
			&pair->of[sw_counter_of(c, slot) == &pair->of[0]];

		*new = (struct sw_counter) { .shut = SW_SHUT_INACTIVE };
		/* as in sw_pmu_cpu_open() */
		smp_store_release(&c->counter[slot], new);
	}
}

/**
 * sw_pmu_free - the slots of a set that nothing counts any more may be another's
 *
 * Their counters are gone; of sums of threads see sw_set_forget_sums().
 */
static void sw_pmu_free(unsigned int set)
{
	unsigned int slot;

	for (slot = 0; slot < sw_pmu.slots; slot++) {
		if (sw_pmu.set[slot] != set)
			continue;
		WRITE_ONCE(sw_pmu.set[slot], SW_SET_FREE);
		sw_pmu_blank(slot);
	}
	/* which waits for readers: once for all of them */
	sw_pmu_sweep();
}

/* A set's slot, whose event cannot be had: readers may have seen it by now. */
static void sw_pmu_give_back(unsigned int slot)
{
	WRITE_ONCE(sw_pmu.set[slot], SW_SET_FREE);
	/* who reads may still be at the counters before those that were opened */
	synchronize_rcu();
	sw_pmu_blank(slot);
	sw_pmu_sweep();
}

/* A slot that was a deleted set's, or the next one. */
static unsigned int sw_pmu_slot_for(unsigned int set)
{
	unsigned int slot;

	for (slot = 0; set && slot < sw_pmu.slots; slot++)
		if (sw_pmu.set[slot] == SW_SET_FREE)
			return slot;
	return sw_pmu.slots;
}

/**
 * sw_pmu_open - count an event on every online CPU
 * @set: the set that the counters are for, and which has them off; 0: none
 * @period: after how many of them sw_pmu.on_overflow() is called; 0: never
 * Return: the slot, or -ENOENT and the like as perf said it, -ENOSPC when the
 * PMU has no counter left for it, -EIO when it does not start it, -E2BIG when the
 * script has too many events.
 */
static int sw_pmu_open(const struct sw_event *ev, bool is_tsc,
		       unsigned int set, u64 period)
{
	unsigned int slot = sw_pmu_slot_for(set), slot_failed;
	bool again = slot < sw_pmu.slots;
	int cpu, rc;

	if (slot == SW_MAX_SLOTS)
		return -E2BIG;
	sw_pmu.event[slot] = ev;
	sw_pmu.period[slot] = period;
	if (again) {
		sw_pmu.locking &= ~SW_SLOT_BIT(slot);
		sw_pmu.everywhere &= ~SW_SLOT_BIT(slot);
		WRITE_ONCE(sw_pmu.set[slot], set);
		/* what another one lacks on a CPU that has come its work tells */
		rc = sw_pmu_fill(true, slot, &slot_failed);
		if (rc)
			sw_pmu_give_back(slot);
		return rc ?: slot;
	}
	sw_pmu.set[slot] = set;
	if (set)
		sw_pmu.in_sets |= SW_SLOT_BIT(slot);
	sw_pmu.pairs[slot] = NULL;
	if (!is_tsc) {
		sw_pmu.pairs[slot] = alloc_percpu(struct sw_pair);
		if (!sw_pmu.pairs[slot])
			return -ENOMEM;
		for_each_possible_cpu(cpu) {
			struct sw_pair *pair =
				per_cpu_ptr(sw_pmu.pairs[slot], cpu);

			pair->of[0].shut = set ? SW_SHUT_INACTIVE : 0;
			per_cpu(sw_cpus, cpu).counter[slot] = &pair->of[0];
		}
	}
	/* with smp_load_acquire() of it on CPUs that count, where no thread is
	 * watched yet; from here on, CPUs that come online open it themselves */
	smp_store_release(&sw_pmu.slots, slot + 1);
	rc = sw_pmu_fill(true, slot, &slot_failed);
	/* handlers may declare sets, and these are opened while others read */
	if (rc && set) {
		sw_pmu_give_back(slot);
	} else if (rc) {
		/* with sw_gate_apply(), which an interrupt does as soon as it can */
		smp_store_release(&sw_pmu.slots, slot);
		synchronize_rcu();
		sw_pmu_drop(slot);
	}
	return rc ?: slot;
}

#endif
