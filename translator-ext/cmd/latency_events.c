/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of stapwatch latency -e; latency.h. */
#include "cmd/latency.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "event/event_declare.h"
#include "event/event_notation.h"

#define MAX_EVENTS 15		/* as many as the runtime takes, and the time */

static int fail(const char *event, const char *why)
{
	shown_line(stderr, "stapwatch latency: -e: \"%s\": %s", event, why);
	return -1;
}

/* The number of an event of the table; nr_events if it is not there. */
static size_t find(const struct latency_request *req, const char *table_name)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		const char *name = req->events[i].ev.table_name;

		if (name && !strcmp(name, table_name))
			break;
	}
	return i;
}

/* Is the event there, by whatever name? */
static bool has(const struct latency_request *req, const struct event *ev)
{
	size_t i;

	if (ev->table_name)
		return find(req, ev->table_name) < req->nr_events;
	for (i = 0; i < req->nr_events; i++) {
		const struct event *e = &req->events[i].ev;

		if (!e->table_name && event_same_attr(&e->attr, &ev->attr))
			return true;
	}
	return false;
}

static int add(struct latency_request *req, const char *text);

/* A rate is of two events. */
static int add_rate(struct latency_request *req, const struct event_derived *d)
{
	if (find(req, d->numerator) == req->nr_events && add(req, d->numerator))
		return -1;
	if (find(req, d->denominator) == req->nr_events &&
	    add(req, d->denominator))
		return -1;
	req->rates = xrealloc(req->rates,
			      (req->nr_rates + 1) * sizeof(*req->rates));
	req->rates[req->nr_rates++] = (struct latency_rate) {
		d, find(req, d->numerator), find(req, d->denominator)
	};
	return 0;
}

static int add(struct latency_request *req, const char *text)
{
	const struct event_derived *d;
	struct latency_event *e;
	struct event ev;
	char why[512];
	int natives = 0;
	size_t i;

	if (event_resolve(text, NULL, &ev, why, sizeof(why)))
		return fail(text, why);
	d = ev.derived;
	if (d) {
		event_free(&ev);
		return add_rate(req, d);
	}
	if (has(req, &ev)) {
		event_free(&ev);
		return fail(text, "it stands there twice");
	}
	if (req->nr_events == MAX_EVENTS ||
	    (ev.table_name && !strcmp(ev.table_name, "tsc"))) {
		event_free(&ev);
		return fail(text, req->nr_events == MAX_EVENTS ?
			    "there can be 15 events at most" :
			    "the time is there without it");
	}
	for (i = 0; i < req->nr_events; i++)
		natives += !req->events[i].ev.table_name;
	req->events = xrealloc(req->events,
			       (req->nr_events + 1) * sizeof(*req->events));
	e = &req->events[req->nr_events++];
	*e = (struct latency_event) {
		.text = xstrdup(text),
		.ev = ev,
		.native = ev.table_name ? -1 : natives,
	};
	return 0;
}

/* The end of an event: commas within PMU/TERMS/ are the event's own. */
static const char *event_end(const char *s)
{
	bool terms = false;

	for (; *s && (terms || *s != ','); s++)
		terms ^= *s == '/';
	return s;
}

int latency_events_parse(struct latency_request *req, const char *text)
{
	const char *s = text, *end;
	char *name;
	int rc;

	for (;; s = end + 1) {
		end = event_end(s);
		if (end == s)
			return fail(text, "an event is missing; write them as EVENT,EVENT");
		name = xstrndup(s, end - s);
		rc = add(req, name);
		free(name);
		if (rc || !*end)
			return rc;
	}
}

void latency_events_free(struct latency_request *req)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		free(req->events[i].text);
		event_free(&req->events[i].ev);
	}
	free(req->events);
	free(req->rates);
}

size_t latency_nr_hists(const struct latency_request *req)
{
	return LATENCY_EVENT(req->nr_events);
}
