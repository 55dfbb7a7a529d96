/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of functions, recorded in C: from a call to its return, into histograms
 * of the map.
 *
 * Each function that is recorded has a kretprobe of ours, and SystemTap's handler
 * is never entered.  The kretprobe's own place for a call keeps what the clock, and
 * the thread's counts, stood at when the call began.  So calls nest and recurse, and
 * a call that sleeps and wakes up on another CPU is found again.
 *
 * Who may run what, against whom:
 *
 *   sw_call_wanted(), sw_call_start(), sw_call_finish()	any context that kprobes
 *			run in, NMI included, preemption off; before, during and
 *			after the session
 *   sw_call_entry(), sw_call_return()	the same, called by the kernel
 *   all else		session.h has it
 *
 * Why that is right in an NMI, wherever it came: the kernel hands out a call's
 * place without a lock; a call that finds none is counted, by the kernel.  The clock
 * is read by an instruction.  Counts are read with this CPU's busy flag held, and
 * who finds it held has none, which is counted.  An update of a histogram is two
 * instructions on this CPU's words, and what comes between them adds its own.
 */
#ifndef STAPWATCH_CALL_RECORD_H
#define STAPWATCH_CALL_RECORD_H

#include "base/clock.h"
#include "base/session.h"
#include "call/keys.h"
#include "call/state.h"
#include "count/cpu.h"
#include "count/hit.h"
#include "count/table.h"
#include "count/vthread.h"
#include "store/map.h"

/*
 * Current, if its tsc is its sum and now: preemption is off, so no switch comes
 * between, and what interrupts count is its own (session.h sees to that).
 */
static __always_inline const struct sw_thread *sw_call_thread(void)
{
	const struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	const struct sw_thread *t = READ_ONCE(c->cur);

	return likely(t && t->task == current && !READ_ONCE(c->busy)) ? t : NULL;
}

/* Of the thread's tsc the sum is enough: what now is, is the call's own time. */
static __always_inline void sw_call_begin_tsc(struct sw_call_start *s)
{
	const struct sw_thread *t = sw_call_thread();

	/* a thread's first reading begins to watch it; or it says why not */
	if (unlikely(!t) && sw_read_thread(sw_calls.tsc.slot) != SW_NONE) {
		t = sw_call_thread();
		if (!t)
			sw_withheld(leaving);
	}
	s->has_sum = !!t;
	if (likely(t)) {
		s->sum = *(t->sum + sw_calls.tsc.slot);
		s->stretch = t->stretch;
	}
}

/* The thread is on its way out, or has no entry any more, or another one. */
static noinline void sw_call_withhold_tsc(void)
{
	const struct task_struct *running = this_cpu_read(sw_cpus.running);

	if (running && running != current)
		sw_withheld(leaving);
	else
		sw_withheld(anew);
}

static __always_inline void
sw_call_end_tsc(const struct sw_call_start *s, const struct sw_call_hists *h,
		u64 took)
{
	const struct sw_thread *t = sw_call_thread();

	/* what was withheld at the call's begin was counted there */
	if (unlikely(!s->has_sum))
		return;
	/* tsc has no holes: it is another entry that matters */
	if (unlikely(!t || !sw_is_entry(t, s->stretch))) {
		sw_call_withhold_tsc();
		return;
	}
	took += *(t->sum + sw_calls.tsc.slot) - s->sum;
	sw_hist_add_at(*(h->at + sw_calls.tsc.at), took);
}

/*
 * The thread's counts of the recorded events into NOW, of one instant, as a call's
 * begin and its end have them alike.  Called with c->busy held.
 */
static void sw_call_counts(struct sw_cpu *c, u64 *now)
{
	const struct sw_call_event *e = sw_calls.events;
	const struct sw_call_event *end = e + sw_calls.nr_events;
	u64 found = 0;

	if (!sw_is_alone()) {
		sw_pass_for_call(c, true);
		found = c->call.thread_found;
	}
	for (; e < end; e++)
		*now++ = likely(found & SW_SLOT_BIT(e->slot)) ?
			 *(c->call.thread + e->slot) :
			 sw_thread_now(c, e->slot);
}

static noinline void sw_call_begin_counts(struct sw_call_start *s)
{
	const struct sw_thread *t;
	unsigned long flags;
	struct sw_cpu *c;
	unsigned int i;

	if (!sw_enter(&c, &flags)) {
		for (i = 0; i < sw_calls.nr_events; i++)
			s->counts[i] = SW_NONE;
		return;
	}
	sw_call_counts(c, s->counts);
	t = sw_entry_here(c);
	s->stretch = t ? t->stretch : 0;
	sw_leave(c, flags);
}

static noinline void
sw_call_end_counts(const struct sw_call_start *s, const struct sw_call_hists *h)
{
	const struct sw_call_event *e = sw_calls.events;
	const struct sw_call_event *end = e + sw_calls.nr_events;
	u64 counts[SW_CALL_EVENTS], *now = counts;
	const u64 *count = s->counts;
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_enter(&c, &flags))
		return;
	sw_call_counts(c, counts);
	for (; e < end; e++, count++, now++) {
		if (unlikely(*now == SW_NONE || *count == SW_NONE))
			continue;
		if (likely(!c->cur || sw_is_stretch(c->cur, s->stretch)))
			sw_hist_add_at(*(h->at + e->at), *now - *count);
	}
	sw_leave(c, flags);
}

/**
 * sw_call_wanted - whether a call that begins now is recorded
 *
 * After this test what the call is recorded by is there: see sw_calls_end().
 */
static __always_inline bool sw_call_wanted(void)
{
	return likely(sw_is_running()) &&
	       (!sw_calls.is_wanted || sw_calls.is_wanted());
}

/** sw_call_start - a call begins: note what is */
static __always_inline void
sw_call_start(struct sw_call *call, struct sw_call_start *s,
	      struct pt_regs *regs)
{
	this_cpu_inc(sw_call_cpus.began);
	s->hists = sw_call_hists_of(call, regs, &s->generation);
	s->cpu = smp_processor_id();
	if (sw_calls.tsc.at)
		sw_call_begin_tsc(s);
	if (sw_calls.nr_events)
		sw_call_begin_counts(s);
	s->tsc = sw_tsc();
}

/** sw_call_finish - it has returned, TOOK ticks later */
static __always_inline void
sw_call_finish(const struct sw_call_start *s, u64 took)
{
	const struct sw_call_hists *h;

	if (unlikely(!sw_is_running()))
		return;
	this_cpu_inc(sw_call_cpus.ended);
	if (unlikely(s->cpu != smp_processor_id() && !sw_tsc_is_global())) {
		sw_withheld(moved);
		return;
	}
	if (unlikely(took < sw_calls.over))
		return;
	h = sw_call_hists_now(s->hists, s->generation);
	if (sw_calls.nr_events)
		sw_call_end_counts(s, h);
	if (sw_calls.tsc.at)
		sw_call_end_tsc(s, h, took);
	sw_hist_add_at(h->at[0], took);
}

static int sw_call_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	/* and so its kretprobe is there: see sw_calls_end() */
	if (!sw_call_wanted())
		return 1;
	sw_call_start(container_of(get_kretprobe(ri), struct sw_call, rp),
		      (void *)ri->data, regs);
	return 0;
}

static int sw_call_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct sw_call_start *s = (void *)ri->data;

	sw_call_finish(s, sw_tsc() - s->tsc);
	return 0;
}

#endif
