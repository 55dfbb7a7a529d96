/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/parse.h"
#include "base/buf.h"
#include "script/preprocess.h"

#include <stdlib.h>
#include <string.h>

struct parser {
	struct outline *s;
	size_t i;
};

#define GROW(array, nr) do {						\
	/* when the number is a power of two, or 0 */			\
	if (!((nr) & ((nr) - 1)))					\
		(array) = xrealloc(array, ((nr) ? 2 * (nr) : 1) *	\
				   sizeof(*(array)));			\
} while (0)

static bool at(const struct parser *p, const char *s)
{
	return token_is(&p->s->t, p->i, s);
}

static bool more(const struct parser *p)
{
	return p->i < p->s->t.nr;
}

/* From the %( of a conditional, or the %: , to after its %). */
static void skip_conditional(struct parser *p)
{
	unsigned long depth = 1;

	for (p->i++; more(p) && depth; p->i++) {
		if (at(p, "%("))
			depth++;
		else if (at(p, "%)"))
			depth--;
	}
}

/*
 * From an opening bracket to after the one that closes it.  In a conditional
 * %( c %? a %: b %) each branch may open what only the text after it closes;
 * they are taken to open the same, the opening bracket too.
 */
static void skip_brackets(struct parser *p, const char *open, const char *close)
{
	unsigned long depth = 0, at_if[64];
	unsigned int ifs = 0;

	for (; more(p); p->i++) {
		if (at(p, open)) {
			depth++;
		} else if (at(p, close)) {
			if (depth && !--depth) {
				p->i++;
				return;
			}
		} else if (at(p, "%(")) {
			if (ifs < 64)
				at_if[ifs] = depth;
			ifs++;
		} else if (at(p, "%:")) {
			if (!ifs) {
				skip_conditional(p);
				p->i--;
			} else if (ifs <= 64) {
				depth = at_if[ifs - 1];
			}
		} else if (at(p, "%)")) {
			if (ifs)
				ifs--;
		}
	}
}

/* Is token I a component of ours with one argument: NAME ( ARGUMENT )? */
static enum part_kind our_kind(const struct tokens *t, size_t i)
{
	if (!token_is(t, i + 1, "("))
		return PART_OTHER;
	if (token_is(t, i, "startwatch"))
		return PART_STARTWATCH;
	if (token_is(t, i, "elapsed"))
		return PART_ELAPSED;
	if (token_is(t, i, "pmu_profile"))
		return PART_PROFILE;
	if (token_is(t, i, "time_ms"))
		return PART_TIME;
	if (i >= 2 && token_is(t, i, "runqslower") && token_is(t, i - 1, ".") &&
	    token_is(t, i - 2, "ppa"))
		return PART_RUNQSLOWER;
	return PART_OTHER;
}

static const char *prefix_of(enum part_kind kind)
{
	switch (kind) {
	case PART_STARTWATCH:
	case PART_ELAPSED:
		return "virtual";
	case PART_PROFILE:
		return "nmi";
	default:
		return NULL;
	}
}

static bool at_conditional(const struct parser *p)
{
	return at(p, "%(") || at(p, "%?") || at(p, "%:") || at(p, "%)");
}

/*
 * Of a conditional among probe points, or about them, all branches are probe
 * points.  Return: whether there was any of it
 */
static bool skip_conditions(struct parser *p)
{
	size_t begin = p->i;

	while (at_conditional(p)) {
		if (at(p, "%("))
			while (more(p) && !at(p, "%?"))
				p->i++;
		if (more(p))
			p->i++;
	}
	return p->i != begin;
}

/*
 * What ends a component: a dot, or what ends the probe point.  A brace that
 * stands where a component could begin is a group.
 */
static void parse_part(struct parser *p, struct part *part, size_t *in_group)
{
	const struct tokens *t = &p->s->t;
	const char *prefix;
	size_t i;

	*part = (struct part) { .begin = p->i, .kind = our_kind(t, p->i) };
	if (part->kind == PART_OTHER && token_is(t, p->i + 1, ".")) {
		enum part_kind next = our_kind(t, p->i + 2);

		prefix = prefix_of(next);
		if (prefix && at(p, prefix)) {
			part->kind = next;
			part->prefixed = true;
			p->i += 2;
		}
	}
	if (part->kind != PART_OTHER) {
		part->argument = p->i + 2;
	} else if (at(p, "{")) {
		size_t begin = p->i;

		skip_brackets(p, "{", "}");
		for (i = begin; i < p->i && !*in_group; i++)
			if (our_kind(t, i) != PART_OTHER)
				*in_group = i;
	}
	while (more(p) && !at(p, ".") && !at(p, ",") && !at(p, "{") &&
	       !at(p, "}") && !at(p, "=") && !at(p, "+=") && !at(p, "?") &&
	       !at(p, "!") && !at(p, "if") && !at_conditional(p)) {
		if (at(p, "("))
			skip_brackets(p, "(", ")");
		else
			p->i++;
	}
	part->end = p->i;
}

static void parse_point(struct parser *p, struct point *point)
{
	*point = (struct point) { .begin = p->i };
	for (;;) {
		GROW(point->parts, point->nr_parts);
		parse_part(p, &point->parts[point->nr_parts], &point->in_group);
		if (point->parts[point->nr_parts].kind != PART_OTHER)
			point->ours = true;
		point->nr_parts++;
		if (!at(p, "."))
			break;
		p->i++;
	}
	point->end = p->i;
	while (at(p, "?") || at(p, "!"))
		p->i++;
	if (at(p, "if")) {
		p->i++;
		if (at(p, "("))
			skip_brackets(p, "(", ")");
	}
}

static void free_points(struct probe *probe)
{
	size_t i;

	for (i = 0; i < probe->nr_points; i++)
		free(probe->points[i].parts);
	free(probe->points);
	probe->points = NULL;
	probe->nr_points = 0;
}

/*
 * What follows the last branch of a conditional, and goes for each of them: no
 * place for anything of ours.
 */
static void parse_rest(struct parser *p, struct point *last)
{
	struct point rest;
	size_t k;

	p->i++;
	parse_point(p, &rest);
	for (k = 0; k < rest.nr_parts && !last->in_group; k++)
		if (rest.parts[k].kind != PART_OTHER)
			last->in_group = rest.parts[k].begin;
	if (!last->in_group)
		last->in_group = rest.in_group;
	free(rest.parts);
	skip_conditions(p);
}

static void parse_list(struct parser *p, struct probe *probe)
{
	bool again;

	skip_conditions(p);
	do {
		GROW(probe->points, probe->nr_points);
		parse_point(p, &probe->points[probe->nr_points++]);
		again = skip_conditions(p);
		if (again && at(p, "."))
			parse_rest(p, &probe->points[probe->nr_points - 1]);
		again = again && more(p) && !at(p, "{") && !at(p, ",") &&
			!at(p, "=") && !at(p, "+=");
		while (at(p, ",")) {
			p->i++;
			skip_conditions(p);
			again = true;
		}
	} while (again);
}

/* After the word `probe'. */
static void parse_probe(struct parser *p)
{
	struct outline *s = p->s;
	struct probe *probe;

	GROW(s->probes, s->nr_probes);
	probe = &s->probes[s->nr_probes++];
	*probe = (struct probe) { 0 };
	parse_list(p, probe);
	while (at(p, "=") || at(p, "+=")) {
		GROW(probe->names, probe->nr_names);
		probe->names[probe->nr_names++] = (struct alias_name) {
			probe->points[0].begin, probe->points[0].end,
		};
		free_points(probe);
		p->i++;
		parse_list(p, probe);
	}
	probe->body = probe->body_end = p->i;
	if (!at(p, "{"))
		return;
	probe->body = p->i + 1;
	skip_brackets(p, "{", "}");
	if (probe->nr_names && at(p, ",") && token_is(&s->t, p->i + 1, "{")) {
		p->i++;
		skip_brackets(p, "{", "}");
	}
	probe->body_end = p->i;
}

/* A function's body has no probes; nor has C. */
static void skip_function(struct parser *p)
{
	while (more(p) && !at(p, "{") && !at(p, "probe") &&
	       p->s->t.tok[p->i].type != TOK_EMBEDDED)
		p->i++;
	if (at(p, "{"))
		skip_brackets(p, "{", "}");
}

static void parse_all(struct parser *p)
{
	while (more(p)) {
		if (at(p, "probe")) {
			p->i++;
			parse_probe(p);
		} else if (at(p, "function")) {
			p->i++;
			skip_function(p);
		} else {
			p->i++;
		}
	}
}

static struct parser
begin(const char *text, size_t len, const struct script_args *args,
      const struct script_facts *facts, struct outline *s)
{
	*s = (struct outline) { 0 };
	lex(text, len, args, &s->raw);
	preprocess(&s->raw, facts, &s->t);
	return (struct parser) { .s = s };
}

void parse(const char *text, size_t len, const struct script_args *args,
	   const struct script_facts *facts, struct outline *s)
{
	struct parser p = begin(text, len, args, facts, s);

	parse_all(&p);
}

void parse_points(const char *text, size_t len, const struct script_args *args,
		  const struct script_facts *facts, struct outline *s)
{
	struct parser p = begin(text, len, args, facts, s);

	parse_probe(&p);
	parse_all(&p);
}

void outline_free(struct outline *s)
{
	size_t i;

	for (i = 0; i < s->nr_probes; i++) {
		free_points(&s->probes[i]);
		free(s->probes[i].names);
	}
	free(s->probes);
	tokens_free(&s->t);
	tokens_free(&s->raw);
	*s = (struct outline) { 0 };
}

bool point_has(const struct point *p, enum part_kind kind)
{
	size_t k;

	for (k = 0; k < p->nr_parts; k++)
		if (p->parts[k].kind == kind)
			return true;
	return false;
}

unsigned int point_readings(const struct point *p)
{
	unsigned int nr = 0;
	size_t k;

	for (k = 0; k < p->nr_parts; k++)
		nr += p->parts[k].kind == PART_STARTWATCH ||
		      p->parts[k].kind == PART_ELAPSED;
	return nr;
}
