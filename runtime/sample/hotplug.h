/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that go off and come again while the session runs are sampled again.
 *
 * When a CPU goes, perf takes its events out of its context, for good.  SystemTap opens the
 * events of perf probes once, and of CPUs that are online; and where no handler can run there
 * are none.  So a CPU that had an event of a sampler gets another one when it comes.
 *
 * Who may run what, against whom:
 *
 *   sw_sampler_follow()	sleepable, under sw_profile.lock
 *   sw_sampler_cpu_came()	a callback of CPU hotplug: it waits for nothing
 *   sw_samplers_work()		sleepable
 *   sw_samplers_leave()	sleepable, sw_profile.lock not held, which the work takes; after
 *				sw_sets_let_go(), whose threads hold a sw_samplers_lock
 */
#ifndef STAPWATCH_SAMPLE_HOTPLUG_H
#define STAPWATCH_SAMPLE_HOTPLUG_H

#include "base/cpus.h"
#include "base/work.h"
#include "sample/overflow.h"
#include "sample/sampler.h"
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

/* What samples on a CPU. */
struct sw_sampler_event {
	struct perf_event *event;	/* NULL: nothing ever did */
	bool ours;			/* SystemTap releases its own */
	bool on;			/* of a set's: it is to count */
};

static struct {
	struct sw_sampler_event *of;	/* by CPU, and by sampler */
	int hotplug;			/* cpuhp state */
	bool works;			/* works can be queued */
	struct work_struct work;
} sw_samplers_at;

/* Of a CPU's events, against who turns them on and off. */
static DEFINE_PER_CPU(struct mutex, sw_samplers_lock);

static struct sw_sampler_event *
sw_sampler_event_at(const struct sw_sampler *s, int cpu)
{
	return &sw_samplers_at.of[cpu * SW_MAX_SAMPLERS +
				  (s - sw_profile.samplers)];
}

/* Has its CPU been on all the time? */
static bool sw_sampler_lives(const struct perf_event *e)
{
	return READ_ONCE(e->attach_state) & PERF_ATTACH_CONTEXT;
}

static void sw_sampler_open_again(struct sw_sampler *s, int cpu)
{
	struct sw_sampler_event *at = sw_sampler_event_at(s, cpu);
	struct perf_event_attr attr = s->attr;
	struct perf_event *e, *old;

	if (!at->event || sw_sampler_lives(at->event))
		return;
	e = sw_sampler_create(s, &attr, cpu, NULL, false);
	if (IS_ERR(e)) {
		/* or it has gone again, and will be back */
		if (PTR_ERR(e) != -ENODEV)
			_stp_warn("stapwatch: event %s cannot be sampled on CPU %d, which came online (%ld)\n",
				  s->name, cpu, PTR_ERR(e));
		return;
	}
	mutex_lock(&per_cpu(sw_samplers_lock, cpu));
	old = at->ours ? at->event : NULL;
	at->event = e;
	at->ours = true;
	/* its set may be active already */
	if (at->on)
		perf_event_enable(e);
	mutex_unlock(&per_cpu(sw_samplers_lock, cpu));
	if (old)
		perf_event_release_kernel(old);
}

static void sw_samplers_work(struct work_struct *work)
{
	unsigned int i;
	int cpu;

	mutex_lock(&sw_profile.lock);
	sw_for_each_online_cpu(cpu)
		for (i = 0; i < sw_profile.nr; i++)
			sw_sampler_open_again(&sw_profile.samplers[i], cpu);
	mutex_unlock(&sw_profile.lock);
}

/* Perf would wait for this very CPU where a software event is opened. */
static int sw_sampler_cpu_came(unsigned int cpu)
{
	sw_work_queue(&sw_samplers_at.work);
	return 0;
}

static int sw_samplers_follow_cpus(void)
{
	int rc = -ENOMEM, cpu;

	if (sw_samplers_at.of)
		return 0;
	for_each_possible_cpu(cpu)
		mutex_init(&per_cpu(sw_samplers_lock, cpu));
	sw_samplers_at.of = vzalloc(sizeof(*sw_samplers_at.of) *
				    SW_MAX_SAMPLERS * nr_cpu_ids);
	if (!sw_samplers_at.of || sw_works_start(&sw_samplers_at.works))
		goto fail;
	INIT_WORK(&sw_samplers_at.work, sw_samplers_work);
	rc = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "stapwatch:samples",
				       sw_sampler_cpu_came, NULL);
	if (rc < 0)
		goto fail;
	sw_samplers_at.hotplug = rc;
	return 0;
fail:
	sw_works_stop(&sw_samplers_at.works);
	vfree(sw_samplers_at.of);
	sw_samplers_at.of = NULL;
	return rc;
}

/**
 * sw_sampler_follow - sample a CPU again when it comes again
 * @e: what samples there now
 * Return: 0, or an errno after a message.
 */
static int
sw_sampler_follow(const struct sw_sampler *s, struct perf_event *e, int cpu)
{
	int rc;

	/* what samples waits, or threads, is of no CPU */
	if (s->is_wait || e->cpu < 0)
		return 0;
	rc = sw_samplers_follow_cpus();
	if (rc)
		_stp_error("stapwatch: cannot follow CPUs going on and off (%d)\n",
			   rc);
	else
		sw_sampler_event_at(s, cpu)->event = e;
	return rc;
}

/**
 * sw_samplers_leave - no CPU is sampled again from now on
 *
 * What is SystemTap's it releases itself.
 */
static void sw_samplers_leave(void)
{
	struct sw_sampler_event *of = sw_samplers_at.of;
	unsigned int i;
	int cpu;

	if (!of)
		return;
	cpuhp_remove_state_nocalls(sw_samplers_at.hotplug);
	cancel_work_sync(&sw_samplers_at.work);
	sw_works_stop(&sw_samplers_at.works);
	WRITE_ONCE(sw_samplers_at.of, NULL);
	/* who has found it has let go of it */
	for_each_possible_cpu(cpu) {
		mutex_lock(&per_cpu(sw_samplers_lock, cpu));
		mutex_unlock(&per_cpu(sw_samplers_lock, cpu));
	}
	for (i = 0; i < SW_MAX_SAMPLERS * nr_cpu_ids; i++)
		if (of[i].ours)
			perf_event_release_kernel(of[i].event);
	vfree(of);
}

#endif
