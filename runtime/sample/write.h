/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples into the trace, with what the counters counted between two of them.
 *
 * Who may run what, against whom: all of it within an overflow on its CPU, see overflow.h.
 */
#ifndef STAPWATCH_SAMPLE_WRITE_H
#define STAPWATCH_SAMPLE_WRITE_H

#include "base/kernel.h"
#include "count/pmu.h"
#include "sample/carry.h"
#include "sample/overflow.h"
#include "trace/abi.h"
#include "trace/trace.h"
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/string.h>

/* What the counters that are carried counted since the sampler's last sample on this CPU. */
static noinline void
sw_sample_counts(unsigned int sampler, u64 carried, u64 *to, unsigned int nr)
{
	u64 *last = this_cpu_read(sw_sample_last)[sampler];
	unsigned int i;
	s64 now;

	for (i = 0; i < nr; i++) {
		/* what only counts at times is no part of a sample */
		if (sw_pmu.set[i] || !(carried & SW_SLOT_BIT(i))) {
			to[i] = U64_MAX;
			continue;
		}
		now = sw_read_cpu(i);
		to[i] = now == SW_NONE ? U64_MAX : now - last[i];
		if (now != SW_NONE)
			last[i] = now;
	}
}

static void
sw_sample_branches_to(const struct sw_sample *s, u64 *to, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++, to += 3)
		memcpy(to, &s->data->br_stack->entries[i], 3 * sizeof(u64));
}

static __always_inline bool
sw_sample_record(struct sw_sample *s, struct sw_trace_cpu *t)
{
	u64 sample_flags = sw_data_flags(s->data), *more;
	struct sw_carry *carry = s->sampler->carry;
	/* with sw_pmu_open() */
	const u64 carried = sw_carried_slots(carry, smp_load_acquire(&sw_pmu.slots));
	unsigned int counts = fls64(carried), branches = 0;
	unsigned int has = 0, words = counts;
	struct sw_trace_sample *r;

	if (sample_flags & PERF_SAMPLE_ADDR) {
		has |= SW_TRACE_HAS_ADDR;
		words++;
	}
	if (sample_flags & SW_SAMPLE_WEIGHT) {
		has |= SW_TRACE_HAS_LATENCY;
		words++;
	}
	if (sample_flags & PERF_SAMPLE_DATA_SRC) {
		has |= SW_TRACE_HAS_DATA_SRC;
		words++;
	}
	if (carry && carry->of_thread && counts) {
		has |= SW_TRACE_HAS_THREAD;
		words++;
	}
	if (sample_flags & PERF_SAMPLE_BRANCH_STACK) {
		branches = min_t(u64, s->data->br_stack->nr, U8_MAX);
		words += 3 * branches;
	}
	r = sw_trace_reserve(t, SW_TRACE_SAMPLE,
			     sizeof(*r) + words * sizeof(u64));
	if (!r)
		return false;
	r->pid = current->tgid;
	r->tid = current->pid;
	r->ip = sw_sample_ip(s);
	r->period = s->data->period;
	r->event = s->sampler - sw_profile.samplers;
	r->flags = sw_sample_flags(s);
	r->has = has;
	r->nr_counts = counts;
	if (unlikely(counts > data_race(sw_profile.counts)))
		WRITE_ONCE(sw_profile.counts, counts);
	r->nr_branches = branches;
	r->kstack = s->kstack;
	r->ustack = s->has & SW_UNWOUND ? s->unwound : s->ustack;
	more = r->more;
	if (has & SW_TRACE_HAS_ADDR)
		*more++ = s->data->addr;
	if (has & SW_TRACE_HAS_LATENCY)
		*more++ = sw_data_weight(s->data);
	if (has & SW_TRACE_HAS_DATA_SRC)
		*more++ = s->data->data_src.val;
	if (has & SW_TRACE_HAS_THREAD) {
		*more = sw_carry_thread(carried, more + 1, counts);
		more++;
	} else if (counts) {
		sw_sample_counts(r->event, carried, more, counts);
	}
	if (branches)
		sw_sample_branches_to(s, more + counts, branches);
	sw_trace_commit(t);
	return true;
}

/**
 * sw_sample_write - put the sample with its stacks into the trace
 * Return: is it there?  If not, it is counted.
 */
static noinline u64 sw_sample_write(struct sw_sample *s)
{
	struct sw_trace_cpu *t = this_cpu_ptr(&sw_trace_cpus);
	unsigned int lacks = sw_profile.uses & (SW_KSTACKS | SW_USTACKS) &
			     ~s->has;
	unsigned long flags;

	if (s->has & SW_UNWOUND)
		lacks &= ~SW_USTACKS;
	if (lacks)
		sw_capture(s, lacks);
	this_cpu_inc(sw_trace_cpus.taken);
	local_irq_save(flags);
	if (!sw_trace_enter(t)) {
		this_cpu_inc(sw_trace_cpus.nested);
		local_irq_restore(flags);
		return 0;
	}
	s->full = !sw_sample_record(s, t);
	sw_trace_leave(t);
	local_irq_restore(flags);
	if (s->full)
		this_cpu_inc(sw_trace_cpus.full);
	else if (s->flags & (SW_TRACE_NO_KSTACK | SW_TRACE_NO_USTACK))
		this_cpu_inc(sw_trace_cpus.no_stack);
	return !s->full;
}

#endif
