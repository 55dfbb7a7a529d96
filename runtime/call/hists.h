/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The histograms of a function's calls, or of those with one key: the time, and
 * each event that calls count.  They have names in the map.
 *
 * Who may run what, against whom:
 *
 *   sw_call_hists_make()	any context, NMI included, and on several CPUs at once
 *				for the same histograms, which then become the same
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

static int
sw_call_hist_make(struct sw_call_hists *h, unsigned int i, const char *virtual,
		  const char *event, const char *labels,
		  struct sw_call_name *name)
{
	s64 number = -EINVAL;

	if (snprintf(name->s, sizeof(name->s), "call_%s%s{%s}", virtual, event,
		     labels) < sizeof(name->s))
		number = sw_map_add(name->s, SW_CTR_HIST);
	if (number < 0)
		return number;
	WRITE_ONCE(h->numbers[i], number);
	WRITE_ONCE(h->at[i], sw_hist_at(number));
	return 0;
}

/**
 * sw_call_hists_make - all histograms of H, by their names in the map
 * @labels: what stands in the braces after each event
 * @name: the last one that was asked for
 * Return: 0, or -ENOSPC or -EINVAL where NAME has no room in the map.
 */
static int sw_call_hists_make(struct sw_call_hists *h, const char *labels,
			      struct sw_call_name *name)
{
	int rc = sw_call_hist_make(h, 0, "", "tsc", labels, name);
	unsigned int i;

	if (!rc && sw_calls.tsc.at)
		rc = sw_call_hist_make(h, sw_calls.tsc.at, "virtual_",
				       sw_pmu.event[sw_calls.tsc.slot]->name,
				       labels, name);
	for (i = 0; !rc && i < sw_calls.nr_events; i++) {
		const struct sw_call_event *e = &sw_calls.events[i];

		rc = sw_call_hist_make(h, e->at, "virtual_",
				       sw_pmu.event[e->slot]->name, labels,
				       name);
	}
	return rc;
}

#endif
