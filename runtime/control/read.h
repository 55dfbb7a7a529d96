/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps by which programs read.
 *
 * Who may run what, against whom: all of it processes, within an operation of the file.
 */
#ifndef STAPWATCH_CONTROL_READ_H
#define STAPWATCH_CONTROL_READ_H

#include "control/counters.h"
#include "control/counts.h"
#include "control/state.h"
#include "control/step.h"
#include "control/targets.h"
#include "set/read.h"
#include "watch/read.h"
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>

/* Of one that the session is attached to: a cgroup, or who has ended. */
static int sw_control_read_attached(struct sw_control_run *r)
{
	struct sw_control_step *s = &r->step;
	const struct sw_attached *a;
	int rc;

	rc = mutex_lock_killable(&sw_control.lock);
	if (rc)
		return rc;
	a = sw_control_attached(r);
	if (!a)
		rc = s->target == SW_CONTROL_CGROUP ? -ESRCH : sw_control_no_target(r);
	else if (s->target == SW_CONTROL_PROCESS)
		rc = sw_control_value(s->event, sw_read_own_of_order, a->order, &s->value);
	else
		rc = sw_attached_value(a, s->event, &s->value);
	mutex_unlock(&sw_control.lock);
	return rc;
}

/* Of a thread, a process, a tree, a cgroup. */
static int sw_control_read_whom(struct sw_control_run *r)
{
	struct sw_control_step *s = &r->step;
	const bool is_cgroup = s->target == SW_CONTROL_CGROUP;
	struct pid *pid = is_cgroup ? NULL : sw_control_pid(s->target, s->id);
	const pid_t nr = pid ? pid_nr(pid) : 0;

	put_pid(pid);
	if (!nr)
		return sw_control_read_attached(r);
	return sw_control_value(s->event, s->target == SW_CONTROL_THREAD ? sw_read_of :
					  s->target == SW_CONTROL_TREE ? sw_read_tree :
					  sw_read_process, nr, &s->value);
}

static int sw_control_read(struct sw_control_run *r)
{
	struct sw_control_step *s = &r->step;
	const bool all = s->target == SW_CONTROL_ALL;
	int rc;

	if (s->target == SW_CONTROL_SESSION)
		return sw_control_read_counter(r);
	if (s->target >= SW_CONTROL_THREAD)
		rc = sw_control_read_whom(r);
	else if (all || sw_control_is_cpu(s->id))
		rc = sw_control_value(s->event, NULL, all ? -1 : s->id, &s->value);
	else
		return sw_control_no_cpu(r);
	return rc == -ENOENT ? sw_control_counter_gone(r) : rc;
}

static int sw_control_refresh(struct sw_control_run *r)
{
	if (!sw_control_enter())
		return -ESHUTDOWN;
	r->step.value = max(sw_watch_refresh(true), sw_sets_refresh(true));
	sw_control_leave();
	return 0;
}

#endif
