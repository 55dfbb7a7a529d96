/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Register settings after an event's name: "branch_event,pmc[12]=0x3e0f".
 *
 * Linux gives nobody a register by its number, but an event has up to five
 * values that the PMU's driver puts into registers.  So the numbers only say
 * in which order the settings fill them.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "event/event_notation.h"

#define SETTING		",pmc"
#define HIGHEST		65535	/* any PMU's registers have lower numbers */

static enum event_found bad_form(const char *settings, struct buf *why)
{
	event_quote(why, settings, strlen(settings));
	buf_puts(why, " is no register setting;"
		 " the form is EVENT,pmc[N]=VALUE[,pmc[N]=VALUE...]");
	return EVENT_WRONG;
}

/* Kept in the order of their numbers. */
static int add(struct event_settings *s, const struct event_setting *new,
	       struct buf *why)
{
	size_t i = s->nr;

	if (s->nr == EVENT_MAX_SETTINGS) {
		buf_printf(why, "more than %d registers are set; an event has"
			   " no more", EVENT_MAX_SETTINGS);
		return -1;
	}
	while (i && s->set[i - 1].n > new->n) {
		s->set[i] = s->set[i - 1];
		i--;
	}
	if (i && s->set[i - 1].n == new->n) {
		buf_printf(why, "pmc[%u] is set twice", (unsigned int)new->n);
		return -1;
	}
	s->set[i] = *new;
	s->nr++;
	return 0;
}

static enum event_found parse(const char *text, struct event_settings *s,
			      struct buf *why)
{
	struct event_setting new;
	const char *p = text;
	size_t len;

	while (*p) {
		if (strncmp(p, SETTING "[", sizeof(SETTING)))
			return bad_form(text, why);
		p += sizeof(SETTING);
		len = strcspn(p, "]");
		if (!event_number(p, len, 10, &new.n) || new.n > HIGHEST ||
		    strncmp(p + len, "]=", 2))
			return bad_form(text, why);
		p += len + 2;
		len = strcspn(p, ",");
		if (!event_number(p, len, 0, &new.value))
			return bad_form(text, why);
		p += len;
		if (add(s, &new, why))
			return EVENT_WRONG;
	}
	return EVENT_FOUND;
}

enum event_found event_raw_split(const char *text, struct event_settings *s,
				 struct buf *why)
{
	const char *from = strstr(text, SETTING);
	enum event_found found;

	*s = (struct event_settings) { .nr = 0 };
	if (!from)
		return EVENT_NOT_MINE;
	found = parse(from, s, why);
	if (found == EVENT_FOUND)
		s->name = xstrndup(text, from - text);
	return found;
}

/* The settings, in the order of their numbers, go to FIRST of these and on. */
static void put_settings(const struct event_settings *s, size_t first,
			 struct event_attr *attr)
{
	uint64_t *const values[EVENT_MAX_SETTINGS] = {
		&attr->config, &attr->config1, &attr->config2, &attr->config3,
		&attr->config4,
	};
	size_t i;

	for (i = 0; i < s->nr; i++)
		*values[first + i] = s->set[i].value;
}

enum event_found event_raw_add(const struct event_settings *s,
			       struct event *ev, struct buf *why)
{
	const char *name = s->name;

	if (ev->notation == EVENT_DERIVED ||
	    ev->attr.type == PERF_TYPE_SOFTWARE) {
		event_quote(why, name, strlen(name));
		buf_puts(why, " is no event of the PMU; no register of the"
			 " PMU's bears on it");
		return EVENT_WRONG;
	}
	if (s->nr > EVENT_MAX_SETTINGS - 1) {
		event_quote(why, name, strlen(name));
		buf_printf(why, " takes four more registers, not %zu", s->nr);
		return EVENT_WRONG;
	}
	if (ev->attr.config1 || ev->attr.config2 || ev->attr.config3 ||
	    ev->attr.config4) {
		event_quote(why, name, strlen(name));
		buf_puts(why, " sets a register besides the event's by itself;"
			 " there is none left to set");
		return EVENT_WRONG;
	}
	put_settings(s, 1, &ev->attr);
	ev->table_name = NULL;
	ev->notation = EVENT_RAW;
	return EVENT_FOUND;
}

static bool is_identifier(const char *s, size_t len)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char digits[] = "0123456789";
	size_t i;

	for (i = 0; i < len; i++)
		if (!strchr(letters, s[i]) && (!i || !strchr(digits, s[i])))
			return false;
	return len > 0;
}

enum event_found event_raw_alone(const struct event_settings *s,
				 struct event *ev, struct buf *why)
{
	const char *label = s->name;
	size_t len = strcspn(label, ":");

	if (!is_identifier(label, len)) {
		event_quote(why, label, strlen(label));
		buf_puts(why, " is not a known event, nor a name to give to"
			 " register settings");
		return EVENT_WRONG;
	}
	if (label[len] &&
	    event_modifiers(label + len + 1, label, len, &ev->attr, why))
		return EVENT_WRONG;
	ev->text = xstrdup("registers as they were set; the name is a label");
	ev->attr.type = PERF_TYPE_RAW;
	put_settings(s, 0, &ev->attr);
	ev->notation = EVENT_RAW;
	return EVENT_FOUND;
}
