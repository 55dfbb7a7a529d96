/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits as samples: off_cpu.
 *
 * A thread that comes back to a CPU brings a sample.  Its period is how many
 * nanoseconds the thread was away, blocked or ready; its stacks are those that it
 * waits with.  When it left, the switch notes in a table.  How long that is ago is
 * looked at where the switch ends, for there it runs, and its memory is there: so a
 * wait that is too short to be sampled costs no stack.
 *
 * A wait that has not ended when the session does is nobody's to bring.  Where the script
 * asks for those, all threads are looked at then (last_look.h).
 *
 * There is one dummy event of perf's for each such probe, for all CPUs: perf follows
 * stacks for the sake of an event, and SystemTap's handler is called as though it had
 * overflowed.
 *
 * Who may run what, against whom:
 *
 *   sw_off_cpu_on_switch()	the run queue locked, interrupts off
 *   sw_off_cpu_on_waking()	processes, interrupts and softirqs; the thread's
 *				pi_lock is held
 *   sw_off_cpu_on_exit(), _at_switched()	at a switch's end, preemption off; in
 *				the latter the run queue is still locked
 *   sw_off_cpu_create(), _last(), _release(), _end()	sleepable, under
 *				sw_profile.lock
 */
#ifndef STAPWATCH_SAMPLE_OFF_CPU_H
#define STAPWATCH_SAMPLE_OFF_CPU_H

#include "base/clock.h"
#include "base/hooks.h"
#include "base/kernel.h"
#include "base/sched_text.h"
#include "base/session.h"
#include "base/suspend.h"
#include "base/switched.h"
#include "count/chosen.h"
#include "count/pmu.h"
#include "count/table.h"
#include "sample/last_look.h"
#include "sample/open_wait.h"
#include "sample/overflow.h"
#include "sample/sampler.h"
#include "sample/wait_state.h"
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

/* Of the wait whose sample is taken. */
static DEFINE_PER_CPU(s64, sw_wait_waker);

/* A waker that is no thread; 0 is a CPU that was idle. */
#define SW_WAKER_IRQ (-1)
#define SW_WAKER_SOFTIRQ (-2)
#define SW_WAKER_NONE (-3)

/* ---- a wait begins */

/* Its first one: who wakes it before it is in the table is not known. */
static noinline struct sw_thread *sw_off_cpu_add(struct task_struct *task)
{
	struct sw_thread *e = sw_table_claim(&sw_off_cpu.table, task,
					     SW_NR_WAIT_SUMS);

	if (e) {
		e->sum[SW_WAIT_WAKER] = SW_WAKER_NONE;
		sw_table_publish(e, task);
	}
	return e;
}

static void
sw_off_cpu_on_switch(void *data, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int prev_state)
{
	struct sw_thread *e;
	u64 now;

	if (is_idle_task(prev))
		return;
	e = sw_table_find(&sw_off_cpu.table, prev);
	if (unlikely(prev_state & TASK_DEAD)) {
		if (e)
			sw_table_remove(&sw_off_cpu.table, e);
		return;
	}
	if (unlikely(!e))
		e = sw_off_cpu_add(prev);
	if (unlikely(!e))
		return;
	now = sw_off_cpu_now();
	WRITE_ONCE(e->sum[SW_WAIT_PREEMPTED], preempt || !prev_state);
	WRITE_ONCE(e->sum[SW_WAIT_LEFT], now);
}
SW_SWITCH_WITHOUT_STATE(sw_off_cpu_on_switch)

/*
 * A thread that waits has its place in the table until it is back, and is not before its
 * pi_lock is free.  It may be woken before it has left: so what is noted here stays, and
 * is of the last wait if that was one.
 */
static void sw_off_cpu_on_waking(void *data, struct task_struct *task)
{
	struct sw_thread *e = sw_table_find(&sw_off_cpu.table, task);

	if (!e || READ_ONCE(e->task) != task)
		return;
	WRITE_ONCE(e->sum[SW_WAIT_WAKER],
		   in_hardirq() ? SW_WAKER_IRQ :
		   in_serving_softirq() ? SW_WAKER_SOFTIRQ : current->pid);
	WRITE_ONCE(e->sum[SW_WAIT_READY], sw_off_cpu_now());
}

/* ---- and ends */

/*
 * When current left, which is here again; 0: that is not known.  Who had left before
 * switches were seen is away since then at least; a new thread has never been here,
 * and who found no room in the table looks like either.
 */
static __always_inline u64 sw_off_cpu_left(void)
{
	struct sw_thread *e = sw_table_find(&sw_off_cpu.table, current);
	u64 left;

	if (likely(e)) {
		left = e->sum[SW_WAIT_LEFT];
		WRITE_ONCE(e->sum[SW_WAIT_LEFT], 0);
		return left;
	}
	if (atomic_read(&sw_off_cpu.table.refused) ||
	    current->start_time >= READ_ONCE(sw_off_cpu.begun_ns))
		return 0;
	return READ_ONCE(sw_off_cpu.begun);
}

/* For how many nanoseconds of the TICKS that current was away it was ready; 0: that is not
 * known.  Its waker is the sample's. */
static u64 sw_off_cpu_ready(u64 ticks)
{
	struct sw_thread *e;
	u64 now, since;

	this_cpu_write(sw_wait_waker, SW_WAKER_NONE);
	if (!sw_off_cpu.wakers)
		return 0;
	now = sw_off_cpu_now();
	e = sw_table_find(&sw_off_cpu.table, current);
	if (!e)
		return 0;
	if (!READ_ONCE(e->sum[SW_WAIT_PREEMPTED]))
		this_cpu_write(sw_wait_waker,
			       READ_ONCE(e->sum[SW_WAIT_WAKER]));
	since = sw_wait_ready_since(e, now - ticks, true);
	return since && now > since ? sw_off_cpu_ns(now - since) : 0;
}

static noinline void sw_off_cpu_sample(u64 ticks, struct pt_regs *regs)
{
	u64 ns = sw_off_cpu_ns(ticks);
	u64 ready = min(ns, sw_off_cpu_ready(ticks));
	struct perf_sample_data data;
	unsigned int i;

	if (unlikely(sw_wait_is_over())) {
		sw_wait_late(ticks, regs);
		return;
	}
	if (unlikely(READ_ONCE(sw_samples_since))) {
		ns = sw_off_cpu_counted(ns, sw_clock_ns());
		ready = min(ready, ns);
	}
	/* with smp_store_release() in sw_off_cpu_create() */
	for (i = 0; i < smp_load_acquire(&sw_off_cpu.nr); i++) {
		if (ns < sw_off_cpu.probes[i].least)
			continue;
		perf_sample_data_init(&data, 0, ns);
		if (ready)
			sw_data_set_weight(&data, ready);
		sw_overflow(sw_off_cpu.probes[i].event, &data, regs);
	}
}

/* Is this wait to be sampled?  Return: its length in ticks; 0: no. */
static __always_inline u64 sw_off_cpu_back(void)
{
	u64 left, now;

	if (is_idle_task(current))
		return 0;
	left = sw_off_cpu_left();
	now = sw_off_cpu_now();
	/* a counter that was set back: no time has passed */
	if (!left || now <= left || now - left < READ_ONCE(sw_off_cpu.least) ||
	    !sw_cpu_is_chosen(smp_processor_id()))
		return 0;
	return now - left;
}

/*
 * The registers of who called the function that this stands in.  Perf's own way has
 * the unwinder come from where it is itself; as an interrupt's these are begun with.
 */
static __always_inline void sw_off_cpu_regs(struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	const unsigned long *frame = __builtin_frame_address(0);

	memset(regs, 0, sizeof(*regs));
	regs->ip = (unsigned long)__builtin_return_address(0);
	regs->sp = (unsigned long)(frame + 2);
	regs->bp = *frame;
	regs->flags = X86_EFLAGS_FIXED;
	regs->cs = __KERNEL_CS;
	regs->ss = __KERNEL_DS;
#else
	memset(regs, 0, sizeof(*regs));
	perf_fetch_caller_regs(regs);
#endif
}

static noinline void sw_off_cpu_sample_here(u64 ticks)
{
	struct pt_regs regs;

	sw_off_cpu_regs(&regs);
	sw_off_cpu_sample(ticks, &regs);
}

static void sw_off_cpu_on_exit(void *data, bool is_switch)
{
	u64 ticks = is_switch ? sw_off_cpu_back() : 0;

	if (unlikely(ticks))
		sw_off_cpu_sample_here(ticks);
}

static int sw_off_cpu_at_switched(struct kprobe *p, struct pt_regs *regs)
{
	u64 ticks = sw_off_cpu_back();

	if (unlikely(ticks))
		sw_off_cpu_sample(ticks, regs);
	return 0;
}

/* ---- from the first probe to the last */

/* Hooked in this order: a wait's end before its begin would be one since the
 * session's begin. */
static struct sw_hook sw_off_cpu_hooks[] = {
	{ "sched_switch", SW_SWITCH_CALLBACK(sw_off_cpu_on_switch) },
	{ "sched_exit_tp", sw_off_cpu_on_exit },
	{ "sched_waking", sw_off_cpu_on_waking },
};

static void __maybe_unused sw_off_cpu_check_callbacks(void)
{
	check_trace_callback_type_sched_switch(
		SW_SWITCH_CALLBACK(sw_off_cpu_on_switch));
	check_trace_callback_type_sched_waking(sw_off_cpu_on_waking);
}

static int sw_off_cpu_hook(void)
{
	int rc;

	sw_hooks_find(sw_off_cpu_hooks, ARRAY_SIZE(sw_off_cpu_hooks));
	rc = sw_hook_on(&sw_off_cpu_hooks[0]);
	WRITE_ONCE(sw_off_cpu.begun_ns, sw_clock_ns());
	WRITE_ONCE(sw_off_cpu.begun, sw_off_cpu_now());
	if (!rc)
		rc = sw_off_cpu_hooks[1].tp ? sw_hook_on(&sw_off_cpu_hooks[1])
					    : sw_switched_on(&sw_off_cpu.kprobe,
							     sw_off_cpu_at_switched);
	if (!rc && sw_off_cpu.wakers)
		rc = sw_hook_on(&sw_off_cpu_hooks[2]);
	if (rc)
		_stp_error("stapwatch: off_cpu cannot be sampled: this kernel has no usable tracepoint sched_switch or sched_waking, or neither sched_exit_tp nor a finish_task_switch() that can be probed (%d)\n",
			   rc);
	return rc;
}

static void sw_off_cpu_unhook(void)
{
	sw_kprobe_off(&sw_off_cpu.kprobe);
	sw_hooks_off(sw_off_cpu_hooks, ARRAY_SIZE(sw_off_cpu_hooks));
}

static int sw_off_cpu_alloc(void)
{
	const int max = sw_config.threads;
	void *slots;

	if (max < 1 || max > 1 << 20) {
		_stp_error("stapwatch: stapwatch_threads=%d: it must be from 1 to %d\n",
			   max, 1 << 20);
		return -EINVAL;
	}
	slots = vzalloc(sw_table_bytes(&sw_off_cpu.table, max,
				       SW_NR_WAIT_SUMS));
	if (!slots) {
		_stp_error("stapwatch: no memory for the waits of %d threads; try a smaller -G stapwatch_threads=N\n",
			   max);
		return -ENOMEM;
	}
	if ((sw_profile.uses & SW_OPEN_WAITS) && sw_open_start(max)) {
		_stp_error("stapwatch: no memory for the waits of %d threads; try a smaller -G stapwatch_threads=N\n",
			   max);
		sw_open_stop();
		vfree(slots);
		return -ENOMEM;
	}
	sw_table_init(&sw_off_cpu.table, slots);
	sw_off_cpu.hz = sw_tsc_hz();
	sw_off_cpu.by_clock = !sw_off_cpu.hz || !sw_tsc_is_global();
	if (sw_off_cpu.by_clock)
		sw_off_cpu.hz = NSEC_PER_SEC;
	sw_off_cpu.least = U64_MAX;
	/* what tells of them costs at each wake-up */
	sw_off_cpu.wakers = sw_profile.uses & (SW_TRACES | SW_LATENCIES |
					       SW_WAKERS);
	sw_suspend_follow(SW_SUSPEND_WAITS);
	sw_sched_texts();
	return 0;
}

/* Handlers run from now on: what is away has been so since now at least. */
static void sw_off_cpu_run(void)
{
	WRITE_ONCE(sw_off_cpu.begun_ns, sw_clock_ns());
	WRITE_ONCE(sw_off_cpu.begun, sw_off_cpu_now());
	WRITE_ONCE(sw_off_cpu.ran, true);
}

/**
 * sw_off_cpu_last - before anything goes: what of waits had not ended when the session did
 *
 * Context: sleepable, under sw_profile.lock.
 */
static void sw_off_cpu_last(void)
{
	if (!sw_open.list || !sw_wait_is_over() || sw_off_cpu.looked)
		return;
	sw_wait_ends();
	sw_wait_have_looked();
	sw_off_cpu.looked = true;
	/* who was found to be back already is in the list when this returns */
	synchronize_rcu();
	sw_off_cpu_unhook();
	sw_open_done(sw_off_cpu.ended_ns);
}

/* Nothing of it is called any more when this returns. */
static void sw_off_cpu_end(void)
{
	int refused;

	if (!sw_off_cpu.table.slots)
		return;
	sw_off_cpu_unhook();
	sw_suspend_leave(SW_SUSPEND_WAITS);
	refused = atomic_read(&sw_off_cpu.table.refused);
	if (refused)
		_stp_warn("stapwatch: %d waits are in no sample: their threads had no room in the table; -G stapwatch_threads=N makes it (now %d)\n",
			  refused, sw_off_cpu.table.max);
	vfree(sw_off_cpu.table.slots);
	memset(&sw_off_cpu, 0, sizeof(sw_off_cpu));
}

/* The event that perf is asked for; what overflows is not it. */
static struct perf_event *
sw_off_cpu_event(struct sw_sampler *s, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};

	sw_sampler_describe(&attr);
	return perf_event_create_kernel_counter(&attr, cpu, NULL, sw_overflow,
						s);
}

/**
 * sw_off_cpu_create - begin to sample waits for a probe
 * @s: it; its period is the shortest wait, in nanoseconds
 * @cpu: one that is online
 *
 * Context: sleepable, under sw_profile.lock.
 * Return: what stands for it, or an error after a message.
 */
static struct perf_event *sw_off_cpu_create(struct sw_sampler *s, int cpu)
{
	const bool first = !sw_off_cpu.table.slots;
	struct perf_event *e;
	int rc = 0;

	if (first)
		rc = sw_off_cpu_alloc();
	if (rc)
		return ERR_PTR(rc);
	e = sw_off_cpu_event(s, cpu);
	if (IS_ERR(e)) {
		_stp_error("stapwatch: off_cpu cannot be sampled: perf has no event for it (%ld)\n",
			   PTR_ERR(e));
		if (first)
			sw_off_cpu_end();
		return e;
	}
	sw_off_cpu.probes[sw_off_cpu.nr].event = e;
	sw_off_cpu.probes[sw_off_cpu.nr].least = s->every;
	WRITE_ONCE(sw_off_cpu.least,
		   min(sw_off_cpu.least, sw_ns_to_ticks(s->every, sw_off_cpu.hz)));
	/* with smp_load_acquire() in sw_off_cpu_sample() */
	smp_store_release(&sw_off_cpu.nr, sw_off_cpu.nr + 1);
	rc = first ? sw_off_cpu_hook() : 0;
	if (rc) {
		sw_off_cpu_end();
		perf_event_release_kernel(e);
		return ERR_PTR(rc);
	}
	return e;
}

/** sw_off_cpu_release - before E goes, whatever it is, which ends it for all */
static void sw_off_cpu_release(const struct perf_event *e)
{
	unsigned int i;

	for (i = 0; i < sw_off_cpu.nr; i++) {
		if (sw_off_cpu.probes[i].event == e) {
			sw_off_cpu_end();
			return;
		}
	}
}

#endif
