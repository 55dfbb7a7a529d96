/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of waits: of each thread's in a table, and of the session's.
 *
 * Who may run what: all of it any context.
 */
#ifndef STAPWATCH_SAMPLE_WAIT_STATE_H
#define STAPWATCH_SAMPLE_WAIT_STATE_H

#include "base/clock.h"
#include "count/table.h"
#include "sample/overflow.h"
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/perf_event.h>

/* What the table has of a thread. */
enum {
	SW_WAIT_LEFT,		/* when it left its CPU; 0: it has come back */
	SW_WAIT_PREEMPTED,	/* it left ready: no wake-up is of this wait */
	SW_WAIT_READY,		/* when it was last woken; 0: that is not known */
	SW_WAIT_WAKER,		/* by whom */
	SW_NR_WAIT_SUMS
};

static struct {
	struct sw_table table;
	u64 hz;			/* of what time is told by: the processor's counter,
				 * where that is the same for all CPUs, costs less
				 * than the clock */
	bool by_clock;
	u64 begun;		/* from here on switches are seen */
	u64 begun_ns;		/* the same, as threads' start_time has it */
	u64 least;		/* the shortest wait that any probe samples */
	unsigned int nr;
	struct {
		struct perf_event *event;
		u64 least;	/* that this one does, ns */
	} probes[SW_MAX_SAMPLERS];
	struct kprobe kprobe;
	bool wakers;		/* are looked at */
	bool ran;		/* the session did, and handlers */
	bool looked;		/* at those who have not come back */
	u64 ended;		/* when it was first seen that it does no more, */
	u64 ended_ns;		/* and of the trace's clock; 0: not yet */
} sw_off_cpu;

static __always_inline u64 sw_off_cpu_now(void)
{
	return unlikely(sw_off_cpu.by_clock) ? sw_clock_ns() : sw_tsc();
}

static u64 sw_off_cpu_ns(u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, sw_off_cpu.hz);
}

/*
 * Since when a thread is ready that left at LEFT; 0: that is not known.  BACK: it is here
 * again, so that a wake-up from before it left has ended the wait.  Who has not come back
 * may have been woken then for nothing.
 */
static u64 sw_wait_ready_since(const struct sw_thread *e, u64 left, bool back)
{
	const u64 ready = READ_ONCE(e->sum[SW_WAIT_READY]);

	if (READ_ONCE(e->sum[SW_WAIT_PREEMPTED]))
		return left;
	if (ready && ready < left)
		return back ? left : 0;
	return ready;
}

/* When the script last went on to take samples; 0: it always has taken them. */
static u64 sw_samples_since;

static void __maybe_unused sw_profile_off(bool off)
{
	if (!off && READ_ONCE(sw_profile.off))
		WRITE_ONCE(sw_samples_since, sw_clock_ns());
	WRITE_ONCE(sw_profile.off, off);
}

/* While a set is active no samples are taken, or are again. */
static void __maybe_unused sw_profile_set_off(unsigned int set, bool off)
{
	if (off)
		atomic_or(1U << set, &sw_pmu.sets_unsampled);
	else
		atomic_andnot(1U << set, &sw_pmu.sets_unsampled);
}

/* Where the script has taken no samples, a wait counts from when it does. */
static u64 sw_off_cpu_counted(u64 ns, u64 up_to)
{
	const u64 since = READ_ONCE(sw_samples_since);

	if (likely(!since))
		return ns;
	return up_to > since ? min(ns, up_to - since) : 0;
}

#endif
