/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which an event's text is taken for one notation or another, and
 * what is said of a text that is none.
 */
#include "event/event.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_notation.h"
#include "event/event_table.h"

#define LONGEST_TEXT	1024

static enum event_found find_in_table(const char *text, struct event *ev,
				      struct buf *why)
{
	size_t len = strcspn(text, ":");
	const struct event_name *e = event_table_find(text, len);

	if (!e)
		return EVENT_NOT_MINE;
	ev->attr = event_table_attr(e);
	ev->text = xstrdup(e->text);
	ev->notation = EVENT_TABLE;
	if (!text[len]) {
		ev->table_name = e->name;
		return EVENT_FOUND;
	}
	if (event_table_is_tsc(e)) {
		buf_puts(why, "tsc runs the same everywhere and takes no"
			 " modifier");
		return EVENT_WRONG;
	}
	if (event_modifiers(text + len + 1, text, len, &ev->attr, why))
		return EVENT_WRONG;
	ev->notation = EVENT_PERF;
	return EVENT_FOUND;
}

static enum event_found find_derived(const char *text, struct event *ev)
{
	ev->derived = event_derived_find(text);
	if (!ev->derived)
		return EVENT_NOT_MINE;
	ev->notation = EVENT_DERIVED;
	ev->text = xstrdup(ev->derived->text);
	return EVENT_FOUND;
}

static void say_tracepoint(const char *text, struct buf *why)
{
	const char *prefix = strstr(text, "::");

	buf_puts(why, "a tracepoint is probed, not counted: kernel.trace(");
	if (prefix)
		text = prefix + 2;
	event_quote(why, text, strlen(text));
	buf_puts(why, ")");
}

/* Whatever the notation, perf has events that are for other ends. */
static enum event_found check_countable(const char *text,
					const struct event *ev,
					struct buf *why)
{
	uint64_t config = ev->attr.config;

	if (ev->attr.type == PERF_TYPE_TRACEPOINT) {
		say_tracepoint(text, why);
		return EVENT_WRONG;
	}
	if (ev->attr.type != PERF_TYPE_SOFTWARE ||
	    (config != PERF_COUNT_SW_DUMMY &&
	     config != PERF_COUNT_SW_BPF_OUTPUT))
		return EVENT_FOUND;
	event_quote(why, text, strlen(text));
	buf_puts(why, " is perf's for a record of something else; it counts"
		 " nothing");
	return EVENT_WRONG;
}

/*
 * perf's names come before libpfm4's, which has most of them too, or an event
 * would mean one thing with libpfm4 and another without it.
 */
static enum event_found find_name(const char *text, const char *pmu,
				  struct event *ev, struct buf *why)
{
	enum event_found found;

	found = find_in_table(text, ev, why);
	if (found == EVENT_NOT_MINE)
		found = find_derived(text, ev);
	if (found != EVENT_NOT_MINE)
		return found;
	found = event_loads(text, ev, why);
	if (found == EVENT_NOT_MINE)
		found = event_perf(text, ev, why);
	if (found == EVENT_NOT_MINE)
		found = event_sysfs(text, pmu, ev, why);
	if (found == EVENT_NOT_MINE)
		found = event_pfm(text, pmu, ev, why);
	return found == EVENT_FOUND ? check_countable(text, ev, why) : found;
}

/* Register settings after a name go to the event of that name, or are it. */
static enum event_found find_raw(const char *text, const char *pmu,
				 struct event *ev, struct buf *why)
{
	struct event_settings set;
	enum event_found found = event_raw_split(text, &set, why);

	if (found != EVENT_FOUND)
		return found;
	found = find_name(set.name, pmu, ev, why);
	if (found == EVENT_FOUND)
		found = event_raw_add(&set, ev, why);
	else if (found == EVENT_NOT_MINE)
		found = event_raw_alone(&set, ev, why);
	free(set.name);
	return found;
}

static void offer_table(struct suggest *s)
{
	const struct event_name *e;
	const char *base;
	size_t i;

	for (i = 0; (e = event_table_get(i)); i++) {
		suggest_offer(s, "", e->name, 0);
		base = strchr(e->name, '_');
		if (e->exclude_kernel && base)
			suggest_offer(s, "user_", base + 1, 1);
		if (e->exclude_user && base)
			suggest_offer(s, "kernel_", base + 1, 1);
	}
}

static void say_unknown(const char *text, const char *pmu, struct buf *why)
{
	const char *native = strstr(text, "::");
	const char *name = native ? native + 2 : text;
	const struct event_derived *d;
	struct suggest s;
	char *of;
	size_t i;

	buf_puts(why, "event ");
	event_quote(why, text, strlen(text));
	buf_puts(why, " is not known");
	suggest_begin(&s, name, strcspn(name, ":."));
	if (native) {
		of = xstrndup(text, native - text);
		event_pfm_offer(&s, of, true);
		free(of);
	} else {
		offer_table(&s);
		for (i = 0; (d = event_derived_get(i)); i++)
			suggest_offer(&s, "", d->name, 0);
		event_perf_offer(&s);
		event_pfm_offer(&s, pmu, false);
	}
	suggest_end(&s, why);
	buf_puts(why, event_pfm_missing);
}

/* Is this "sched:sched_switch", which another kind of probe is for? */
static bool looks_like_tracepoint(const char *text)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t sys = strspn(text, word);
	const char *name = text + sys + 1;

	return sys && text[sys] == ':' && *name &&
	       !name[strspn(name, word)] && name[strspn(name, "ukhp")];
}

static int find_any(const char *text, const char *pmu, struct event *ev,
		    struct buf *why)
{
	const struct event_name *e;
	enum event_found found;

	if (!*text) {
		buf_puts(why, "an event has a name; this one is empty");
		return -1;
	}
	if (strlen(text) > LONGEST_TEXT) {
		buf_puts(why, "event ");
		event_quote(why, text, strlen(text));
		buf_printf(why, " is %zu bytes long; %d is the limit",
			   strlen(text), LONGEST_TEXT);
		return -1;
	}
	if (event_is_wait(text)) {
		buf_puts(why, "off_cpu is sampled, not counted:"
			 " kernel.pmu_profile(\"off_cpu:1M\"), waits of a"
			 " million nanoseconds and more");
		return -1;
	}
	if (pmu && event_pfm_known(pmu, why))
		return -1;
	found = find_raw(text, pmu, ev, why);
	if (found == EVENT_NOT_MINE)
		found = find_name(text, pmu, ev, why);
	if (found == EVENT_WRONG)
		return -1;
	if (found == EVENT_NOT_MINE && looks_like_tracepoint(text)) {
		say_tracepoint(text, why);
		return -1;
	}
	if (found == EVENT_NOT_MINE) {
		say_unknown(text, pmu, why);
		return -1;
	}
	if (ev->notation == EVENT_RAW || ev->notation == EVENT_DERIVED ||
	    ev->table_name)
		return 0;
	e = event_table_match(&ev->attr);
	if (e) {
		ev->table_name = e->name;
		ev->attr = event_table_attr(e);
		free(ev->text);
		ev->text = xstrdup(e->text);
	}
	return 0;
}

int event_resolve(const char *text, const char *pmu, struct event *ev,
		  char *why, size_t size)
{
	struct buf said = { 0 };
	int rc;

	memset(ev, 0, sizeof(*ev));
	ev->name = xstrdup(text);
	rc = find_any(text, pmu, ev, &said);
	if (rc) {
		event_free(ev);
		snprintf(why, size, "%s", said.s ? said.s : "");
	}
	free(said.s);
	return rc;
}

void event_free(struct event *ev)
{
	free(ev->name);
	free(ev->text);
	memset(ev, 0, sizeof(*ev));
}
