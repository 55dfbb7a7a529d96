/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-thread virtualisation: what a thread alone has counted, on whatever CPUs.
 *
 * Counters run all the time.  A thread is watched from its first virtual read
 * until it exits, or because a script asked for it (watch/): it has an entry in the
 * table, and while it runs, its CPU's `cur` points there.  When a thread is switched
 * in, the counter's value is subtracted from its sum; when it is switched out, the
 * value is added.  The count of a running thread is therefore sum + counter;
 * otherwise it is the sum.
 *
 * Who may run what, against whom:
 *
 *   sw_on_switch(), sw_on_switch_or_parked()
 *			tracepoint sched_switch: interrupts off, in the outgoing
 *			thread, never nested.  An NMI may come at any point.
 *   sw_read_thread()	any context, NMI included, for the thread that this CPU
 *			is running
 *   sw_on_irq_*()	tracepoints around interrupts and softirqs
 *   sw_vthread_start(), _stop()	sleepable, under sw_session_lock
 *
 * Why a read in an NMI is right, wherever in a switch the NMI came:
 *
 *  - c->busy is held while cur and sums change (sw_switch_threads), and the
 *    read then says SW_NONE.
 *  - Before that, cur still is the outgoing thread, and so is `current`.
 *  - After it, and until the kernel has changed `current`, cur is the incoming
 *    thread.  cur->task is not current, so the read looks the outgoing thread
 *    up; its sum is complete and what comes now is the incoming one's.
 *  - Where threads are stopped, or all is (sw_gate_park()), cur is NULL, and what the
 *    table has of the thread is complete.
 *  - From before the switch looks at cur, a thread that is not watched cannot
 *    be taken in any more: `running` already names the other one.  SW_NONE.
 */
#ifndef STAPWATCH_COUNT_VTHREAD_H
#define STAPWATCH_COUNT_VTHREAD_H

#include "base/hooks.h"
#include "base/kernel.h"
#include "count/entry.h"
#include "count/gate.h"
#include "count/pass.h"
#include "count/pmu.h"
#include "count/table.h"
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>

/* Counts of an interrupt's start, where interrupts are not the thread's. */
static DEFINE_PER_CPU(u64 [SW_MAX_SLOTS], sw_irq_base);

/*
 * Give what was counted since the last switch to OUT, and begin with IN.
 * Either may be NULL: a thread that is not watched.
 */
static __always_inline void
sw_switch_threads(struct sw_cpu *c, struct sw_thread *out, struct sw_thread *in)
{
	sw_pass(c, out ? out->sum : c->nobody, in ? in->sum : c->nobody, in);
}

/* A thread will not come back: its entry, if it has one, goes. */
static void sw_switch_removes(struct sw_cpu *c, struct sw_thread *e)
{
	if (!e)
		return;
	WRITE_ONCE(c->busy, 1);
	barrier();
	sw_table_remove(&sw_threads, e);
	barrier();
	WRITE_ONCE(c->busy, 0);
}

static noinline void
sw_switch_last(struct sw_cpu *c, struct sw_thread *out, struct sw_thread *in)
{
	sw_switch_threads(c, out, in);
	sw_switch_removes(c, out);
}

/* ... and of one that ends when none is switched in or out. */
static noinline void
sw_switch_last_parked(struct sw_cpu *c, struct task_struct *prev)
{
	sw_switch_removes(c, sw_table_find(&sw_threads, prev));
}

/* PARKS: this CPU may be parked, see sw_gate_park(). */
static __always_inline void
sw_switch(struct task_struct *prev, struct task_struct *next,
	  unsigned int prev_state, const bool parks)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	struct sw_thread *in = sw_table_find(&sw_threads, next);
	struct sw_thread *out;

	/* First: from here on an NMI cannot begin to watch PREV, which would
	 * change cur behind our back. */
	WRITE_ONCE(c->running, next);
	barrier();
	if (parks && c->parked) {
		if (unlikely(prev_state & TASK_DEAD))
			sw_switch_last_parked(c, prev);
		return;
	}
	out = READ_ONCE(c->cur);
	if (likely(!out && !in))
		return;
	if (unlikely(prev_state & TASK_DEAD))
		sw_switch_last(c, out, in);
	else
		sw_switch_threads(c, out, in);
}

static notrace void
sw_on_switch(void *data, bool preempt, struct task_struct *prev,
	     struct task_struct *next, unsigned int prev_state)
{
	sw_switch(prev, next, prev_state, false);
}
SW_SWITCH_WITHOUT_STATE(sw_on_switch)

/* In scripts that stop all. */
static notrace void
sw_on_switch_or_parked(void *data, bool preempt, struct task_struct *prev,
		       struct task_struct *next, unsigned int prev_state)
{
	sw_switch(prev, next, prev_state, true);
}
SW_SWITCH_WITHOUT_STATE(sw_on_switch_or_parked)

/*
 * Where others than the thread itself make entries, too: how current gets its own.
 * It may be there already; an error is that there is none just now.  One that is STOPPED
 * shall count nothing.
 */
static struct sw_thread *(*sw_entry_of_current)(bool *stopped);

/*
 * What a slot stands at for the thread that this CPU runs: in an interrupt that
 * is nobody's, at its start.  Called with c->busy held.
 */
static bool sw_now_of_current(struct sw_cpu *c, unsigned int slot, u64 *now)
{
	if (!c->irq_depth)
		return sw_now_or_shut(c, slot, now);
	*now = this_cpu_read(sw_irq_base[slot]);
	return true;
}

/* Who keeps threads' time is told, with c->busy held and in any context. */
static void (*sw_taken_in)(void);

/* Current is found to have an entry while it runs: from now on it counts there.
 * Called with c->busy held. */
static void sw_take_in(struct sw_cpu *c, struct sw_thread *t)
{
	unsigned int i, slots = sw_pmu.slots;
	/* once: it goes with the sets, before watching does */
	void (*taken_in)(void) = READ_ONCE(sw_taken_in);
	u64 now;

	if (!c->irq_depth && sw_passable(c, slots)) {
		sw_pass(c, c->nobody, t->sum, t);
		slots = 0;
	}
	for (i = 0; i < slots; i++) {
		if (!sw_now_of_current(c, i, &now)) {
			sw_hole(t, i);
			now = sw_last(sw_counter_of(c, i));
		}
		t->sum[i] -= now;
	}
	if (sw_thread_set(t))
		sw_thread_set(t)->set_gen = c->set_gen;
	c->cur = t;
	if (taken_in)
		taken_in();
}

/* What runs here counts nowhere from now on.  Called with c->busy held, while it has an
 * entry where it does. */
static void sw_take_out(struct sw_cpu *c)
{
	unsigned int i, slots = sw_pmu.slots;
	struct sw_thread *t = c->cur;
	u64 now;

	if (!c->irq_depth && sw_passable(c, slots)) {
		sw_pass(c, t->sum, c->nobody, NULL);
		return;
	}
	for (i = 0; i < slots; i++) {
		if (!sw_now_of_current(c, i, &now)) {
			sw_hole(t, i);
			now = sw_last(sw_counter_of(c, i));
		}
		t->sum[i] += now;
	}
	c->cur = NULL;
}

/* All threads are switched out, and this CPU's is in again. */
static void sw_vthread_park(struct sw_cpu *c, bool park)
{
	struct sw_thread *t;

	if (park && c->cur) {
		sw_take_out(c);
	} else if (!park) {
		/* or it is between two threads, and has seen the switch */
		t = sw_table_find(&sw_threads, c->running ?: current);
		if (t)
			sw_take_in(c, t);
	}
}

/* How current was found; the last three are why it was not. */
enum sw_found {
	SW_FOUND,
	SW_FOUND_SETTLED,	/* its sums are complete: it leaves, or is stopped */
	SW_FOUND_NESTED,
	SW_FOUND_FULL,
	SW_FOUND_GONE,
};

static void sw_withhold_thread(enum sw_found how)
{
	if (how == SW_FOUND_NESTED)
		sw_withheld(nested);
	else if (how == SW_FOUND_FULL)
		sw_withheld(full);
	else
		sw_withheld(leaving);
}

/* Begin to watch current.  Called with c->busy held. */
static noinline struct sw_thread *
sw_watch_current(struct sw_cpu *c, enum sw_found *how)
{
	struct sw_thread *(*get)(bool *) = READ_ONCE(sw_entry_of_current);
	bool stopped = false;
	struct sw_thread *t;

	if (get)
		t = get(&stopped);
	else if (!c->parked || !(t = sw_table_find(&sw_threads, current)))
		t = sw_table_insert(&sw_threads, current,
				    sw_thread_words ?: sw_pmu.slots);
	if (IS_ERR_OR_NULL(t)) {
		*how = t ? SW_FOUND_NESTED : SW_FOUND_FULL;
		return NULL;
	}
	if (unlikely(stopped || c->parked))
		*how = SW_FOUND_SETTLED;
	else
		sw_take_in(c, t);
	return t;
}

/*
 * Current is not this CPU's cur: it is not watched yet, or it is on its way
 * out.  Called with c->busy held.
 */
static noinline struct sw_thread *
sw_find_current(struct sw_cpu *c, enum sw_found *how)
{
	struct sw_thread *t;

	*how = SW_FOUND;
	if (!c->running || c->running == current)
		return sw_watch_current(c, how);
	t = sw_table_find(&sw_threads, current);
	*how = t ? SW_FOUND_SETTLED : SW_FOUND_GONE;
	return t;
}

/* The entry of the thread that runs, also of one that is stopped; or NULL. */
static struct sw_thread *__maybe_unused sw_entry_here(const struct sw_cpu *c)
{
	return likely(c->cur) ? c->cur : sw_table_find(&sw_threads, current);
}

/* What sw_thread_now() leaves: all that is not a watched thread's plain count. */
static noinline s64 sw_thread_now_rare(struct sw_cpu *c, unsigned int slot)
{
	struct sw_thread *t = c->cur;
	enum sw_found how = SW_FOUND;
	u64 now;

	if (unlikely(!t || t->task != current)) {
		t = sw_find_current(c, &how);
		if (!t) {
			sw_withhold_thread(how);
			return SW_NONE;
		}
	}
	if (unlikely(sw_is_inactive(c, slot))) {
		sw_withheld(inactive);
		return SW_NONE;
	}
	/* the first read after a hole is what would make a delta over it */
	if (unlikely(t->lost & SW_SLOT_BIT(slot))) {
		t->lost &= ~SW_SLOT_BIT(slot);
		sw_withheld(holed);
		return SW_NONE;
	}
	if (unlikely(how == SW_FOUND_SETTLED))
		return t->sum[slot];
	if (unlikely(c->irq_depth))
		now = this_cpu_read(sw_irq_base[slot]);
	else if (!sw_now(c, slot, &now))
		return SW_NONE;
	return t->sum[slot] + now;
}

/* The current thread's count of a slot.  Called with c->busy held. */
static __always_inline s64 sw_thread_now(struct sw_cpu *c, unsigned int slot)
{
	struct sw_thread *t = c->cur;
	u64 now;

	if (unlikely(!t || t->task != current || t->lost || c->irq_depth))
		return sw_thread_now_rare(c, slot);
	if (unlikely(!sw_now_from(c, slot, t->sum[slot], &now)))
		return SW_NONE;
	return now;
}

/*
 * The same of a set's slot, for who finds a switch of sets by sw_spans() itself.
 * The first plain reading after one is still to come.
 */
static noinline s64 sw_thread_now_in_span(struct sw_cpu *c, unsigned int slot)
{
	struct sw_thread *t = c->cur;
	u64 lost = t ? t->lost & SW_SLOT_BIT(slot) : 0;
	s64 now;

	if (lost)
		t->lost &= ~lost;
	now = sw_thread_now(c, slot);
	if (lost)
		t->lost |= lost;
	return now;
}

/**
 * sw_read_thread - the current thread's count of a slot, in any handler
 *
 * The first read of any slot begins to watch the thread, at zero.
 * Context: any.
 * Return: the count, or SW_NONE.
 */
static s64 __maybe_unused sw_read_thread(unsigned int slot)
{
	unsigned long flags;
	struct sw_cpu *c;
	s64 v;

	if (!sw_enter(&c, &flags))
		return SW_NONE;
	v = sw_thread_now(c, slot);
	sw_leave(c, flags);
	return v;
}

/*
 * With -G stapwatch_exclude_irq=1 what interrupts and softirqs count is nobody's:
 * at the outermost one's end it is taken from the thread's sum.
 */
static void sw_irq_enter(void)
{
	unsigned long flags;
	struct sw_cpu *c;
	unsigned int i;

	if (!sw_enter(&c, &flags))
		return;
	/* the interrupt's own part has not begun; some are NMIs */
	c->unlocked = !sw_in_nmi();
	if (c->irq_depth++ == 0)
		for (i = 0; i < sw_pmu.slots; i++)
			if (!sw_now_or_shut(c, i, this_cpu_ptr(&sw_irq_base[i])))
				sw_hole(c->cur, i);
	c->unlocked = false;
	sw_leave(c, flags);
}

static void sw_irq_exit(void)
{
	unsigned long flags;
	struct sw_cpu *c;
	unsigned int i;
	u64 now;

	/* the session may have begun within this interrupt */
	if (!sw_enter(&c, &flags))
		return;
	/* or is over */
	c->unlocked = !sw_in_nmi();
	if (c->irq_depth && !--c->irq_depth)
		for (i = 0; i < sw_pmu.slots; i++) {
			if (!sw_now_or_shut(c, i, &now))
				sw_hole(c->cur, i);
			else if (c->cur)
				c->cur->sum[i] -= now -
					      this_cpu_read(sw_irq_base[i]);
		}
	c->unlocked = false;
	sw_leave(c, flags);
}

static void sw_on_irq_entry(void *data, int irq, struct irqaction *action)
{
	sw_irq_enter();
}

static void
sw_on_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	sw_irq_exit();
}

static void sw_on_softirq_entry(void *data, unsigned int nr)
{
	sw_irq_enter();
}

static void sw_on_softirq_exit(void *data, unsigned int nr)
{
	sw_irq_exit();
}

static void sw_on_vector_entry(void *data, int vector)
{
	sw_irq_enter();
}

static void sw_on_vector_exit(void *data, int vector)
{
	sw_irq_exit();
}

static void sw_on_ipi_entry(void *data, const char *reason)
{
	sw_irq_enter();
}

static void sw_on_ipi_exit(void *data, const char *reason)
{
	sw_irq_exit();
}

/* A callback that the kernel would call with other arguments than it takes
 * must not build. */
static void __maybe_unused sw_check_callbacks(void)
{
	check_trace_callback_type_sched_switch(SW_SWITCH_CALLBACK(sw_on_switch));
	check_trace_callback_type_sched_switch(
		SW_SWITCH_CALLBACK(sw_on_switch_or_parked));
	check_trace_callback_type_irq_handler_entry(sw_on_irq_entry);
	check_trace_callback_type_irq_handler_exit(sw_on_irq_exit);
	check_trace_callback_type_softirq_entry(sw_on_softirq_entry);
	check_trace_callback_type_softirq_exit(sw_on_softirq_exit);
}

/* The set of hooks that are only wanted where interrupts are not the thread's, and
 * that of the switch. */
#define SW_HOOK_IRQ 1
#define SW_HOOK_SWITCH 2

static struct sw_hook sw_hooks[] = {
	{ "sched_switch", SW_SWITCH_CALLBACK(sw_on_switch), SW_HOOK_SWITCH },
	SW_IRQ_HOOKS(sw, SW_HOOK_IRQ),
};

/* From when this returns no sum changes. */
static void sw_vthread_unhook(void)
{
	WRITE_ONCE(sw_gate_parks, NULL);
	sw_hooks_off(sw_hooks, ARRAY_SIZE(sw_hooks));
}

static void sw_vthread_stop(void)
{
	sw_vthread_unhook();
	vfree(sw_threads.slots);
	sw_threads.slots = NULL;
}

/**
 * sw_vthread_start - be ready to watch threads
 * @max: how many at once
 * @slots: how many counters there may come to be; more than there can be, in
 *	scripts with sets
 * @exclude_irq: what interrupts count is not the interrupted thread's
 * @on_switch: SW_SWITCH_CALLBACK(sw_on_switch), or who does what that does and more
 * @parks: that one knows of CPUs that are parked
 * Context: sleepable.
 * Return: 0, or an errno; then all is as before.
 */
static int
sw_vthread_start(int max, unsigned int slots, bool exclude_irq,
		 void *on_switch, bool parks)
{
	void *mem;
	unsigned int i;
	int rc;

	sw_thread_words = slots > SW_MAX_SLOTS ?
			  SW_WORDS + SW_THREAD_SET_WORDS : 0;
	slots = sw_thread_words ?: slots;
	mem = vzalloc(sw_table_bytes(&sw_threads, max, slots));
	if (!mem)
		return -ENOMEM;
	sw_table_init(&sw_threads, mem);

	if (parks)
		WRITE_ONCE(sw_gate_parks, sw_vthread_park);
	sw_hooks_find(sw_hooks, ARRAY_SIZE(sw_hooks));
	for (i = 0; i < ARRAY_SIZE(sw_hooks); i++) {
		struct sw_hook *h = &sw_hooks[i];

		if (h->set == SW_HOOK_IRQ && (!exclude_irq || !h->tp))
			continue;
		if (h->set == SW_HOOK_SWITCH)
			h->callback = on_switch;
		rc = sw_hook_on(h);
		if (rc) {
			sw_vthread_stop();
			return rc;
		}
	}
	return 0;
}

#endif
