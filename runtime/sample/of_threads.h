/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of threads' own events: profile_thread() and profile_process().
 *
 * Where a script names threads, each sampler has no event on the CPUs, but one for each of
 * those threads, which goes with the thread to whatever CPU.  Its period counts what that
 * thread alone does, and no other thread is interrupted.  What a process makes later
 * inherits the event from the thread that makes it.  Where two of these follow one another on
 * a CPU, perf may give each what the other one had, rather than take both off and on: then a
 * period is of both.
 *
 * SystemTap holds one event for all CPUs, the first one; it releases that one itself.
 *
 * Who may run what, against whom:
 *
 *   sw_profile_of()		begin probes
 *   sw_of_threads_open()	sleepable, under sw_profile.lock
 *   sw_of_threads_close()	the same, when no more are opened and the session is over
 *   sw_of_threads_forget()	sleepable, when all of that has ended
 */
#ifndef STAPWATCH_SAMPLE_OF_THREADS_H
#define STAPWATCH_SAMPLE_OF_THREADS_H

#include "count/chosen.h"
#include "count/perf.h"
#include "sample/overflow.h"
#include "sample/sampler.h"
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#define SW_MAX_PROFILED 64	/* that a script names */
#define SW_MAX_OF_THREADS 16384	/* events, of all samplers */

static struct {
	bool asked;
	unsigned int gone;	/* had ended, or found no room */
	unsigned int named;
	struct sw_profiled {
		struct pid *pid;
		bool process;
	} of[SW_MAX_PROFILED];
	struct perf_event **events;
	unsigned int nr;
	bool many;		/* there was no room for more */
} sw_of_threads;

/**
 * sw_profile_of - sample a thread, or all threads of a process and what these make
 * Context: begin probes.
 * Return: whether there is one of that number, and room.
 */
static bool __maybe_unused sw_profile_of(s64 number, bool process)
{
	struct sw_profiled *p = &sw_of_threads.of[sw_of_threads.named];
	const enum pid_type type = process ? PIDTYPE_TGID : PIDTYPE_PID;
	struct pid *pid = NULL;

	sw_of_threads.asked = true;
	if (number > 0 && number <= INT_MAX &&
	    sw_of_threads.named < SW_MAX_PROFILED) {
		rcu_read_lock();
		pid = find_pid_ns(number, &init_pid_ns);
		pid = pid && pid_task(pid, type) ? get_pid(pid) : NULL;
		rcu_read_unlock();
	}
	if (!pid) {
		sw_of_threads.gone++;
		return false;
	}
	*p = (struct sw_profiled) { .pid = pid, .process = process };
	sw_of_threads.named++;
	return true;
}

/* Kernels before 6.2 have one for each kind of PMU. */
#define SW_TASK_CONTEXTS						\
	(sizeof(((struct task_struct *)0)->perf_event_ctxp) /		\
	 sizeof(struct perf_event_context *))

/* A list of a thread's events, which perf gives another one when two that inherited theirs
 * follow each other on a CPU.  Return: true: it has one of the sampler's. */
static bool
sw_context_samples(struct perf_event_context **at, const struct sw_sampler *s)
{
	struct perf_event_context *ctx;
	struct perf_event *e;
	unsigned long flags;
	bool has = false;

	/* its memory stays as long as RCU is held */
	while ((ctx = READ_ONCE(*at))) {
		raw_spin_lock_irqsave(&ctx->lock, flags);
		if (READ_ONCE(*at) == ctx)
			break;
		raw_spin_unlock_irqrestore(&ctx->lock, flags);
	}
	if (!ctx)
		return false;
	list_for_each_entry(e, &ctx->event_list, event_entry)
		has |= e->overflow_handler_context == s;
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	return has;
}

/* Has it one already, by itself or from who made it? */
static bool sw_task_samples(struct task_struct *task, const struct sw_sampler *s)
{
	struct perf_event_context **at =
		(struct perf_event_context **)&task->perf_event_ctxp;
	bool has = false;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < SW_TASK_CONTEXTS; i++)
		has |= sw_context_samples(&at[i], s);
	rcu_read_unlock();
	return has;
}

/* The threads that there are now, each held. */
static unsigned int
sw_profiled_threads(const struct sw_profiled *p, struct task_struct **to,
		    unsigned int most)
{
	struct task_struct *first, *task;
	unsigned int n = 0;

	rcu_read_lock();
	first = pid_task(p->pid, p->process ? PIDTYPE_TGID : PIDTYPE_PID);
	if (first && !p->process) {
		to[n++] = get_task_struct(first);
	} else if (first) {
		for_each_thread(first, task) {
			if (n == most) {
				sw_of_threads.many = true;
				break;
			}
			to[n++] = get_task_struct(task);
		}
	}
	rcu_read_unlock();
	return n;
}

/* Return: 1: it has one now; 0: it had, or ends; or an errno. */
static int sw_of_thread_open(struct sw_sampler *s,
			     const struct perf_event_attr *attr,
			     struct task_struct *task, bool process,
			     bool try_precise)
{
	struct perf_event_attr own = *attr;
	struct perf_event *e;

	if (READ_ONCE(task->flags) & PF_EXITING || sw_task_samples(task, s))
		return 0;
	if (sw_of_threads.nr == SW_MAX_OF_THREADS) {
		sw_of_threads.many = true;
		return 0;
	}
	own.inherit = process;
	e = sw_sampler_create(s, &own, -1, task, try_precise);
	if (IS_ERR(e))
		return PTR_ERR(e) == -ESRCH ? 0 : PTR_ERR(e);
	sw_of_threads.events[sw_of_threads.nr++] = e;
	return 1;
}

/* Those of processes, or those that are named themselves.  Return: how many have one now
 * that had none, or an errno. */
static int sw_of_threads_pass(struct sw_sampler *s,
			      const struct perf_event_attr *attr, bool process,
			      struct task_struct **tasks, bool try_precise)
{
	unsigned int i, k, n;
	int rc = 0, new = 0;

	for (i = 0; i < sw_of_threads.named; i++) {
		const struct sw_profiled *p = &sw_of_threads.of[i];

		if (p->process != process)
			continue;
		n = sw_profiled_threads(p, tasks, SW_MAX_OF_THREADS);
		for (k = 0; k < n; k++) {
			if (rc >= 0)
				rc = sw_of_thread_open(s, attr, tasks[k],
						       process, try_precise);
			new += rc == 1;
			put_task_struct(tasks[k]);
			cond_resched();
		}
	}
	return rc < 0 ? rc : new;
}

/* Until a pass finds no more; a thread that was on its way when its maker got its event is
 * there some moments later. */
static int sw_of_threads_fill(struct sw_sampler *s,
			      const struct perf_event_attr *attr,
			      struct task_struct **tasks, bool try_precise)
{
	unsigned int quiet = 0, passes;
	int n = 0;

	for (passes = 0; passes < 100 && quiet < 2; passes++) {
		n = sw_of_threads_pass(s, attr, true, tasks, try_precise);
		if (n < 0)
			return n;
		quiet = n ? 0 : quiet + 1;
		msleep(2);
	}
	/* one of a process that is sampled has an event that is inherited */
	n = sw_of_threads_pass(s, attr, false, tasks, try_precise);
	return min(n, 0);
}

/* From the sampler's first one on. */
static void sw_of_threads_drop(unsigned int from)
{
	while (sw_of_threads.nr > from)
		perf_event_release_kernel(
			sw_of_threads.events[--sw_of_threads.nr]);
}

/**
 * sw_of_threads_open - open a sampler's events, of the threads that the script has named
 * Return: the one that SystemTap holds; NULL: there is none, as all have ended; or an errno.
 */
static struct perf_event *
sw_of_threads_open(struct sw_sampler *s, const struct perf_event_attr *attr,
		   bool try_precise)
{
	const unsigned int from = sw_of_threads.nr;
	struct task_struct **tasks;
	int rc = -ENOMEM;

	if (!sw_of_threads.events)
		sw_of_threads.events = kvcalloc(SW_MAX_OF_THREADS,
						sizeof(*sw_of_threads.events),
						GFP_KERNEL);
	tasks = kvcalloc(SW_MAX_OF_THREADS, sizeof(*tasks), GFP_KERNEL);
	if (tasks && sw_of_threads.events)
		rc = sw_of_threads_fill(s, attr, tasks, try_precise);
	kvfree(tasks);
	if (rc) {
		sw_of_threads_drop(from);
		return ERR_PTR(rc);
	}
	return sw_of_threads.nr > from ? sw_of_threads.events[from] : NULL;
}

/* How long the sampler's events were to count, and how long the PMU had a counter. */
static void sw_of_threads_report(const struct sw_sampler *s, u64 enabled,
				 u64 running)
{
	if (enabled > running)
		_stp_warn("stapwatch: %s was on the PMU for %llu us of the %llu us that its threads ran; samples of the rest are missing, as other events had the counter, or a CPU of another kind has none\n",
			  s->name, div64_u64(running, NSEC_PER_USEC),
			  div64_u64(enabled, NSEC_PER_USEC));
}

/**
 * sw_of_threads_close - release what SystemTap does not, and say what was not sampled
 */
static void sw_of_threads_close(void)
{
	const struct sw_sampler *s = NULL, *of;
	u64 enabled = 0, running = 0, e, r;
	unsigned int i;

	for (i = 0; i < sw_of_threads.nr; i++) {
		struct perf_event *event = sw_of_threads.events[i];

		of = event->overflow_handler_context;
		if (s && of != s) {
			sw_of_threads_report(s, enabled, running);
			enabled = running = 0;
		}
		perf_event_read_value(event, &e, &r);
		enabled += e;
		running += r;
		/* the first one is SystemTap's */
		if (of == s)
			perf_event_release_kernel(event);
		s = of;
	}
	if (s)
		sw_of_threads_report(s, enabled, running);
	if (sw_of_threads.many)
		_stp_warn("stapwatch: threads are not sampled beyond %d of them, counted once for each probe that samples\n",
			  SW_MAX_OF_THREADS);
	kvfree(sw_of_threads.events);
	sw_of_threads.events = NULL;
	sw_of_threads.nr = 0;
	sw_of_threads.many = false;
}

/** sw_of_threads_forget - whom the script has named; after its end */
static void sw_of_threads_forget(void)
{
	/* where SystemTap had no event to release */
	sw_of_threads_close();
	if (sw_of_threads.gone)
		_stp_warn("stapwatch: a thread or process that was to be sampled was not there %u times, or beyond %d of them\n",
			  sw_of_threads.gone, SW_MAX_PROFILED);
	while (sw_of_threads.named)
		put_pid(sw_of_threads.of[--sw_of_threads.named].pid);
	sw_of_threads.gone = 0;
	sw_of_threads.asked = false;
}

#endif
