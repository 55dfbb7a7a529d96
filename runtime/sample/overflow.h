/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples: what is known at the overflow whose handler is running.
 *
 * SystemTap's own handlers of perf probes are given the registers only.  So
 * every sampling event that it creates gets sw_overflow() for its handler,
 * which notes perf's data for this CPU and calls SystemTap's; which one, and
 * what else goes for all events of that probe, is in the event's context, where
 * SystemTap has nothing.
 *
 * Who may run what, against whom: everything here runs within an overflow on
 * its CPU, with preemption off: a software event's in task context, a timer's
 * in hard interrupt, a PMU's in NMI.  One may come while another is under way,
 * also between any two instructions of sw_overflow(); it leaves what it found.
 * A probe of another kind that hits meanwhile would see the sample of the one
 * that it interrupted: SW_SAMPLE() asks what probe it runs in.
 */
#ifndef STAPWATCH_SAMPLE_OVERFLOW_H
#define STAPWATCH_SAMPLE_OVERFLOW_H

#include "base/handler.h"
#include "base/kernel.h"
#include "base/nmi.h"
#include "base/sched_text.h"
#include "base/session.h"
#include "count/pmu.h"
#include "sample/stack.h"
#include "sample/wanted.h"
#include "trace/abi.h"
#include "trace/trace.h"
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/kallsyms.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>

#define SW_MAX_SAMPLERS 32	/* different perf probes in one script */

/* What a script does with samples */
#define SW_KSTACKS 1
#define SW_USTACKS 2
#define SW_TRACES 4
#define SW_BRANCHES 8
#define SW_LATENCIES 16
#define SW_IMAGES 32
#define SW_UNWOUND 64
#define SW_WAKERS 128
#define SW_OPEN_WAITS 256

struct sw_carry;
struct sw_in_set;

/* One perf probe of the script's */
struct sw_sampler {
	perf_overflow_handler_t handler;	/* SystemTap's */
	const struct perf_event_attr *given;	/* by SystemTap */
	const char *name;
	u64 every;		/* events, or a second */
	bool hz;
	bool is_timer;
	bool is_wait;		/* see off_cpu.h */
	bool wants_nmi;
	atomic_t no_nmi;	/* samples that came otherwise, where it does */
	s8 precise;		/* what the PMU takes; -1: not tried yet */
	u64 period;		/* 0: perf changes it */
	u64 random;		/* the mask of what is added to it */
	u64 long_period;	/* after a sample that was lost; 0: no other */
	struct sw_in_set *in_set;	/* see in_sets.h; NULL: whatever set is active */
	struct sw_carry *carry;		/* see carry.h; NULL: all counts of the CPU */
	struct perf_event_attr attr;	/* of each CPU's */
};

struct sw_sample {
	struct perf_event *event;
	struct sw_sampler *sampler;
	const struct perf_sample_data *data;
	struct pt_regs *regs;
	u64 waits_at;		/* of a wait: where, when stacks are taken */
	u32 kstack;
	u32 ustack;
	u32 unwound;		/* the latter by SystemTap's unwinder */
	u16 flags;		/* TRACE_NO_... */
	u8 has;			/* SW_KSTACKS, SW_USTACKS, SW_UNWOUND */
	bool full;		/* the buffer had no room for it */
};

static struct {
	struct mutex lock;
	bool begun;
	unsigned int uses;
	unsigned int nr;
	unsigned int open;	/* events that sample, one for each CPU */
	struct sw_sampler samplers[SW_MAX_SAMPLERS];
	struct sw_stacks stacks;
	void *stacks_mem;
	__typeof__(&perf_callchain) callchain;
	u16 max_frames;
	unsigned int counts;	/* that samples carry */
	atomic_t unwound_in_nmi;
	bool off;		/* the script takes no samples now */
} sw_profile = { .lock = __MUTEX_INITIALIZER(sw_profile.lock) };

/* what `-G` set; see the tapset */
static struct {
	s64 stacks;
	s64 buffer_kb;
	u64 random_mask;
	u64 long_period;
} sw_profile_config = { .stacks = 8192, .buffer_kb = 256 };

static DEFINE_PER_CPU(struct sw_sample *, sw_sample);
static DEFINE_PER_CPU(u64 [SW_MAX_SAMPLERS], sw_overflows);
/* of which messages have told; and samplers of messages that found no room */
static DEFINE_PER_CPU(u64 [SW_MAX_SAMPLERS], sw_overflows_told);
static DEFINE_PER_CPU(u32, sw_overflows_untold);
/* overflows while the script took no samples */
static DEFINE_PER_CPU(u64, sw_samples_off);
static DEFINE_PER_CPU(u64, sw_random);
/* what the counters stood at, by sampler and slot */
static DEFINE_PER_CPU(u64 (*)[SW_MAX_SLOTS], sw_sample_last);

/* ---- the period */

/* Small, repeatable, and good enough to be out of step with any loop. */
static __always_inline u64 sw_random_next(void)
{
	u64 x = this_cpu_read(sw_random);

	x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	this_cpu_write(sw_random, x);
	return x >> 32 | x << 32;
}

static bool sw_is_timer(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/*
 * The period up to the next sample: as perfmon2 (HP, 2005) resets a
 * counter, to the long value after an overflow that found the buffer full, else
 * to the short one, plus what is random under the mask.
 */
static __always_inline void sw_next_period(struct sw_sample *s)
{
	struct hw_perf_event *hw = &s->event->hw;
	u64 period = s->sampler->period, random = s->sampler->random;

	if (!period || likely(!(random | s->sampler->long_period)))
		return;
	if (s->full && s->sampler->long_period)
		period = s->sampler->long_period;
	period = min_t(u64, period + (sw_random_next() & random), S64_MAX);
	hw->sample_period = period;
	/* of a timer perf itself does not keep it */
	if (s->sampler->is_timer)
		hw->last_period = period;
}

/* ---- stacks */

static u32 sw_stack_number(struct sw_sample *s, const u64 *ip, unsigned int nr,
			   unsigned int flags)
{
	u32 number = nr ? sw_stack_get(&sw_profile.stacks, ip, nr, flags) : 0;

	if (nr && !number)
		s->flags |= flags & SW_TRACE_STACK_USER ? SW_TRACE_NO_USTACK
						     : SW_TRACE_NO_KSTACK;
	return number;
}

/* Code without frame pointers has anything in that register: a user's stack ends
 * where an address is no user's. */
static unsigned int sw_user_frames(const u64 *ip, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && ip[i] < TASK_SIZE_MAX; i++)
		;
	return i;
}

/* Each part begins with a mark of what it is. */
static void sw_capture_parts(struct sw_sample *s, const u64 *ip,
			     unsigned int nr, unsigned int which)
{
	unsigned int i, from, flags, marks = 0;

	for (i = 0; i < nr; ) {
		u64 mark = ip[i++];

		marks++;
		for (from = i; i < nr && ip[i] < PERF_CONTEXT_MAX; i++)
			;
		/* there is one limit for both */
		flags = i - marks < sw_profile.max_frames ? 0
							  : SW_TRACE_STACK_CUT;
		if (mark == PERF_CONTEXT_KERNEL && s->sampler->is_wait &&
		    i > from) {
			from += sw_sched_frames(ip + from, i - from);
			s->waits_at = ip[from];
		}
		if (mark == PERF_CONTEXT_KERNEL && which & SW_KSTACKS)
			s->kstack = sw_stack_number(s, ip + from, i - from,
						    flags);
		else if (mark == PERF_CONTEXT_USER && which & SW_USTACKS)
			s->ustack = sw_stack_number(
				s, ip + from, sw_user_frames(ip + from, i - from),
				flags | SW_TRACE_STACK_USER);
	}
}

/*
 * The stacks of the sample, as perf itself unwinds them: by what the kernel
 * has for its own, by frame pointers in user space, without waiting for a page.
 */
static noinline void sw_capture(struct sw_sample *s, unsigned int which)
{
	const struct perf_callchain_entry *chain;

	s->has |= which;
	rcu_read_lock();
	if (sw_data_flags(s->data) & PERF_SAMPLE_CALLCHAIN)
		chain = s->data->callchain;
	else
		chain = ibt_wrapper(const struct perf_callchain_entry *,
				    sw_profile.callchain(s->event, s->regs));
	if (chain)
		sw_capture_parts(s, chain->ip, chain->nr, which);
	rcu_read_unlock();
}

static __always_inline u32 sw_sample_kstack(struct sw_sample *s)
{
	if (!(s->has & SW_KSTACKS))
		sw_capture(s, SW_KSTACKS | SW_USTACKS);
	return s->kstack;
}

static __always_inline u32 sw_sample_ustack(struct sw_sample *s)
{
	if (!(s->has & SW_USTACKS))
		sw_capture(s, SW_KSTACKS | SW_USTACKS);
	return s->ustack;
}

/* It reads the user's memory in ways that are not for an NMI. */
static bool __maybe_unused sw_can_unwind(void)
{
	if (!sw_in_nmi())
		return true;
	atomic_inc(&sw_profile.unwound_in_nmi);
	return false;
}

/*
 * What SystemTap's unwinder has found.
 * @full: there was no room for more
 */
static u32 __maybe_unused
sw_unwound(struct sw_sample *s, const unsigned long *pc, unsigned int nr,
	   bool full)
{
	BUILD_BUG_ON(sizeof(*pc) != sizeof(u64));
	s->has |= SW_UNWOUND;
	s->unwound = sw_stack_number(s, (const u64 *)pc, nr,
				     SW_TRACE_STACK_USER |
				     (full ? SW_TRACE_STACK_CUT : 0));
	return s->unwound;
}

/* ---- the overflow */

/* Does the script take no samples now: at all, while this set is active, of the thread? */
static bool sw_profile_is_off(const struct sw_sampler *s)
{
	return unlikely(READ_ONCE(sw_profile.off)) ||
	       unlikely(atomic_read(&sw_pmu.sets_unsampled) >>
			this_cpu_read(sw_cpus.set) & 1) ||
	       /* between two sets' turns */
	       (unlikely(s->in_set) && !this_cpu_read(sw_cpus.set)) ||
	       sw_sample_asks(&sw_sample_is_off, current, false);
}

static void sw_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	struct sw_sampler *sampler = event->overflow_handler_context;
	struct sw_sample *outer, s = {
		.event = event,
		.sampler = sampler,
		.data = data,
		.regs = regs,
	};

	this_cpu_inc(sw_overflows[sampler - sw_profile.samplers]);
	if (sw_profile_is_off(sampler)) {
		this_cpu_inc(sw_samples_off);
		sw_next_period(&s);
		return;
	}
	if (unlikely(sampler->wants_nmi) && !sw_in_nmi())
		atomic_inc(&sampler->no_nmi);
	if (!sw_sample_asks(&sw_sample_is_wanted, current, true)) {
		sw_next_period(&s);
		return;
	}
	if (unlikely(this_cpu_read(sw_is_printing) || sw_handler_runs()) &&
	    (sw_profile.uses & SW_TRACES) && sw_is_running()) {
		this_cpu_inc(sw_trace_cpus.taken);
		this_cpu_inc(sw_trace_cpus.skipped);
	}
	/* if it is busy SystemTap counts that, too */
	if (likely(!this_cpu_read(sw_is_printing))) {
		outer = this_cpu_read(sw_sample);
		this_cpu_write(sw_sample, &s);
		sampler->handler(event, data, regs);
		this_cpu_write(sw_sample, outer);
	}
	sw_next_period(&s);
}

/* ---- what scripts ask for */

/* On all CPUs, how many overflows came while the script took no samples. */
static u64 __maybe_unused sw_profile_samples_off(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(sw_samples_off, cpu));
	return sum;
}

/* A PMU that knows better than the registers fills in the address; so does the
 * stack of a thread that waits. */
static __always_inline u64 sw_sample_ip(struct sw_sample *s)
{
	if (unlikely(s->sampler->is_wait)) {
		sw_sample_kstack(s);
		return s->waits_at;
	}
	if (sw_data_flags(s->data) & PERF_SAMPLE_IP)
		return s->data->ip;
	return s->regs ? instruction_pointer(s->regs) : 0;
}

static __always_inline u64 sw_sample_addr(const struct sw_sample *s)
{
	return sw_data_flags(s->data) & PERF_SAMPLE_ADDR ? s->data->addr : 0;
}

static __always_inline u64 sw_sample_period(const struct sw_sample *s)
{
	return s->data->period;
}

static __always_inline u64 sw_sample_overflows(const struct sw_sample *s)
{
	return this_cpu_read(sw_overflows[s->sampler - sw_profile.samplers]);
}

/* The samplers, a bit each, that no message of this CPU has told of since they overflowed
 * here.  Of one that overflows meanwhile, in an NMI, two messages may tell. */
static u32 __maybe_unused sw_overflows_to_tell(void)
{
	u32 mask = this_cpu_xchg(sw_overflows_untold, 0);
	unsigned int i;
	u64 n;

	for (i = 0; i < sw_profile.nr; i++) {
		n = this_cpu_read(sw_overflows[i]);
		if (this_cpu_read(sw_overflows_told[i]) != n)
			mask |= 1U << i;
		this_cpu_write(sw_overflows_told[i], n);
	}
	return mask;
}

static __always_inline u64 sw_sample_stack_id(struct sw_sample *s)
{
	return sw_sample_kstack(s);
}

static __always_inline u64 sw_sample_ustack_id(struct sw_sample *s)
{
	return sw_sample_ustack(s);
}

/* What only some PMUs tell; SW_SAMPLE_HAVING() asks first. */
static __always_inline u64 sw_sample_latency(const struct sw_sample *s)
{
	return sw_data_weight(s->data);
}

static __always_inline u64 sw_sample_data_src(const struct sw_sample *s)
{
	return s->data->data_src.val;
}

static __always_inline u64 sw_sample_branches(const struct sw_sample *s)
{
	return s->data->br_stack->nr;
}

/* Branch N's from, to and flags are words. */
static __always_inline u64
sw_sample_branch(const struct sw_sample *s, s64 n, unsigned int word)
{
	const u64 *words;

	if (n < 0 || n >= s->data->br_stack->nr)
		return 0;
	words = (const u64 *)&s->data->br_stack->entries[n];
	return words[word];
}

/* Of a wait: for how many nanoseconds the thread was ready; -1: that is not known. */
static __always_inline s64 sw_wait_ready(const struct sw_sample *s)
{
	return sw_data_flags(s->data) & SW_SAMPLE_WEIGHT ?
	       sw_data_weight(s->data) : -1;
}

/* The mode that was interrupted, and how. */
static __always_inline u16 sw_sample_flags(const struct sw_sample *s)
{
	u16 flags = s->flags;

	if (s->regs && user_mode(s->regs))
		flags |= SW_TRACE_USER;
#ifdef PERF_EFLAGS_EXACT
	if (s->regs && (s->regs->flags & PERF_EFLAGS_EXACT))
		flags |= SW_TRACE_EXACT_IP;
#endif
	if (sw_in_nmi())
		flags |= SW_TRACE_NMI;
	return flags;
}

/*
 * A field of the sample: a macro, since `CONTEXT` is only known in the tapset's
 * functions.
 */
#define SW_SAMPLE_AS(name, field) ({					\
	struct sw_sample *s_ = this_cpu_read(sw_sample);		\
	u64 v_ = 0;							\
									\
	if (CONTEXT->probe_type != stp_probe_type_perf || !s_)		\
		CONTEXT->last_error = "stapwatch: " name "() is for the handlers of perf probes"; \
	else								\
		v_ = sw_sample_##field(s_);				\
	(s64)v_; })
#define SW_SAMPLE(field) SW_SAMPLE_AS("sample_" #field, field)

/* The user's stack by SystemTap's unwinder.  Who asks for the outermost frame that there
 * can be finds them all where that keeps them, with a 0 after the last if there was one. */
#define SW_UNWOUND_MOST (MAXBACKTRACE < SW_STACK_MOST ? MAXBACKTRACE : SW_STACK_MOST)
#define SW_SAMPLE_UNWOUND(name) ({					\
	struct sw_sample *s_ = this_cpu_read(sw_sample);		\
	u64 v_ = 0;							\
									\
	if (CONTEXT->probe_type != stp_probe_type_perf || !s_) {	\
		CONTEXT->last_error = "stapwatch: " name "() is for the handlers of perf probes"; \
	} else if (sw_can_unwind()) {					\
		bool full_ = _stp_stack_user_get(CONTEXT, SW_UNWOUND_MOST - 1); \
		struct stp_unwind_cache *u_ = &CONTEXT->uwcache_user;	\
									\
		v_ = sw_unwound(s_, u_->pc,				\
				full_ ? SW_UNWOUND_MOST : u_->depth - 1, \
				full_);					\
	}								\
	(s64)v_; })

/* Is it a wait? */
#define SW_OF_WAIT()							\
	(CONTEXT->probe_type == stp_probe_type_perf &&			\
	 this_cpu_read(sw_sample) &&					\
	 this_cpu_read(sw_sample)->sampler->is_wait)

#define SW_NO_LATENCY "; it takes an event by which the PMU samples loads, as cpu/mem-loads,ldlat=30/P (x86 PEBS)"
#define SW_NO_BRANCHES "; it takes an event of a PMU that records them (x86 LBR, arm64 BRBE)"

/* What not every sample has: where the PMU has not brought it, that is said. */
#define SW_SAMPLE_HAVING(name, bit, lacks, value) ({			\
	struct sw_sample *s_ = this_cpu_read(sw_sample);		\
	u64 h_ = 0;							\
									\
	if (CONTEXT->probe_type != stp_probe_type_perf || !s_)		\
		CONTEXT->last_error = "stapwatch: " name "() is for the handlers of perf probes"; \
	else if (!(sw_data_flags(s_->data) & (bit)))			\
		CONTEXT->last_error = "stapwatch: " name "(): this event's samples have none here" lacks; \
	else								\
		h_ = value;						\
	(s64)h_; })

#endif
