/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probe points that have a component of ours: each becomes an alias's name,
 * and the tail defines the alias.
 */
#include "lower/lowering.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What stands in the script where token I was made: a macro's or an argument's
 * name. */
static int maker_len(const struct lowering *l, size_t i)
{
	const struct token *t = &l->s.t.tok[i];
	size_t k = 1;

	while (k < t->span && (isalnum((unsigned char)l->user[t->at + k]) ||
			       l->user[t->at + k] == '_'))
		k++;
	return k;
}

static void fail_made(struct lowering *l, size_t i)
{
	lower_fail(l, i, "%.*s: startwatch, elapsed, pmu_profile, time_ms and ppa.runqslower do not work out of a macro or an argument, but for what is in their parentheses; write the probe point out",
		   maker_len(l, i), l->user + l->s.t.tok[i].at);
}

/* Is the edge before token I within what one macro or argument makes? */
static bool is_within(const struct lowering *l, size_t i)
{
	return i && i < l->s.t.nr &&
	       token_same_maker(&l->s.t.tok[i - 1], &l->s.t.tok[i]);
}

/* Parts of ours must stand in the text, where they are replaced. */
static bool is_written_out(struct lowering *l, const struct point *p)
{
	size_t k, i;

	for (k = 0; k < p->nr_parts; k++) {
		const struct part *part = &p->parts[k];

		if (part->kind == PART_OTHER)
			continue;
		for (i = part->begin; i < part->argument; i++)
			if (l->s.t.tok[i].made)
				break;
		if (i == part->argument && l->s.t.tok[part->end - 1].made)
			i = part->end - 1;
		else if (i == part->argument)
			continue;
		fail_made(l, i);
		return false;
	}
	return true;
}

const char *points_without_counts(const struct lowering *l,
				  const struct point *p)
{
	static const char *const without[] = { "begin", "end", "error", "never" };
	size_t k;

	for (k = 0; k < sizeof(without) / sizeof(*without); k++)
		if (begins_with(l, p, without[k]))
			return without[k];
	return NULL;
}

bool points_check(struct lowering *l, const struct point *p)
{
	const char *word = points_without_counts(l, p);

	if (!is_written_out(l, p))
		return false;
	if (p->in_group) {
		lower_fail(l, p->in_group, "this does not work within { } or after %%( %%); write the probe points out, with commas");
		return false;
	}
	if (word && point_readings(p)) {
		lower_fail(l, p->begin, POINTS_WITHOUT_COUNTS, word);
		return false;
	}
	return true;
}

/* The parts before the first of ours; where that is the first, the next other
 * one.  Returns how many parts the alias takes in. */
static size_t cut(const struct point *p, size_t *first, size_t *last)
{
	size_t k = 0;

	while (k < p->nr_parts && p->parts[k].kind == PART_OTHER)
		k++;
	if (k) {
		*first = 0;
		*last = k;
		while (k < p->nr_parts && p->parts[k].kind != PART_OTHER)
			k++;
		return k;
	}
	while (k < p->nr_parts && p->parts[k].kind != PART_OTHER)
		k++;
	*first = k;
	*last = k < p->nr_parts ? k + 1 : k;
	return *last;
}

/* The place for the alias's name: where all of it was, if it fits there. */
static size_t name_place(const struct lowering *l, const struct point *p,
			 size_t parts, size_t len)
{
	size_t end = p->parts[parts - 1].end, k;

	if (edit_room(l, &l->s.t, p->begin, end) >= len)
		return l->s.t.tok[p->begin].at;
	for (k = 0; k < parts; k++)
		if (p->parts[k].kind != PART_OTHER &&
		    edit_room(l, &l->s.t, p->parts[k].argument - 2, end) >= len)
			return l->s.t.tok[p->parts[k].argument - 2].at;
	return SIZE_MAX;
}

/* Parts of ours after the alias's name vanish, each with the dot before it. */
static void blank_rest(struct lowering *l, const struct point *p, size_t parts)
{
	size_t k;

	for (k = parts; k < p->nr_parts; k++)
		if (p->parts[k].kind != PART_OTHER)
			edit_blank(l, &l->s.t, p->parts[k].begin - 1,
				   p->parts[k].end);
}

/* ppa.runqslower(US): every wait, and a handler that leaves out the shorter ones. */
static int slow_put(struct lowering *l, const struct point *p,
		    struct buf *stands_for, struct buf *body)
{
	const struct part *part = &p->parts[p->nr_parts - 1];
	const size_t i = part->argument;
	const size_t len = i < l->s.t.nr ? tok_len(l, i) : 0;
	char number[24] = "", *end;
	unsigned long long us;

	if (p->nr_parts != 2 || part->kind != PART_RUNQSLOWER) {
		lower_fail(l, p->begin, "ppa.runqslower(US) stands alone");
		return -1;
	}
	if (i + 2 == part->end && is(l, i + 1, ")") && len < sizeof(number))
		memcpy(number, tok_text(l, i), len);
	us = strtoull(number, &end, 0);
	if (!isdigit((unsigned char)*number) || *end || us > INT64_MAX) {
		lower_fail(l, i, "ppa.runqslower wants a number of microseconds, as in ppa.runqslower(10000)");
		return -1;
	}
	buf_puts(stands_for, "ppa.runq");
	buf_printf(body, "if (runq_us < %llu) next ", us);
	return 0;
}

/* No script of the command line has another's. */
static void next_name(const struct lowering *l, char *name, size_t size)
{
	if (l->letter)
		snprintf(name, size, "__sw%c%zu", l->letter, l->nr_aliases);
	else
		snprintf(name, size, "__sw%zu", l->nr_aliases);
}

static void define_alias(struct lowering *l, const struct point *p,
			 const char *name, const char *stands_for,
			 const char *body)
{
	struct lowered_alias *alias;

	l->aliases = xrealloc(l->aliases,
			      (l->nr_aliases + 1) * sizeof(*l->aliases));
	alias = &l->aliases[l->nr_aliases++];
	*alias = (struct lowered_alias) {
		.name = xstrdup(name),
		.line = l->tail_lines,
		.column = strlen("probe  = ") + strlen(name) + 1,
		.user_line = l->s.t.tok[p->begin].line,
		.user_column = l->s.t.tok[p->begin].column,
		.first = xstrndup(tok_text(l, p->begin), tok_len(l, p->begin)),
	};
	buf_printf(&l->tail, "probe %s = %s { %s}", name, stands_for, body);
	edit_tail_line(l);
}

void points_lower(struct lowering *l, const struct probe *probe,
		  const struct point *p)
{
	struct range have = aliases_readings(l, p);
	struct buf stands_for = { 0 }, body = { 0 };
	size_t first = 0, last = 0, parts, place;
	bool slow = point_has(p, PART_RUNQSLOWER);
	bool sampled = point_has(p, PART_PROFILE) || point_has(p, PART_TIME);
	char name[32];

	if (!points_check(l, p))
		return;
	explain_point(l, p);
	parts = sampled || slow ? p->nr_parts : cut(p, &first, &last);
	if (is_within(l, p->begin) || is_within(l, p->parts[parts - 1].end)) {
		fail_made(l, is_within(l, p->begin) ? p->begin
						    : p->parts[parts - 1].end);
		return;
	}
	if (!sampled && !slow && first == last) {
		lower_fail(l, p->begin, "what is to be probed is missing: kernel.%s.function(\"NAME\")",
			   point_has(p, PART_ELAPSED) ? "elapsed(\"EVENT\")" : "startwatch(\"EVENT\")");
		return;
	}
	if (slow) {
		if (slow_put(l, p, &stands_for, &body))
			goto out;
	} else if (sampled) {
		if (sampling_put(l, p, &stands_for))
			goto out;
	} else {
		edit_copy(l, p->parts[first].begin, p->parts[last - 1].end,
			  &stands_for);
	}
	/* the alias that it uses has the first ones */
	if (!slow &&
	    readings_put(l, probe, p, have.max - point_readings(p), &body))
		goto out;
	explain_became(l, p, stands_for.s ?: "", parts);

	next_name(l, name, sizeof(name));
	place = name_place(l, p, parts, strlen(name));
	if (place == SIZE_MAX) {
		lower_fail(l, p->begin, "put startwatch(\"EVENT\") and its parenthesis on one line");
		goto out;
	}
	edit_blank(l, &l->s.t, p->begin, p->parts[parts - 1].end);
	edit_put(l, place, name);
	blank_rest(l, p, parts);
	define_alias(l, p, name, stands_for.s ?: "", body.s ?: "");
out:
	free(stands_for.s);
	free(body.s);
}
