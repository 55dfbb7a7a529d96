/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/preprocess.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Where stap would go on for ever, or nearly so. */
#define MAX_DEPTH 100
#define MAX_MADE 50000

/* Tokens one after another, of the script or within it. */
struct stretch {
	struct token *tok;
	size_t nr;
};

struct macro {
	const struct token *name;
	struct stretch params;		/* with the commas between */
	struct stretch body;
};

/* A parameter as it is given, to be read as it would be where it stands. */
struct given {
	const struct token *name;
	struct stretch body;
};

/* A macro that is being expanded. */
struct use {
	const struct use *outer;	/* the macro in whose body it stands */
	const struct given *given;
	size_t nr_given;
	unsigned int depth;
};

/* A conditional, from its %( on. */
enum branch {
	BRANCH_CONDITION,	/* of it, the condition is being read */
	BRANCH_TAKEN,
	BRANCH_SKIPPED,
	BRANCH_EITHER,		/* nobody knows */
};

struct preprocessor {
	const struct script_facts *facts;
	struct tokens *seen;
	struct macro *macros;
	size_t nr_macros;
	enum branch *open;
	size_t nr_open;
	size_t skip_depth;	/* conditionals within what is skipped */
	struct tokens condition;
	struct token begin;	/* the %( of it */
	size_t made;
};

static bool word_is(const struct token *t, const char *s)
{
	return t->len == strlen(s) && !memcmp(t->s, s, t->len);
}

static bool same_word(const struct token *a, const struct token *b, size_t skip)
{
	return a->len == b->len + skip && !memcmp(a->s + skip, b->s, b->len);
}

static bool is_skipping(const struct preprocessor *p)
{
	return p->nr_open && p->open[p->nr_open - 1] == BRANCH_SKIPPED;
}

static void open_conditional(struct preprocessor *p, const struct token *t)
{
	p->open = xrealloc(p->open, (p->nr_open + 1) * sizeof(*p->open));
	p->open[p->nr_open++] = BRANCH_CONDITION;
	p->condition.nr = 0;
	p->begin = *t;
}

static void decide(struct preprocessor *p, const struct token *t)
{
	enum truth is = condition_decide(&p->condition, p->facts);
	size_t k;

	p->open[p->nr_open - 1] = is == YES ? BRANCH_TAKEN :
				  is == NO ? BRANCH_SKIPPED : BRANCH_EITHER;
	if (is != UNKNOWN)
		return;
	tokens_add(p->seen, &p->begin);
	for (k = 0; k < p->condition.nr; k++)
		tokens_add(p->seen, &p->condition.tok[k]);
	tokens_add(p->seen, t);
}

/* What is skipped ends at its own %: or %). */
static void skip(struct preprocessor *p, const struct token *t)
{
	if (word_is(t, "%("))
		p->skip_depth++;
	else if (p->skip_depth && word_is(t, "%)"))
		p->skip_depth--;
	else if (p->skip_depth)
		return;
	else if (word_is(t, "%:"))
		p->open[p->nr_open - 1] = BRANCH_TAKEN;
	else if (word_is(t, "%)"))
		p->nr_open--;
}

static void take(struct preprocessor *p, const struct token *t)
{
	enum branch *branch = p->nr_open ? &p->open[p->nr_open - 1] : NULL;

	if (branch && *branch == BRANCH_CONDITION) {
		if (word_is(t, "%?"))
			decide(p, t);
		else
			tokens_add(&p->condition, t);
	} else if (branch && *branch == BRANCH_SKIPPED) {
		skip(p, t);
	} else if (word_is(t, "%(")) {
		open_conditional(p, t);
	} else if (branch && *branch == BRANCH_TAKEN && word_is(t, "%:")) {
		*branch = BRANCH_SKIPPED;
	} else if (branch && *branch == BRANCH_TAKEN && word_is(t, "%)")) {
		p->nr_open--;
	} else {
		if (branch && word_is(t, "%)"))
			p->nr_open--;
		tokens_add(p->seen, t);
	}
}

static const struct macro *find_macro(const struct preprocessor *p,
				      const struct token *t)
{
	size_t k;

	for (k = p->nr_macros; k--;)
		if (same_word(t, p->macros[k].name, 1))
			return &p->macros[k];
	return NULL;
}

/*
 * Of a parameter, or of all of them: to the comma or parenthesis after it.
 * Return: the token's number, or in.nr
 */
static size_t given_end(struct stretch in, size_t i)
{
	size_t depth = 0;

	for (; i < in.nr; i++) {
		const struct token *t = &in.tok[i];

		if (t->type != TOK_OP)
			continue;
		if (word_is(t, "(") || word_is(t, "["))
			depth++;
		else if (depth && (word_is(t, ")") || word_is(t, "]")))
			depth--;
		else if (!depth && (word_is(t, ")") || word_is(t, ",")))
			break;
	}
	return i;
}

/*
 * The parameters after *I, which names the macro.
 * Return: whether there are as many as it takes; *I is the last token then
 */
static bool read_given(struct stretch in, size_t *i, const struct macro *m,
		       struct given *given)
{
	size_t nr = (m->params.nr + 1) / 2, at = *i + 1, k, end;

	if (!nr)
		return true;
	if (at >= in.nr || !word_is(&in.tok[at], "("))
		return false;
	for (k = 0; k < nr; k++) {
		end = given_end(in, ++at);
		if (end >= in.nr ||
		    word_is(&in.tok[end], ")") != (k + 1 == nr))
			return false;
		given[k] = (struct given) {
			.name = &m->params.tok[2 * k],
			.body = { in.tok + at, end - at },
		};
		at = end;
	}
	*i = at;
	return true;
}

static void expand(struct preprocessor *p, struct stretch in,
		   const struct use *use, const struct token *maker);

/* A parameter of the macro whose body this is. */
static bool expand_given(struct preprocessor *p, const struct token *t,
			 const struct use *use, const struct token *maker)
{
	struct use at = { 0 };
	size_t k;

	for (k = 0; k < use->nr_given; k++) {
		if (!same_word(t, use->given[k].name, 1))
			continue;
		if (use->outer)
			at = *use->outer;
		at.depth = use->depth + 1;
		expand(p, use->given[k].body, &at, maker);
		return true;
	}
	return false;
}

static bool expand_macro(struct preprocessor *p, struct stretch in, size_t *i,
			 const struct use *use, const struct token *maker)
{
	struct use here = { .outer = use, .depth = use ? use->depth + 1 : 0 };
	const struct macro *m = find_macro(p, &in.tok[*i]);
	struct token self = in.tok[*i];
	struct given *given;
	size_t first = *i, k;

	if (!m)
		return false;
	here.nr_given = (m->params.nr + 1) / 2;
	here.given = given = xmalloc((here.nr_given + 1) * sizeof(*given));
	if (!read_given(in, i, m, given)) {
		free(given);
		return false;
	}
	self.span = in.tok[*i].at + in.tok[*i].span - self.at;
	self.made = true;
	for (k = first; !maker && k <= *i; k++)
		in.tok[k].dead = is_skipping(p);
	expand(p, m->body, &here, maker ?: &self);
	free(given);
	return true;
}

/* Token *I begins with @.  Return: whether it was expanded; *I is the last token
 * of the use then */
static bool expand_at(struct preprocessor *p, struct stretch in, size_t *i,
		      const struct use *use, const struct token *maker)
{
	if ((use && use->depth > MAX_DEPTH) || p->made > MAX_MADE)
		return false;
	if (use && expand_given(p, &in.tok[*i], use, maker))
		return true;
	return expand_macro(p, in, i, use, maker);
}

/* After the @define in token I.  Return: the last token of the definition */
static size_t define(struct preprocessor *p, struct stretch in, size_t i)
{
	bool broken = p->seen->broken;
	struct macro m = { 0 };
	size_t k = i + 2, depth = 0;

	p->seen->broken = true;
	if (k >= in.nr || in.tok[i + 1].type != TOK_WORD)
		return i;
	m.name = &in.tok[i + 1];
	if (word_is(&in.tok[k], "(")) {
		m.params.tok = in.tok + k + 1;
		k = given_end(in, k + 1);
		while (k < in.nr && word_is(&in.tok[k], ","))
			k = given_end(in, k + 1);
		m.params.nr = in.tok + k - m.params.tok;
		k++;
	}
	if (k >= in.nr || !word_is(&in.tok[k], "%("))
		return i;
	m.body.tok = in.tok + k + 1;
	for (; k < in.nr; k++) {
		if (word_is(&in.tok[k], "%("))
			depth++;
		else if (word_is(&in.tok[k], "%)") && !--depth)
			break;
	}
	if (k == in.nr)
		return i;
	p->seen->broken = broken;
	m.body.nr = in.tok + k - m.body.tok;
	p->macros = xrealloc(p->macros,
			     (p->nr_macros + 1) * sizeof(*p->macros));
	p->macros[p->nr_macros++] = m;
	return k;
}

/* What of @in there is to be seen; of a macro it is all where @maker stands. */
static void expand(struct preprocessor *p, struct stretch in,
		   const struct use *use, const struct token *maker)
{
	struct token t;
	size_t i;

	for (i = 0; i < in.nr; i++) {
		t = in.tok[i];
		if (!maker && word_is(&t, "@define") && !is_skipping(p)) {
			i = define(p, in, i);
			continue;
		}
		if (*t.s == '@' && t.type == TOK_WORD &&
		    expand_at(p, in, &i, use, maker))
			continue;
		if (maker) {
			t.line = maker->line;
			t.column = maker->column;
			t.at = maker->at;
			t.span = maker->span;
			t.made = true;
			p->made++;
		} else {
			in.tok[i].dead = is_skipping(p);
		}
		take(p, &t);
	}
}

void preprocess(struct tokens *raw, const struct script_facts *facts,
		struct tokens *seen)
{
	struct preprocessor p = { .facts = facts, .seen = seen };

	*seen = (struct tokens) { .lines = raw->lines };
	expand(&p, (struct stretch) { raw->tok, raw->nr }, NULL, NULL);
	if (p.nr_open)
		seen->broken = true;
	free(p.macros);
	free(p.open);
	tokens_free(&p.condition);
}
