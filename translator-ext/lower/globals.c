/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names a script has for all of it, or for all scripts of a command line. */
#include "lower/lowering.h"

#include <string.h>

void globals_collect(const struct tokens *t, bool of_others,
		     struct lower_globals *g)
{
	bool global = false, private = false;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		if (!token_is_name(t, i))
			continue;
		if (token_is(t, i, "private")) {
			global = private = true;
		} else if (token_is(t, i, "global")) {
			global = true;
			private = i && token_is(t, i - 1, "private");
		} else if (token_is(t, i, "function")) {
			global = false;
			private = i && token_is(t, i - 1, "private");
			if (token_is(t, i + 1, "histogram") &&
			    !(private && of_others))
				g->own_histogram = true;
		} else if (token_is(t, i, "probe")) {
			global = false;
		} else if (global && !(private && of_others)) {
			intern(&g->names, t->tok[i].s, t->tok[i].len);
		}
	}
}

void lower_globals_add(struct lower_globals *g, const char *text, size_t len,
		       const struct lower_options *opt)
{
	struct outline s;

	parse(text, len, &opt->args, opt->facts, &s);
	globals_collect(&s.t, true, g);
	outline_free(&s);
}

void lower_globals_free(struct lower_globals *g)
{
	intern_free(&g->names);
}

bool globals_have(const struct lowering *l, const char *name)
{
	const size_t len = strlen(name);
	uint32_t nr;

	return intern_find(&l->globals.names, name, len, &nr) ||
	       (l->opt->globals &&
		intern_find(&l->opt->globals->names, name, len, &nr));
}

bool globals_own_histogram(const struct lowering *l)
{
	return l->globals.own_histogram ||
	       (l->opt->globals && l->opt->globals->own_histogram);
}
