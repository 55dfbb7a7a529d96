/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits that have not ended when the session does: what is known of them.
 *
 * Nobody runs who could bring their samples, so they are kept in a list: for the trace,
 * and for end probes.  A thread that comes back while the session ends brings its own;
 * of all others a thread of ours takes the stacks.  Who enters a thread's number first
 * writes its wait, so each is there once.
 *
 * Another thread's stack in the kernel is what the kernel itself would print of it.  That
 * in the program is followed by the function that follows it for perf, in that program's
 * memory, without waiting for a page.  A thread that runs meanwhile makes neither
 * dangerous, only wrong: so the caller looks afterwards whether it has.
 *
 * Who may run what, against whom:
 *
 *   sw_open_add()		any context but NMI, preemption off or a thread of ours
 *   sw_open_stacks()		a thread of ours, which has no memory of its own
 *   sw_open_put()		the trace's work item, under sw_trace.lock
 *   sw_open_at()		any context, when the session has ended
 *   sw_open_start(), _done(), _stop()	sleepable, under sw_profile.lock
 */
#ifndef STAPWATCH_SAMPLE_OPEN_WAIT_H
#define STAPWATCH_SAMPLE_OPEN_WAIT_H

#include "base/compat.h"
#include "sample/overflow.h"
#include "trace/abi.h"
#include "trace/trace.h"
#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

struct sw_open_wait {
	u64 ns;			/* so far, of the session */
	u64 ready;		/* how many of them ready; 0: that is not known */
	u64 ip;
	u32 kstack;
	u32 ustack;
	u32 cpu;		/* where it ran last */
	u16 flags;		/* SW_TRACE_... */
	pid_t pid;
	pid_t tid;
	char name[TASK_COMM_LEN];
};

static struct {
	bool traced;		/* they go into the trace, too */
	struct sw_open_wait *list;	/* NULL: nobody wants it */
	unsigned long *entered;	/* by a thread's number */
	int max;
	atomic_t nr;
	atomic_t refused;
	bool done;		/* nothing more comes */
	u64 time;		/* up to when they count */
	unsigned int next;	/* for the trace: see sw_open_next() */
	/* of whoever looks at another thread */
	struct perf_callchain_entry *chain;
	void (*walk)(stack_trace_consume_fn consume, void *cookie,
		     struct task_struct *task, struct pt_regs *regs);
	void (*put_stack)(struct task_struct *task);
	__typeof__(&perf_callchain_user) user;
} sw_open;

/* ---- the list */

/* How many there are. */
static int sw_open_count(void)
{
	return min(atomic_read(&sw_open.nr), sw_open.max);
}

/**
 * sw_open_at - the Nth wait, in no order
 * Context: any, when the session has ended.
 * Return: NULL if there are not so many.
 */
static const struct sw_open_wait *__maybe_unused sw_open_at(s64 n)
{
	/* with smp_store_release() in sw_open_done() */
	if (!smp_load_acquire(&sw_open.done) || n < 0 || n >= sw_open_count())
		return NULL;
	return &sw_open.list[n];
}

/* What scripts ask of one. */
enum sw_open_what {
	SW_OPEN_PID,
	SW_OPEN_TID,
	SW_OPEN_NS,
	SW_OPEN_KSTACK,
	SW_OPEN_USTACK,
	SW_OPEN_THROUGHOUT,
};

static s64 __maybe_unused sw_open_tell(const struct sw_open_wait *w,
				       enum sw_open_what what)
{
	switch (what) {
	case SW_OPEN_PID:
		return w->pid;
	case SW_OPEN_TID:
		return w->tid;
	case SW_OPEN_NS:
		return w->ns;
	case SW_OPEN_KSTACK:
		return w->kstack;
	case SW_OPEN_USTACK:
		return w->ustack;
	case SW_OPEN_THROUGHOUT:
		return !!(w->flags & SW_TRACE_THROUGHOUT);
	}
	return -1;
}

/**
 * sw_open_add - enter a thread's wait, if nobody has
 * @w: how long it is, how long ready, and its flags; the rest is filled in
 * @s: with the stacks
 */
static void sw_open_add(struct task_struct *task, struct sw_open_wait *w,
			const struct sw_sample *s)
{
	int nr;

	if (test_and_set_bit(task->pid, sw_open.entered))
		return;
	nr = atomic_fetch_add_unless(&sw_open.nr, 1, sw_open.max);
	if (nr == sw_open.max) {
		atomic_inc(&sw_open.refused);
		return;
	}
	w->ip = s->waits_at;
	w->kstack = s->kstack;
	w->ustack = s->ustack;
	w->cpu = task_cpu(task);
	w->flags |= s->flags;
	w->pid = task->tgid;
	w->tid = task->pid;
	data_race(memcpy(w->name, task->comm, sizeof(w->name)));
	w->name[sizeof(w->name) - 1] = '\0';
	sw_open.list[nr] = *w;
}

/* ---- another thread's stacks */

static bool sw_open_frame(void *cookie, unsigned long ip)
{
	struct perf_callchain_entry_ctx *ctx = cookie;

	return !perf_callchain_store(ctx, ip);
}

static void sw_open_mark(struct perf_callchain_entry *chain, u64 mark)
{
	chain->ip[chain->nr++] = mark;
}

static void sw_open_walk_user(struct perf_callchain_entry_ctx *ctx,
			      struct pt_regs *regs, struct mm_struct *mm)
{
	unsigned long flags;

	kthread_use_mm(mm);
	/* as in an overflow: what tells of a program's segments stays */
	local_irq_save(flags);
	void_ibt_wrapper(sw_open.user(ctx, regs));
	local_irq_restore(flags);
	kthread_unuse_mm(mm);
}

/* Return: has TASK registers of a program? */
static bool sw_open_walk_kernel(struct perf_callchain_entry_ctx *ctx,
				struct task_struct *task, struct pt_regs *regs)
{
	if (!try_get_task_stack(task))
		return false;
	*regs = *task_pt_regs(task);
	preempt_disable();
	if (sw_open.walk)
		void_ibt_wrapper(sw_open.walk(sw_open_frame, ctx, task, NULL));
	void_ibt_wrapper(sw_open.put_stack(task));
	preempt_enable();
	/* that of a thread of the kernel's in a program has none */
	return user_mode(regs) && instruction_pointer(regs);
}

/**
 * sw_open_stacks - take the stacks of a thread that is not running
 * @s: the sample that gets them
 */
static void sw_open_stacks(struct sw_sample *s, struct task_struct *task)
{
	const unsigned int uses = sw_profile.uses & (SW_KSTACKS | SW_USTACKS);
	struct perf_callchain_entry_ctx ctx = {
		.entry = sw_open.chain,
		.max_stack = sw_profile.max_frames,
	};
	struct mm_struct *mm;
	struct pt_regs regs;
	bool user;

	if (!uses || !sw_open.put_stack)
		return;
	sw_open.chain->nr = 0;
	sw_open_mark(sw_open.chain, PERF_CONTEXT_KERNEL);
	user = sw_open_walk_kernel(&ctx, task, &regs);
	mm = user && uses & SW_USTACKS && sw_open.user ? get_task_mm(task)
						       : NULL;
	if (mm) {
		sw_open_mark(sw_open.chain, PERF_CONTEXT_USER);
		sw_open_walk_user(&ctx, &regs, mm);
		/* a file that is unmapped may keep who does it */
		mmput_async(mm);
	}
	sw_capture_parts(s, sw_open.chain->ip, sw_open.chain->nr, uses);
}

/* ---- into the trace */

/*
 * The samples that the list's waits make, of each one for each probe whose least it has.
 * @at: where to look from; is where it was found
 * Return: the wait, and the probe's number; NULL when there is no more.
 */
static const struct sw_open_wait *sw_open_next(unsigned int *at,
					       unsigned int *probe)
{
	const unsigned int end = sw_open_count() * SW_MAX_SAMPLERS;
	const struct sw_open_wait *w;
	const struct sw_sampler *s;

	for (; *at < end; ++*at) {
		*probe = *at % SW_MAX_SAMPLERS;
		w = &sw_open.list[*at / SW_MAX_SAMPLERS];
		s = &sw_profile.samplers[*probe];
		if (*probe < sw_profile.nr && s->is_wait && w->ns >= s->every)
			return w;
	}
	return NULL;
}

static bool sw_open_put_one(const struct sw_open_wait *w, unsigned int probe)
{
	struct {
		struct sw_trace_sample s;
		u64 ready;
	} out = {
		.s = {
			.r = sw_trace_header(SW_TRACE_SAMPLE, w->ready ?
					     sizeof(out) : sizeof(out.s)),
			.pid = w->pid,
			.tid = w->tid,
			.ip = w->ip,
			.period = w->ns,
			.event = probe,
			.flags = w->flags,
			.has = w->ready ? SW_TRACE_HAS_LATENCY : 0,
			.kstack = w->kstack,
			.ustack = w->ustack,
		},
		.ready = w->ready,
	};

	out.s.r.cpu = w->cpu;
	out.s.r.time = sw_open.time;
	return sw_trace_put(&out.s.r);
}

/** sw_open_put - put what there is into the output.  Return: false: no room for all. */
static bool sw_open_put(void)
{
	const struct sw_open_wait *w;
	struct sw_trace_cpu *t;
	unsigned int probe;

	/* with smp_store_release() in sw_open_done() */
	if (!sw_open.traced || !smp_load_acquire(&sw_open.done))
		return true;
	while ((w = sw_open_next(&sw_open.next, &probe))) {
		if (!sw_open_put_one(w, probe))
			return false;
		t = per_cpu_ptr(&sw_trace_cpus, w->cpu);
		t->written++;
		if (w->flags & (SW_TRACE_NO_KSTACK | SW_TRACE_NO_USTACK))
			t->no_stack++;
		sw_open.next++;
	}
	return true;
}

/** sw_open_give_up - what is not out by now is lost, and counted */
static void sw_open_give_up(void)
{
	const struct sw_open_wait *w;
	unsigned int probe;

	if (!sw_open.traced || !sw_open.done)
		return;
	for (; (w = sw_open_next(&sw_open.next, &probe)); sw_open.next++)
		per_cpu_ptr(&sw_trace_cpus, w->cpu)->full++;
}

/* ---- from the session's begin to the last end probe */

static void sw_open_stop(void)
{
	kfree(sw_open.chain);
	vfree(sw_open.entered);
	vfree(sw_open.list);
	memset(&sw_open, 0, sizeof(sw_open));
}

/**
 * sw_open_start - keep the waits of so many threads
 * Return: 0 or -ENOMEM.
 */
static int sw_open_start(int max)
{
	sw_open.max = max;
	sw_open.list = vzalloc(max * sizeof(*sw_open.list));
	sw_open.entered = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
	/* frames, and a mark before either part */
	sw_open.chain = kzalloc(sizeof(*sw_open.chain) +
				(sw_profile.max_frames + 2) * sizeof(u64),
				GFP_KERNEL);
	if (!sw_open.list || !sw_open.entered || !sw_open.chain)
		return -ENOMEM;
	sw_open.walk = (void *)kallsyms_lookup_name("arch_stack_walk");
	sw_open.put_stack = (void *)kallsyms_lookup_name("put_task_stack");
	sw_open.user = (void *)kallsyms_lookup_name("perf_callchain_user");
	sw_trace.keeps_end = true;
	return 0;
}

/**
 * sw_open_done - nothing more comes, and nothing else is sampled any more
 * @time: of the trace's clock: up to when the waits count
 */
static void sw_open_done(u64 time)
{
	const int refused = atomic_read(&sw_open.refused);
	const struct sw_open_wait *w;
	unsigned int at, probe;

	sw_open.time = time;
	for (at = 0; sw_open.traced && (w = sw_open_next(&at, &probe)); at++)
		per_cpu_ptr(&sw_trace_cpus, w->cpu)->taken++;
	if (refused)
		_stp_warn("stapwatch: %d waits that had not ended are in no sample: there was no room; -G stapwatch_threads=N makes it (now %d)\n",
			  refused, sw_open.max);
	/* with smp_load_acquire() of who reads the list */
	smp_store_release(&sw_open.done, true);
}

#endif
