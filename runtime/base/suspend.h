/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * While the machine sleeps its clock stands still, as CLOCK_MONOTONIC does.
 *
 * The processor's counter may go on meanwhile, or begin anew.  Either way what it has
 * gained or lost is taken off of sw_tsc() from then on.  All other CPUs are off
 * between the kernel's syscore_suspend() and syscore_resume(), and this one has
 * interrupts off, so nobody reads sw_tsc() in between.  What is frozen only (s2idle)
 * is idle: there the counter goes on, and its time counts.
 *
 *   sw_suspend_follow(), _leave()	sleepable
 *   sw_on_suspend_resume()	the last CPU that runs, interrupts off
 */
#ifndef STAPWATCH_BASE_SUSPEND_H
#define STAPWATCH_BASE_SUSPEND_H

#include "base/clock.h"
#include "base/hooks.h"
#include <linux/mutex.h>
#include <linux/string.h>

/* Who wants it. */
#define SW_SUSPEND_COUNTS 1
#define SW_SUSPEND_PPA 2
#define SW_SUSPEND_WAITS 4

static struct {
	struct mutex lock;
	unsigned int users;
	u64 fell_asleep;	/* 0: it is awake */
} sw_suspend = { .lock = __MUTEX_INITIALIZER(sw_suspend.lock) };

static void sw_on_suspend_resume(void *data, const char *action, int val,
				 bool start)
{
	if (!start && !strcmp(action, "syscore_suspend")) {
		sw_suspend.fell_asleep = sw_tsc();
	} else if (start && !strcmp(action, "syscore_resume") &&
		   sw_suspend.fell_asleep) {
		WRITE_ONCE(sw_tsc_slept, sw_tsc_slept + sw_tsc() -
			   sw_suspend.fell_asleep);
		sw_suspend.fell_asleep = 0;
	}
}

static struct sw_hook sw_suspend_hook = { "suspend_resume",
					  sw_on_suspend_resume };

/**
 * sw_suspend_follow - from now on sw_tsc() stands still while the machine sleeps
 * @user: SW_SUSPEND_...
 *
 * Where that fails the user is told.  A kernel that cannot sleep has no such tracepoint.
 */
static void sw_suspend_follow(unsigned int user)
{
	int rc = 0;

	mutex_lock(&sw_suspend.lock);
	if (!sw_suspend.users) {
		sw_hooks_find(&sw_suspend_hook, 1);
		rc = sw_hook_on(&sw_suspend_hook);
	}
	sw_suspend.users |= user;
	mutex_unlock(&sw_suspend.lock);
	if (rc && rc != -ENOENT)
		_stp_warn("stapwatch: cannot follow when the machine sleeps (%d); what tsc and ppa tell across that is wrong\n",
			  rc);
}

/* When the last user has left no callback runs any more. */
static void sw_suspend_leave(unsigned int user)
{
	mutex_lock(&sw_suspend.lock);
	if (sw_suspend.users == user)
		sw_hooks_off(&sw_suspend_hook, 1);
	sw_suspend.users &= ~user;
	mutex_unlock(&sw_suspend.lock);
}

#endif
