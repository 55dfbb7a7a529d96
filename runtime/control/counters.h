/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of a program's session: each is of an event, and counts what those count that the
 * session is attached to, from one attachment to the next.
 *
 * What others have counted goes on as it is.  A counter is what its session was attached to
 * before, and what each of those has counted since it is attached.
 *
 * Who may run what, against whom: all of it processes, within an operation of the file,
 * sw_control.lock held.
 */
#ifndef STAPWATCH_CONTROL_COUNTERS_H
#define STAPWATCH_CONTROL_COUNTERS_H

#include "control/counts.h"
#include "control/state.h"
#include "control/step.h"
#include "watch/fold.h"
#include "watch/read.h"
#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/minmax.h>

/* A counter's word is none of an event's. */
#define SW_CONTROL_COUNTER (1ULL << 61)

/* How often it is asked whether others have done what they were to: for 100 ms or so */
#define SW_CONTROL_TRIES 2000
/* How often counts are read anew in a step that there are none of just now */
#define SW_CONTROL_READS 10

/* NULL: there is none of that word. */
static struct sw_control_counter *sw_control_counter_find(struct sw_controller *p, u64 word)
{
	struct sw_control_counter *k = &p->counters[word % SW_CONTROL_COUNTERS];

	return word && k->word == word ? k : NULL;
}

/*
 * All that the session is attached to is brought up to date.
 * Return: false: a CPU has not done so in time.
 */
static bool sw_control_settle(const struct sw_controller *p)
{
	unsigned int tries;
	s64 late;

	sw_control.reads = SW_CONTROL_READS;
	if (!p->nr_attached || !p->nr_counters)
		return true;
	if (!sw_control_enter())
		return false;
	sw_watch_ask();
	late = sw_watch_late();
	sw_control_leave();
	for (tries = 0; late && tries < SW_CONTROL_TRIES; tries++) {
		usleep_range(20, 50);
		if (!sw_control_enter())
			return false;
		late = sw_watch_late();
		sw_control_leave();
	}
	return !late;
}

/* Where a counter is throttled, or its set switched at this moment, it is there soon. */
static int
sw_attached_await(const struct sw_attached *a, u64 event, s64 *value)
{
	int rc;

	for (;;) {
		rc = sw_attached_value(a, event, value);
		if (rc != -ENODATA || !sw_control.reads)
			return rc;
		sw_control.reads--;
		usleep_range(50, 100);
		if (!sw_control_enter())
			return -ESHUTDOWN;
		sw_watch_ask();
		sw_control_leave();
	}
}

/* A counter counts from here on what A does. */
static void
sw_control_counter_begin(struct sw_controller *p, struct sw_attached *a,
			 struct sw_control_counter *k, bool settled)
{
	const unsigned int i = k - p->counters;

	a->unknown &= ~BIT(i);
	if (!settled || sw_attached_await(a, k->event, &a->from[i]))
		a->unknown |= BIT(i);
}

/* So much is A's of a counter, by a reading of READ. */
static int
sw_control_counter_part(const struct sw_controller *p, const struct sw_attached *a,
			const struct sw_control_counter *k,
			int (*read)(const struct sw_attached *a, u64 event, s64 *value),
			s64 *part)
{
	const unsigned int i = k - p->counters;
	int rc;

	*part = 0;
	/* of a CPU nothing stands still but what is here */
	if (sw_attached_is_cpu(a) && a->stopped)
		return 0;
	rc = read(a, k->event, part);
	if (rc)
		return rc;
	/* read on another CPU it may be from a little before */
	*part = max_t(s64, *part - a->from[i], 0);
	return a->unknown & BIT(i) ? -ENODATA : 0;
}

/* The session is attached to A. */
static void
sw_control_begin(struct sw_controller *p, struct sw_attached *a, bool settled)
{
	unsigned int i;

	for (i = 0; i < p->nr_counters; i++)
		sw_control_counter_begin(p, a, &p->counters[i], settled);
}

/* The session is about to be attached to A no more. */
static void
sw_control_keep(struct sw_controller *p, const struct sw_attached *a, bool settled)
{
	struct sw_control_counter *k;
	s64 part;

	/* what stands still nobody has to bring up to date */
	settled |= (sw_attached_is_cpu(a) && a->stopped) ||
		   (a->who.task && sw_attached_has_ended(a));
	for (k = p->counters; k < p->counters + p->nr_counters; k++) {
		if (k->lost)
			continue;
		if (!settled ||
		    sw_control_counter_part(p, a, k, sw_attached_await, &part))
			k->lost = true;
		else
			k->sum += part;
	}
}

static int
sw_control_counter_value(const struct sw_controller *p,
			 const struct sw_control_counter *k, s64 *value)
{
	const struct sw_attached *a;
	s64 sum = k->sum, part;
	int rc;

	if (k->lost)
		return sw_control_is_event(k->event) ?: -ENODATA;
	list_for_each_entry(a, &p->attached, list) {
		rc = sw_control_counter_part(p, a, k, sw_attached_value, &part);
		if (rc)
			return rc;
		sum += part;
	}
	*value = sum;
	return 0;
}

static void
sw_control_counter_preset(struct sw_controller *p, struct sw_control_counter *k,
			  s64 value, bool settled)
{
	struct sw_attached *a;

	k->sum = value;
	k->lost = false;
	list_for_each_entry(a, &p->attached, list)
		sw_control_counter_begin(p, a, k, settled);
}

/* One that counts it, or one that can be had; NULL: all count something else. */
static struct sw_control_counter *sw_control_counter_get(struct sw_controller *p, u64 event)
{
	struct sw_control_counter *k, *free = NULL;

	for (k = p->counters; k < p->counters + p->nr_counters; k++) {
		if (k->event == event)
			return k;
		/* its event has gone */
		if (sw_control_is_event(k->event) == -ENOENT)
			free = k;
	}
	if (!free && p->nr_counters < SW_CONTROL_COUNTERS)
		free = &p->counters[p->nr_counters++];
	if (!free)
		return NULL;
	p->made++;
	free->word = SW_CONTROL_COUNTER + p->made * SW_CONTROL_COUNTERS +
		     (free - p->counters);
	free->event = event;
	return free;
}

/* ---- steps */

static int sw_control_counter_gone(struct sw_control_run *r)
{
	return sw_control_say(r, -ENOENT,
			      "there is no such event any more; FIND has its word");
}

/* A counter of the event, from VALUE on. */
static int sw_control_count(struct sw_control_run *r)
{
	struct sw_control_step *s = &r->step;
	struct sw_control_counter *k;
	int rc;

	rc = sw_control_is_event(s->event);
	if (rc == -ENOENT)
		sw_control_counter_gone(r);
	rc = rc ?: mutex_lock_killable(&sw_control.lock);
	if (rc)
		return rc;
	k = sw_control_counter_get(r->by, s->event);
	if (k) {
		sw_control_counter_preset(r->by, k, s->value, sw_control_settle(r->by));
		s->event = k->word;
	}
	mutex_unlock(&sw_control.lock);
	return k ? 0 : sw_control_say(r, -ENOSPC,
				      "a session has no more than %d counters",
				      SW_CONTROL_COUNTERS);
}

/* A counter, or all of them, is at VALUE. */
static int sw_control_preset(struct sw_control_run *r)
{
	const struct sw_control_step *s = &r->step;
	struct sw_controller *p = r->by;
	struct sw_control_counter *k;
	bool settled;
	int rc;

	rc = mutex_lock_killable(&sw_control.lock);
	if (rc)
		return rc;
	k = sw_control_counter_find(p, s->event);
	if (s->event && !k) {
		rc = sw_control_say(r, -ENOENT, "the session has no such counter");
	} else {
		settled = sw_control_settle(p);
		for (k = p->counters; k < p->counters + p->nr_counters; k++)
			if (!s->event || k->word == s->event)
				sw_control_counter_preset(p, k, s->value, settled);
	}
	mutex_unlock(&sw_control.lock);
	return rc;
}

static int sw_control_read_counter(struct sw_control_run *r)
{
	struct sw_control_step *s = &r->step;
	const struct sw_control_counter *k;
	int rc;

	rc = mutex_lock_killable(&sw_control.lock);
	if (rc)
		return rc;
	k = sw_control_counter_find(r->by, s->event);
	rc = k ? sw_control_counter_value(r->by, k, &s->value) :
		 sw_control_say(r, -ENOENT, "the session has no such counter");
	mutex_unlock(&sw_control.lock);
	if (k && rc == -ENOENT)
		return sw_control_counter_gone(r);
	return rc;
}

#endif
