/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters: which events this session counts, and this CPU's count of each.
 *
 * An event that a script uses gets a slot, and for each CPU a pinned counting
 * perf event.  (`tsc' needs none: it is read from the processor.)  A slot's
 * 64-bit count on a CPU never goes back: when a CPU comes back from offline it
 * gets a new perf event, on top of what the one before had counted.
 *
 * Who may run what, against whom:
 *
 *   sw_now(c, slot, &v)	on CPU c, interrupts off, c->busy held; any context
 *   sw_read_cpu(slot)		any context, NMI included
 *   sw_pmu_cpu_open(), sw_pmu_open(), sw_pmu_fill(), sw_pmu_close()
 *				sleepable, under sw_session.lock
 *   sw_native_declare()	begin probes, before the session
 *
 * c->busy: reading a counter takes two steps in every PMU driver (move the
 * last hardware value up, then add the difference to the count), and switching
 * threads takes several here.  An NMI between them would see half of it.
 * So whoever does either holds this CPU's busy flag, with interrupts off, and
 * whoever finds it held (an NMI, or a probe on a function that we call) says
 * that it has no value: SW_NONE, counted in c->nested.  What the flag cannot
 * show is perf's own update of a counter that it takes off the PMU for a
 * moment; then the event is marked stopped and not yet up to date, or not on
 * this CPU, and we have no value either.
 */
#ifndef STAPWATCH_PMU_H
#define STAPWATCH_PMU_H

#include "compat.h"
#include "clock.h"
#include <linux/cpu.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

/* Distinct events in one script.  More than any PMU has counters. */
#define SW_MAX_SLOTS 32

/* What a reading is when there is none.  No count comes near: 2^63 ns are 292
 * years.  SW_MISSING: this machine cannot count the event, and the user said
 * to go on.  SW_NONE: there is no right value just now. */
#define SW_NONE ((s64)(1ULL << 63))
#define SW_MISSING (SW_NONE + 1)

/* struct sw_event's flags; the `stapwatch' command knows them too */
#define SW_EXCLUDE_USER 1
#define SW_EXCLUDE_KERNEL 2
#define SW_EXCLUDE_HV 4
#define SW_EXCLUDE_IDLE 8
#define SW_EXCLUDE_HOST 16
#define SW_EXCLUDE_GUEST 32
#define SW_PRECISE_SHIFT 6	/* two bits */
/* a user's count is not the guest's or the hypervisor's */
#define SW_USER_ONLY (SW_EXCLUDE_KERNEL | SW_EXCLUDE_HV)
#define SW_KERNEL_ONLY SW_EXCLUDE_USER

struct sw_event {
	const char *name;
	u32 type;
	u32 flags;
	u64 config;
	u64 config1;
	u64 config2;
	/* where it is sampled */
	u64 sample_type;
	s64 period;		/* samples a second, if negative */
	u64 random;		/* the mask of what is added; 0: not given */
};

/*
 * Events that a script brings, which the table lacks.  `stapwatch' writes the
 * calls that declare them.
 */
#define SW_MAX_NATIVES 64
#define SW_NATIVE_NAME 64
static struct sw_event sw_natives[SW_MAX_NATIVES];
static char sw_native_names[SW_MAX_NATIVES][SW_NATIVE_NAME];

static void __maybe_unused
sw_native_declare(unsigned int n, const char *name, const struct sw_event *ev)
{
	strscpy(sw_native_names[n], name, SW_NATIVE_NAME);
	sw_natives[n] = *ev;
	sw_natives[n].name = sw_native_names[n];
}

/* A slot's counter on one CPU.  Never changed while readers can see it: a CPU
 * that comes online gets the other of its pair. */
struct sw_counter {
	struct perf_event *event;	/* NULL: the CPU could not have one */
	u64 before;			/* counted by those before it */
};

struct sw_cpu {
	unsigned int busy;
	unsigned int irq_depth;
	/* thread virtualisation, see vthread.h */
	struct sw_thread *cur;
	struct task_struct *running;
	/* per slot: where the counts go of a thread that is not watched */
	u64 nobody[SW_MAX_SLOTS];
	/* per slot: NULL means tsc */
	const struct sw_counter *counter[SW_MAX_SLOTS];
	/* values that were withheld, and why */
	unsigned long nested;	/* asked for within a reading or a switch */
	unsigned long stopped;	/* the PMU had the counter stopped */
	unsigned long moved;	/* the call returned on another CPU */
	unsigned long early;	/* the call began before the session */
	unsigned long holed;	/* the thread ran uncounted for a while */
	unsigned long leaving;	/* of a thread between two threads */
	unsigned long undefined;	/* a rate, of nothing to nothing */
	unsigned long full;	/* the thread is not watched: no room */
};

static DEFINE_PER_CPU(struct sw_cpu, sw_cpus);

struct sw_pair {
	struct sw_counter of[2];
};

static struct {
	unsigned int slots;
	const struct sw_event *event[SW_MAX_SLOTS];
	struct sw_pair __percpu *pairs[SW_MAX_SLOTS];
} sw_pmu;

static __always_inline bool sw_slot_is_tsc(unsigned int slot)
{
	return !sw_pmu.pairs[slot];
}

/* Nobody else changes these, but an NMI may add to them in between. */
#define sw_withheld(why) this_cpu_inc(sw_cpus.why)

/* What a counter stood at when it was last brought up to date. */
static u64 sw_last(const struct sw_counter *k)
{
	return k->before + (k->event ? local64_read(&k->event->count) : 0);
}

static noinline s64 sw_now_off_pmu(const struct sw_counter *k)
{
	/*
	 * On a CPU that is going down, or is not quite up, the counter is off
	 * the PMU for good and what it counted stands.  Elsewhere it is about
	 * to be put back, or failed.
	 */
	if (!k->event || cpu_active(smp_processor_id()) || in_nmi()) {
		sw_withheld(stopped);
		return SW_NONE;
	}
	return sw_last(k);
}

static noinline s64
sw_now_stopped(const struct sw_counter *k, struct perf_event *e)
{
	int state = READ_ONCE(e->hw.state);

	if ((state & PERF_HES_STOPPED) && !(state & PERF_HES_UPTODATE)) {
		sw_withheld(stopped);
		return SW_NONE;
	}
	e->pmu->read(e);
	return sw_last(k);
}

/**
 * sw_now_from - this CPU's count of a slot, added to FROM
 *
 * Pointers, not indices, since a kernel with UBSAN checks each index.
 * Context: any, on this CPU, interrupts off, c->busy held.
 * Return: false when there is no right value at this moment.
 */
static __always_inline bool
sw_now_from(struct sw_cpu *c, unsigned int slot, u64 from, u64 *v)
{
	const struct sw_counter *k = READ_ONCE(*(c->counter + slot));
	struct perf_event *e;
	s64 rare;

	if (!k) {
		*v = from + sw_tsc();
		return true;
	}
	e = k->event;
	if (unlikely(!e || READ_ONCE(e->oncpu) != smp_processor_id())) {
		rare = sw_now_off_pmu(k);
	} else if (unlikely(READ_ONCE(e->hw.state))) {
		rare = sw_now_stopped(k, e);
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
	return true;
}

static __always_inline void sw_leave(struct sw_cpu *c, unsigned long flags)
{
	barrier();
	WRITE_ONCE(c->busy, 0);
	local_irq_restore(flags);
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

/* sw_pmu_describe - tell perf what the event counts */
static void
sw_pmu_describe(const struct sw_event *ev, struct perf_event_attr *attr)
{
	attr->type = ev->type;
	attr->config = ev->config;
	attr->config1 = ev->config1;
	attr->config2 = ev->config2;
	attr->exclude_user = !!(ev->flags & SW_EXCLUDE_USER);
	attr->exclude_kernel = !!(ev->flags & SW_EXCLUDE_KERNEL);
	attr->exclude_hv = !!(ev->flags & SW_EXCLUDE_HV);
	attr->exclude_idle = !!(ev->flags & SW_EXCLUDE_IDLE);
	attr->exclude_host = !!(ev->flags & SW_EXCLUDE_HOST);
	attr->exclude_guest = !!(ev->flags & SW_EXCLUDE_GUEST);
	attr->precise_ip = ev->flags >> SW_PRECISE_SHIFT;
}

static struct perf_event *
sw_pmu_counter(const struct sw_event *ev, int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .pinned = 1 };

	sw_pmu_describe(ev, &attr);
	/* how exact a sample is has nothing to do with the count */
	attr.precise_ip = 0;
	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/* Not so when its CPU went offline, nor when a pinned event found no free
 * counter, which perf says no other way. */
static bool sw_pmu_is_live(const struct sw_counter *k)
{
	return k->event &&
	       READ_ONCE(k->event->state) >= PERF_EVENT_STATE_INACTIVE;
}

/**
 * sw_pmu_cpu_open - give an online CPU its counter of a slot
 *
 * It goes on from where the CPU's last one stopped, for good.
 */
static int sw_pmu_cpu_open(unsigned int slot, int cpu)
{
	struct sw_pair *pair = per_cpu_ptr(sw_pmu.pairs[slot], cpu);
	struct sw_cpu *c = per_cpu_ptr(&sw_cpus, cpu);
	const struct sw_counter *old = c->counter[slot];
	struct sw_counter *new = &pair->of[old == &pair->of[0]];
	struct perf_event *e;

	e = sw_pmu_counter(sw_pmu.event[slot], cpu);
	new->event = IS_ERR(e) ? NULL : e;
	if (!IS_ERR(e) && !sw_pmu_is_live(new)) {
		perf_event_release_kernel(e);
		e = ERR_PTR(-ENOSPC);
		new->event = NULL;
	}
	new->before = sw_last(old);
	smp_store_release(&c->counter[slot], new);
	if (old->event) {
		/* readers have interrupts off */
		synchronize_rcu();
		perf_event_release_kernel(old->event);
	}
	return PTR_ERR_OR_ZERO(e);
}

/**
 * sw_pmu_fill - counters for those online CPUs that have none
 * @may_wait: software events too: perf waits, in setting them up, for any CPU
 *	that is on its way up
 * Return: the last failure, or 0; @slot_failed is its slot.
 */
static int sw_pmu_fill(bool may_wait, unsigned int *slot_failed)
{
	unsigned int slot;
	int cpu, rc, failed = 0;

	for (slot = 0; slot < sw_pmu.slots; slot++) {
		if (sw_slot_is_tsc(slot) || (!may_wait &&
		    sw_pmu.event[slot]->type == PERF_TYPE_SOFTWARE))
			continue;
		for_each_online_cpu(cpu) {
			if (sw_pmu_is_live(per_cpu(sw_cpus, cpu).counter[slot]))
				continue;
			rc = sw_pmu_cpu_open(slot, cpu);
			/* gone offline meanwhile; it will be back */
			if (!rc || rc == -ENODEV)
				continue;
			failed = rc;
			*slot_failed = slot;
		}
	}
	return failed;
}

static void sw_pmu_drop(unsigned int slot)
{
	int cpu;

	if (sw_slot_is_tsc(slot))
		return;
	for_each_possible_cpu(cpu) {
		struct sw_cpu *c = per_cpu_ptr(&sw_cpus, cpu);

		if (c->counter[slot]->event)
			perf_event_release_kernel(c->counter[slot]->event);
		c->counter[slot] = NULL;
	}
	free_percpu(sw_pmu.pairs[slot]);
	sw_pmu.pairs[slot] = NULL;
}

static void sw_pmu_close(void)
{
	while (sw_pmu.slots)
		sw_pmu_drop(--sw_pmu.slots);
}

/**
 * sw_pmu_open - count an event on every online CPU
 * Return: the slot, or -ENOENT and the like as perf said it, -ENOSPC when the
 * PMU has no counter left for it, -E2BIG when the script has too many events.
 */
static int sw_pmu_open(const struct sw_event *ev, bool is_tsc)
{
	unsigned int slot = sw_pmu.slots, slot_failed;
	int cpu, rc;

	if (slot == SW_MAX_SLOTS)
		return -E2BIG;
	sw_pmu.event[slot] = ev;
	sw_pmu.pairs[slot] = NULL;
	if (!is_tsc) {
		sw_pmu.pairs[slot] = alloc_percpu(struct sw_pair);
		if (!sw_pmu.pairs[slot])
			return -ENOMEM;
		for_each_possible_cpu(cpu)
			per_cpu(sw_cpus, cpu).counter[slot] =
				&per_cpu_ptr(sw_pmu.pairs[slot], cpu)->of[0];
	}
	/* from here on, CPUs that come online open it themselves */
	smp_store_release(&sw_pmu.slots, slot + 1);
	rc = sw_pmu_fill(true, &slot_failed);
	if (rc)
		sw_pmu_drop(--sw_pmu.slots);
	return rc ?: slot;
}

#endif
