/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE	/* strverscmp() */
#include "script/condition.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum comparison { LESS = 1, EQUAL = 2, GREATER = 4 };

/* The outcomes that an operator takes; 0 for one that compares nothing. */
static unsigned int accepted(const struct tokens *c, size_t i)
{
	static const struct {
		const char *op;
		unsigned int outcomes;
	} ops[] = {
		{ "==", EQUAL }, { "!=", LESS | GREATER },
		{ "<", LESS }, { "<=", LESS | EQUAL },
		{ ">", GREATER }, { ">=", GREATER | EQUAL },
	};
	size_t k;

	for (k = 0; k < sizeof(ops) / sizeof(*ops); k++)
		if (token_is(c, i, ops[k].op))
			return ops[k].outcomes;
	return 0;
}

static enum truth is_one_of(unsigned int outcomes, int difference)
{
	unsigned int outcome = difference < 0 ? LESS :
			       difference > 0 ? GREATER : EQUAL;

	return outcomes & outcome ? YES : NO;
}

/* What a string means: without its quotes, escapes as stap reads them. */
static char *string_value(const struct token *t)
{
	struct buf b = { 0 };
	size_t k;

	for (k = 1; k + 1 < t->len; k++) {
		if (t->s[k] == '\\' && k + 2 < t->len) {
			k++;
			if (strchr("abtnvfrx01234567\\", t->s[k]))
				buf_puts(&b, "\\");
		}
		buf_add(&b, t->s + k, 1);
	}
	return buf_take(&b);
}

static bool is_number(const char *s, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(s, &end, 0);
	return !errno && !*end;
}

static bool token_number(const struct token *t, int64_t *value)
{
	char *s = xstrndup(t->s, t->len);
	bool ok = t->type == TOK_NUMBER && is_number(s, value);

	free(s);
	return ok;
}

static enum truth compare_numbers(unsigned int outcomes, int64_t l, int64_t r)
{
	return is_one_of(outcomes, l < r ? -1 : l > r);
}

/* Against a pattern, where only == and != make sense. */
static enum truth compare_pattern(unsigned int outcomes, const char *value,
				  const char *pattern)
{
	bool same;

	if (outcomes != EQUAL && outcomes != (LESS | GREATER))
		return UNKNOWN;
	same = !fnmatch(pattern, value, FNM_NOESCAPE);
	return same == (outcomes == EQUAL) ? YES : NO;
}

static enum truth compare_version(unsigned int outcomes, const char *value,
				  const char *query)
{
	if (strpbrk(query, "*?["))
		return compare_pattern(outcomes, value, query);
	return is_one_of(outcomes, strverscmp(value, query));
}

/* The value of a CONFIG_, empty if it is not set; NULL if nobody knows. */
static char *config_value(const struct script_facts *facts,
			  const struct token *name)
{
	struct buf path = { 0 };
	char *line = NULL, *value = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *f;

	if (!facts->build_tree)
		return NULL;
	buf_printf(&path, "%s/.config", facts->build_tree);
	f = fopen(path.s, "re");
	free(path.s);
	if (!f)
		return NULL;
	while ((len = getline(&line, &size, f)) > 0) {
		if (line[len - 1] == '\n')
			line[--len] = '\0';
		if ((size_t)len <= name->len || line[name->len] != '=' ||
		    memcmp(line, name->s, name->len))
			continue;
		free(value);
		value = xstrdup(line + name->len + 1);
	}
	free(line);
	fclose(f);
	return value ?: xstrdup("");
}

static enum truth compare_configs(unsigned int outcomes, const char *l,
				  const char *r)
{
	int64_t a, b;

	if (is_number(l, &a) && is_number(r, &b))
		return compare_numbers(outcomes, a, b);
	return is_one_of(outcomes, strcmp(l, r));
}

static bool is_config(const struct token *t)
{
	return t->type == TOK_WORD && t->len > 7 && !memcmp(t->s, "CONFIG_", 7);
}

static enum truth decide_config(unsigned int outcomes,
				const struct script_facts *facts,
				const struct token *l, const struct token *r)
{
	char *value = config_value(facts, l), *other = NULL;
	enum truth is = UNKNOWN;
	int64_t a, b;

	if (!value)
		return UNKNOWN;
	if (r->type == TOK_STRING) {
		other = string_value(r);
		is = compare_pattern(outcomes, value, other);
	} else if (is_config(r)) {
		other = config_value(facts, r);
		if (other)
			is = compare_configs(outcomes, value, other);
	} else if (token_number(r, &b) && is_number(value, &a)) {
		is = compare_numbers(outcomes, a, b);
	}
	free(value);
	free(other);
	return is;
}

/* A word that stands for a fact, against a string. */
static enum truth decide_fact(unsigned int outcomes,
			      const struct script_facts *facts,
			      const struct tokens *c, size_t i)
{
	char *query = string_value(&c->tok[i + 2]), *base = NULL;
	enum truth is = UNKNOWN;
	const char *version;

	if (token_is(c, i, "kernel_v") && facts->release) {
		base = xstrndup(facts->release, strcspn(facts->release, "-"));
		is = compare_version(outcomes, base, query);
	} else if (token_is(c, i, "kernel_vr") && facts->release) {
		is = compare_version(outcomes, facts->release, query);
	} else if (token_is(c, i, "systemtap_v") && facts->systemtap_v) {
		version = facts->systemtap_v(facts->of);
		if (version)
			is = compare_version(outcomes, version, query);
	} else if (token_is(c, i, "arch") && facts->arch) {
		is = compare_pattern(outcomes, facts->arch, query);
	} else if (token_is(c, i, "runtime") && facts->runtime) {
		is = compare_pattern(outcomes, facts->runtime, query);
	} else if (token_is(c, i, "systemtap_privilege") && facts->privilege &&
		   (outcomes == EQUAL || outcomes == (LESS | GREATER))) {
		is = is_one_of(outcomes, strcmp(facts->privilege, query));
	}
	free(base);
	free(query);
	return is;
}

/* Of the three tokens from I on. */
static enum truth decide_one(const struct tokens *c, size_t i,
			     const struct script_facts *facts)
{
	const struct token *l = &c->tok[i], *r = &c->tok[i + 2];
	unsigned int outcomes = accepted(c, i + 1);
	char *left, *right;
	enum truth is;
	int64_t a, b;

	if (!outcomes)
		return UNKNOWN;
	if (is_config(l))
		return decide_config(outcomes, facts, l, r);
	if (token_number(l, &a) && token_number(r, &b))
		return compare_numbers(outcomes, a, b);
	if (token_is(c, i, "guru_mode") && facts->guru_mode &&
	    (outcomes == EQUAL || outcomes == (LESS | GREATER)) &&
	    token_number(r, &b) && (b == 0 || b == 1))
		return compare_numbers(outcomes, *facts->guru_mode - '0', b);
	if (r->type != TOK_STRING)
		return UNKNOWN;
	if (l->type != TOK_STRING)
		return decide_fact(outcomes, facts, c, i);
	left = string_value(l);
	right = string_value(r);
	is = is_one_of(outcomes, strcmp(left, right));
	free(left);
	free(right);
	return is;
}

enum truth condition_decide(const struct tokens *c,
			    const struct script_facts *facts)
{
	enum truth any = NO, all = YES, is;
	size_t i;

	for (i = 0; i + 2 < c->nr; i += 4) {
		is = decide_one(c, i, facts);
		if (is == NO)
			all = NO;
		else if (is == UNKNOWN && all == YES)
			all = UNKNOWN;
		if (i + 3 < c->nr && token_is(c, i + 3, "&&"))
			continue;
		if (i + 3 < c->nr && !token_is(c, i + 3, "||"))
			return UNKNOWN;
		if (all == YES)
			any = YES;
		else if (all == UNKNOWN && any == NO)
			any = UNKNOWN;
		all = YES;
	}
	/* each is of three tokens, with an operator between */
	return c->nr % 4 == 3 ? any : UNKNOWN;
}
