/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu_set("NAME", "EVENT,EVENT"): the runtime finds a set's events by their names, and
 * knows those of the event table.  The tail declares the others to it, by the names that
 * the script has for them, so the call itself stays as it is.
 */
#include "lower/lowering.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

/* The runtime's SW_NATIVE_NAME. */
#define NAME_MAX_LEN 63

/* A call's argument from token @begin on; @end is its comma or parenthesis. */
struct call_argument {
	size_t begin, end;
};

/* Argument number N of the call whose name is token I.  Return: it has so many. */
static bool find_argument(const struct lowering *l, size_t i, unsigned int n,
			  struct call_argument *a)
{
	unsigned int depth = 0;
	size_t at = i + 2;

	a->begin = at;
	for (; at < l->s.t.nr; at++) {
		const bool closes = is(l, at, ")") || is(l, at, "]");

		if (!depth && (closes || is(l, at, ","))) {
			a->end = at;
			if (!n--)
				return true;
			if (closes)
				return false;
			a->begin = at + 1;
		} else if (is(l, at, "(") || is(l, at, "[")) {
			depth++;
		} else if (closes) {
			depth--;
		}
	}
	return false;
}

/* Has the table the event by that name, with :u or :k after it? */
static bool runtime_knows(const char *name, const struct event *ev)
{
	const size_t len = strlen(name);
	const char *prefix;
	size_t before;

	if (!ev->table_name)
		return false;
	if (!strcmp(name, ev->table_name))
		return true;
	if (len < 3 || name[len - 2] != ':' || !strchr("uk", name[len - 1]))
		return false;
	prefix = name[len - 1] == 'u' ? "user_" : "kernel_";
	before = strlen(prefix);
	return !strncmp(ev->table_name, prefix, before) &&
	       strlen(ev->table_name) == before + len - 2 &&
	       !strncmp(ev->table_name + before, name, len - 2);
}

/* The names that the script declares by itself, as one that was lowered does. */
static void find_declared(const struct lowering *l, struct intern *known)
{
	struct call_argument a;
	char *name;
	size_t i;

	for (i = 0; i < l->s.t.nr; i++) {
		if (!is(l, i, "__sw_native_event") || !is(l, i + 1, "(") ||
		    !find_argument(l, i, 1, &a))
			continue;
		name = argument_value(l, a.begin, a.end);
		if (name)
			intern_string(known, name);
		free(name);
	}
}

static void declare(struct lowering *l, size_t i, const char *name,
		    const struct event_attr *attr)
{
	const unsigned int before = l->nr_natives;
	const struct native want = { .attr = *attr, .of_set = name };

	if (native_number(l, i, name, &want) < 0 || l->nr_natives == before)
		return;
	buf_printf(&l->explain, "%s: %s, in sets: ", l->name, name);
	explain_attr(l, attr);
	buf_puts(&l->explain, "\n");
}

static void lower_event(struct lowering *l, size_t i, const char *name,
			struct intern *known)
{
	const unsigned int errors = l->errors;
	struct event ev;
	uint32_t number;

	if (intern_find(known, name, strlen(name) + 1, &number) ||
	    !argument_event(l, i, name, &ev))
		return;
	if (ev.derived)
		lower_fail(l, i, "%s is computed from two events; a set counts %s and %s",
			   name, ev.derived->numerator,
			   ev.derived->denominator);
	else if (ev.table_name && !strcmp(ev.table_name, "tsc"))
		lower_fail(l, i, "%s takes no counter; read it without a set",
			   name);
	else if (runtime_knows(name, &ev))
		;
	else if (strlen(name) > NAME_MAX_LEN)
		lower_fail(l, i, "%s: in sets an event's name has %d characters at most",
			   name, NAME_MAX_LEN);
	else
		declare(l, i, name, &ev.attr);
	event_free(&ev);
	if (l->errors == errors)
		intern_string(known, name);
}

/* One event's name; as in the runtime, a comma between two slashes is the name's. */
static size_t name_len(const char *s)
{
	bool terms = false;
	size_t len;

	for (len = 0; s[len] && (terms || (s[len] != ',' &&
					   !isspace((unsigned char)s[len]))); len++)
		terms ^= s[len] == '/';
	return len;
}

static void lower_set(struct lowering *l, size_t i, struct intern *known)
{
	struct call_argument a;
	const char *s;
	char *events;

	if (!find_argument(l, i, 1, &a))
		return;
	events = argument_value(l, a.begin, a.end);
	for (s = events; s && *s; ) {
		const size_t len = name_len(s);
		char *name = xstrndup(s, len);

		if (len)
			lower_event(l, a.begin, name, known);
		free(name);
		s += len + (s[len] != '\0');
	}
	free(events);
}

/* "overflow:EVENT:N": the first colon that a digit follows ends the event, which may
 * have some of its own. */
static void lower_rule(struct lowering *l, size_t i, struct intern *known)
{
	static const char overflow[] = "overflow:";
	struct call_argument a;
	char *spec, *event, *end;

	if (!find_argument(l, i, 0, &a))
		return;
	spec = argument_value(l, a.begin, a.end);
	if (spec && !strncmp(spec, overflow, strlen(overflow))) {
		event = spec + strlen(overflow);
		for (end = event; (end = strchr(end, ':')); end++)
			if (isdigit((unsigned char)end[1]))
				break;
		/* or the runtime says what it takes */
		if (end && end > event) {
			*end = '\0';
			lower_event(l, a.begin, event, known);
		}
	}
	free(spec);
}

/* Has the script a function of that name, in place of the tapset's? */
static bool defines(const struct lowering *l, const char *name)
{
	size_t i;

	for (i = 1; i < l->s.t.nr; i++)
		if (is(l, i, name) && is(l, i - 1, "function"))
			return true;
	return false;
}

bool sets_asked(const struct lowering *l)
{
	size_t i;

	for (i = 0; i < l->s.t.nr; i++)
		if (is(l, i, "pmu_set") || is(l, i, "pmu_switch_every"))
			return true;
	return false;
}

void sets_lower(struct lowering *l)
{
	const bool own_set = defines(l, "pmu_set");
	const bool own_rule = defines(l, "pmu_switch_every");
	struct intern known = { 0 };
	size_t i;

	find_declared(l, &known);
	for (i = 0; i < l->s.t.nr; i++) {
		if (l->s.t.tok[i].dead || !is(l, i + 1, "("))
			continue;
		if (!own_set && is(l, i, "pmu_set"))
			lower_set(l, i, &known);
		else if (!own_rule && is(l, i, "pmu_switch_every"))
			lower_rule(l, i, &known);
	}
	intern_free(&known);
}
