/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event table in C, from tapsets/events.tbl by way of mkevents.
 */
#include "event/event_table.h"

#include <string.h>

static const struct event_name names[] = {
#include "event_names.h"
};

#define NR_NAMES (sizeof(names) / sizeof(names[0]))

const struct event_name *event_table_get(size_t i)
{
	return i < NR_NAMES ? &names[i] : NULL;
}

const struct event_name *event_table_find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < NR_NAMES; i++)
		if (!strncmp(names[i].name, name, len) && !names[i].name[len])
			return &names[i];
	return NULL;
}

struct event_attr event_table_attr(const struct event_name *e)
{
	return (struct event_attr) {
		.type = e->type,
		.config = e->config,
		.exclude_user = e->exclude_user,
		.exclude_kernel = e->exclude_kernel,
	};
}

bool event_table_is_tsc(const struct event_name *e)
{
	return !strcmp(e->name, "tsc");
}

const struct event_name *event_table_match(const struct event_attr *attr)
{
	size_t i;

	if (attr->config1 || attr->config2 || attr->config3 || attr->config4 ||
	    attr->exclude_idle || attr->exclude_host || attr->exclude_guest ||
	    attr->precise_ip || attr->sample_type)
		return NULL;
	for (i = 0; i < NR_NAMES; i++)
		if (names[i].type == attr->type &&
		    names[i].config == attr->config &&
		    names[i].exclude_user == attr->exclude_user &&
		    names[i].exclude_kernel == attr->exclude_kernel &&
		    !event_table_is_tsc(&names[i]))
			return &names[i];
	return NULL;
}

const char *event_table_text(uint32_t type, uint64_t config)
{
	const struct event_attr attr = { .type = type, .config = config };
	const struct event_name *e = event_table_match(&attr);

	return e ? e->text : NULL;
}
