/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perf's events: how they are asked for, and whether one counts.
 *
 * All of it is sleepable, but for sw_pmu_describe() and sw_pmu_is_on() (any context).
 */
#ifndef STAPWATCH_COUNT_PERF_H
#define STAPWATCH_COUNT_PERF_H

#include "base/compat.h"
#include "base/kernel.h"
#include "count/event.h"
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/perf_event.h>

/* The number of a word that the event sets and that this kernel lacks; or 0. */
static unsigned int sw_pmu_lacks(const struct sw_event *ev)
{
	struct perf_event_attr attr;

	return sw_attr_more(&attr, ev->config3, ev->config4);
}

/**
 * sw_pmu_describe - tell perf what the event counts
 * Return: 0; -EOPNOTSUPP: this kernel cannot be told, see sw_pmu_lacks().
 */
static int __must_check
sw_pmu_describe(const struct sw_event *ev, struct perf_event_attr *attr)
{
	attr->type = ev->type;
	attr->config = ev->config;
	attr->config1 = ev->config1;
	attr->config2 = ev->config2;
	attr->exclude_user = !!(ev->flags & SW_EXCLUDE_USER);
	attr->exclude_kernel = !!(ev->flags & SW_EXCLUDE_KERNEL);
	attr->exclude_hv = !!(ev->flags & SW_EXCLUDE_HV);
	attr->exclude_idle = !!(ev->flags & SW_EXCLUDE_IDLE);
	attr->exclude_host = !!(ev->flags & SW_EXCLUDE_HOST);
	attr->exclude_guest = !!(ev->flags & SW_EXCLUDE_GUEST);
	attr->precise_ip = (ev->flags & SW_PRECISE_MASK) >>
			   SW_PRECISE_SHIFT;
	return sw_attr_more(attr, ev->config3, ev->config4) ? -EOPNOTSUPP : 0;
}

/* A counter on a CPU; ON_OVERFLOW is called after each PERIOD of it, if that is not 0. */
static struct perf_event *
sw_pmu_counter_every(const struct sw_event *ev, int cpu, bool disabled,
		     u64 period, perf_overflow_handler_t on_overflow)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.pinned = 1,
		.disabled = disabled,
		.sample_period = period,
	};

	if (sw_pmu_describe(ev, &attr))
		return ERR_PTR(-EOPNOTSUPP);
	/* how exact a sample is has nothing to do with the count */
	attr.precise_ip = 0;
	return perf_event_create_kernel_counter(&attr, cpu, NULL, on_overflow,
						NULL);
}

static struct perf_event *
sw_pmu_counter(const struct sw_event *ev, int cpu, bool disabled)
{
	return sw_pmu_counter_every(ev, cpu, disabled, 0, NULL);
}

/* A pinned event that found no free counter: perf says it no other way. */
static bool sw_pmu_is_on(const struct perf_event *e)
{
	return READ_ONCE(e->state) >= PERF_EVENT_STATE_INACTIVE;
}

/*
 * A driver that cannot start a counter has no way to say so but to leave it
 * stopped.  Perf may have it stopped, too: for a moment, or up to the next tick
 * where samples come too fast.
 */
static bool sw_pmu_has_started(const struct perf_event *e)
{
	unsigned int tries;

	for (tries = 0; tries < 10; tries++) {
		if (READ_ONCE(e->state) < PERF_EVENT_STATE_ACTIVE ||
		    !(READ_ONCE(e->hw.state) & PERF_HES_STOPPED) ||
		    READ_ONCE(e->hw.interrupts) == U64_MAX)
			return true;
		msleep(1);
	}
	return false;
}

/*
 * sw_pmu_checked - a pinned event that perf has just made, or has refused
 *
 * That it found no free counter, and that this was not started, perf says in no
 * other way than by the event's state.
 */
static struct perf_event *sw_pmu_checked(struct perf_event *e)
{
	int rc;

	if (IS_ERR(e))
		return e;
	if (!sw_pmu_is_on(e))
		rc = -ENOSPC;
	else if (!sw_pmu_has_started(e))
		rc = -EIO;
	else
		return e;
	perf_event_release_kernel(e);
	return ERR_PTR(rc);
}

#endif
