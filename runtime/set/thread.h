/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets and threads: which set counted while a watched thread ran; and sets that go
 * by the thread's own time.
 *
 * A difference of two readings of a thread is of one set's time if the same set
 * counted whenever the thread ran in between.  `spans' counts how often that was
 * not so; and the first reading after it is withheld, as after a hole.
 *
 * By pmu_switch_every("thread:1ms") a thread has a set of its own,
 * with which it goes on wherever it comes to run, until its time for that is over.
 * Perf events are turned on in a place that sleeps, so a CPU that counts another
 * set when the thread comes has to let its own thread run first.  What is counted
 * up to then is no set's, and is not of the thread's time for it.
 *
 * How long a set was active while the thread ran is the difference of what its CPU's
 * clock of that set stands at when the thread comes in and when it goes out.  It is one
 * set's: a CPU turns to another one in its own thread, so no other thread runs then.
 *
 *   sw_set_on_switch()		tracepoint sched_switch, in any order with
 *				vthread.h's
 *   sw_set_on_thread_timer(), sw_set_on_taken_in(), sw_set_thread_again()
 *				hard interrupt
 *   sw_set_taken_in(), sw_set_times_in(), _out()
 *				any context, NMI included; c->busy held
 *   sw_set_forget_sums()	sleepable, under sw_session_lock
 */
#ifndef STAPWATCH_SET_THREAD_H
#define STAPWATCH_SET_THREAD_H

#include "base/clock.h"
#include "base/hooks.h"
#include "base/kernel.h"
#include "count/cpu.h"
#include "count/entry.h"
#include "count/pmu.h"
#include "count/table.h"
#include "count/vthread.h"
#include "set/cpu.h"
#include "set/rules.h"
#include "set/set.h"
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <trace/events/sched.h>

/* What this CPU's clock of a set stands at; of 0: that of its session. */
static u64 sw_set_clock(const struct sw_cpu *c, const struct sw_set_cpu *p,
			unsigned int set, u64 now)
{
	if (!p->began)
		return set ? p->active[set] : p->session;
	if (!set)
		return p->session + sw_set_since(p->since, now);
	if (c->set != set || c->halted)
		return p->active[set];
	return p->active[set] + sw_set_since(p->last, now);
}

/* Is it the first time that the thread runs in that run?  It may have been on other
 * CPUs since: the last run is known of each of the four that it ran on last. */
static bool sw_set_is_new_run(struct sw_thread_set *s, u64 run)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(s->runs); i++) {
		if (s->runs[i] == run)
			return false;
		if (s->runs[i] >> 32 == run >> 32)
			break;
	}
	if (i == ARRAY_SIZE(s->runs))
		i = s->run_at++ % ARRAY_SIZE(s->runs);
	s->runs[i] = run;
	return true;
}

static void
sw_set_times_in(const struct sw_cpu *c, struct sw_thread *t, u64 now)
{
	const struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	struct sw_thread_set *s = sw_thread_set(t);
	u64 run = (smp_processor_id() + 1ULL) << 32 | c->set_gen;

	s->active = c->set;
	s->session_at = sw_set_clock(c, p, 0, now);
	s->active_at = sw_set_clock(c, p, s->active, now);
	s->timed = true;
	if (!s->active || !sw_set_is_new_run(s, run))
		return;
	t->sum[SW_WORD_RUNS(s->active)]++;
}

static unsigned int
sw_set_times_out(const struct sw_cpu *c, struct sw_thread *t, u64 now)
{
	const struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	struct sw_thread_set *s = sw_thread_set(t);

	if (!s->timed)
		return 0;
	s->timed = false;
	t->sum[SW_WORD_ACTIVE(0)] += sw_set_clock(c, p, 0, now) - s->session_at;
	if (s->active)
		t->sum[SW_WORD_ACTIVE(s->active)] +=
			sw_set_clock(c, p, s->active, now) - s->active_at;
	return s->active;
}

static const struct sw_thread_times sw_set_thread_times = {
	.in = sw_set_times_in,
	.out = sw_set_times_out,
};

static void sw_set_thread_out(struct sw_cpu *c, struct sw_set_cpu *p,
			      struct sw_thread *t, u64 now)
{
	struct sw_thread_set *s = sw_thread_set(t);
	u32 changes = c->set_gen - s->set_gen;

	if (c->set && c->set == s->set && !changes)
		s->used += sw_set_since(p->thread_in, now);
	s->spans += changes;
	s->with = changes ? 0 : c->set;
	s->set_gen = c->set_gen;
}

static void sw_set_thread_in(struct sw_cpu *c, struct sw_set_cpu *p,
			     struct sw_thread *t, u64 now)
{
	struct sw_thread_set *s = sw_thread_set(t);
	u64 ns, left;

	s->set_gen = c->set_gen;
	if (s->with != c->set) {
		s->spans++;
		s->lost |= sw_pmu.in_sets;
	}
	p->thread_in = now;
	if (!READ_ONCE(sw_sets.of_threads))
		return;
	if (!s->set || sw_set_state(s->set) != SW_SET_OPEN) {
		s->set = READ_ONCE(p->to);
		s->used = 0;
	}
	if (!s->set)
		return;
	ns = sw_set_thread_ns(s->set);
	left = sw_set_pause_left(p, now);
	if (s->set != c->set && left) {
		/* not yet; the timer will see to it */
	} else if (s->set != c->set || s->set != READ_ONCE(p->to)) {
		sw_set_leave_for(p, c, s->set);
		irq_work_queue(&p->ask);
		return;
	} else if (ns) {
		left = max(left, sw_set_since(s->used, ns));
	} else {
		/* it has no such time, as others have */
		return;
	}
	hrtimer_start(&p->of_thread, ns_to_ktime(left),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void
sw_set_on_switch(void *data, bool preempt, struct task_struct *prev,
		 struct task_struct *next, unsigned int prev_state)
{
	struct sw_thread *out, *in;
	struct sw_set_cpu *p;
	struct sw_cpu *c;
	u64 now;

	if (!READ_ONCE(sw_sets.running))
		return;
	out = sw_table_find(&sw_threads, prev);
	in = sw_table_find(&sw_threads, next);
	if (likely(!out && !in))
		return;
	c = this_cpu_ptr(&sw_cpus);
	p = this_cpu_ptr(sw_set_cpus);
	now = sw_clock_ns();
	if (out)
		sw_set_thread_out(c, p, out, now);
	if (in)
		sw_set_thread_in(c, p, in, now);
}
SW_SWITCH_WITHOUT_STATE(sw_set_on_switch)

/* A timer that is of a thread which has gone, or of a set which has, finds that out:
 * so nobody has to cancel it, which a switch has no time for. */
static enum hrtimer_restart sw_set_on_thread_timer(struct hrtimer *timer)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	struct sw_set_cpu *p = this_cpu_ptr(sw_set_cpus);
	struct sw_thread *t = c->cur;
	struct sw_thread_set *s = t ? sw_thread_set(t) : NULL;
	u64 ns, used;

	if (!READ_ONCE(sw_sets.running) || !READ_ONCE(sw_sets.of_threads) ||
	    !s || t->task != current || !c->set || !s->set || s->set_gen != c->set_gen)
		return HRTIMER_NORESTART;
	if (s->set != c->set) {
		sw_set_leave_for(p, c, s->set);
		sw_set_on_ask(NULL);
		return HRTIMER_NORESTART;
	}
	ns = sw_set_thread_ns(s->set);
	if (!ns)
		return HRTIMER_NORESTART;
	used = s->used + sw_set_since(p->thread_in, sw_clock_ns());
	if (used < ns) {
		hrtimer_forward_now(timer, ns_to_ktime(ns - used));
		return HRTIMER_RESTART;
	}
	s->used = 0;
	p->thread_in = sw_clock_ns();
	sw_set_next();
	return HRTIMER_NORESTART;
}

/* In hard interrupt: the thread that runs has just come to be watched. */
static void sw_set_on_taken_in(struct irq_work *work)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);
	struct sw_thread *t = c->cur;
	struct sw_thread_set *s = t ? sw_thread_set(t) : NULL;

	if (!READ_ONCE(sw_sets.running) || !s || s->set)
		return;
	s->with = s->set_gen == c->set_gen ? c->set : 0;
	sw_set_thread_in(c, this_cpu_ptr(sw_set_cpus), t, sw_clock_ns());
}

/* In hard interrupt: the rules are others.  The timer looks how much of its time a thread
 * that runs on has left. */
static void sw_set_thread_again(struct sw_set_cpu *p)
{
	sw_set_on_taken_in(NULL);
	hrtimer_start(&p->of_thread, 0, HRTIMER_MODE_REL_PINNED_HARD);
}

/* Its time begins now, not when it comes in the next time. */
static void sw_set_taken_in(void)
{
	struct sw_cpu *c = this_cpu_ptr(&sw_cpus);

	sw_set_times_in(c, c->cur, sw_clock_ns());
	if (READ_ONCE(sw_sets.of_threads) && READ_ONCE(sw_sets.running))
		irq_work_queue(&this_cpu_ptr(sw_set_cpus)->taken_in);
}

/*
 * What threads and targets have of the set is none of the next one's in these words.  Its
 * counters are blank: nothing is added there any more, but by who was on its way.
 */
static void sw_set_forget_sums(unsigned int set, u64 slots)
{
	const u32 gone = sw_sets_gone + 1;
	void (*begins)(unsigned int word) = READ_ONCE(sw_word_begins);
	unsigned int word;

	if (!sw_thread_words)
		return;
	for (word = 0; word < SW_MAX_SLOTS; word++)
		if (slots & SW_SLOT_BIT(word))
			WRITE_ONCE(sw_word_gone[word], gone);
	WRITE_ONCE(sw_word_gone[SW_WORD_ACTIVE(set)], gone);
	WRITE_ONCE(sw_word_gone[SW_WORD_RUNS(set)], gone);
	/* with sw_sums_are_void() */
	smp_store_release(&sw_sets_gone, gone);
	/* who adds up has interrupts off */
	synchronize_rcu();
	for (word = 0; begins && word < SW_WORDS; word++)
		if (READ_ONCE(sw_word_gone[word]) == gone)
			begins(word);
}

static void __maybe_unused sw_set_check_callback(void)
{
	check_trace_callback_type_sched_switch(
		SW_SWITCH_CALLBACK(sw_set_on_switch));
}

static struct sw_hook sw_set_hooks[] = {
	{ "sched_switch", SW_SWITCH_CALLBACK(sw_set_on_switch) },
};

#endif
