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

bool profile_is_off_cpu(const struct profile *p, uint32_t event)
{
	return event < p->nr_events &&
	       p->events[event].flags & SW_TRACE_EVENT_WAIT;
}

bool profile_is_on_cpu(const struct profile *p, uint32_t event)
{
	const char *name = event < p->nr_events ? p->events[event].name : NULL;

	return name && (!strcmp(name, "cpu_clock") ||
			!strcmp(name, "task_clock"));
}

bool profile_has_waits(const struct profile *p, uint32_t event)
{
	return profile_is_off_cpu(p, event) ||
	       (event < p->nr_events && p->events[event].is_wall);
}

bool profile_is_time(const struct profile *p, uint32_t event)
{
	return profile_has_waits(p, event) || profile_is_on_cpu(p, event);
}

const char *profile_names_of(struct profile *p, const char *const *paths,
			     size_t nr)
{
	struct buf names = { 0 };
	const char *kept;
	size_t i;

	if (nr == 1)
		return *paths;
	for (i = 0; i < nr; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", paths[i]);
	kept = profile_keep_text(p, names.s);
	free(names.s);
	return kept;
}

/* ---- numbers of several traces */

struct event_key {
	uint32_t name;		/* a number of the texts */
	uint32_t waits;		/* of one name, these are another event */
};

/* A script may call several of its counts alike, which are different then. */
struct value_key {
	uint32_t name;
	uint32_t nth;		/* of these in its trace */
};

static void set_value(struct profile_numbers *n, uint32_t own, uint32_t value)
{
	struct profile_trace *t = &n->p->traces[n->trace];

	t->values[own] = value;
	t->own_values[value] = own;
}

void profile_numbers_begin(struct profile_numbers *n)
{
	uint32_t i;

	for (i = 0; i <= UINT8_MAX && !n->shared; i++)
		set_value(n, i, i);
}

void profile_numbers_free(struct profile_numbers *n)
{
	free(n->events);
}

void profile_shared_free(struct profile_shared *s)
{
	intern_free(&s->events);
	intern_free(&s->values);
}

/* The profile's number of a trace's event, which is new. */
static uint32_t add_event(struct profile_numbers *n, uint32_t event,
			  const char *name, uint32_t waits)
{
	struct profile *p = n->p;
	const struct event_key key = { intern_string(&p->texts, name), waits };
	const uint32_t nr = intern(&n->shared->events, &key, sizeof(key));
	struct profile_event *e = profile_event_of(p, nr);

	n->events = array_room(n->events, &n->size_events, event + 1,
			       sizeof(*n->events));
	n->events[event] = nr + 1;
	e->name = intern_text(&p->texts, key.name);
	return nr;
}

static bool has_event(const struct profile_numbers *n, uint32_t event)
{
	return event < n->size_events && n->events[event];
}

/* One that a sample has, and no record before it, has no other name. */
uint32_t profile_event_number(struct profile_numbers *n, uint32_t event)
{
	char name[32];

	if (!n->shared)
		return event;
	if (has_event(n, event))
		return n->events[event] - 1;
	snprintf(name, sizeof(name), "event %u", event);
	return add_event(n, event, name, 0);
}

static void add_value(struct profile_numbers *n, uint32_t count,
		      const char *name)
{
	struct profile *p = n->p;
	struct value_key key = { .name = intern_string(&p->texts, name) };
	uint32_t nr, i;

	name = intern_text(&p->texts, key.name);
	for (i = 0; i < UINT8_MAX; i++)
		key.nth += n->counts[i] == name;
	nr = intern(&n->shared->values, &key, sizeof(key));
	if (nr >= UINT8_MAX) {
		n->shared->full = true;
		nr = UINT8_MAX - 1;
	}
	p->counts = array_room(p->counts, &p->nr_counts, nr + 1,
			       sizeof(*p->counts));
	p->counts[nr] = p->counts[nr] ?: name;
	n->counts[count] = name;
	set_value(n, count + 1, nr + 1);
}

static bool has_value(const struct profile_numbers *n, uint32_t count)
{
	return n->p->traces[n->trace].values[count + 1];
}

void profile_need_value(struct profile_numbers *n, uint32_t count)
{
	char name[32];

	if (has_value(n, count))
		return;
	snprintf(name, sizeof(name), "count %u", count + 1);
	add_value(n, count, name);
}

uint64_t profile_sample_value(const struct profile *p,
			      const struct profile_sample *s, uint32_t value)
{
	const uint32_t trace = profile_key(p, s->cell)->trace;
	const uint32_t own = p->traces[trace].own_values[value];

	return own < s->nr_values && (own || !value) ?
	       p->values[s->values + own] : UINT64_MAX;
}

/* ---- records */

/* What several traces call alike, though they may have sampled it in another way. */
static struct profile_event *share_event(struct profile_numbers *n,
					 const struct sw_trace_event *r)
{
	const uint32_t before = n->shared->events.nr;
	const uint32_t nr = add_event(n, r->event, r->name,
				      r->flags & SW_TRACE_EVENT_WAIT);
	struct profile_event *e = &n->p->events[nr];

	if (nr == before) {
		e->flags = r->flags;
		e->every = r->every;
	} else if (e->every != r->every || e->flags != r->flags) {
		e->every = 0;
	}
	return e;
}

static struct profile_event *name_event(struct profile *p,
					const struct sw_trace_event *r)
{
	struct profile_event *e = profile_event_of(p, r->event);

	e->name = profile_keep_text(p, r->name);
	e->flags = r->flags;
	e->every = r->every;
	return e;
}

void profile_on_event(struct profile_numbers *n, const struct sw_trace_event *r)
{
	struct profile *p = n->p;
	struct profile_trace *t = &p->traces[n->trace];
	const struct profile_event *e;
	uint32_t nr;

	/* by the first one its samples have been read */
	if (n->shared ? has_event(n, r->event) :
			!!profile_event_of(p, r->event)->name)
		return;
	e = n->shared ? share_event(n, r) : name_event(p, r);
	nr = e - p->events;
	t->has_on_cpu |= profile_is_on_cpu(p, nr);
	t->has_off_cpu |= profile_is_off_cpu(p, nr);
}

void profile_on_count(struct profile_numbers *n, const struct sw_trace_count *r)
{
	struct profile *p = n->p;

	if (n->shared) {
		if (!has_value(n, r->count))
			add_value(n, r->count, r->name);
		return;
	}
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

/* Whose stack it is, and its number there. */
struct stack_key {
	uint32_t trace;
	uint32_t stack;
};

void profile_on_stack(struct profile *p, uint32_t trace,
		      const struct sw_trace_stack *r)
{
	const struct stack_key key = { trace, r->stack };
	const uint32_t nr = intern(&p->stack_numbers, &key, sizeof(key));
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
					  uint32_t trace, uint32_t number)
{
	const struct stack_key key = { trace, number };
	uint32_t nr;

	if (!intern_find(&p->stack_numbers, &key, sizeof(key), &nr))
		return NULL;
	return &p->stacks[nr];
}
