/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event sets: their names and their events.
 *
 * A PMU has few counters.  A set is some events that are counted at the same time;
 * of all sets one counts on a CPU at a time.  What a set has counted is of the time
 * in which it was active: nothing is scaled.
 *
 * A handler declares a set, and a place that may sleep opens its counters: that of
 * the anchors for what begin probes have declared, a work item for the rest.
 *
 *	FREE -> CLAIMED -> DECLARED -> OPENING -> OPEN -> LEAVING -> FREE
 *			   DECLARED -> DROPPED -> FREE
 *
 * Who has found a set by its name keeps to its number.  So a number that has been
 * found is free again after a grace period only: LEAVING is a set that has had
 * counters, DROPPED one that was deleted before that.
 *
 * Who may run what, against whom:
 *
 *   sw_set_declare(), _find(), _slot(), _delete()
 *				any context, NMI included: who gets a set from FREE
 *				to CLAIMED by a cmpxchg fills it in, and nobody
 *				else looks into it before it is DECLARED; which set
 *				of that number it is stands in the same word, so
 *				none is deleted for one that it was before
 *   sw_set_after()		any context
 *   DROPPED to FREE		sleepable, in one work item alone (open.h)
 *   other changes from DECLARED on
 *				sleepable, under sw_session_lock (open.h)
 */
#ifndef STAPWATCH_SET_SET_H
#define STAPWATCH_SET_SET_H

#include "count/event.h"
#include "count/events.h"
#include "count/named.h"
#include "count/pmu.h"
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/string.h>

#define SW_SET_EVENTS 16
#define SW_SET_NAME 32

enum sw_set_state {
	SW_SET_NONE,
	SW_SET_CLAIMED,
	SW_SET_DECLARED,
	SW_SET_OPENING,
	SW_SET_OPEN,
	SW_SET_LEAVING,
	SW_SET_DROPPED,
};

/* The first place that no script can give: sets without one come after those with. */
#define SW_SET_NO_PLACE (1U << 31)

/* Below a state in its word; above it, how often its number was another set's. */
#define SW_SET_STATES 8

struct sw_set {
	u32 word;		/* its state, and which of those of its number it is */
	u32 order;		/* the smaller one was declared before */
	u32 place;		/* ... comes before in the round */
	unsigned int nr;
	char name[SW_SET_NAME];
	/* rules.h: its own times, in place of the session's */
	bool own;
	u64 cpu_ns;
	u64 thread_ns;
	const struct sw_event *event[SW_SET_EVENTS];
	/* ... and after how many overflows of which, each after so many of it */
	u64 period[SW_SET_EVENTS];
	u64 overflows[SW_SET_EVENTS];
	u8 slot[SW_SET_EVENTS];
	bool warned[SW_SET_EVENTS + 1];	/* ... found no counter; last: overflow:... */
	bool throttled;		/* that was said */
};

/* After how much of what the next set runs; 0: not by that.  Of sets without their own. */
struct sw_rules {
	u64 cpu_ns;
	u64 thread_ns;
	/* so many overflows of this event, each after so many of them */
	const struct sw_event *event;
	u64 period;
	u64 overflows;
};

static struct {
	struct sw_set of[SW_MAX_SETS];	/* [0] is none */
	struct sw_rules rules;
	unsigned int first;	/* what a begin probe says is the first; 0: any */
	atomic_t orders;
	/* CPUs switch: from just before handlers run to the session's end */
	bool running;
	bool ran;		/* they do, or did */
	/* there is something to be opened or closed */
	bool asked;
	/* bit per slot of a counter that perf has stopped for some time */
	atomic64_t throttled;
	/* ... that has missed its set's time, on any CPU; see sw_set_lose() */
	atomic64_t lost;
	/* some set goes by overflows; and by those of an event that it lacks */
	bool overflowing;
	bool others;
	/* some set goes by the time of threads, which have one of their own then */
	bool of_threads;
	/* numbers wait for a grace period */
	bool dropped;
} sw_sets;

static u32 sw_set_word(unsigned int set)
{
	/* with sw_set_is_now() and sw_set_move() */
	return smp_load_acquire(&sw_sets.of[set].word);
}

static int sw_set_state(unsigned int set)
{
	return sw_set_word(set) % SW_SET_STATES;
}

/* For who alone changes it; a handler may only have it LEAVING, where that is set too. */
static void sw_set_is_now(unsigned int set, int state)
{
	struct sw_set *s = &sw_sets.of[set];

	/* with sw_set_word() */
	smp_store_release(&s->word,
			  s->word / SW_SET_STATES * SW_SET_STATES + state);
}

/* Is that the set, as the word has it, and can scripts find it? */
static bool sw_set_is_named(unsigned int set, u32 word, const char *name)
{
	const int state = word % SW_SET_STATES;

	return (state == SW_SET_DECLARED || state == SW_SET_OPENING ||
		state == SW_SET_OPEN) &&
	       !strcmp(sw_sets.of[set].name, name);
}

/**
 * sw_set_find - a set's number by its name
 *
 * A set gives its number back after a grace period, so it is none other's as long as who
 * has found it runs.
 *
 * Return: the number, or 0.
 */
static unsigned int sw_set_find(const char *name)
{
	unsigned int set;

	for (set = 1; set < SW_MAX_SETS; set++)
		if (sw_set_is_named(set, sw_set_word(set), name))
			return set;
	return 0;
}

/* Where a set comes in the round; its number is below that. */
static u64 sw_set_in_round(unsigned int set)
{
	return (u64)READ_ONCE(sw_sets.of[set].place) << 32 | set;
}

/**
 * sw_set_after - the set whose turn it is after another one
 * Return: its number; SET's own where there is no other; 0 where there is none.
 */
static unsigned int sw_set_after(unsigned int set)
{
	const u64 mine = set ? sw_set_in_round(set) : 0;
	u64 at, first = U64_MAX, next = U64_MAX;
	unsigned int i;

	for (i = 1; i < SW_MAX_SETS; i++) {
		if (sw_set_state(i) != SW_SET_OPEN)
			continue;
		at = sw_set_in_round(i);
		first = min(first, at);
		if (at > mine)
			next = min(next, at);
	}
	if (first == U64_MAX)
		return 0;
	return (u32)(next != U64_MAX ? next : first);
}

/* ---- names of events */

/* An event by its name, or why there is none. */
static const struct sw_event *
sw_set_event(const char *word, size_t len, char *why, size_t size)
{
	const struct sw_event *ev = sw_event_named(word, len);

	if (ev == &sw_events[SW_EV_tsc]) {
		snprintf(why, size, "tsc takes no counter; read it without a set");
		return NULL;
	}
	if (!ev)
		snprintf(why, size,
			 "there is no event %.*s; man tapset::stapwatch lists them, and those of the PMU take :u or :k after them",
			 (int)min_t(size_t, len, 64), word);
	return ev;
}

static bool
sw_set_fill(struct sw_set *s, const char *events, char *why, size_t size)
{
	const struct sw_event *ev;
	unsigned int i;
	size_t len;

	s->nr = 0;
	s->warned[SW_SET_EVENTS] = false;
	s->throttled = false;
	while ((len = sw_event_token(&events))) {
		ev = sw_set_event(events, len, why, size);
		if (!ev)
			return false;
		for (i = 0; i < s->nr && s->event[i] != ev; i++)
			;
		if (i < s->nr) {
			snprintf(why, size, "the event %s stands there twice",
				 ev->name);
			return false;
		}
		if (s->nr == SW_SET_EVENTS) {
			snprintf(why, size, "a set has at most %d events",
				 SW_SET_EVENTS);
			return false;
		}
		s->warned[s->nr] = false;
		s->period[s->nr] = 0;
		s->overflows[s->nr] = 0;
		s->slot[s->nr] = SW_MAX_SLOTS;
		s->event[s->nr++] = ev;
		events += len;
	}
	if (!s->nr)
		snprintf(why, size, "it names no event");
	return s->nr;
}

/* Which of a set's events has that name.  Return: its number, or that of events. */
static unsigned int sw_set_event_at(unsigned int set, const char *event)
{
	const struct sw_set *s = &sw_sets.of[set];
	const struct sw_event *ev = sw_event_named(event, strlen(event));
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (s->event[i] == ev)
			return i;
	return s->nr;
}

static bool __maybe_unused sw_set_has(unsigned int set, const char *event)
{
	return sw_set_event_at(set, event) < sw_sets.of[set].nr;
}

/**
 * sw_set_slot - the slot of an event of a set
 * Return: the slot; or SW_MAX_SLOTS, where the set has none of that name, or
 * none yet.
 */
static unsigned int __maybe_unused
sw_set_slot(unsigned int set, const char *event)
{
	unsigned int i = sw_set_event_at(set, event);

	return i < sw_sets.of[set].nr ? READ_ONCE(sw_sets.of[set].slot[i])
				      : SW_MAX_SLOTS;
}

/* ---- what handlers ask for */

/* Of the set that WORD is of, from one state to another, once. */
static bool sw_set_move_as(unsigned int set, u32 word, int from, int to)
{
	const u32 which = word / SW_SET_STATES * SW_SET_STATES;

	return cmpxchg(&sw_sets.of[set].word, which + from, which + to) ==
	       which + from;
}

static bool sw_set_move(unsigned int set, int from, int to)
{
	return sw_set_move_as(set, sw_set_word(set), from, to);
}

/* Take a number that is free, as a set that it has not been: CLAIMED is its word. */
static bool sw_set_claim(unsigned int set, u32 *claimed)
{
	u32 word = sw_set_word(set);

	*claimed = word + SW_SET_STATES + SW_SET_CLAIMED - SW_SET_NONE;
	return word % SW_SET_STATES == SW_SET_NONE &&
	       cmpxchg(&sw_sets.of[set].word, word, *claimed) == word;
}

/*
 * Of a set that has no counters, and that nobody will open.  Begin and end probes run one
 * after the other, and none has the number of one that it deletes still.
 */
static bool sw_set_drop(unsigned int set, u32 word)
{
	if (!READ_ONCE(sw_sets.running))
		return sw_set_move_as(set, word, SW_SET_DECLARED, SW_SET_NONE);
	if (!sw_set_move_as(set, word, SW_SET_DECLARED, SW_SET_DROPPED))
		return false;
	/* with sw_set_dropper_work(), which has it false before it looks */
	WRITE_ONCE(sw_sets.dropped, true);
	return true;
}

/* The set that WORD is of counts no more, and is found no more. */
static bool sw_set_leave(unsigned int set, u32 word)
{
	/* in the order in which they come: so none is missed */
	if (sw_set_drop(set, word))
		return true;
	if (!sw_set_move_as(set, word, SW_SET_OPENING, SW_SET_LEAVING) &&
	    !sw_set_move_as(set, word, SW_SET_OPEN, SW_SET_LEAVING))
		return false;
	WRITE_ONCE(sw_sets.asked, true);
	return true;
}

/**
 * sw_set_delete - the sets of that name count no more, and are found no more
 * Context: any.
 * Return: false: there is none of that name.
 */
static bool sw_set_delete(const char *name)
{
	bool deleted = false;
	unsigned int set;
	u32 word;

	for (set = 1; set < SW_MAX_SETS; set++) {
		word = sw_set_word(set);
		if (sw_set_is_named(set, word, name))
			deleted |= sw_set_leave(set, word);
	}
	return deleted;
}

/*
 * Of sets of one name the last one stays, where several CPUs declare it at once.  MINE
 * may be another's by now: WHICH set of that number it was.
 */
static void sw_set_outdo(unsigned int mine, u32 which, u32 my_order,
			 const char *name)
{
	unsigned int set;
	u32 word, order;

	for (set = 1; set < SW_MAX_SETS; set++) {
		word = sw_set_word(set);
		if (set == mine || !sw_set_is_named(set, word, name))
			continue;
		order = READ_ONCE(sw_sets.of[set].order);
		/* with sw_set_claim(): whose name and order that was */
		smp_rmb();
		if (READ_ONCE(sw_sets.of[set].word) / SW_SET_STATES !=
		    word / SW_SET_STATES)
			continue;
		if ((s32)(order - my_order) < 0)
			sw_set_leave(set, word);
		else
			sw_set_leave(mine, which);
	}
}

/**
 * sw_set_declare - a set of events; one that had the name is deleted, and it has its place
 * @why: where it cannot be, one line that says why
 * Context: any.
 * Return: its number, or 0.
 */
static unsigned int __maybe_unused
sw_set_declare(const char *name, const char *events, char *why, size_t size)
{
	unsigned int set, replaced = sw_set_find(name);
	struct sw_set *s;
	u32 word, order;

	if (!*name || strlen(name) >= SW_SET_NAME) {
		snprintf(why, size, "a set's name has from 1 to %d characters",
			 SW_SET_NAME - 1);
		return 0;
	}
	for (set = 1; set < SW_MAX_SETS; set++)
		if (sw_set_claim(set, &word))
			break;
	if (set == SW_MAX_SETS) {
		snprintf(why, size,
			 "a script has at most %d sets at a time, and one that it deletes is one for some milliseconds more",
			 SW_MAX_SETS - 1);
		return 0;
	}
	s = &sw_sets.of[set];
	/* what was done to who had the number */
	atomic_andnot(1U << set, &sw_pmu.sets_stopped);
	atomic_andnot(1U << set, &sw_pmu.sets_unsampled);
	strscpy(s->name, name, SW_SET_NAME);
	WRITE_ONCE(s->own, false);
	order = atomic_inc_return(&sw_sets.orders);
	WRITE_ONCE(s->order, order);
	WRITE_ONCE(s->place, replaced ? READ_ONCE(sw_sets.of[replaced].place) :
					SW_SET_NO_PLACE + order);
	if (!sw_set_fill(s, events, why, size)) {
		sw_set_is_now(set, SW_SET_NONE);
		return 0;
	}
	sw_set_is_now(set, SW_SET_DECLARED);
	/* with another CPU's that declares it, too: one of both finds the other */
	smp_mb();
	sw_set_outdo(set, word, order, name);
	WRITE_ONCE(sw_sets.asked, true);
	return set;
}

#endif
