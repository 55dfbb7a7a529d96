/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moments that are wanted; span.h says how. */
#include "report/input/span.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

/* ten billion are three centuries, and no sum of nanoseconds overflows */
#define MOST_DIGITS 10

/* Decimal seconds, exactly, whatever the locale; NULL: *TEXT begins with none. */
static const char *parse_seconds(const char *text, uint64_t *ns)
{
	const size_t whole = strspn(text, "0123456789");
	uint64_t digit = 1000000000;

	if (!whole || whole >= MOST_DIGITS)
		return NULL;
	*ns = strtoull(text, NULL, 10) * digit;
	text += whole;
	if (*text != '.')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++) {
		digit /= 10;
		*ns += (*text - '0') * digit;
	}
	return text;
}

int span_parse_time(struct span *s, const char *text)
{
	const char *to;

	s->from = s->to = 0;
	if (*text != '-')
		text = parse_seconds(text, &s->from);
	if (!text || *text != '-')
		return -1;
	to = text + 1;
	if (!*to)
		return 0;
	text = parse_seconds(to, &s->to);
	return text && !*text && s->to && s->to >= s->from ? 0 : -1;
}

int span_parse_marks(struct span *s, char *text)
{
	char *comma = strchr(text, ',');

	if (!comma || comma == text || !comma[1])
		return -1;
	*comma = '\0';
	s->begin = text;
	s->end = comma + 1;
	return 0;
}

void spans_mark(struct spans *sp, const struct span *s, uint64_t ns,
		const char *name)
{
	sp->marks++;
	if (!s->begin)
		return;
	/* a mark may end one and begin the next */
	if (sp->open && !fnmatch(s->end, name, 0) && !--sp->open)
		sp->list[sp->nr - 1].to = ns;
	if (fnmatch(s->begin, name, 0) || sp->open++)
		return;
	sp->list = array_room(sp->list, &sp->size, sp->nr + 1,
			      sizeof(*sp->list));
	sp->list[sp->nr].from = ns;
	sp->list[sp->nr++].to = UINT64_MAX;
}

void spans_free(struct spans *sp)
{
	free(sp->list);
}

/* The first that has not ended before FROM, from one to the next ever later. */
static size_t find(const struct spans *sp, uint64_t from)
{
	size_t low = 0, high = sp->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (sp->list[mid].to < from)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool spans_want(const struct spans *sp, const struct span *s, uint64_t zero,
		uint64_t from, uint64_t to)
{
	size_t i;

	if (span_since(zero, to) < s->from ||
	    (s->to && span_since(zero, from) > s->to))
		return false;
	if (!s->begin)
		return true;
	i = find(sp, from);
	return i < sp->nr && sp->list[i].from <= to;
}

void spans_say(const struct spans *sp, const struct span *s, const char *name,
	       struct warnings *w)
{
	if (!s->begin || sp->nr)
		return;
	if (sp->marks)
		warnings_add(w, WARNING_NUMBERS, 1, "%s: none of its %" PRIu64 " marks is \"%s\"; --samples and --timeline show them",
			     name, sp->marks, s->begin);
	else
		warnings_add(w, WARNING_NUMBERS, 1, "%s: has no marks; stapwatch_mark() in the script makes them, and stapwatch record --mark",
			     name);
}
