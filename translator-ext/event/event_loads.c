/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem_loads:ldlat=N, loads that took N cycles or more: one name for what each
 * processor has for it.  Which that is the module finds out where it is loaded.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "event/event_notation.h"

/* The runtime's SW_TYPE_LOADS. */
#define TYPE_LOADS	0x57000002
#define LONGEST_LATENCY	65535

enum event_found event_loads(const char *text, struct event *ev,
			     struct buf *why)
{
	static const char name[] = "mem_loads", ldlat[] = ":ldlat=";
	const char *rest = text + strlen(name);
	uint64_t latency = 1;
	size_t len;

	if (strncmp(text, name, strlen(name)) || (*rest && *rest != ':'))
		return EVENT_NOT_MINE;
	if (!strncmp(rest, ldlat, strlen(ldlat))) {
		rest += strlen(ldlat);
		len = strcspn(rest, ":");
		if (!event_number(rest, len, 0, &latency) || !latency ||
		    latency > LONGEST_LATENCY) {
			buf_puts(why, "ldlat=");
			event_quote(why, rest, len);
			buf_printf(why, " is not a number of cycles from 1 to %d",
				   LONGEST_LATENCY);
			return EVENT_WRONG;
		}
		rest += len;
	}
	ev->attr.type = TYPE_LOADS;
	ev->attr.config = latency;
	ev->attr.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
			       PERF_SAMPLE_DATA_SRC;
	ev->notation = EVENT_PERF;
	ev->text = xstrdup("loads that took ldlat cycles or more");
	if (*rest && event_modifiers(rest + 1, text, rest - text, &ev->attr, why))
		return EVENT_WRONG;
	return EVENT_FOUND;
}
