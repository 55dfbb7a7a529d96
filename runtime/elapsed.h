/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts from a function's call to its return.
 *
 * The kretprobe of a `.return` probe has a place of its own for each call that
 * is under way.  SystemTap registers it without an entry handler, unless the
 * script uses $parameters there; we add one, which stores the counts of the
 * moment behind whatever SystemTap keeps.  So calls nest and recurse as deep as
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
#ifndef STAPWATCH_ELAPSED_H
#define STAPWATCH_ELAPSED_H

#include "vthread.h"
#include <linux/kprobes.h>

/* What `elapsed` a script uses: bits of sw_register_kretprobe()'s argument. */
#define SW_USES_CPU 1
#define SW_USES_THREAD 2

struct sw_start {
	u32 cpu;
	u32 has_cpu;		/* bit per slot whose count stands below */
	u32 has_thread;
	u32 holes;		/* that the thread's counts had then */
	u64 of_cpu[SW_MAX_SLOTS];
	u64 of_thread[SW_MAX_SLOTS];
};

static kretprobe_handler_t sw_next_entry;
static unsigned int sw_elapsed_uses;

/* SystemTap's state of the session, from the first anchor to the last. */
static const atomic_t *sw_state;
static int sw_state_running;

static struct sw_start *
sw_start_of(struct kretprobe_instance *ri, const struct kretprobe *rp)
{
	return (void *)(ri->data + rp->data_size - sizeof(struct sw_start));
}

static void sw_start_now(struct sw_start *s)
{
	unsigned long flags;
	struct sw_cpu *c;
	unsigned int i;

	if (!sw_enter(&c, &flags))
		return;
	s->cpu = smp_processor_id();
	for (i = 0; i < sw_pmu.slots; i++) {
		if (sw_elapsed_uses & SW_USES_THREAD) {
			s->of_thread[i] = sw_thread_now(c, i);
			if (s->of_thread[i] != SW_NONE)
				s->has_thread |= 1U << i;
		}
		if ((sw_elapsed_uses & SW_USES_CPU) &&
		    sw_now(c, i, &s->of_cpu[i]))
			s->has_cpu |= 1U << i;
	}
	if (s->has_thread)
		s->holes = c->cur ? c->cur->holes : 0;
	sw_leave(c, flags);
}

/* Entry handlers do not go by way of SystemTap, which would see to this. */
static bool sw_is_running(void)
{
	const atomic_t *state = smp_load_acquire(&sw_state);

	return state && atomic_read(state) == sw_state_running;
}

static int
sw_kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct kretprobe *rp = get_kretprobe(ri);
	struct sw_start *s = sw_start_of(ri, rp);

	s->has_cpu = 0;
	s->has_thread = 0;
	if (likely(sw_is_running()))
		sw_start_now(s);
	return rp->data_size > sizeof(*s) ? sw_next_entry(ri, regs) : 0;
}

/**
 * sw_register_kretprobe - what SystemTap calls as register_kretprobe()
 * @uses: what kinds of `elapsed` the script has
 */
static int __maybe_unused
sw_register_kretprobe(struct kretprobe *rp, unsigned int uses)
{
	/* SystemTap tries again when a module comes */
	if (uses && rp->entry_handler != sw_kretprobe_entry) {
		sw_elapsed_uses = uses;
		if (rp->entry_handler)
			sw_next_entry = rp->entry_handler;
		else
			rp->data_size = 0;
		rp->entry_handler = sw_kretprobe_entry;
		rp->data_size = ALIGN(rp->data_size, sizeof(u64)) +
				sizeof(struct sw_start);
	}
	return register_kretprobe(rp);
}

/**
 * sw_elapsed - what a slot counted since the function was called
 * @ri: the call, of whose return this is the handler
 * @of_thread: for the thread, or for the CPU
 *
 * Context: the handler of a kretprobe's return.
 * Return: the count, or SW_NONE: the call began before the session, or it
 * returned on another CPU, whose counter has nothing to do with the first
 * one's (`tsc` has, where it is global).
 */
static s64 __maybe_unused
sw_elapsed(struct kretprobe_instance *ri, unsigned int slot, bool of_thread)
{
	const struct sw_start *s = sw_start_of(ri, get_kretprobe(ri));
	s64 now = of_thread ? sw_read_thread(slot) : sw_read_cpu(slot);

	if (now == SW_NONE)
		return SW_NONE;
	if (!((of_thread ? s->has_thread : s->has_cpu) & (1U << slot))) {
		sw_withheld(early);
		return SW_NONE;
	}
	if (of_thread) {
		const struct sw_thread *t = this_cpu_read(sw_cpus.cur);

		if (t && t->holes != s->holes) {
			sw_withheld(holed);
			return SW_NONE;
		}
		return now - s->of_thread[slot];
	}
	if (s->cpu != raw_smp_processor_id() &&
	    !(sw_slot_is_tsc(slot) && sw_tsc_is_global())) {
		sw_withheld(moved);
		return SW_NONE;
	}
	return now - s->of_cpu[slot];
}

#endif
