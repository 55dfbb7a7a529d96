/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session: what the user set, and whether it runs.
 *
 * Who may run what, against whom:
 *
 *   sw_config		set by a begin probe that comes before all that ask it
 *   sw_is_running(), sw_is_over()	any context
 *   sw_session_lock	sleepable: around what opens and closes counters
 */
#ifndef STAPWATCH_BASE_SESSION_H
#define STAPWATCH_BASE_SESSION_H

#include "base/compat.h"
#include <linux/mutex.h>

/* what `-G` set; see the tapset */
static struct {
	bool missing_ok;
	bool exclude_irq;
	int threads;
	int dead;
} sw_config = { .threads = 4096, .dead = 1024 };

static DEFINE_MUTEX(sw_session_lock);

/*
 * A part above those of the session that begins when all counters are there, and
 * ends before they go: both sleepable, under sw_session_lock.  begin() gets the slot
 * of each event, by the event's number.  A begin probe sets it.
 */
struct sw_session_part {
	int (*begin)(const u8 *slot_of);
	void (*end)(void);
};
static const struct sw_session_part *sw_session_part;

/* SystemTap's state of the session, from the first anchor to the last. */
static const atomic_t *sw_state;
static int sw_state_running;

/* Begin probes have asked for all that they can: SystemTap's perf events come.  A timeline
 * has sw_state before that. */
static bool sw_is_asked;

/**
 * sw_is_running - do handlers run?
 *
 * Entry handlers do not go by way of SystemTap, which would see to this.
 *
 * Context: any.
 * Return: false before all probes are there, and from when SystemTap begins to
 * take them away.
 */
static bool sw_is_running(void)
{
	/* with sw_state_running, which is set before it */
	const atomic_t *state = smp_load_acquire(&sw_state);

	return state && atomic_read(state) == sw_state_running;
}

/**
 * sw_is_over - does SystemTap take its probes away, or has module init failed?
 * Context: any.
 */
static bool sw_is_over(void)
{
	/* with sw_state_running, which is set before it */
	const atomic_t *state = smp_load_acquire(&sw_state);

	/* ERROR, STOPPING and STOPPED come after RUNNING, and STARTING before it */
	return !state || atomic_read(state) > sw_state_running;
}

#endif
