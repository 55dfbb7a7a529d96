/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stretches of what stap says. */
#ifndef STAPWATCH_SPAN_H
#define STAPWATCH_SPAN_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"

/* A stretch of text, not terminated. */
struct span {
	const char *s;
	size_t len;
};

static inline struct span rest(struct span t, size_t from)
{
	if (from > t.len)
		from = t.len;
	return (struct span) { t.s + from, t.len - from };
}

static inline struct span first(struct span t, size_t len)
{
	return (struct span) { t.s, len < t.len ? len : t.len };
}

static inline bool starts(struct span t, const char *s)
{
	size_t len = strlen(s);

	return t.len >= len && !memcmp(t.s, s, len);
}

static inline bool same(struct span a, struct span b)
{
	return a.len == b.len && !memcmp(a.s, b.s, a.len);
}

static inline void put(struct buf *out, struct span t)
{
	buf_add(out, t.s, t.len);
}

/* The colour sequences that a text begins with: ESC [ 01;31 m, ESC [ K */
static inline size_t colours(struct span t)
{
	size_t i = 0, end;

	while (i + 1 < t.len && t.s[i] == '\033' && t.s[i + 1] == '[') {
		end = i + 2;
		while (end < t.len && !isalpha((unsigned char)t.s[end]))
			end++;
		if (end == t.len)
			break;
		i = end + 1;
	}
	return i;
}

#endif
