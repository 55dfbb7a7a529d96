/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events and sets of stapwatch stat -e. */
#include "cmd/stat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "event/event_declare.h"
#include "event/event_notation.h"

#define MAX_EVENTS 48		/* as many as a session has slots */
#define MAX_SETS 16
#define MAX_NAME 64		/* of an event that a script brings */

static int fail(const char *event, const char *why)
{
	shown_line(stderr, "stapwatch stat: -e: \"%s\": %s", event, why);
	return -1;
}

static struct stat_event *find(struct stat_request *req, const char *table_name)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		struct stat_event *e = &req->events[i];

		if (e->set == req->nr_sets - 1 && e->ev.table_name &&
		    !strcmp(e->ev.table_name, table_name))
			return e;
	}
	return NULL;
}

/* Has the last set the event, by whatever name? */
static bool has(struct stat_request *req, const struct event *ev)
{
	size_t i;

	if (ev->table_name)
		return find(req, ev->table_name);
	for (i = 0; i < req->nr_events; i++) {
		const struct stat_event *e = &req->events[i];

		if (e->set == req->nr_sets - 1 && !e->ev.table_name &&
		    event_same_attr(&e->ev.attr, &ev->attr))
			return true;
	}
	return false;
}

static int add(struct stat_request *req, const char *text)
{
	struct stat_event *e;
	struct event ev;
	char why[512];

	if (event_resolve(text, NULL, &ev, why, sizeof(why)))
		return fail(text, why);
	if (ev.derived) {
		const struct event_derived *d = ev.derived;

		event_free(&ev);
		if (!find(req, d->numerator) && add(req, d->numerator))
			return -1;
		return find(req, d->denominator) ? 0 : add(req, d->denominator);
	}
	if (has(req, &ev)) {
		event_free(&ev);
		return fail(text, "this set has the event already");
	}
	if (req->nr_events == MAX_EVENTS) {
		event_free(&ev);
		return fail(text, "there can be 48 events at most");
	}
	req->events = xrealloc(req->events,
			       (req->nr_events + 1) * sizeof(*req->events));
	e = &req->events[req->nr_events++];
	*e = (struct stat_event) {
		.text = xstrdup(text),
		.ev = ev,
		.set = req->nr_sets - 1,
		.native = ev.table_name ? -1 : (int)req->natives++,
	};
	return 0;
}

/* The end of an event: commas within PMU/TERMS/ are the event's own. */
static const char *event_end(const char *s)
{
	bool terms = false;

	for (; *s && (terms || (*s != ',' && *s != ';')); s++)
		terms ^= *s == '/';
	return s;
}

static bool has_inverse(const struct stat_request *req, size_t n, size_t m)
{
	size_t i;

	for (i = 0; i < req->nr_rates; i++)
		if (req->rates[i].numerator == m &&
		    req->rates[i].denominator == n)
			return true;
	return false;
}

/*
 * Rates of events that are counted at the same time, and in the same modes.  One
 * that only says the inverse of another is left out.
 */
static void find_rates(struct stat_request *req)
{
	const struct event_derived *d;
	size_t i, n, m;

	for (i = 0; (d = event_derived_get(i)); i++) {
		for (n = 0; n < req->nr_events; n++) {
			const struct stat_event *a = &req->events[n];

			for (m = 0; m < req->nr_events; m++) {
				const struct stat_event *b = &req->events[m];
				const char *x = a->ev.table_name;
				const char *y = b->ev.table_name;
				bool user;

				if (a->set != b->set || !x || !y)
					continue;
				user = !strncmp(x, "user_", 5);
				if (user != !strncmp(y, "user_", 5) ||
				    strcmp(x + 5 * user, d->numerator) ||
				    strcmp(y + 5 * user, d->denominator) ||
				    has_inverse(req, n, m))
					continue;
				req->rates = xrealloc(req->rates,
					(req->nr_rates + 1) *
					sizeof(*req->rates));
				req->rates[req->nr_rates++] =
					(struct stat_rate) { d, n, m };
			}
		}
	}
}

/* A set goes by names, which have a place of a certain size, and tsc is in none. */
static int check_of_sets(const struct stat_request *req)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		const struct stat_event *e = &req->events[i];

		if (e->ev.table_name && !strcmp(e->ev.table_name, "tsc"))
			return fail(e->text, "it takes no counter, so no set can have it");
		if (!e->ev.table_name && strlen(e->text) >= MAX_NAME)
			return fail(e->text, "in sets an event's name has 63 characters at most");
	}
	return 0;
}

int stat_events_parse(struct stat_request *req, const char *text)
{
	const char *s = text, *end;
	char *name;
	int rc = 0;

	req->nr_sets = 1;
	while (!rc) {
		while (isspace((unsigned char)*s))
			s++;
		end = event_end(s);
		if (end == s)
			return fail(text, "an event is missing; write them as EVENT,EVENT;EVENT");
		name = xstrndup(s, end - s);
		rc = add(req, name);
		free(name);
		if (rc || !*end)
			break;
		s = end + 1;
		if (*end == ';' && ++req->nr_sets > MAX_SETS)
			return fail(text, "there can be 16 sets at most");
	}
	if (!rc)
		find_rates(req);
	return rc ?: req->nr_sets > 1 ? check_of_sets(req) : 0;
}

/* Where ":N" or ":PERIOD:N" begins, at the end of EVENT:PERIOD:N. */
static char *find_numbers(char *s)
{
	char *at = s + strlen(s), *numbers = NULL;
	int parts;

	for (parts = 0; parts < 2; parts++) {
		size_t digits = 0;

		while (at > s && isdigit((unsigned char)at[-1])) {
			at--;
			digits++;
		}
		if (!digits || at == s || at[-1] != ':')
			break;
		numbers = --at;
	}
	return numbers;
}

/* TIME;TIME: one for each set. */
static int check_every_own(const struct stat_request *req)
{
	const char *text = req->every.text;
	size_t times = 0, len;

	do {
		len = strcspn(text, ";");
		if (!len || !strncmp(text, "overflow:", 9) ||
		    !strncmp(text, "thread:", 7)) {
			shown_line(stderr, "stapwatch stat: --every: \"%s\": with a time for each set, each is one such as 10ms",
				   req->every.text);
			return -1;
		}
		times++;
		text += len;
	} while (*text++);
	if (times == req->nr_sets)
		return 0;
	shown_line(stderr, "stapwatch stat: --every: \"%s\": these are %zu times, and there are %zu sets",
		   req->every.text, times, req->nr_sets);
	return -1;
}

int stat_every_parse(struct stat_request *req)
{
	static const char how[] = "--every overflow:EVENT:N switches after N of the event, overflow:EVENT:PERIOD:N after N times PERIOD";
	struct stat_every *every = &req->every;
	char *text, *numbers, why[512];

	if (!every->text)
		return 0;
	if (strchr(every->text, ';'))
		return check_every_own(req);
	if (strncmp(every->text, "overflow:", 9))
		return 0;
	text = xstrdup(every->text + 9);
	numbers = find_numbers(text);
	every->event.text = text;
	if (!numbers || numbers == text) {
		shown_line(stderr, "stapwatch stat: \"%s\": %s", every->text,
			   how);
		return -1;
	}
	every->overflows = every->text + 9 + (numbers - text);
	*numbers = '\0';
	if (event_resolve(text, NULL, &every->event.ev, why, sizeof(why))) {
		shown_line(stderr, "stapwatch stat: --every: \"%s\": %s", text,
			   why);
		return -1;
	}
	if (every->event.ev.derived || strlen(text) >= MAX_NAME) {
		shown_line(stderr, "stapwatch stat: --every: \"%s\": it is no event that can overflow",
			   text);
		return -1;
	}
	every->event.native = every->event.ev.table_name ?
			      -1 : (int)req->natives++;
	return 0;
}

void stat_events_free(struct stat_request *req)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		free(req->events[i].text);
		event_free(&req->events[i].ev);
	}
	if (req->every.overflows)
		event_free(&req->every.event.ev);
	free(req->every.event.text);
	free(req->events);
	free(req->rates);
}
