/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem_loads:ldlat=N, loads that took N cycles or more, by what a machine has for it.
 *
 * A script's own event has the type SW_TYPE_LOADS, and N for its config, until the
 * first counter of it is opened.
 *
 * Who may run what, against whom: sw_loads_resolve() is sleepable, under
 * sw_session_lock or sw_profile.lock, where no other reads that event.
 */
#ifndef STAPWATCH_COUNT_LOADS_H
#define STAPWATCH_COUNT_LOADS_H

#include "base/compat.h"
#include "count/event.h"
#include "count/sysfs.h"
#include <linux/err.h>
#include <linux/slab.h>

#define SW_TYPE_LOADS 0x57000002

/* Why there is none */
#define SW_LOADS_NONE (-ENXIO)		/* no PMU samples them */
#define SW_LOADS_UNFILTERED (-EMEDIUMTYPE)	/* one does, but all of them */
#define SW_LOADS_SPE (-EXDEV)		/* one does, into memory of perf's */
#define SW_LOADS_RANGE (-ERANGE)	/* not by that latency */

/* Is there such a PMU? */
static bool sw_loads_has(const char *pmu)
{
	char *type = sw_sysfs_read(pmu, "", "type");

	if (IS_ERR(type))
		return false;
	kfree(type);
	return true;
}

/* Intel's: the event has a latency already, and gets that one. */
static int sw_loads_intel(const char *pmu, u64 latency, u32 *type, u64 *config)
{
	int rc = sw_sysfs_event(pmu, "mem-loads", type, config);

	if (rc)
		return SW_LOADS_NONE;
	rc = sw_sysfs_format(pmu, "ldlat", latency, config);
	return rc == -EINVAL ? SW_LOADS_RANGE : rc;
}

/* AMD's: of all instructions those whose loads took so long. */
static int sw_loads_amd(u64 latency, u32 *type, u64 *config)
{
	int rc = sw_sysfs_event("ibs_op", "cnt_ctl", type, config);

	if (rc)
		return SW_LOADS_NONE;
	rc = sw_sysfs_format("ibs_op", "ldlat", latency, config);
	if (rc == -EINVAL)
		return SW_LOADS_RANGE;
	return rc ? SW_LOADS_UNFILTERED : 0;
}

/**
 * sw_loads_resolve - what this machine has for it
 * Return: 0; EV is that then, or was no such event; or SW_LOADS_...
 */
static int sw_loads_resolve(struct sw_event *ev)
{
	u64 latency = ev->config, config[SW_TERMS_WORDS];
	u32 type;
	int rc;

	if (ev->type != SW_TYPE_LOADS)
		return 0;
	rc = sw_loads_intel("cpu", latency, &type, config);
	if (rc == SW_LOADS_NONE)
		rc = sw_loads_intel("cpu_core", latency, &type, config);
	if (rc == SW_LOADS_NONE)
		rc = sw_loads_amd(latency, &type, config);
	if (rc == SW_LOADS_NONE && sw_loads_has("arm_spe_0"))
		rc = SW_LOADS_SPE;
	if (rc)
		return rc;
	sw_event_take(ev, type, config);
	ev->flags |= SW_IS_LOADS;
	return 0;
}

#endif
