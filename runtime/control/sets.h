/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets that programs make.
 *
 * Who may run what, against whom: all of it processes, within an operation of the file.
 * What is done to sets, threads and counts is what a handler does, and stands between
 * sw_control_enter() and sw_control_leave().
 */
#ifndef STAPWATCH_CONTROL_SETS_H
#define STAPWATCH_CONTROL_SETS_H

#include "control/state.h"
#include "control/step.h"
#include "count/gate.h"
#include "set/cpu.h"
#include "set/read.h"
#include "set/rules.h"
#include "set/set.h"
#include <linux/delay.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>

/* A set is open after some milliseconds; where the machine is slow, it takes longer. */
#define SW_CONTROL_WAIT_MS 2000

static int sw_control_no_set(struct sw_control_run *r)
{
	return sw_control_say(r, -ENOENT, "this session has no set %.31s",
			      r->name);
}

/* It stands in the script's messages. */
static bool sw_control_is_plain(const char *name)
{
	while (*name >= ' ' && *name < 0x7f)
		name++;
	return !*name;
}

/* Have a set; of the script's and of another program's none. */
static int sw_control_declare(struct sw_control_run *r, unsigned int *set)
{
	unsigned int old;

	if (!sw_control_is_plain(r->name))
		return sw_control_say(r, -EINVAL,
				      "a set's name has characters from space to ~ only");
	if (!sw_control_enter())
		return -ESHUTDOWN;
	old = sw_set_find(r->name);
	*set = old && !sw_control_owns(r->by, old) ? 0 :
	       sw_set_declare(r->name, r->text, r->why, sizeof(r->why));
	if (*set) {
		WRITE_ONCE(r->by->own[*set],
			   sw_control_which(sw_set_word(*set)));
		sw_set_kick();
	}
	sw_control_leave();
	if (*set)
		return 0;
	if (!*r->why)
		return sw_control_say(r, -EEXIST,
				      "there is a set %.31s, which another one made",
				      r->name);
	return -EINVAL;
}

/* Return: 1: it is open; 0: not yet; or an errno. */
static int sw_control_is_open(struct sw_control_run *r, unsigned int set, u64 which)
{
	u32 word;

	if (!sw_control_enter())
		return -ESHUTDOWN;
	word = sw_set_word(set);
	sw_control_leave();
	if (sw_control_which(word) == which && sw_control_is_there(word))
		return word % SW_SET_STATES == SW_SET_OPEN;
	return sw_control_say(r, -ENODEV,
			      "set %.31s went before it was open: this machine cannot count it, and the script says which event; or somebody deleted it",
			      r->name);
}

static void sw_control_drop(struct sw_controller *p, unsigned int set, u64 which)
{
	if (!sw_control_enter())
		return;
	sw_set_leave(set, (which - 1) * SW_SET_STATES);
	sw_set_kick();
	sw_control_leave();
}

static int sw_control_make(struct sw_control_run *r)
{
	unsigned int set, ms;
	u64 which;
	int rc;

	rc = mutex_lock_killable(&sw_control.lock);
	if (rc)
		return rc;
	rc = sw_control_declare(r, &set);
	which = rc ? 0 : r->by->own[set];
	mutex_unlock(&sw_control.lock);
	if (rc)
		return rc;
	for (ms = 0; !(rc = sw_control_is_open(r, set, which)); ms++) {
		if (ms == SW_CONTROL_WAIT_MS)
			rc = sw_control_say(r, -ETIMEDOUT,
					    "set %.31s was not opened in time",
					    r->name);
		else if (signal_pending(current))
			rc = -EINTR;
		if (rc)
			break;
		usleep_range(500, 1000);
	}
	if (rc < 0)
		sw_control_drop(r->by, set, which);
	else
		r->step.value = set;
	return min(rc, 0);
}

/* What is done to a set of its own.  Preemption is off. */
static int sw_control_set_now(struct sw_control_run *r, unsigned int set)
{
	const struct sw_control_step *s = &r->step;

	switch (s->what) {
	case SW_CONTROL_DELETE_SET:
		sw_set_leave(set, sw_set_word(set));
		break;
	case SW_CONTROL_SET_EVERY:
		if (!sw_rule_declare_own(set, r->text, r->why, sizeof(r->why)))
			return -EINVAL;
		break;
	case SW_CONTROL_SET_PLACE:
		if (s->value < 0 || s->value >= SW_SET_NO_PLACE)
			return sw_control_say(r, -EINVAL,
					      "a place is from 0 to 2147483647");
		WRITE_ONCE(sw_sets.of[set].place, s->value);
		break;
	case SW_CONTROL_SWITCH:
		sw_set_switch(set);
		break;
	default:
		sw_gate_stop(set, s->what == SW_CONTROL_STOP);
	}
	sw_set_kick();
	return 0;
}

static int sw_control_set(struct sw_control_run *r)
{
	unsigned int set;
	int rc;

	if (!sw_control_enter())
		return -ESHUTDOWN;
	set = sw_control_own(r->by, r->name);
	rc = set ? sw_control_set_now(r, set) : sw_control_no_set(r);
	sw_control_leave();
	return rc;
}

#endif
