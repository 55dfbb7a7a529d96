/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile: the events that a script samples, and what that needs.
 *
 * It begins with the first event that SystemTap creates for sampling, and ends
 * when the end probes have run: they may print the stacks.
 *
 * Who may run what, against whom:
 *
 *   sw_put_*()			the trace's work item, under sw_trace.lock
 *   sw_stack_frame(), _print(), _sprint()	handlers, any context
 *   all else			sleepable, under sw_profile.lock
 */
#ifndef STAPWATCH_SAMPLE_SAMPLER_H
#define STAPWATCH_SAMPLE_SAMPLER_H

#include "base/contexts.h"
#include "count/event.h"
#include "count/perf.h"
#include "count/pmu.h"
#include "sample/carry.h"
#include "sample/open_wait.h"
#include "sample/overflow.h"
#include "sample/stack.h"
#include "sample/write.h"
#include "trace/images.h"
#include "trace/imagetable.h"
#include "trace/maps.h"
#include "trace/source.h"
#include "trace/trace.h"
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define SW_MAX_STACKS (1 << 20)
#define SW_MAX_BUFFER_KB (1 << 20)

/* The most that perf knows */
#define SW_MAX_PRECISE 3

/* ---- what the trace is told of the samples, beside themselves */

/* How many of each it knows. */
static struct {
	unsigned int events;
	unsigned int counts;
	unsigned int stacks;
} sw_put;

/* What is sampled, and was not yet said. */
static void sw_put_events(void)
{
	/* with smp_store_release() in sw_sampler_new() */
	unsigned int i, nr = smp_load_acquire(&sw_profile.nr);

	for (i = sw_put.events; i < nr; i++) {
		const struct sw_sampler *s = &sw_profile.samplers[i];
		struct sw_trace_event e = {
			.r = sw_trace_header(SW_TRACE_EVENT, 0),
			.event = i,
			.flags = (s->hz ? SW_TRACE_EVENT_HZ : 0) |
				 (s->is_wait ? SW_TRACE_EVENT_WAIT : 0),
			.every = s->every,
		};

		sw_trace_put_named(&e.r, offsetof(struct sw_trace_event, name),
				   s->name);
	}
	sw_put.events = nr;
}

static void sw_put_counts(void)
{
	for (; sw_put.counts < READ_ONCE(sw_profile.counts); sw_put.counts++) {
		struct sw_trace_count c = {
			.r = sw_trace_header(SW_TRACE_COUNT, 0),
			.count = sw_put.counts,
		};

		sw_trace_put_named(&c.r, offsetof(struct sw_trace_count, name),
				   sw_pmu.event[c.count]->name);
	}
}

static void sw_put_before(void)
{
	sw_put_events();
	sw_put_counts();
}

/* Stacks that have come since the last round.  Return: false: no room. */
static bool sw_put_stacks(void)
{
	static struct {
		struct sw_trace_stack head;
		u64 ip[SW_STACK_MOST];
	} out;
	const struct sw_stack *s;
	u32 number;

	if (!sw_profile.stacks_mem)
		return true;
	while ((number = sw_stack_at(&sw_profile.stacks, sw_put.stacks))) {
		s = sw_stack_find(&sw_profile.stacks, number);
		out.head = (struct sw_trace_stack) {
			.r = sw_trace_header(SW_TRACE_STACK, sizeof(out.head) +
					     s->nr * sizeof(u64)),
			.stack = number,
			.flags = s->flags,
			.nr = s->nr,
		};
		memcpy(out.head.ip, s->ip, s->nr * sizeof(u64));
		if (!sw_trace_put(&out.head.r))
			return false;
		sw_put.stacks++;
	}
	return true;
}

static bool sw_put_after(void)
{
	return sw_open_put() && sw_put_stacks();
}

static const struct sw_trace_source sw_profile_source = {
	.begun = sw_maps_look,
	.before = sw_put_before,
	.after = sw_put_after,
	.finish = sw_image_finish,
	.took = sw_image_took,
	.gave_up = sw_open_give_up,
};

/* ---- beginning and end */

static u16 sw_profile_frames(void)
{
	const int *most = (const int *)
			  kallsyms_lookup_name("sysctl_perf_event_max_stack");

	/* one byte counts them in the trace */
	return min(most ? *most : 127, 127);
}

static int sw_profile_stacks(void)
{
	s64 max = sw_profile_config.stacks;

	if (max < 1 || max > SW_MAX_STACKS) {
		_stp_error("stapwatch: stapwatch_stacks=%lld: it must be from 1 to %d\n",
			   max, SW_MAX_STACKS);
		return -EINVAL;
	}
	sw_profile.callchain = (void *)kallsyms_lookup_name("perf_callchain");
	if (!sw_profile.callchain) {
		_stp_error("stapwatch: this kernel takes no stacks: it has no perf_callchain()\n");
		return -EOPNOTSUPP;
	}
	sw_profile.max_frames = sw_profile_frames();
	sw_profile.stacks_mem = vzalloc(sw_stacks_bytes(max));
	if (!sw_profile.stacks_mem) {
		_stp_error("stapwatch: no memory for %lld stacks; try a smaller -G stapwatch_stacks=N\n",
			   max);
		return -ENOMEM;
	}
	sw_stacks_init(&sw_profile.stacks, max, sw_profile.stacks_mem);
	return 0;
}

static void sw_profile_free_last(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kfree(per_cpu(sw_sample_last, cpu));
		per_cpu(sw_sample_last, cpu) = NULL;
	}
}

static int sw_profile_alloc_last(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		u64 (*last)[SW_MAX_SLOTS] = kcalloc(SW_MAX_SAMPLERS,
						    sizeof(*last), GFP_KERNEL);

		per_cpu(sw_sample_last, cpu) = last;
		if (!last)
			return -ENOMEM;
	}
	return 0;
}

static int sw_profile_trace(unsigned int uses)
{
	s64 kb = sw_profile_config.buffer_kb;
	int rc;

	if (kb < 4 || kb > SW_MAX_BUFFER_KB) {
		_stp_error("stapwatch: stapwatch_buffer=%lld: it must be from 4 to %d (KiB)\n",
			   kb, SW_MAX_BUFFER_KB);
		return -EINVAL;
	}
	rc = sw_profile_alloc_last();
	if (!rc)
		rc = sw_trace_start(roundup_pow_of_two(kb) << 10,
				    &sw_profile_source, !(uses & SW_TRACES));
	if (rc == -EBUSY)
		_stp_error("stapwatch: a script that records a timeline can have no samples in a trace; use two scripts\n");
	else if (rc)
		_stp_error("stapwatch: no memory for each CPU's buffer of %lld KiB; try a smaller -G stapwatch_buffer=KB\n",
			   kb);
	else
		rc = sw_images_start(uses & SW_IMAGES);
	return rc;
}

static void sw_profile_seed(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(sw_random, cpu) = cpu;
}

static void sw_profile_release(void)
{
	sw_images_stop();
	sw_trace_stop(&sw_profile_source);
	memset(&sw_put, 0, sizeof(sw_put));
	sw_profile.counts = 0;
	sw_profile_free_last();
	sw_image_table_free();
	sw_open_stop();
	vfree(sw_profile.stacks_mem);
	sw_profile.stacks_mem = NULL;
	sw_profile.nr = 0;
	sw_profile.begun = false;
}

static int sw_profile_begin(unsigned int uses)
{
	int rc = 0;

	sw_profile.uses = uses;
	sw_profile_seed();
	if (uses & (SW_KSTACKS | SW_USTACKS | SW_UNWOUND))
		rc = sw_profile_stacks();
	if (!rc && (uses & (SW_TRACES | SW_IMAGES)))
		rc = sw_profile_trace(uses);
	if (rc)
		sw_profile_release();
	sw_profile.begun = !rc;
	return rc;
}

static void sw_report_no_nmi(const struct sw_sampler *s)
{
	int n = atomic_read(&s->no_nmi);

	if (n)
		_stp_warn("stapwatch: %s was sampled by interrupt %d times, and not by NMI: this PMU has none; what runs with interrupts off is not seen\n",
			  s->name, n);
}

/**
 * sw_profile_end - put out the trace's end, and let go of all
 * Context: after the end probes, or where a session has failed.
 */
static void sw_profile_end(void)
{
	int refused, in_nmi;
	unsigned int i;

	sw_images_leave();
	mutex_lock(&sw_profile.lock);
	for (i = 0; i < sw_profile.nr; i++)
		sw_report_no_nmi(&sw_profile.samplers[i]);
	refused = sw_profile.stacks_mem ?
		  atomic_read(&sw_profile.stacks.refused) : 0;
	if (refused)
		_stp_warn("stapwatch: a stack found no room %d times; -G stapwatch_stacks=N makes it (now %d)\n",
			  refused, sw_profile.stacks.max);
	in_nmi = atomic_xchg(&sw_profile.unwound_in_nmi, 0);
	if (in_nmi)
		_stp_warn("stapwatch: a stack was to be unwound in an NMI %d times, and was not; ustack_id() works there\n",
			  in_nmi);
	sw_profile_release();
	mutex_unlock(&sw_profile.lock);
}

/* ---- what scripts ask of stacks */

static s64 __maybe_unused sw_stack_frame(s64 id, s64 n)
{
	const struct sw_stack *s = sw_profile.stacks_mem ?
				   sw_stack_find(&sw_profile.stacks, id) : NULL;

	return s && n >= 0 && n < s->nr ? s->ip[n] : 0;
}

/* One frame as a line.  A return address is looked up as part of the call. */
static int sw_stack_line(const struct sw_stack *s, unsigned int i, char *buf,
			 size_t size)
{
	void *ip = (void *)(unsigned long)s->ip[i];

	if (s->flags & SW_TRACE_STACK_USER)
		return scnprintf(buf, size, " 0x%llx\n", s->ip[i]);
	if (!i)
		return scnprintf(buf, size, " 0x%llx : %pS\n", s->ip[i], ip);
	return scnprintf(buf, size, " 0x%llx : %pB\n", s->ip[i], ip);
}

static void __maybe_unused sw_stack_print(s64 id)
{
	char line[256];
	int i;

	for (i = 0; sw_stack_frame(id, i); i++) {
		sw_stack_line(sw_stack_find(&sw_profile.stacks, id), i, line,
			      sizeof(line));
		_stp_print(line);
	}
}

static void __maybe_unused sw_stack_sprint(s64 id, char *buf, size_t size)
{
	size_t len = 0;
	int i;

	buf[0] = '\0';
	for (i = 0; sw_stack_frame(id, i) && len < size - 1; i++)
		len += sw_stack_line(sw_stack_find(&sw_profile.stacks, id), i,
				     buf + len, size - len);
}

/* The sampler of a perf probe, which SystemTap knows by its attributes. */
static struct sw_sampler *
sw_sampler_of(const struct perf_event_attr *given)
{
	unsigned int i;

	for (i = 0; i < sw_profile.nr; i++)
		if (sw_profile.samplers[i].given == given)
			return &sw_profile.samplers[i];
	return NULL;
}

static struct sw_sampler *
sw_sampler_new(const struct perf_event_attr *given,
	       const struct perf_event_attr *attr, const struct sw_event *ev,
	       perf_overflow_handler_t handler)
{
	struct sw_sampler *s = &sw_profile.samplers[sw_profile.nr];

	*s = (struct sw_sampler) {
		.given = given,
		.name = ev->name,
		.handler = handler,
		.every = attr->freq ? attr->sample_freq : attr->sample_period,
		.hz = attr->freq,
		.is_timer = sw_is_timer(attr),
		.wants_nmi = ev->flags & SW_WANTS_NMI,
		.precise = -1,
		.random = ev->random ?: sw_profile_config.random_mask,
		.long_period = ev->long_period ?: sw_profile_config.long_period,
		.carry = sw_sampler_carry(ev->name),
	};
	/* a timer's frequency is a period to perf */
	if (!attr->freq)
		s->period = attr->sample_period;
	else if (s->is_timer)
		s->period = NSEC_PER_SEC / attr->sample_freq;
	/* with smp_load_acquire() in sw_put_events() */
	smp_store_release(&sw_profile.nr, sw_profile.nr + 1);
	return s;
}

/* What a sample shall bring, beside where it was taken. */
static void sw_sampler_describe(struct perf_event_attr *attr)
{
	unsigned int uses = sw_profile.uses;

	if (uses & (SW_KSTACKS | SW_USTACKS)) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->sample_max_stack = sw_profile.max_frames;
		attr->exclude_callchain_kernel = !(uses & SW_KSTACKS);
		attr->exclude_callchain_user = !(uses & SW_USTACKS);
	}
	/* what software counts is never about these; the functions say so */
	if (attr->type == PERF_TYPE_SOFTWARE)
		return;
	if (uses & SW_LATENCIES)
		attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
				     PERF_SAMPLE_DATA_SRC;
	if (uses & SW_BRANCHES) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		/* the kernel has this limit for branches, too */
		attr->sample_max_stack = sw_profile_frames();
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
		if (!attr->exclude_user)
			attr->branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
		if (!attr->exclude_kernel)
			attr->branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
	}
}

/* Some of Intel's know the data's source beside an auxiliary event alone, as its group's
 * leader; and the kernel gives us no groups.  Return: was it asked for? */
static bool sw_without_source(struct perf_event_attr *attr)
{
	const bool had = attr->sample_type & PERF_SAMPLE_DATA_SRC;

	attr->sample_type &= ~PERF_SAMPLE_DATA_SRC;
	return had;
}

/*
 * An event of a PMU is pinned, so that it says so if there is no counter for
 * it, and does not just count nothing.
 */
static struct perf_event *
sw_sampler_try(struct sw_sampler *s, struct perf_event_attr *attr, int cpu,
	       struct task_struct *task)
{
	struct perf_event *e;

	do
		e = perf_event_create_kernel_counter(attr, cpu, task,
						     sw_overflow, s);
	while (PTR_ERR_OR_ZERO(e) == -ENODATA && sw_without_source(attr));
	/* one of a set's is checked when that has its turn */
	return attr->pinned && !attr->disabled ? sw_pmu_checked(e) : e;
}

/**
 * sw_sampler_create - an event that samples, on a CPU or of a task
 * @try_precise: as precise as the PMU takes it, since nobody has said how
 */
static struct perf_event *
sw_sampler_create(struct sw_sampler *s, struct perf_event_attr *attr, int cpu,
		  struct task_struct *task, bool try_precise)
{
	int precise = s->precise < 0 ? SW_MAX_PRECISE : s->precise;
	struct perf_event *e;

	attr->pinned = !task && attr->type != PERF_TYPE_SOFTWARE;
	if (!try_precise)
		return sw_sampler_try(s, attr, cpu, task);
	for (;; precise--) {
		attr->precise_ip = precise;
		e = sw_sampler_try(s, attr, cpu, task);
		if (!IS_ERR(e) || !precise || s->precise >= 0)
			break;
	}
	if (!IS_ERR(e))
		s->precise = precise;
	return e;
}

#endif
