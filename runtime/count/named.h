/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events by the names that scripts give them.
 *
 * Who may run what, against whom: all of it any context, NMI included; the tables are full
 * when the first begin probe of the script runs.
 */
#ifndef STAPWATCH_COUNT_NAMED_H
#define STAPWATCH_COUNT_NAMED_H

#include "count/event.h"
#include "count/events.h"
#include <linux/ctype.h>
#include <linux/string.h>
#include <linux/types.h>

static bool sw_event_has_name(const struct sw_event *ev, const char *prefix,
			      const char *name, size_t len)
{
	size_t before = strlen(prefix);

	return !strncmp(ev->name, prefix, before) &&
	       !strncmp(ev->name + before, name, len) &&
	       !ev->name[before + len];
}

/* NAME may end in :u or :k, which is a prefix in the table. */
static bool sw_event_is(const struct sw_event *ev, const char *name, size_t len)
{
	if (sw_event_has_name(ev, "", name, len))
		return true;
	return len > 2 && name[len - 2] == ':' &&
	       ((name[len - 1] == 'u' &&
		 sw_event_has_name(ev, "user_", name, len - 2)) ||
		(name[len - 1] == 'k' &&
		 sw_event_has_name(ev, "kernel_", name, len - 2)));
}

/* Those that the script brings to be counted have any name; the table's may end in :u or
 * :k. */
static const struct sw_event *sw_event_named(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < SW_MAX_NATIVES; i++)
		if (sw_natives[i].name && !sw_natives[i].period &&
		    sw_event_has_name(&sw_natives[i], "", name, len))
			return &sw_natives[i];
	for (i = 0; i < SW_NR_EVENTS; i++)
		if (sw_event_is(&sw_events[i], name, len))
			return &sw_events[i];
	return NULL;
}

/* Takes NAMEs between commas and white space off TEXT; in PMU/TERMS/ both are the
 * name's.  Return: one's length; 0: no more. */
static size_t sw_event_token(const char **text)
{
	bool terms = false;
	size_t len = 0;

	while (**text == ',' || isspace(**text))
		(*text)++;
	while ((*text)[len] && (terms || ((*text)[len] != ',' &&
					  !isspace((*text)[len]))))
		terms ^= (*text)[len++] == '/';
	return len;
}

#endif
