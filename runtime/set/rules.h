/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What decides when the next set runs.
 *
 * Who may run what, against whom:
 *
 *   sw_rule_declare()		any context, NMI included; of two at once one's stays
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

/* "EVENT:N", "EVENT:PERIOD:N", where EVENT may have a colon of its own. */
static bool sw_rule_overflow(const char *text, char *why, size_t size)
{
	const struct sw_event *ev = NULL;
	const char *colon;
	u64 n, period = 1;
	size_t i;

	for (colon = text; !ev && (colon = strchr(colon, ':')); colon++) {
		if (!isdigit(colon[1]))
			continue;
		ev = sw_set_event(text, colon - text, why, size);
		if (!ev)
			return false;
		text = colon;
		break;
	}
	i = ev ? sw_set_number(text + 1, &n) : 0;
	text += i + 1;
	if (i && *text == ':') {
		period = n;
		i = sw_set_number(text + 1, &n);
		text += i + 1;
	}
	if (!i || *text || !n || !period) {
		snprintf(why, size,
			 "after overflows is overflow:EVENT:N, after N of the events, or overflow:EVENT:PERIOD:N, after N times PERIOD");
		return false;
	}
	/* N times one of them is one time N of them */
	sw_sets.rules.period = period == 1 ? n : period;
	sw_sets.rules.overflows = period == 1 ? 1 : n;
	sw_sets.rules.event = ev;
	return true;
}

/**
 * sw_rule_declare - switch to the next set after each "10ms", "thread:1ms" or
 * "overflow:EVENT:N", beside what was declared before
 * Context: any.
 * Return: false, after one line that says why.
 */
static bool __maybe_unused
sw_rule_declare(const char *spec, char *why, size_t size)
{
	bool of_thread = strstarts(spec, "thread:");
	u64 ns;

	if (strstarts(spec, "overflow:") && sw_is_running()) {
		snprintf(why, size, "overflow:... is for begin probes");
		return false;
	}
	if (strstarts(spec, "overflow:"))
		return sw_rule_overflow(spec + strlen("overflow:"), why, size);
	ns = sw_set_time(spec + (of_thread ? strlen("thread:") : 0));
	if (ns < SW_SET_LEAST_NS) {
		snprintf(why, size,
			 ns ? "a set's time is %d ns at least"
			    : "it takes a time such as 10ms (ns, us, ms, s), thread:1ms, or overflow:EVENT:N; the least time is %d ns",
			 SW_SET_LEAST_NS);
		return false;
	}
	WRITE_ONCE(*(of_thread ? &sw_sets.rules.thread_ns
			       : &sw_sets.rules.cpu_ns), ns);
	return true;
}

#endif
