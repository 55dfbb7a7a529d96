/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What decides when the next set runs.
 *
 * Who may run what, against whom:
 *
 *   sw_rule_declare(), _own()	any context, NMI included; of two at once one's stays
 *   sw_set_cpu_ns(), sw_set_thread_ns()
 *				any context
 */
#ifndef STAPWATCH_SET_RULES_H
#define STAPWATCH_SET_RULES_H

#include "base/session.h"
#include "count/event.h"
#include "set/set.h"
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

/* The least time that a set may have: a switch takes some of it. */
#define SW_SET_LEAST_NS 50000

/* Digits at the beginning of TEXT.  Return: how many characters; 0: no number. */
static size_t sw_set_number(const char *text, u64 *n)
{
	size_t i;

	*n = 0;
	for (i = 0; i < 18 && isdigit(text[i]); i++)
		*n = *n * 10 + text[i] - '0';
	return i;
}

/* "10ms".  Return: nanoseconds; 0: it is no time. */
static u64 sw_set_time(const char *text)
{
	u64 n;
	size_t i = sw_set_number(text, &n);

	if (!i || n > 1000000000)
		return 0;
	if (!strcmp(text + i, "ns"))
		return n;
	if (!strcmp(text + i, "us"))
		return n * NSEC_PER_USEC;
	if (!strcmp(text + i, "ms"))
		return n * NSEC_PER_MSEC;
	if (!strcmp(text + i, "s"))
		return n * NSEC_PER_SEC;
	return 0;
}

/* "EVENT:N", "EVENT:PERIOD:N", where EVENT may have a colon of its own.  Return: the event;
 * NULL, after one line that says why. */
static const struct sw_event *
sw_rule_overflow(const char *text, u64 *period, u64 *overflows, char *why,
		 size_t size)
{
	const struct sw_event *ev = NULL;
	const char *colon;
	u64 n, each = 1;
	size_t i;

	for (colon = text; !ev && (colon = strchr(colon, ':')); colon++) {
		if (!isdigit(colon[1]))
			continue;
		ev = sw_set_event(text, colon - text, why, size);
		if (!ev)
			return NULL;
		text = colon;
		break;
	}
	i = ev ? sw_set_number(text + 1, &n) : 0;
	text += i + 1;
	if (i && *text == ':') {
		each = n;
		i = sw_set_number(text + 1, &n);
		text += i + 1;
	}
	if (!i || *text || !n || !each) {
		snprintf(why, size,
			 "after overflows is overflow:EVENT:N, after N of the events, or overflow:EVENT:PERIOD:N, after N times PERIOD");
		return NULL;
	}
	/* N times one of them is one time N of them */
	*period = each == 1 ? n : each;
	*overflows = each == 1 ? 1 : n;
	return ev;
}

/* ---- what holds for a set */

static bool sw_set_has_own(const struct sw_set *s)
{
	/* with sw_rule_declare_own() */
	return smp_load_acquire(&s->own);
}

/* How long it is active on a CPU, ns; 0: no time ends that. */
static u64 sw_set_cpu_ns(unsigned int set)
{
	const struct sw_set *s = &sw_sets.of[set];

	return sw_set_has_own(s) ? READ_ONCE(s->cpu_ns)
				 : READ_ONCE(sw_sets.rules.cpu_ns);
}

/* How long a thread runs with it. */
static u64 sw_set_thread_ns(unsigned int set)
{
	const struct sw_set *s = &sw_sets.of[set];

	return sw_set_has_own(s) ? READ_ONCE(s->thread_ns)
				 : READ_ONCE(sw_sets.rules.thread_ns);
}

/* After how many overflows of its event number I the next set runs; 0: not by that. */
static u64 sw_set_overflows(unsigned int set, unsigned int i)
{
	const struct sw_set *s = &sw_sets.of[set];

	if (sw_set_has_own(s))
		return READ_ONCE(s->overflows[i]);
	return s->event[i] == sw_sets.rules.event ?
	       READ_ONCE(sw_sets.rules.overflows) : 0;
}

/* Of how many each of these overflows is; 0: the counter does not overflow. */
static u64 sw_set_period(unsigned int set, unsigned int i)
{
	const struct sw_set *s = &sw_sets.of[set];

	if (!sw_set_overflows(set, i))
		return 0;
	return s->own ? s->period[i] : sw_sets.rules.period;
}

/* Does the set go by overflows of an event that is none of its own? */
static bool sw_set_wants_other(unsigned int set)
{
	const struct sw_set *s = &sw_sets.of[set];
	unsigned int i;

	if (!sw_sets.rules.event || sw_set_has_own(s))
		return false;
	for (i = 0; i < s->nr; i++)
		if (s->event[i] == sw_sets.rules.event)
			return false;
	return true;
}

/* Does any set go by threads' time?  Of two that look at once the opener looks again. */
static void sw_rules_look(void)
{
	bool of_threads = READ_ONCE(sw_sets.rules.thread_ns);
	unsigned int set;
	int state;

	for (set = 1; set < SW_MAX_SETS; set++) {
		state = sw_set_state(set);
		if (state == SW_SET_DECLARED || state == SW_SET_OPENING ||
		    state == SW_SET_OPEN)
			of_threads |= !!sw_set_thread_ns(set);
	}
	WRITE_ONCE(sw_sets.of_threads, of_threads);
}

/* Rules are others from now on, also for what is active already: the opener has each CPU
 * look again. */
static void sw_rules_changed(void)
{
	sw_rules_look();
	/* with the xchg() in sw_set_opener_work() */
	smp_store_release(&sw_sets.asked, true);
}

#define SW_RULE_OVERFLOW "overflow:"

/* Counters are opened as those that overflow, or are not. */
static bool sw_rule_is_early(char *why, size_t size)
{
	if (!sw_sets.ran)
		return true;
	snprintf(why, size, "overflow:... is for begin probes");
	return false;
}

static bool sw_rule_never(const char *spec)
{
	return !strcmp(spec, "never");
}

/* "10ms", "thread:1ms".  Return: nanoseconds; 0, after one line that says why. */
static u64
sw_rule_time(const char *spec, bool *of_thread, char *why, size_t size)
{
	u64 ns;

	*of_thread = strstarts(spec, "thread:");
	ns = sw_set_time(spec + (*of_thread ? strlen("thread:") : 0));
	if (ns >= SW_SET_LEAST_NS)
		return ns;
	snprintf(why, size,
		 ns ? "a set's time is %d ns at least"
		    : "it takes a time such as 10ms (ns, us, ms, s), thread:1ms, overflow:EVENT:N, or never; the least time is %d ns",
		 SW_SET_LEAST_NS);
	return 0;
}

/**
 * sw_rule_declare - switch to the next set after each "10ms", "thread:1ms" or
 * "overflow:EVENT:N", beside what was declared before; or "never", but by hand
 * Context: any.
 * Return: false, after one line that says why.
 */
static bool __maybe_unused
sw_rule_declare(const char *spec, char *why, size_t size)
{
	struct sw_rules *rules = &sw_sets.rules;
	const struct sw_event *ev;
	bool of_thread;
	u64 ns;

	if (strstarts(spec, SW_RULE_OVERFLOW)) {
		if (!sw_rule_is_early(why, size))
			return false;
		ev = sw_rule_overflow(spec + strlen(SW_RULE_OVERFLOW),
				      &rules->period, &rules->overflows, why,
				      size);
		rules->event = ev ?: rules->event;
		sw_sets.overflowing |= !!ev;
		return ev;
	}
	if (sw_rule_never(spec)) {
		WRITE_ONCE(rules->cpu_ns, 0);
		WRITE_ONCE(rules->thread_ns, 0);
		/* its event may be open already */
		WRITE_ONCE(rules->overflows, 0);
		if (!sw_sets.ran)
			rules->event = NULL;
		sw_rules_changed();
		return true;
	}
	ns = sw_rule_time(spec, &of_thread, why, size);
	if (!ns)
		return false;
	WRITE_ONCE(*(of_thread ? &rules->thread_ns : &rules->cpu_ns), ns);
	sw_rules_changed();
	return true;
}

static void sw_rule_clear_own(struct sw_set *s)
{
	unsigned int i;

	WRITE_ONCE(s->cpu_ns, 0);
	WRITE_ONCE(s->thread_ns, 0);
	for (i = 0; i < s->nr; i++)
		WRITE_ONCE(s->overflows[i], 0);
}

/* Of a counter of the set's own. */
static bool sw_rule_overflow_own(struct sw_set *s, const char *spec, char *why,
				 size_t size)
{
	const struct sw_event *ev;
	u64 period, overflows;
	unsigned int i;

	if (!sw_rule_is_early(why, size))
		return false;
	ev = sw_rule_overflow(spec + strlen(SW_RULE_OVERFLOW), &period,
			      &overflows, why, size);
	if (!ev)
		return false;
	for (i = 0; i < s->nr && s->event[i] != ev; i++)
		;
	if (i == s->nr) {
		snprintf(why, size, "the set has no event %s", ev->name);
		return false;
	}
	if (!s->own)
		sw_rule_clear_own(s);
	s->period[i] = period;
	s->overflows[i] = overflows;
	s->own = true;
	sw_sets.overflowing = true;
	return true;
}

/**
 * sw_rule_declare_own - the same of one set, in place of what holds for all
 *
 * The first one of a set takes the place of the others' times, the next is beside it.
 *
 * Context: any.
 * Return: false, after one line that says why.
 */
static bool __maybe_unused
sw_rule_declare_own(unsigned int set, const char *spec, char *why, size_t size)
{
	struct sw_set *s = &sw_sets.of[set];
	const bool never = sw_rule_never(spec);
	bool of_thread = false;
	u64 ns = 0;

	if (strstarts(spec, SW_RULE_OVERFLOW))
		return sw_rule_overflow_own(s, spec, why, size);
	if (!never) {
		ns = sw_rule_time(spec, &of_thread, why, size);
		if (!ns)
			return false;
	}
	if (never || !READ_ONCE(s->own))
		sw_rule_clear_own(s);
	if (!never)
		WRITE_ONCE(*(of_thread ? &s->thread_ns : &s->cpu_ns), ns);
	/* with sw_set_has_own(): not the times that another set of its number had */
	smp_store_release(&s->own, true);
	sw_rules_changed();
	return true;
}

#endif
