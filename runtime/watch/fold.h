/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the table to records and targets: at each switch of a watched thread, when
 * another CPU asks what this one runs, and when a handler reads.
 *
 * Who may run what, against whom:
 *
 *   sw_watch_on_switch(), sw_watch_ends_stopped(), sw_watch_stopped_comes()
 *				as sw_on_switch(): interrupts off, in the outgoing
 *				thread, never nested; in the place of that one
 *   sw_fold_current(), sw_fold_begin(), sw_watch_park()
 *				the CPU that runs the thread, c->busy held, any context
 *   sw_watch_look()		interrupts off: who wants it at once, and where another
 *				CPU has asked (base/ask.h); sleepable code by on_each_cpu()
 *   sw_watch_ask()		any context
 *   sw_watch_remove()		the holder of sw_watch.lock, on the CPU that runs the
 *				thread, or when that will not run any more
 *
 * Who asks another CPU has changed what it will find: a thread that runs there may
 * have an entry now that its switch did not see, or count for other targets.  Either
 * the interrupt finds the thread still running, and takes it in, or the thread has
 * gone and its next switch finds the entry.  There is no third case, since a switch
 * has interrupts off; who asks within one is asked again after it.
 */
#ifndef STAPWATCH_WATCH_FOLD_H
#define STAPWATCH_WATCH_FOLD_H

#include "base/ask.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/kernel.h"
#include "base/nmi.h"
#include "count/chosen.h"
#include "count/gate.h"
#include "count/vthread.h"
#include "watch/list.h"
#include "watch/state.h"
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/smp.h>

/* What a thread has counted of a slot by now.  Between sw_watched_change() and
 * sw_watched_changed(), c->busy held. */
static __always_inline void
sw_fold_count(struct sw_watch_cpu *wc, struct sw_watched *w, unsigned int slot,
	      u64 count)
{
	u64 bits = READ_ONCE(w->targets) & wc->counting;
	u64 more = count - w->last[slot];
	unsigned int target;
	u64 *sum;

	WRITE_ONCE(w->last[slot], count);
	for (; more && bits; bits &= bits - 1) {
		target = __ffs64(bits);
		sum = sw_target_sums(wc, target,
				     READ_ONCE(w->own) >> target & 1) + slot;
		WRITE_ONCE(*sum, *sum + more);
	}
}

/*
 * Words of sets that have gone begin at nothing.  The CPU runs the thread, or switches to or
 * from it; c->busy held.  Of one that RUNS, its sum lacks what the counter stands at.
 */
static noinline void sw_fold_begin(struct sw_cpu *c, struct sw_thread *e, bool runs)
{
	struct sw_thread_set *s = sw_thread_set(e);
	/* with sw_set_forget_sums() */
	const u32 gone = smp_load_acquire(&sw_sets_gone);
	struct sw_watched *w = sw_watched_of(e);
	unsigned int word;
	u64 slots = 0, now;

	sw_watched_change(w);
	for (word = 0; word < SW_WORDS; word++) {
		if (!sw_word_is_void(word, s->begun))
			continue;
		now = 0;
		if (word < SW_MAX_SLOTS) {
			slots |= SW_SLOT_BIT(word);
			if (runs && !sw_now_of_current(c, word, &now))
				now = sw_last(sw_counter_of(c, word));
		}
		e->sum[word] = -now;
		WRITE_ONCE(w->last[word], 0);
	}
	e->lost &= ~slots;
	s->holed &= ~slots;
	WRITE_ONCE(w->holed, w->holed & ~slots);
	WRITE_ONCE(s->begun, gone);
	sw_watched_changed(w);
}

/* The time of sets, where there are any: what has come of the one that was active. */
static noinline void
sw_fold_times(const struct sw_cpu *c, struct sw_watch_cpu *wc,
	      struct sw_thread *e, struct sw_watched *w, u64 now)
{
	unsigned int set = sw_thread_times->out(c, e, now);

	sw_fold_count(wc, w, SW_WORD_ACTIVE(0), e->sum[SW_WORD_ACTIVE(0)]);
	if (!set)
		return;
	sw_fold_count(wc, w, SW_WORD_ACTIVE(set), e->sum[SW_WORD_ACTIVE(set)]);
	sw_fold_count(wc, w, SW_WORD_RUNS(set), e->sum[SW_WORD_RUNS(set)]);
}

/* The same of a thread that goes on. */
static void sw_fold_times_now(const struct sw_cpu *c, struct sw_watch_cpu *wc,
			      struct sw_thread *e, struct sw_watched *w)
{
	u64 now = sw_clock_ns();

	sw_fold_times(c, wc, e, w, now);
	sw_thread_times->in(c, e, now);
}

/* It has run uncounted: neither its counts nor those of its targets are whole. */
static noinline void
sw_fold_holes(const struct sw_watch_cpu *wc, struct sw_thread *e,
	      struct sw_watched *w)
{
	struct sw_thread_set *s = sw_thread_set(e);
	u64 bits = READ_ONCE(w->targets) & wc->counting;
	/* a reading may have taken its bits away */
	u64 holed = (s ? s->holed : e->lost) ?: ~0ULL;

	if (s)
		s->holed = 0;
	w->holes = e->stretch;
	WRITE_ONCE(w->holed, w->holed | holed);
	for (; bits; bits &= bits - 1)
		atomic64_or(holed, &sw_watch.targets[__ffs64(bits)].holed);
}

/*
 * A thread that shall count for other targets does so from here on.  What it has
 * counted so far must have been given to those that it had.  Called on the CPU that
 * runs it, or switches to or from it, c->busy held.
 */
static noinline void
sw_watch_turn(struct sw_watch_cpu *wc, struct sw_watched *w)
{
	u64 gone;

	/* in an NMI, that other CPUs have it for long: it does so at its next switch */
	if (!sw_lock(&sw_watch.lock))
		return;
	sw_watch_see_targets(wc);
	for (gone = w->want & ~sw_watch.active; gone; gone &= gone - 1)
		sw_watch.targets[__ffs64(gone)].members--;
	w->want &= sw_watch.active;
	WRITE_ONCE(w->own, w->own & sw_watch.active);
	WRITE_ONCE(w->targets, w->want);
	raw_spin_unlock(&sw_watch.lock);
}

static __always_inline bool
sw_watch_must_turn(const struct sw_watch_cpu *wc, const struct sw_watched *w)
{
	u64 want = READ_ONCE(w->want);

	return want != READ_ONCE(w->targets) || want & ~wc->active;
}

/* The thread that this CPU runs counts as of now: one slot, or the time of sets. */
static __always_inline bool
sw_fold_slot(struct sw_cpu *c, struct sw_watch_cpu *wc, struct sw_thread *e,
	     struct sw_watched *w, unsigned int slot)
{
	u64 now;

	if (slot >= SW_MAX_SLOTS) {
		if (sw_thread_times)
			sw_fold_times_now(c, wc, e, w);
		return true;
	}
	if (!sw_now_of_current(c, slot, &now))
		return false;
	sw_fold_count(wc, w, slot, e->sum[slot] + now);
	return true;
}

/* As sw_fold_current(); W is what current has. */
static __always_inline bool
sw_fold_watched(struct sw_cpu *c, struct sw_watched *w, unsigned int slot)
{
	struct sw_watch_cpu *wc = this_cpu_ptr(&sw_watch_cpus);
	bool ok;

	if (sw_sums_are_void(c->cur))
		sw_fold_begin(c, c->cur, true);
	if (unlikely((u32)c->cur->stretch != w->holes))
		sw_fold_holes(wc, c->cur, w);
	sw_watched_change(w);
	ok = sw_fold_slot(c, wc, c->cur, w, slot);
	sw_watched_changed(w);
	if (unlikely(!ok) && sw_is_absent(c, slot))
		sw_withheld(absent);
	return ok;
}

/**
 * sw_fold_current - bring one slot of the thread that runs here up to date
 * @slot: or a word of sets: then all of them
 * Context: any; c->busy held, and c->cur is current's.
 * Return: false where the counter has no right value now.
 */
static bool sw_fold_current(struct sw_cpu *c, unsigned int slot)
{
	return sw_fold_watched(c, sw_watched_of(c->cur), slot);
}

/* All that a thread has counted, when it goes out.  NOW is for who has sets. */
static __always_inline void
sw_watch_goes(const struct sw_cpu *c, struct sw_watch_cpu *wc,
	      struct sw_thread *out, struct sw_watched *w, u64 now)
{
	unsigned int i;

	if (unlikely((u32)out->stretch != w->holes))
		sw_fold_holes(wc, out, w);
	sw_watched_change(w);
	for (i = 0; i < sw_pmu.slots; i++)
		sw_fold_count(wc, w, i, out->sum[i]);
	if (sw_thread_times)
		sw_fold_times(c, wc, out, w, now);
	WRITE_ONCE(w->on, false);
	sw_watched_changed(w);
}

/* The thread that runs here is stopped, and counts as one that does not run. */
static noinline void
sw_watch_take_out(struct sw_cpu *c, struct sw_watch_cpu *wc,
		  struct sw_thread *e, struct sw_watched *w)
{
	/* who reads on in the same handler does so anew */
	c->hit.thread_found = 0;
	if (sw_sums_are_void(e))
		sw_fold_begin(c, e, true);
	sw_take_out(c);
	sw_watch_goes(c, wc, e, w, sw_thread_times ? sw_clock_ns() : 0);
}

/* In place of sw_vthread_park() */
static void sw_watch_park(struct sw_cpu *c, bool park)
{
	struct sw_watch_cpu *wc = this_cpu_ptr(&sw_watch_cpus);
	struct sw_thread *e = park ? c->cur :
			      sw_table_find(&sw_threads, c->running ?: current);
	struct sw_watched *w;

	if (!e)
		return;
	w = sw_watched_of(e);
	if (park) {
		sw_watch_take_out(c, wc, e, w);
	} else if (!READ_ONCE(w->stop)) {
		sw_take_in(c, e);
		sw_watched_change(w);
		WRITE_ONCE(w->on, true);
		w->since = sw_clock_ns();
		sw_watched_changed(w);
		/* it may have come to be others' meanwhile */
		sw_watch_see_targets(wc);
		if (sw_watch_must_turn(wc, w))
			sw_watch_turn(wc, w);
	}
}

/* Current has an entry that this CPU does not know yet.  Return: NULL: it has none, or
 * none that shall count. */
static struct sw_thread *sw_watch_comes(struct sw_cpu *c)
{
	struct sw_thread *e = sw_table_find(&sw_threads, current);

	if (c->parked || !e || READ_ONCE(sw_watched_of(e)->stop))
		return NULL;
	c->hit.thread_found = 0;
	if (sw_sums_are_void(e))
		sw_fold_begin(c, e, false);
	sw_take_in(c, e);
	return e;
}

static void sw_watch_look_at_current(struct sw_cpu *c, struct sw_watch_cpu *wc)
{
	struct sw_thread *e = c->cur;
	/* where nothing is counted nothing is asked for */
	unsigned int i, slots = sw_cpu_is_chosen(smp_processor_id()) ?
				sw_pmu.slots : 0;
	struct sw_watched *w;

	for (i = 0; i < slots; i++) {
		u64 now;

		if (!sw_now_or_shut(c, i, &now))
			now = SW_NONE;
		WRITE_ONCE(sw_cpu_counts(wc)[i], now);
	}
	if (!e || e->task != current)
		e = sw_watch_comes(c);
	w = e ? sw_watched_of(e) : NULL;
	if (e && unlikely(READ_ONCE(w->stop))) {
		sw_watch_take_out(c, wc, e, w);
	} else if (e) {
		if (sw_sums_are_void(e))
			sw_fold_begin(c, e, true);
		if (unlikely((u32)e->stretch != w->holes))
			sw_fold_holes(wc, e, w);
		sw_watched_change(w);
		for (i = 0; i < slots; i++)
			sw_fold_slot(c, wc, e, w, i);
		if (slots && sw_thread_times)
			sw_fold_times_now(c, wc, e, w);
		w->on = true;
		w->since = sw_clock_ns();
		sw_watched_changed(w);
	}
	sw_watch_see_targets(wc);
	if (e && sw_watch_must_turn(wc, w))
		sw_watch_turn(wc, w);
}

/* What this CPU runs is taken in, and brought up to date.  Return: false where that must
 * wait, see sw_gate_enter(), or until the switch is over. */
static bool sw_watch_try_look(bool asked)
{
	struct sw_watch_cpu *wc;
	unsigned long flags;
	struct sw_cpu *c;

	if (!sw_gate_enter(&c, &flags, asked))
		return false;
	/* between two threads the next one would be missed, which has been switched to */
	if (c->running && c->running != current) {
		sw_gate_leave(c, flags);
		return false;
	}
	wc = this_cpu_ptr(&sw_watch_cpus);
	WRITE_ONCE(wc->rounds, wc->rounds + 1);
	/* before it looks, since who asks from now on wants another look; with
	 * sw_watch_has_looked() */
	xchg(&wc->asked, 0);
	if (READ_ONCE(sw_watch.on)) {
		sw_gate_look(c);
		sw_watch_look_at_current(c, wc);
	}
	/* with sw_watch_has_looked() */
	smp_store_release(&wc->rounds, wc->rounds + 1);
	sw_gate_leave(c, flags);
	return true;
}

static void sw_watch_look(void)
{
	sw_watch_try_look(true);
}

/* See sw_ask_meanwhile(): with interrupts on it has been asked already. */
static void sw_watch_look_meanwhile(void)
{
	if (irqs_disabled() && READ_ONCE(this_cpu_ptr(&sw_watch_cpus)->asked))
		sw_watch_try_look(false);
}

/* A CPU that was to look is offline. */
static void sw_watch_has_missed(int cpu)
{
	WRITE_ONCE(per_cpu_ptr(&sw_watch_cpus, cpu)->asked, 0);
}

/* Is all done there that was asked for? */
static bool sw_watch_has_looked(int cpu)
{
	const struct sw_watch_cpu *wc = per_cpu_ptr(&sw_watch_cpus, cpu);

	/* with sw_watch_look(): first that it has begun, then that it is done */
	return !smp_load_acquire(&wc->asked) &&
	       !(smp_load_acquire(&wc->rounds) & 1);
}

/**
 * sw_watch_ask - let every CPU look at what it runs
 *
 * This one has done so when it returns, unless that must wait, see sw_gate_enter(): then
 * it does so in an interrupt.  A CPU that is on its way up finds all in its first switch;
 * one that goes down cannot go with interrupts off here.
 */
static void sw_watch_ask(void)
{
	unsigned long flags;
	bool looked;
	int cpu, me;

	local_irq_save(flags);
	me = smp_processor_id();
	looked = sw_watch_try_look(!sw_may_hold_locks(flags));
	sw_for_each_online_cpu(cpu) {
		struct sw_watch_cpu *wc = per_cpu_ptr(&sw_watch_cpus, cpu);

		if ((cpu != me || !looked) && !xchg(&wc->asked, 1))
			sw_ask_cpu(&wc->look);
	}
	local_irq_restore(flags);
}

/**
 * sw_watch_remove - a thread is watched no more
 * @ended: it has ended, and is put into the list if somebody has asked for it
 */
static void sw_watch_remove(struct sw_thread *e, struct task_struct *task,
			    bool ended)
{
	struct sw_watched *w = sw_watched_of(e);
	u64 bits = w->want;

	/* what a program is attached to has counted nothing where it never ran */
	if (ended && (w->since || w->kept & SW_BY_PROGRAMS) &&
	    (bits || w->kept || w->let_go))
		sw_list_put(task, e, false);
	for (; bits; bits &= bits - 1)
		sw_watch.targets[__ffs64(bits)].members--;
	w->want = 0;
	w->targets = 0;
	sw_table_remove(&sw_threads, e);
}

/* The outgoing thread has ended, or nobody asks for it any more. */
static noinline void
sw_watch_leaves(struct sw_thread *e, struct sw_watched *w,
		struct task_struct *task, bool ended)
{
	raw_spin_lock(&sw_watch.lock);
	/* somebody may have come in between */
	if (ended || !(w->want || w->kept || w->self || w->let_go))
		sw_watch_remove(e, task, ended);
	raw_spin_unlock(&sw_watch.lock);
}

static void
sw_watch_switch(const struct sw_cpu *c, struct sw_thread *out,
		struct sw_thread *in, struct task_struct *prev, bool ended)
{
	struct sw_watch_cpu *wc = this_cpu_ptr(&sw_watch_cpus);
	const struct sw_thread_times *times = sw_thread_times;
	u64 now = times ? sw_clock_ns() : 0;
	struct sw_watched *w;

	if (out) {
		w = sw_watched_of(out);
		sw_watch_goes(c, wc, out, w, now);
	}
	sw_watch_see_targets(wc);
	if (out) {
		if (unlikely(sw_watch_must_turn(wc, w)))
			sw_watch_turn(wc, w);
		if (unlikely(ended ||
			     !(READ_ONCE(w->targets) || READ_ONCE(w->kept) || w->self ||
			       w->let_go)))
			sw_watch_leaves(out, w, prev, ended);
	}
	if (in) {
		w = sw_watched_of(in);
		if (unlikely(sw_watch_must_turn(wc, w)))
			sw_watch_turn(wc, w);
		if (times)
			times->in(c, in, now);
		sw_watched_change(w);
		WRITE_ONCE(w->on, true);
		w->since = sw_clock_ns();
		sw_watched_changed(w);
	}
}

/* A thread that was stopped has ended: no switch takes its entry away. */
static noinline void
sw_watch_ends_stopped(struct sw_cpu *c, struct task_struct *task)
{
	struct sw_thread *e = sw_table_find(&sw_threads, task);

	if (!e)
		return;
	WRITE_ONCE(c->busy, 1);
	barrier();
	sw_watch_leaves(e, sw_watched_of(e), task, true);
	barrier();
	WRITE_ONCE(c->busy, 0);
}

/* It counts for nobody, but which targets are its own may have changed. */
static noinline void
sw_watch_stopped_comes(struct sw_cpu *c, struct sw_thread *e)
{
	struct sw_watch_cpu *wc = this_cpu_ptr(&sw_watch_cpus);
	struct sw_watched *w = sw_watched_of(e);

	WRITE_ONCE(c->busy, 1);
	barrier();
	sw_watch_see_targets(wc);
	if (sw_watch_must_turn(wc, w))
		sw_watch_turn(wc, w);
	barrier();
	WRITE_ONCE(c->busy, 0);
}

/* Before the pass, which adds to them. */
static void sw_watch_begin_sums(struct sw_cpu *c, struct sw_thread *out,
				struct sw_thread *in)
{
	WRITE_ONCE(c->busy, 1);
	barrier();
	if (out && sw_sums_are_void(out))
		sw_fold_begin(c, out, true);
	if (in && sw_sums_are_void(in))
		sw_fold_begin(c, in, false);
	barrier();
	WRITE_ONCE(c->busy, 0);
}

static void
sw_watch_on_switch(void *data, bool preempt, struct task_struct *prev,
		   struct task_struct *next, unsigned int prev_state)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	struct sw_thread *in = sw_table_find(&sw_threads, next);
	struct sw_thread *out;

	/* as in sw_on_switch() */
	WRITE_ONCE(c->running, next);
	barrier();
	out = READ_ONCE(c->cur);
	if (unlikely(prev_state & TASK_DEAD) && !out)
		sw_watch_ends_stopped(c, prev);
	if (likely(!out && !in) || c->parked)
		return;
	if (in && unlikely(READ_ONCE(sw_watched_of(in)->stop))) {
		sw_watch_stopped_comes(c, in);
		in = NULL;
	}
	if (sw_thread_words)
		sw_watch_begin_sums(c, out, in);
	sw_switch_threads(c, out, in);
	WRITE_ONCE(c->busy, 1);
	barrier();
	sw_watch_switch(c, out, in, prev, prev_state & TASK_DEAD);
	barrier();
	WRITE_ONCE(c->busy, 0);
}
SW_SWITCH_WITHOUT_STATE(sw_watch_on_switch)

#endif
