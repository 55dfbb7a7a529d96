/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samplers that have a counter only while a set is active: profile_in_set().
 *
 * SystemTap has no events of these: they are opened after all others, and disabled, so that
 * where there is no counter left it is a sampler that has none.  The thread that switches a
 * CPU's sets turns them on after the set's own, and off before anything else: no counter of
 * the script's counts in between.  A set is known by its name, so that one that is made anew
 * has the sampler, too.
 *
 * Who may run what, against whom:
 *
 *   sw_profile_in_set()	begin probes
 *   sw_sampler_set_of()	sleepable, under sw_profile.lock
 *   sw_samplers_turn()		a CPU's thread that switches sets, under its lock; against
 *				hotplug.h and the end by sw_samplers_lock
 *   sw_in_sets_open()		sleepable, in module init, before sets switch
 *   sw_in_sets_end()		sleepable, when all of that has ended
 */
#ifndef STAPWATCH_SAMPLE_IN_SETS_H
#define STAPWATCH_SAMPLE_IN_SETS_H

#include "base/cpus.h"
#include "count/chosen.h"
#include "count/perf.h"
#include "sample/hotplug.h"
#include "sample/overflow.h"
#include "sample/sampler.h"
#include "set/set.h"
#include "set/switch.h"
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#define SW_MAX_IN_SETS 16

static struct sw_in_set {
	char event[64];
	char set[SW_SET_NAME];
	bool sampled;		/* there is such a sampler */
	atomic_t turns;		/* of all CPUs */
	atomic_t lacked;	/* in how many of them it found no counter */
} sw_in_sets[SW_MAX_IN_SETS];
static unsigned int sw_nr_in_sets;

/* What samples SAMPLER's event, in which set; NULL: in all, and without. */
static struct sw_in_set *sw_sampler_set_of(const char *event)
{
	unsigned int i;

	for (i = 0; i < sw_nr_in_sets; i++)
		if (!strcmp(sw_in_sets[i].event, event))
			return &sw_in_sets[i];
	return NULL;
}

static void
sw_sampler_turn(struct sw_sampler *s, struct sw_sampler_event *at, bool on)
{
	/* for who opens it again, where its CPU has just come */
	at->on = on;
	if (!at->event || !sw_sampler_lives(at->event))
		return;
	if (!on) {
		perf_event_disable(at->event);
		return;
	}
	perf_event_enable(at->event);
	atomic_inc(&s->in_set->turns);
	if (!sw_pmu_is_on(at->event))
		atomic_inc(&s->in_set->lacked);
}

/* A set's turn on this CPU begins, or ends. */
static void sw_samplers_turn(int cpu, unsigned int set, bool on)
{
	struct sw_sampler *s = sw_profile.samplers;
	struct sw_sampler_event *at;
	unsigned int i;

	/* the locks are made before it */
	if (!READ_ONCE(sw_samplers_at.of))
		return;
	mutex_lock(&per_cpu(sw_samplers_lock, cpu));
	/* with sw_samplers_leave(), which takes the lock when it has cleared that */
	at = READ_ONCE(sw_samplers_at.of);
	at = at ? at + cpu * SW_MAX_SAMPLERS : NULL;
	for (i = 0; at && i < sw_profile.nr; i++)
		if (s[i].in_set && !strcmp(s[i].in_set->set, sw_sets.of[set].name))
			sw_sampler_turn(&s[i], &at[i], on);
	mutex_unlock(&per_cpu(sw_samplers_lock, cpu));
}

/* On a CPU; one that cannot be opened is in no sample, which is said. */
static int sw_in_set_open(struct sw_sampler *s, int cpu)
{
	struct perf_event_attr attr = s->attr;
	struct perf_event *e = sw_sampler_create(s, &attr, cpu, NULL, false);
	int rc;

	if (IS_ERR(e)) {
		/* it has just gone, or is of another kind */
		if (PTR_ERR(e) != -ENODEV && PTR_ERR(e) != -ENOENT)
			_stp_warn("stapwatch: event %s cannot be sampled on CPU %d (%ld)\n",
				  s->name, cpu, PTR_ERR(e));
		return 0;
	}
	rc = sw_sampler_follow(s, e, cpu);
	if (rc)
		perf_event_release_kernel(e);
	else
		sw_sampler_event_at(s, cpu)->ours = true;
	return rc;
}

static void sw_in_sets_open(void)
{
	struct sw_sampler *s;
	int cpu, rc = 0;

	if (!sw_nr_in_sets)
		return;
	mutex_lock(&sw_profile.lock);
	for (s = sw_profile.samplers; s < sw_profile.samplers + sw_profile.nr; s++) {
		if (!s->in_set)
			continue;
		sw_for_each_online_cpu(cpu)
			if (sw_cpu_is_chosen(cpu))
				rc = rc ?: sw_in_set_open(s, cpu);
	}
	mutex_unlock(&sw_profile.lock);
}

/**
 * sw_profile_in_set - sample an event only while a set is active
 * @event: its name, as the probe has it
 * Context: begin probes.
 * Return: false: there is no room, or a name is too long.
 */
static bool __maybe_unused
sw_profile_in_set(const char *event, const char *set)
{
	struct sw_in_set *in = sw_sampler_set_of(event) ?: &sw_in_sets[sw_nr_in_sets];

	if (in == sw_in_sets + SW_MAX_IN_SETS ||
	    strlen(event) >= sizeof(in->event) || strlen(set) >= sizeof(in->set))
		return false;
	strscpy(in->event, event, sizeof(in->event));
	strscpy(in->set, set, sizeof(in->set));
	if (in == &sw_in_sets[sw_nr_in_sets])
		sw_nr_in_sets++;
	sw_set_samples = sw_samplers_turn;
	return true;
}

static void sw_in_sets_end(void)
{
	struct sw_in_set *in;

	for (in = sw_in_sets; in < sw_in_sets + sw_nr_in_sets; in++) {
		int turns = atomic_read(&in->turns), lacked = atomic_read(&in->lacked);

		if (!in->sampled)
			_stp_warn("stapwatch: profile_in_set(): no probe samples %s\n",
				  in->event);
		else if (!turns)
			_stp_warn("stapwatch: %s was to be sampled in set %s, which had no turn\n",
				  in->event, in->set);
		else if (lacked)
			_stp_warn("stapwatch: %s found no counter in %d of %d turns of set %s; it was not sampled then\n",
				  in->event, lacked, turns, in->set);
	}
	memset(sw_in_sets, 0, sizeof(sw_in_sets));
	sw_nr_in_sets = 0;
	sw_set_samples = NULL;
}

#endif
