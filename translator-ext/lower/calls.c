/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points whose readings nothing can have: elapsed where no function returns, and the
 * tapset's startwatch.EVENT where it has no alias.
 *
 * stap would take both for what they are not: the one fails when the probe is hit, of
 * the other stap says that it does not know it.
 */
#include "lower/lowering.h"

#include <stdlib.h>

#include "event/event_table.h"

static bool is_word(const struct lowering *l, const struct part *part,
		    const char *word)
{
	return part->kind == PART_OTHER && part->end == part->begin + 1 &&
	       is(l, part->begin, word);
}

/* Is part K the first of elapsed.EVENT? */
static bool is_dotted(const struct lowering *l, const struct point *p, size_t k,
		      const char *word)
{
	const struct part *event = &p->parts[k] + 1;

	return k + 1 < p->nr_parts && is_word(l, &p->parts[k], word) &&
	       event->end == event->begin + 1 &&
	       event_table_find(tok_text(l, event->begin),
				tok_len(l, event->begin));
}

const struct part *calls_dotted(const struct lowering *l, const struct point *p)
{
	size_t k;

	for (k = 0; k < p->nr_parts; k++)
		if (is_dotted(l, p, k, "startwatch") ||
		    is_dotted(l, p, k, "elapsed"))
			return &p->parts[k];
	return NULL;
}

const struct part *calls_elapsed(const struct lowering *l,
				 const struct point *p)
{
	size_t k;

	for (k = 0; k < p->nr_parts; k++)
		if (p->parts[k].kind == PART_ELAPSED ||
		    is_dotted(l, p, k, "elapsed"))
			return &p->parts[k];
	return NULL;
}

/*
 * The part that says what is probed, where that is sure to be no function's return:
 * what has braces or wildcards may become one.
 */
static const struct part *no_return(const struct lowering *l,
				    const struct point *p)
{
	static const char *const places[] = {
		"function", "statement", "trace", "mark",
	};
	const struct part *place = NULL;
	size_t k, n;

	for (k = 0; k < p->nr_parts; k++) {
		const struct part *part = &p->parts[k];
		const bool alone = part->end == part->begin + 1;

		if (part->kind != PART_OTHER)
			continue;
		if (part->begin == part->end ||
		    l->s.t.tok[part->begin].type != TOK_WORD ||
		    (!alone && !is(l, part->begin + 1, "(")) ||
		    is_word(l, part, "return"))
			return NULL;
		if (!k && is_word(l, part, "timer"))
			place = part;
		for (n = 0; n < sizeof(places) / sizeof(*places); n++)
			if (!alone && is(l, part->begin, places[n]))
				place = part;
	}
	return place;
}

/*
 * kernel alone has the tapset's aliases, and they stand right after it.  What has
 * wildcards may be that kernel.
 */
static bool is_misplaced(struct lowering *l, const struct point *p)
{
	const struct part *dotted = calls_dotted(l, p), *part;
	struct buf name = { 0 };

	if (!dotted)
		return false;
	for (part = p->parts; part < dotted; part++)
		if (part->kind == PART_OTHER &&
		    (is(l, part->begin, "timer") ||
		     (part->end > part->begin + 1 &&
		      is(l, part->begin + 1, "("))))
			break;
	if (part == dotted)
		return false;
	edit_copy(l, dotted[1].begin, dotted[1].end, &name);
	lower_fail(l, dotted->begin, "%.*s.%s works right after kernel alone; %.*s(\"%s\") works here",
		   (int)tok_len(l, dotted->begin), tok_text(l, dotted->begin),
		   name.s ?: "", (int)tok_len(l, dotted->begin),
		   tok_text(l, dotted->begin), name.s ?: "");
	free(name.s);
	return true;
}

void calls_check(struct lowering *l, const struct point *p, bool by_alias)
{
	const struct part *elapsed = calls_elapsed(l, p), *place;
	struct buf what = { 0 };
	size_t i;

	if (is_misplaced(l, p) || point_has(p, PART_PROFILE) ||
	    point_has(p, PART_TIME) || (!elapsed && !by_alias))
		return;
	place = no_return(l, p);
	if (!place)
		return;
	i = elapsed ? elapsed->begin : p->begin;
	edit_copy(l, place->begin, place->end, &what);
	if (is(l, place->begin, "function"))
		lower_fail(l, i, "elapsed counts from a call to its return; write .%s.return",
			   what.s ?: "");
	else
		lower_fail(l, i, "elapsed counts from a call to its return, and %s is neither; use startwatch",
			   what.s ?: "");
	free(what.s);
}
