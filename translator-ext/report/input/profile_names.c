/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace names; profile_names.h says what is wanted of it. */
#include "report/input/profile_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct profile_event *profile_event_of(struct profile *p, uint32_t number)
{
	p->events = array_room(p->events, &p->nr_events, number + 1,
			       sizeof(*p->events));
	return &p->events[number];
}

const char *profile_event_name(struct profile *p, uint32_t event)
{
	char number[32];

	if (event < p->nr_events && p->events[event].name)
		return p->events[event].name;
	snprintf(number, sizeof(number), "event %u", event);
	return intern_text(&p->texts, intern_string(&p->texts, number));
}

const char *profile_keep_text(struct profile *p, const char *s)
{
	return intern_text(&p->texts, intern_string(&p->texts, s));
}

const char *profile_value_name(struct profile *p, uint32_t value)
{
	char number[32];

	if (!value)
		return "latency";
	if (value <= p->nr_counts && p->counts[value - 1])
		return p->counts[value - 1];
	snprintf(number, sizeof(number), "count %u", value);
	return profile_keep_text(p, number);
}

void profile_on_event(struct profile *p, const struct sw_trace_event *r)
{
	struct profile_event *e = profile_event_of(p, r->event);

	/* by the first one its samples have been read */
	if (e->name)
		return;
	e->name = profile_keep_text(p, r->name);
	e->flags = r->flags;
	e->every = r->every;
}

void profile_on_count(struct profile *p, const struct sw_trace_count *r)
{
	p->counts = array_room(p->counts, &p->nr_counts, r->count + 1,
			       sizeof(*p->counts));
	p->counts[r->count] = profile_keep_text(p, r->name);
}

/* A script may call two counts alike, or one as a value without a name is called. */
static bool is_taken(struct profile *p, uint32_t value, const char *name)
{
	uint32_t i;

	/* a sample has no more */
	for (i = 0; i <= UINT8_MAX; i++)
		if (i != value && (i < value || i > p->nr_counts ||
				   !p->counts[i - 1]) &&
		    !strcmp(profile_value_name(p, i), name))
			return true;
	return false;
}

/* The later of two has its number after its name. */
void profile_tell_counts_apart(struct profile *p)
{
	struct buf name = { 0 };
	uint32_t i;

	for (i = 1; i <= p->nr_counts; i++) {
		if (!p->counts[i - 1])
			continue;
		name.len = 0;
		buf_puts(&name, p->counts[i - 1]);
		while (is_taken(p, i, name.s))
			buf_printf(&name, " %u", i);
		p->counts[i - 1] = profile_keep_text(p, name.s);
	}
	free(name.s);
}

void profile_on_stack(struct profile *p, const struct sw_trace_stack *r)
{
	const uint32_t nr = intern(&p->stack_numbers, &r->stack,
				   sizeof(r->stack));
	struct profile_stack *s;

	p->stacks = array_room(p->stacks, &p->size_stacks, nr + 1,
			       sizeof(*p->stacks));
	s = &p->stacks[nr];
	if (s->ip)
		return;
	s->nr = r->nr;
	s->flags = r->flags;
	s->ip = xmalloc(r->nr * sizeof(*s->ip));
	memcpy(s->ip, r->ip, r->nr * sizeof(*s->ip));
}

const struct profile_stack *profile_stack(const struct profile *p,
					  uint32_t number)
{
	uint32_t nr;

	if (!intern_find(&p->stack_numbers, &number, sizeof(number), &nr))
		return NULL;
	return &p->stacks[nr];
}
