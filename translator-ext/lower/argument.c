/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in the parentheses of a component of ours. */
#include "lower/lowering.h"

#include <ctype.h>
#include <stdlib.h>

char *argument_value(const struct lowering *l, size_t begin, size_t end)
{
	struct buf b = { 0 };
	size_t i, k;

	for (i = begin; i < end; i++) {
		const char *s = tok_text(l, i);
		const size_t len = tok_len(l, i);

		if (l->s.t.tok[i].type != TOK_STRING || len < 2 ||
		    s[len - 1] != '"') {
			free(b.s);
			return NULL;
		}
		for (k = 1; k < len - 1; k++) {
			if (s[k] == '\\' && k + 1 < len - 1)
				k++;
			if (s[k])
				buf_add(&b, s + k, 1);
		}
	}
	return begin < end ? buf_take(&b) : NULL;
}

char *argument_string(struct lowering *l, const struct part *part,
		      const char *what)
{
	size_t i = part->argument, end = i;
	char *value;

	while (end < part->end && l->s.t.tok[end].type == TOK_STRING)
		end++;
	if (end == i && end + 2 == part->end && is(l, end + 1, ")")) {
		const char *s = tok_text(l, i);

		if (*s == '@' && tok_len(l, i) > 1 && isdigit((unsigned char)s[1]))
			lower_fail(l, i, "%.*s: there is no such argument; %zu %s given",
				   (int)tok_len(l, i), s, l->opt->args.nr,
				   l->opt->args.nr == 1 ? "was" : "were");
		else
			lower_fail(l, i, "%s takes an event's name in quotes", what);
		return NULL;
	}
	if (end == i || !is(l, end, ")") || end + 1 != part->end) {
		lower_fail(l, part->begin, "%s takes one string, as in %s(\"cpu_cycles%s\")",
			   what, what, part->kind == PART_PROFILE ? ":1000000" : "");
		return NULL;
	}
	value = argument_value(l, i, end);
	/* one that has no end is the last */
	if (!value)
		lower_fail(l, end - 1, "%s takes an event's name in quotes", what);
	return value;
}

bool argument_event(struct lowering *l, size_t i, const char *text,
		    struct event *ev)
{
	char why[512];

	if (!event_resolve(text, l->opt->pmu, ev, why, sizeof(why)))
		return true;
	lower_fail(l, i, "%s", why);
	return false;
}
