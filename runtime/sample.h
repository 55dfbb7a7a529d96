/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples: what perf knows of the overflow whose handler is running.
 *
 * SystemTap's own handlers of perf probes are given the registers only.  So
 * every sampling event that it creates gets sw_overflow() for its handler,
 * which notes perf's data for this CPU and calls SystemTap's, which it finds in
 * the event's context: SystemTap sets none.
 *
 * Who may run what, against whom: everything here runs within an overflow on
 * its CPU, with preemption off: a software event's in task context, a timer's
 * in hard interrupt, a PMU's in NMI.  One may come while another is under way,
 * also between any two instructions of sw_overflow(); it leaves what it found.
 * A probe of another kind that hits meanwhile would see the sample of the one
 * that it interrupted: SW_SAMPLE() asks what probe it runs in.
 */
#ifndef STAPWATCH_SAMPLE_H
#define STAPWATCH_SAMPLE_H

#include "compat.h"
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>

struct sw_sample {
	const struct perf_sample_data *data;
	struct pt_regs *regs;
};

static DEFINE_PER_CPU(struct sw_sample, sw_sample);

static void sw_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	perf_overflow_handler_t handler = event->overflow_handler_context;
	struct sw_sample *now = this_cpu_ptr(&sw_sample);
	struct sw_sample outer = *now;

	*now = (struct sw_sample) { data, regs };
	handler(event, data, regs);
	*now = outer;
}

/* A PMU that knows better than the registers fills in the address. */
static __always_inline u64 sw_sample_ip(const struct sw_sample *s)
{
	if (s->data->sample_flags & PERF_SAMPLE_IP)
		return s->data->ip;
	return s->regs ? instruction_pointer(s->regs) : 0;
}

static __always_inline u64 sw_sample_addr(const struct sw_sample *s)
{
	return s->data->sample_flags & PERF_SAMPLE_ADDR ? s->data->addr : 0;
}

/*
 * A field of the sample: a macro, since `CONTEXT` is only known in the tapset's
 * functions.
 */
#define SW_SAMPLE(field) ({						\
	const struct sw_sample *s_ = this_cpu_ptr(&sw_sample);		\
	u64 v_ = 0;							\
									\
	if (CONTEXT->probe_type != stp_probe_type_perf || !s_->data)	\
		CONTEXT->last_error = "stapwatch: sample_" #field "() is for the handlers of perf probes"; \
	else								\
		v_ = sw_sample_##field(s_);				\
	(s64)v_; })

#endif
