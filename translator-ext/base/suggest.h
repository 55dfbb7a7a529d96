/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names nearest to one that is not known.
 */
#ifndef STAPWATCH_SUGGEST_H
#define STAPWATCH_SUGGEST_H

#include <stddef.h>

#include "base/buf.h"

#define SUGGEST_MAX	5	/* names that are offered at most */
#define SUGGEST_LENGTH	64	/* of a name, as far as it is looked at */

struct suggest {
	char want[SUGGEST_LENGTH + 1];
	size_t nr;
	struct {
		char *name;
		unsigned int score;
	} best[SUGGEST_MAX];
};

/**
 * suggest_begin - look for names that are near to this one
 * @s: what is found; suggest_end() frees it
 * @want: the name, which need not end in a NUL
 * @len: its length
 */
void suggest_begin(struct suggest *s, const char *want, size_t len);

/**
 * suggest_offer - one more name that there is
 * @prefix: put before it if it is shown; not compared
 * @name: the name
 * @later: by how much it comes after names that are as near
 *
 * Takes time that does not depend on how long the names are.
 */
void suggest_offer(struct suggest *s, const char *prefix, const char *name,
		   unsigned int later);

/**
 * suggest_end - say what was found
 * @s: no longer to be used
 * @out: gets "; near: A, B", or nothing if nothing is near
 */
void suggest_end(struct suggest *s, struct buf *out);

#endif
