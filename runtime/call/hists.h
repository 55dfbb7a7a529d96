/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The histograms of a function's calls, or of those with one key: the time, and
 * each event that calls count.  They have names in the map; those of a process, which
 * are another one's when it has ended, have labels.
 *
 * Who may run what, against whom:
 *
 *   sw_call_hists_make()	any context, NMI included, and on several CPUs at once
 *				for the same histograms, which then become the same
 *   sw_call_hists_label()	any context, one at a time for the same histograms
 *   sw_call_hists_hide()	any context
 */
#ifndef STAPWATCH_CALL_HISTS_H
#define STAPWATCH_CALL_HISTS_H

#include "base/access.h"
#include "call/state.h"
#include "count/pmu.h"
#include "store/map.h"

/* A name in the map: an event, and labels as programs that gather figures have them. */
struct sw_call_name {
	char s[SW_CTR_NAME];
};

/* What histogram I counts; NULL: the machine lacks it, or nobody has asked. */
static const char *sw_call_hist_event(unsigned int i)
{
	unsigned int e;

	if (!i)
		return "tsc";
	if (i == sw_calls.tsc.at)
		return sw_pmu.event[sw_calls.tsc.slot]->name;
	for (e = 0; e < sw_calls.nr_events; e++)
		if (i == sw_calls.events[e].at)
			return sw_pmu.event[sw_calls.events[e].slot]->name;
	return NULL;
}

/* Return: -EINVAL where the name is too long. */
static int
sw_call_hist_name(unsigned int i, const char *event, const char *labels,
		  struct sw_call_name *name)
{
	return snprintf(name->s, sizeof(name->s), "call_%s%s{%s}",
			i ? "virtual_" : "", event, labels) < sizeof(name->s)
	       ? 0 : -EINVAL;
}

/**
 * sw_call_hists_make - all histograms of H
 * @place: by their places, from this one on; 0: by their names in the map
 * @labels: what stands in the braces after each event
 * @name: the last one that was asked for
 * Return: 0, or -ENOSPC or -EINVAL where NAME has no room in the map.
 */
static int
sw_call_hists_make(struct sw_call_hists *h, u64 place, const char *labels,
		   struct sw_call_name *name)
{
	unsigned int i;
	s64 number;

	for (i = 0; i <= sw_calls.nr_asked; i++) {
		const char *event = sw_call_hist_event(i);

		if (!event)
			continue;
		number = sw_call_hist_name(i, event, labels, name) ?:
			 place ? sw_map_add_at(place + i) :
				 sw_map_add(name->s, SW_CTR_HIST);
		if (number < 0)
			return number;
		WRITE_ONCE(h->numbers[i], number);
		WRITE_ONCE(h->at[i], sw_hist_at(number));
	}
	return 0;
}

/** sw_call_hists_label - those that have places are called by LABELS from now on */
static void sw_call_hists_label(const struct sw_call_hists *h, const char *labels)
{
	struct sw_call_name name;
	unsigned int i;

	for (i = 0; i <= sw_calls.nr_asked; i++) {
		if (!h->at[i])
			continue;
		sw_call_hist_name(i, sw_call_hist_event(i), labels, &name);
		sw_map_label(h->numbers[i], name.s);
	}
}

/** sw_call_hists_hide - the map has no names for them any more */
static void sw_call_hists_hide(const struct sw_call_hists *h)
{
	unsigned int i;

	for (i = 0; i <= sw_calls.nr_asked; i++)
		if (h->at[i])
			sw_map_del(h->numbers[i]);
}

#endif
