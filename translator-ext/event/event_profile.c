/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of pmu_profile("event:period[,option...]").
 *
 * The options user and kernel become modifiers of the event, and register
 * settings go back to it, so that event_resolve() sees all that is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_notation.h"
#include "event/event_table.h"

#define FORM		"\"EVENT:PERIOD[,OPTION...]\""
#define SETTING		"pmc["

struct profile {
	struct buf event;
	struct buf settings;
	struct buf modifiers;
	struct event_profile parts;
	struct buf *why;
};

/* The length up to a comma that is not between the slashes of PMU/TERMS/. */
static size_t piece_length(const char *s)
{
	bool inside = false;
	size_t i;

	for (i = 0; s[i] && (inside || s[i] != ','); i++)
		if (s[i] == '/')
			inside = !inside;
	return i;
}

/* A decimal number, with k, M or G or without. */
static bool read_count(const char *s, size_t len, uint64_t *count)
{
	static const struct {
		char letter;
		uint64_t times;
	} suffixes[] = {
		{ 'k', 1000 }, { 'M', 1000000 }, { 'G', 1000000000 },
	};
	uint64_t times = 1;
	size_t digits = len, i;

	for (i = 0; len && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (s[len - 1] == suffixes[i].letter) {
			times = suffixes[i].times;
			digits = len - 1;
		}
	}
	if (!event_number(s, digits, 10, count) || *count > INT64_MAX / times)
		return false;
	*count *= times;
	return true;
}

static int read_period(struct profile *p, const char *s, size_t len)
{
	if (!read_count(s, len, &p->parts.period)) {
		buf_puts(p->why, "period ");
		event_quote(p->why, s, len);
		buf_puts(p->why, " is not a decimal number of at most 63 bits,"
			 " with k, M or G or without; the form is " FORM);
		return -1;
	}
	if (!p->parts.period) {
		buf_puts(p->why, "the period is 0; it must be at least 1");
		return -1;
	}
	return 0;
}

/* Is there a period at the end?  *AT is where it then begins. */
static bool find_period(const char *s, size_t len, size_t *at)
{
	size_t i;

	for (i = len; i && s[i - 1] != ':' && s[i - 1] != '/'; i--)
		;
	if (!i || s[i - 1] != ':' || i == len || s[i] < '0' || s[i] > '9')
		return false;
	*at = i;
	return true;
}

/* Has the event a name that takes nothing after a colon but perf's letters? */
static bool is_plain_event(const char *name, size_t len)
{
	struct event_attr attr;
	struct buf why = { 0 };
	bool is;

	is = event_table_find(name, len) ||
	     event_perf_name(name, len, &attr, &why) == EVENT_FOUND;
	free(why.s);
	return is;
}

/* No number ends @s: there is no period, or something else in its place. */
static void say_no_period(struct profile *p, const char *s, size_t len)
{
	char *text = xstrndup(s, len), *last = strrchr(text, ':');
	const bool wait = event_is_wait(text);

	if (!last || !last[1] || !last[1 + strspn(last + 1, "ukhGHIpP")] ||
	    (!wait && !is_plain_event(text, last - text))) {
		event_quote(p->why, s, len);
		buf_puts(p->why, " has no period; the form is " FORM);
	} else {
		event_quote(p->why, last + 1, strlen(last + 1));
		*last = '\0';
		buf_printf(p->why, " is no period; a number of %s is, as in \"%s:1000000\"",
			   wait ? "nanoseconds" : "events", text);
	}
	free(text);
}

/*
 * The event and its period.  Register settings may stand before the period,
 * where they do if the event is taken from a startwatch().
 */
static int read_event(struct profile *p, const char **text)
{
	size_t len = piece_length(*text), at, end = len;
	const char *s = *text;

	while (!find_period(s, end, &at)) {
		if (strncmp(s + end, "," SETTING, strlen("," SETTING))) {
			say_no_period(p, s, len);
			return -1;
		}
		end += 1 + piece_length(s + end + 1);
	}
	if (at == 1) {
		buf_puts(p->why, "no event stands before the period; the form"
			 " is " FORM);
		return -1;
	}
	if (read_period(p, s + at, end - at))
		return -1;
	*text = s + end;
	if (at - 1 < len)
		len = at - 1;
	buf_add(&p->event, s, len);
	buf_add(&p->settings, s + len, at - 1 - len);
	return 0;
}

static int say_twice(struct profile *p, const char *option)
{
	buf_printf(p->why, "option %s stands there twice", option);
	return -1;
}

static int read_precise(struct profile *p, const char *s, size_t len)
{
	uint64_t value;

	if (!event_number(s, len, 10, &value) || value > 3) {
		buf_puts(p->why, "precise=");
		event_quote(p->why, s, len);
		buf_puts(p->why, " is not a number from 0 to 3");
		return -1;
	}
	if (p->parts.precise >= 0)
		return say_twice(p, "precise");
	p->parts.precise = value;
	return 0;
}

static int read_random(struct profile *p, const char *s, size_t len)
{
	uint64_t mask;

	if (!event_number(s, len, 0, &mask) || !mask ||
	    mask > INT64_MAX - p->parts.period) {
		buf_puts(p->why, "random=");
		event_quote(p->why, s, len);
		buf_puts(p->why, " is not a mask, as 0xffff, of what is added"
			 " to the period, both together at most 63 bits");
		return -1;
	}
	if (p->parts.random)
		return say_twice(p, "random");
	p->parts.random = mask;
	return 0;
}

static int read_long(struct profile *p, const char *s, size_t len)
{
	uint64_t period;

	if (!read_count(s, len, &period) || !period) {
		buf_puts(p->why, "long=");
		event_quote(p->why, s, len);
		buf_puts(p->why, " is not a period, as 10M, of at most 63 bits");
		return -1;
	}
	if (p->parts.long_period)
		return say_twice(p, "long");
	p->parts.long_period = period;
	return 0;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(s, word, len);
}

static int read_option(struct profile *p, const char *s, size_t len)
{
	static const char precise[] = "precise=", random[] = "random=",
			  longer[] = "long=";

	if (is_word(s, len, "hz")) {
		p->parts.freq = true;
	} else if (is_word(s, len, "user")) {
		buf_puts(&p->modifiers, p->modifiers.len ? ":u" : "u");
	} else if (is_word(s, len, "kernel")) {
		buf_puts(&p->modifiers, p->modifiers.len ? ":k" : "k");
	} else if (!strncmp(s, SETTING, strlen(SETTING))) {
		buf_puts(&p->settings, ",");
		buf_add(&p->settings, s, len);
	} else if (!strncmp(s, precise, strlen(precise))) {
		return read_precise(p, s + strlen(precise),
				    len - strlen(precise));
	} else if (!strncmp(s, random, strlen(random))) {
		return read_random(p, s + strlen(random), len - strlen(random));
	} else if (!strncmp(s, longer, strlen(longer))) {
		return read_long(p, s + strlen(longer), len - strlen(longer));
	} else {
		buf_puts(p->why, "option ");
		event_quote(p->why, s, len);
		buf_puts(p->why, " is not known; there are precise=0..3,"
			 " random=MASK, long=PERIOD, hz, user, kernel and"
			 " pmc[N]=VALUE");
		return -1;
	}
	return 0;
}

static int read_all(struct profile *p, const char *text)
{
	size_t len;

	if (read_event(p, &text))
		return -1;
	while (*text) {
		text++;
		len = strcspn(text, ",");
		if (read_option(p, text, len))
			return -1;
		text += len;
	}
	if (p->parts.freq && (p->parts.random || p->parts.long_period)) {
		buf_printf(p->why, "%s= is for a period; with hz the kernel changes that itself",
			   p->parts.random ? "random" : "long");
		return -1;
	}
	if (p->parts.long_period > INT64_MAX - p->parts.random) {
		buf_puts(p->why, "long= and random= are together more than 63 bits");
		return -1;
	}
	return 0;
}

/* NAME:u, PMU/TERMS/u */
static void add_modifiers(struct profile *p)
{
	if (!p->modifiers.len)
		return;
	if (p->event.s[p->event.len - 1] != '/')
		buf_puts(&p->event, ":");
	buf_puts(&p->event, p->modifiers.s);
}

bool event_has_period(const char *text)
{
	const size_t len = piece_length(text);
	size_t at;

	/* after a register's settings there may be one, or an error is said */
	return find_period(text, len, &at) ||
	       !strncmp(text + len, "," SETTING, strlen("," SETTING));
}

bool event_is_wait(const char *text)
{
	static const char name[] = "off_cpu";

	return !strncmp(text, name, strlen(name)) &&
	       (!text[strlen(name)] || strchr(":,", text[strlen(name)]));
}

int event_profile_wait(const struct event_profile *parts, char *why,
		       size_t size)
{
	if (!strchr(parts->event, ':') && !strchr(parts->event, ',') &&
	    !parts->freq && !parts->random && !parts->long_period &&
	    parts->precise < 0)
		return 0;
	snprintf(why, size, "off_cpu takes no option: its period is the"
		 " shortest wait that is sampled, in nanoseconds, as in"
		 " \"off_cpu:1M\"");
	return -1;
}

int event_profile_split(const char *text, struct event_profile *parts,
			char *why, size_t size)
{
	struct buf said = { 0 };
	struct profile p = { .parts.precise = -1, .why = &said };
	int rc = read_all(&p, text);

	if (!rc) {
		add_modifiers(&p);
		buf_add(&p.event, p.settings.s, p.settings.len);
		p.parts.event = buf_take(&p.event);
		*parts = p.parts;
	} else {
		snprintf(why, size, "%s", said.s ? said.s : "");
	}
	free(p.event.s);
	free(p.settings.s);
	free(p.modifiers.s);
	free(said.s);
	return rc;
}
