/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts from a function's call to its return.
 *
 * The kretprobe of a `.return` probe has a place of its own for each call that
 * is under way.  SystemTap registers it without an entry handler, unless the
 * script uses $parameters there; we add one, which stores the counts of the
 * moment after whatever SystemTap keeps.  So calls nest and recurse as deep as
 * kretprobes do, no lookup by thread is needed, and the second SystemTap
 * handler, with its maps, that @entry() costs is saved.
 *
 * Who may run what, against whom:
 *
 *   sw_kretprobe_entry()	any context that kprobes run in, preemption off;
 *				before, during and after the session
 *   sw_elapsed()		in the handler of a kretprobe's return
 *   sw_register_kretprobe()	sleepable
 */
#ifndef STAPWATCH_COUNT_ELAPSED_H
#define STAPWATCH_COUNT_ELAPSED_H

#include "base/session.h"
#include "base/traceable.h"
#include "count/hit.h"
#include "count/vthread.h"
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/string.h>

/* What `elapsed` a script uses: bits of sw_register_kretprobe()'s argument. */
#define SW_USES_CPU 1
#define SW_USES_THREAD 2

/* As large as the slots of the script want: the CPU's counts, the thread's. */
struct sw_start {
	u32 cpu;
	u64 has_cpu;		/* bit per slot whose count stands below */
	u64 has_thread;
	/* which activation of a set it was, of the CPU's and of the thread's */
	u32 set_gen;
	u32 spans;
	u64 stretch;		/* of the thread's entry */
	u64 counts[];
};

static kretprobe_handler_t sw_next_entry;
static unsigned int sw_elapsed_uses;
static unsigned int sw_elapsed_slots;
static unsigned int sw_start_bytes;	/* of a struct sw_start with its counts */

static struct sw_start *
sw_start_of(struct kretprobe_instance *ri, const struct kretprobe *rp)
{
	return (void *)(ri->data + rp->data_size - sw_start_bytes);
}

static u64 *sw_start_of_cpu(struct sw_start *s)
{
	return s->counts;
}

static u64 *sw_start_of_thread(struct sw_start *s)
{
	return s->counts +
	       (sw_elapsed_uses & SW_USES_CPU ? sw_elapsed_slots : 0);
}

/* What a pass left out is read alone, or has no value. */
static __always_inline void
sw_start_thread(struct sw_cpu *c, struct sw_start *s, unsigned int slot)
{
	s64 count = unlikely(sw_pmu.set[slot]) ? sw_thread_now_in_span(c, slot)
					       : sw_thread_now(c, slot);

	sw_start_of_thread(s)[slot] = count;
	if (count != SW_NONE)
		s->has_thread |= SW_SLOT_BIT(slot);
}

/* All slots in one pass, and what it leaves out. */
static void sw_start_pass(struct sw_cpu *c, struct sw_start *s)
{
	const bool of_thread = sw_elapsed_uses & SW_USES_THREAD;
	const bool of_cpu = sw_elapsed_uses & SW_USES_CPU;
	unsigned int i, slots = min(sw_pmu.slots, sw_elapsed_slots);
	u64 all = SW_SLOT_BIT(slots) - 1;

	sw_pass_for_call(c, of_thread);
	if (of_thread)
		s->has_thread = c->call.thread_found & all;
	if (of_cpu)
		s->has_cpu = c->call.cpu_found & all;
	for (i = 0; i < slots; i++) {
		/* nobody has asked for it yet */
		if (unlikely(sw_is_inactive(c, i)))
			continue;
		if (s->has_thread & SW_SLOT_BIT(i))
			sw_start_of_thread(s)[i] = *(c->call.thread + i);
		else if (of_thread)
			sw_start_thread(c, s, i);
		if (s->has_cpu & SW_SLOT_BIT(i))
			sw_start_of_cpu(s)[i] = *(c->call.cpu + i);
		else if (of_cpu && sw_now(c, i, sw_start_of_cpu(s) + i))
			s->has_cpu |= SW_SLOT_BIT(i);
	}
}

static void sw_start_now(struct sw_start *s)
{
	struct sw_thread *t;
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_enter(&c, &flags))
		return;
	s->cpu = smp_processor_id();
	s->set_gen = c->set_gen;
	if (!sw_is_alone()) {
		sw_start_pass(c, s);
	} else if (likely(min(sw_pmu.slots, sw_elapsed_slots) &&
			  !sw_is_inactive(c, 0))) {
		if (sw_elapsed_uses & SW_USES_THREAD)
			sw_start_thread(c, s, 0);
		if ((sw_elapsed_uses & SW_USES_CPU) &&
		    sw_now(c, 0, sw_start_of_cpu(s)))
			s->has_cpu = 1;
	}
	if (s->has_thread) {
		t = sw_entry_here(c);
		s->stretch = t ? t->stretch : 0;
		s->spans = t ? sw_spans(c, t) : 0;
	}
	sw_leave(c, flags);
}

static int
sw_kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct kretprobe *rp = get_kretprobe(ri);
	struct sw_start *s;

	/* just being unregistered; the return is of no interest */
	if (!rp)
		return 1;
	s = sw_start_of(ri, rp);
	s->has_cpu = 0;
	s->has_thread = 0;
	if (likely(sw_is_running()))
		sw_start_now(s);
	return rp->data_size > sw_start_bytes ? sw_next_entry(ri, regs) : 0;
}

/* SystemTap knows of some functions where they are, of others by their name. */
static void sw_say_untraceable(const struct kprobe *kp)
{
	char name[KSYM_NAME_LEN];

	if (kp->symbol_name)
		strscpy(name, kp->symbol_name, sizeof(name));
	else
		scnprintf(name, sizeof(name), "%ps", kp->addr);
	_stp_warn("stapwatch: the return of %s is not probed: the kernel lets nobody trace that function, as its own handling of returns may run there\n",
		  name);
}

/**
 * sw_register_kretprobe - what SystemTap calls as register_kretprobe()
 * @uses: what kinds of `elapsed` the script has
 * @probes: how many perf probes the module has, and so how many slots at most
 * Return: -EACCES where the kernel lets nobody trace the function.
 */
static int __maybe_unused
sw_register_kretprobe(struct kretprobe *rp, unsigned int uses,
		      unsigned int probes)
{
	int rc;

	/* SystemTap tries again when a module comes */
	if (uses && rp->entry_handler != sw_kretprobe_entry) {
		sw_elapsed_uses = uses;
		sw_elapsed_slots = min_t(unsigned int, probes, SW_MAX_SLOTS);
		sw_start_bytes = sizeof(struct sw_start) + sizeof(u64) *
			sw_elapsed_slots * hweight32(uses);
		if (rp->entry_handler)
			sw_next_entry = rp->entry_handler;
		else
			rp->data_size = 0;
		rp->entry_handler = sw_kretprobe_entry;
		rp->data_size = ALIGN(rp->data_size, sizeof(u64)) +
				sw_start_bytes;
	}
	rc = sw_return_probe(rp);
	if (rc == -EACCES)
		sw_say_untraceable(&rp->kp);
	return rc;
}

/* Has its set counted without a break since the call? */
static bool sw_same_span(const struct sw_start *s, bool of_thread)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);

	if (of_thread)
		return c->cur && sw_spans(c, c->cur) == s->spans;
	/* another CPU's activation has nothing to do with this one's, either */
	return s->set_gen == c->set_gen ||
	       s->cpu != raw_smp_processor_id();
}

/**
 * sw_elapsed - what a slot counted since the function was called
 * @ri: the call, of whose return this is the handler
 * @of_thread: for the thread, or for the CPU
 *
 * Context: the handler of a kretprobe's return, by SystemTap's own while the
 * script runs: kretprobes are unregistered after that.
 * Return: the count, or SW_NONE: the call began before the session, or it
 * returned on another CPU, whose counter has nothing to do with the first
 * one's (`tsc` has, where it is global).
 */
static s64 __maybe_unused
sw_elapsed(struct kretprobe_instance *ri, unsigned int slot, bool of_thread)
{
	struct sw_start *s = sw_start_of(ri, get_kretprobe(ri));
	s64 now;

	if (!of_thread)
		now = sw_hit_cpu(slot);
	else if (unlikely(sw_pmu.set[slot]))
		now = sw_hit_thread_in_span(slot);
	else
		now = sw_hit_thread(slot);
	if (now == SW_NONE)
		return SW_NONE;
	if (!((of_thread ? s->has_thread : s->has_cpu) & SW_SLOT_BIT(slot))) {
		if (sw_pmu.set[slot] && s->set_gen != this_cpu_read(sw_cpus.set_gen))
			sw_withheld(switched);
		else
			sw_withheld(early);
		return SW_NONE;
	}
	if (unlikely(sw_pmu.set[slot]) && !sw_same_span(s, of_thread)) {
		sw_withheld(switched);
		return SW_NONE;
	}
	if (of_thread) {
		const struct sw_thread *t = this_cpu_read(sw_cpus.cur);

		if (t && !sw_is_stretch(t, s->stretch))
			return SW_NONE;
		return now - sw_start_of_thread(s)[slot];
	}
	if (s->cpu != raw_smp_processor_id() &&
	    !(sw_slot_is_tsc(slot) && sw_tsc_is_global())) {
		sw_withheld(moved);
		return SW_NONE;
	}
	return now - sw_start_of_cpu(s)[slot];
}

#endif
