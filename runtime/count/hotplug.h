/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that come online while the session runs get their counters.
 *
 * Who may run what, against whom:
 *
 *   sw_cpu_online()	a callback of CPU hotplug: sleepable, but it must not wait
 *			for sw_session_lock, whose holder may wait for this CPU
 *   sw_hotplug_start(), sw_hotplug_stop()	sleepable, under sw_session_lock
 */
#ifndef STAPWATCH_COUNT_HOTPLUG_H
#define STAPWATCH_COUNT_HOTPLUG_H

#include "base/session.h"
#include "base/work.h"
#include "count/gate.h"
#include "count/pmu.h"
#include <linux/cpuhotplug.h>
#include <linux/workqueue.h>

static int sw_hotplug;		/* cpuhp state; 0: none */

/* Who has counters of its own for CPUs that come is told, before and after. */
static void (*sw_filled)(bool done);

/* And who has events that are moved, or are not, of each CPU that comes. */
static void (*sw_cpu_came)(unsigned int cpu);

static void sw_fill_work(struct work_struct *work)
{
	unsigned int slot;
	int rc;

	mutex_lock(&sw_session_lock);
	if (sw_filled)
		sw_filled(false);
	rc = sw_pmu_fill(true, SW_MAX_SLOTS, &slot);
	sw_gates_look_again();
	if (sw_filled)
		sw_filled(true);
	if (rc)
		_stp_warn("stapwatch: event %s cannot be counted on a CPU that came online (%d)\n",
			  sw_pmu.event[slot]->name, rc);
	mutex_unlock(&sw_session_lock);
}
static DECLARE_WORK(sw_fill, sw_fill_work);

/*
 * A CPU comes online.  No user thread runs there yet, so hardware counters are
 * opened here; but the lock's other holders may be waiting for this very CPU,
 * and so would perf for a software event.  The work does what this leaves.
 */
static int sw_cpu_online(unsigned int cpu)
{
	void (*came)(unsigned int cpu) = READ_ONCE(sw_cpu_came);
	unsigned int slot;

	if (came)
		came(cpu);
	if (mutex_trylock(&sw_session_lock)) {
		sw_pmu_fill(false, SW_MAX_SLOTS, &slot);
		mutex_unlock(&sw_session_lock);
	}
	/* it may be as the script had it when it went */
	sw_gates_look_again();
	sw_work_queue(&sw_fill);
	return 0;
}

/**
 * sw_hotplug_stop - follow CPUs no more
 * Context: sleepable, under sw_session_lock, which is let go of meanwhile.
 */
static void sw_hotplug_stop(void)
{
	if (sw_hotplug > 0) {
		/* the work takes the lock */
		mutex_unlock(&sw_session_lock);
		cpuhp_remove_state_nocalls(sw_hotplug);
		cancel_work_sync(&sw_fill);
		mutex_lock(&sw_session_lock);
	}
	sw_hotplug = 0;
}

/**
 * sw_hotplug_start - give CPUs that come online their counters
 * Context: sleepable, under sw_session_lock.
 * Return: 0, or an errno after a message.
 */
static int sw_hotplug_start(void)
{
	int rc = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					   "stapwatch:online", sw_cpu_online,
					   NULL);

	if (rc < 0) {
		_stp_error("stapwatch: cannot follow CPUs going on and off (%d)\n",
			   rc);
		return rc;
	}
	sw_hotplug = rc;
	return 0;
}

#endif
