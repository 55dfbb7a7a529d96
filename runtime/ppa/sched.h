/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the scheduler does with threads: switches, wake-ups, and how long it takes.
 *
 * Who may run what, against whom:
 *
 *   ppa_on_switch(), ppa_on_wakeup()	the run queue locked, interrupts off; of
 *				a thread that wakes itself without that lock
 *   ppa_schedule_begins(), _ends()	on this CPU, preemption off
 *   ppa_settle()		processes
 *   ppa_kprobes_on(), _off()	sleepable, under ppa.lock or alone
 */
#ifndef STAPWATCH_PPA_SCHED_H
#define STAPWATCH_PPA_SCHED_H

#include "base/clock.h"
#include "base/kernel.h"
#include "base/switched.h"
#include "ppa/cause.h"
#include "ppa/charge.h"
#include "ppa/life.h"
#include "ppa/locks.h"
#include "ppa/ready.h"
#include "ppa/slice.h"
#include "ppa/threads.h"
#include <linux/sched/rt.h>

static __always_inline u64 *ppa_sums(struct ppa_rec *r, u32 at)
{
	return (u64 *)((char *)r->sums + at);
}

/* Add N to a value of the scheduler's, of this CPU and of thread R. */
static __always_inline void ppa_count(struct ppa_cpu *c, struct ppa_rec *r,
				      enum ppa_value value, u64 n)
{
	*ppa_v(c, value) += n;
	if (r)
		ppa_sums(r, c->sums_at)[value] += n;
}

static __always_inline void
ppa_fold_some(struct ppa_cpu *c, u64 *to, unsigned int from, unsigned int end)
{
	const u64 *v = ppa_v(c, 0);
	u64 *base = c->base, now;
	unsigned int i;

#pragma GCC unroll 4
	for (i = from; i < end; i++) {
		now = v[i];
		to[i] += now - base[i];
		base[i] = now;
	}
}

/* What the CPU has gathered since the thread came in becomes the thread's, if
 * that is ON; from here on it gathers for the next one. */
static __always_inline void ppa_fold(struct ppa_cpu *c, bool on)
{
	u64 *to;

	if (!on) {
		memcpy(c->base, ppa_v(c, 0), sizeof(c->base));
	} else {
		to = ppa_sums(c->rec, c->sums_at);
		ppa_fold_some(c, to, 0, PPA_NR_CALLED);
		if (c->interrupted)
			ppa_fold_some(c, to, PPA_NR_CALLED, PPA_NR_GATHERED);
	}
	c->interrupted = false;
}

static bool ppa_yields(struct task_struct *task)
{
#ifdef __NR_sched_yield
	return !(task->flags & PF_KTHREAD) &&
	       syscall_get_nr(task, task_pt_regs(task)) == __NR_sched_yield;
#else
	return false;
#endif
}

/*
 * Why a thread goes.  Between threads of real-time priorities that is plain.
 * Among the others there is nothing like one above the other: one that has just
 * been woken takes the place of one that runs, because it is owed more; that is
 * what the scheduler of PPA's kernel called a higher priority, too.  Otherwise
 * the timeslice has expired.
 */
static __always_inline enum ppa_value
ppa_why(struct ppa_cpu *c, bool preempt, struct task_struct *prev,
	struct task_struct *next, unsigned int prev_state,
	const struct ppa_rec *in)
{
	if (!preempt && prev_state)
		return PPA_V_BLOCKED;
	if (!preempt && c->state == PPA_V_SYSTEM && ppa_yields(prev))
		return PPA_V_BLOCKED;
	if (next->prio < prev->prio && next->prio < MAX_RT_PRIO)
		return PPA_V_PREEMPTED;
	if (next->prio == prev->prio && next->prio < MAX_RT_PRIO)
		return PPA_V_EXPIRED;
	/* a new thread is announced before the other is told to make room */
	if (READ_ONCE(c->woken) || (in && READ_ONCE(in->wait) == PPA_WAIT_NEW))
		return PPA_V_PREEMPTED;
	return PPA_V_EXPIRED;
}

static __always_inline unsigned int ppa_bucket(u64 ticks)
{
	const u64 *bound = ppa.bounds;
	unsigned int i;

	for (i = 0; i < PPA_NR_BUCKETS - 1; i++)
		if (ticks < *bound++)
			break;
	return i;
}

/* The thread has waited until now: the time is its own, and the CPU's. */
static __always_inline void
ppa_waited(struct ppa_cpu *c, struct ppa_rec *in, u8 wait, u64 now)
{
	/* by the counter of another CPU, which may be ahead */
	u64 stamp = READ_ONCE(in->stamp);
	u64 d = now > stamp ? now - stamp : 0;

	c->moment = wait;
	c->waited = d;
	if (wait == PPA_WAIT_PREEMPTED) {
		ppa_count(c, in, PPA_V_PREEMPTED_TIME, d);
	} else {
		ppa_count(c, in, PPA_V_LATENCY, d);
		ppa_count(c, in, PPA_V_WAKEUPS, 1);
		if (ppa_has(in, PPA_LATENCY))
			++*(in->latency + ppa_bucket(d));
	}
	WRITE_ONCE(in->wait, PPA_WAIT_NONE);
}

/* What a thread's life goes to that leaves its CPU. */
static __always_inline u8
ppa_part_of(const struct ppa_rec *out, struct task_struct *prev, bool preempt,
	    unsigned int mode, unsigned int prev_state)
{
	if (!prev_state || preempt)
		return PPA_PART_PREEMPTED;
	if (unlikely(prev_state & TASK_DEAD))
		return PPA_PART_OVER;
	return ppa_cause(out, prev, mode, prev_state);
}

/* The timeline is told of a switch.  Who was preempted is back by itself: what woke it
 * before it slept has ended no wait. */
static __always_inline void
ppa_slice_switch(struct ppa_slice *s, struct ppa_rec *in, u8 wait, u64 ready,
		 u64 now, struct task_struct *next)
{
	if (in && READ_ONCE(in->waker)) {
		if (wait != PPA_WAIT_PREEMPTED)
			s->waker = READ_ONCE(in->waker);
		WRITE_ONCE(in->waker, 0);
	}
	s->ready = ready;
	ppa_slice_put(s, now, next->pid);
}

/* What who goes now is called. */
static noinline void ppa_slice_name(struct task_struct *task)
{
	u64 words[TASK_COMM_LEN / sizeof(u64)];

	memcpy(words, task->comm, sizeof(words));
	ppa_slice_of_thread(SW_SLICE_NAME, task->pid, task->tgid, words);
}

static void
ppa_on_switch(void *data, bool preempt, struct task_struct *prev,
	      struct task_struct *next, unsigned int prev_state)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	struct ppa_rec *out = c->rec, *in = NULL;
	struct ppa_slice slice;
	enum ppa_value why;
	/* its other flags may be half changed: it was interrupted in that */
	const bool idle = data_race(is_idle_task(next));
	bool on, has_slices;
	u64 now, ready = 0;
	u8 wait = PPA_WAIT_NONE;

	if (!idle)
		in = ppa_find(next);
	ppa_begin();
	/* before the clock is read: see ppa_rec_change() */
	if (in)
		ppa_rec_change(in);
	now = ppa_charge(c->state);
	if (unlikely(c->depth)) {
		/* an exit that no tracepoint told of */
		WRITE_ONCE(c->state, c->stack[0]);
		WRITE_ONCE(c->depth, 0);
	}
	has_slices = ppa_has_slices();
	if (has_slices)
		ppa_slice_take(&slice, c, prev);
	if (out)
		ppa_rec_change(out);
	c->left_tid = prev->pid;
	c->left_for = PPA_V_IDLE;
	if (c->on) {
		why = ppa_why(c, preempt, prev, next, prev_state, in);
		ppa_count(c, out, why, 1);
		c->left_for = why;
	}
	if (out) {
		ppa_fold(c, c->on);
		ppa_life_out(out, c->on, ppa_part_of(out, prev, preempt,
						     c->state, prev_state),
			     now);
		if (unlikely(ppa_locks.rows))
			ppa_lock_out(out, prev);
		out->mode = c->state;
		WRITE_ONCE(out->wait, PPA_WAIT_NONE);
		if (!prev_state || preempt) {
			WRITE_ONCE(out->wait, PPA_WAIT_PREEMPTED);
			WRITE_ONCE(out->stamp, now);
		}
		WRITE_ONCE(out->cpu, -1);
		ppa_rec_changed(out);
		if (has_slices)
			slice.part |= out->part == PPA_PART_OVER ?
				SW_SLICE_OVER : out->part;
	} else {
		ppa_fold(c, false);
		if (has_slices)
			slice.part |= PPA_PART_UNKNOWN;
	}

	if (c->calls)
		ppa_call_out(c, out, c->state, prev_state & TASK_DEAD);

	c->moment = PPA_WAIT_NONE;
	WRITE_ONCE(c->rec, in);
	WRITE_ONCE(c->task, next);
	WRITE_ONCE(c->woken, false);
	on = in ? ppa_has(in, PPA_ON)
		: !idle && data_race(ppa.flags & PPA_ON);
	/* with smp_load_acquire() in ppa_woken() */
	smp_store_release(&c->on, on);
	if (idle) {
		WRITE_ONCE(c->state, PPA_V_IDLE);
	} else if (!c->on) {
		WRITE_ONCE(c->state, PPA_V_NOT_ACCOUNTED);
	} else {
		WRITE_ONCE(c->state, in ? in->mode : PPA_V_NOT_ACCOUNTED);
		if (unlikely(c->state > PPA_V_SYSTEM))
			WRITE_ONCE(c->state, ppa_mode_of(next));
	}
	if (in) {
		wait = READ_ONCE(in->wait);
		ready = ppa_life_in(in, wait, now);
		if (unlikely(in->waits_for))
			ppa_lock_in(in);
		if (c->calls)
			ppa_call_in(c, in, c->on);
		if (c->on && wait)
			ppa_waited(c, in, wait, now);
		WRITE_ONCE(in->cpu, smp_processor_id());
		ppa_rec_changed(in);
	}
	ppa_done();
	if (has_slices) {
		ppa_slice_switch(&slice, in, wait, ready, now, next);
		if (unlikely(prev_state & TASK_DEAD))
			ppa_slice_name(prev);
	}
	if (unlikely(prev_state & TASK_DEAD) &&
	    (!thread_group_leader(prev) || thread_group_empty(prev)))
		ppa_remove(prev);
}
SW_SWITCH_WITHOUT_STATE(ppa_on_switch)

/* The same where competitors are kept; so others do not even have a test. */
static void
ppa_on_competing_switch(void *data, bool preempt, struct task_struct *prev,
			struct task_struct *next, unsigned int prev_state)
{
	const struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);

	ppa_on_switch(data, preempt, prev, next, prev_state);
	ppa_ready_switch(c, c->rec, next->pid, c->last);
}
SW_SWITCH_WITHOUT_STATE(ppa_on_competing_switch)

static bool ppa_must_go(struct task_struct *task)
{
#ifdef TIF_NEED_RESCHED_LAZY
	if (test_tsk_thread_flag(task, TIF_NEED_RESCHED_LAZY))
		return true;
#endif
	return test_tsk_need_resched(task);
}

static __always_inline void
ppa_woken(struct task_struct *task, enum ppa_wait wait)
{
	const int cpu = task_cpu(task);
	struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);
	struct ppa_rec *r = ppa_find(task);

	/* one that was preempted on its way to sleep has been ready since */
	if (r && READ_ONCE(r->cpu) < 0 &&
	    READ_ONCE(r->wait) == PPA_WAIT_NONE) {
		WRITE_ONCE(r->stamp, sw_tsc());
		/* with ppa_read_wait() */
		smp_store_release(&r->wait, wait);
		ppa_ready_begins(r, cpu);
	}
	/* with who sets it, and has set TASK before */
	if (smp_load_acquire(&c->on) && !READ_ONCE(c->woken) &&
	    ppa_must_go(READ_ONCE(c->task)))
		WRITE_ONCE(c->woken, true);
}

static void ppa_on_wakeup(void *data, struct task_struct *task)
{
	ppa_woken(task, PPA_WAIT_WOKEN);
}

static void ppa_on_wakeup_new(void *data, struct task_struct *task)
{
	ppa_woken(task, PPA_WAIT_NEW);
}

/*
 * ---- the scheduler's two ends
 *
 * Tracepoints tell of them where there are any.  Else kprobes stand at the
 * function that every call of the scheduler begins with, and at the one that
 * ends a switch; that a thread went on is then known when it next comes by.
 */

static void ppa_schedule_begins(bool ends_are_seen)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);

	if (!ends_are_seen && c->entry && c->runnable && c->on) {
		ppa_begin();
		ppa_count(c, c->rec, PPA_V_RESCHEDS, 1);
		ppa_done();
	}
	c->entry = sw_tsc();
	c->runnable = !sw_task_state(current);
}

static void ppa_schedule_ends(bool switched)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	u64 entry = c->entry, now;

	c->entry = 0;
	if (!entry || !c->on)
		return;
	ppa_begin();
	if (switched) {
		now = sw_tsc();
		/* where the counter has not gone back meanwhile */
		ppa_count(c, c->rec, PPA_V_SWITCH,
			  now > entry ? now - entry : 0);
		ppa_count(c, c->rec, PPA_V_SWITCHES, 1);
	} else if (c->runnable) {
		WRITE_ONCE(c->woken, false);
		ppa_count(c, c->rec, PPA_V_RESCHEDS, 1);
	}
	ppa_done();
}

/* Current's own call of the scheduler is over, since it is here: processes only. */
static void ppa_settle(void)
{
	preempt_disable();
	if (this_cpu_read(ppa_cpus.entry))
		ppa_schedule_ends(false);
	preempt_enable();
}

static void ppa_on_sched_entry(void *data, bool preempt)
{
	ppa_schedule_begins(true);
}

static void ppa_on_sched_exit(void *data, bool is_switch)
{
	ppa_schedule_ends(is_switch);
}

static int ppa_at_schedule(struct kprobe *p, struct pt_regs *regs)
{
	/* RCU hears of a virtual CPU that is entered by the same function */
	if (current->flags & PF_VCPU)
		return 0;
	ppa_schedule_begins(false);
	return 0;
}

static int ppa_at_switched(struct kprobe *p, struct pt_regs *regs)
{
	ppa_schedule_ends(true);
	return 0;
}

static struct kprobe ppa_kprobes[2];

static void ppa_kprobes_off(void)
{
	sw_kprobe_off(&ppa_kprobes[0]);
	sw_kprobe_off(&ppa_kprobes[1]);
}

static int ppa_kprobes_on(void)
{
	int rc = sw_switched_on(&ppa_kprobes[1], ppa_at_switched);

	if (!rc)
		rc = sw_kprobe_on(&ppa_kprobes[0], "rcu_note_context_switch",
				  ppa_at_schedule);
	if (rc)
		ppa_kprobes_off();
	return rc;
}

#endif
