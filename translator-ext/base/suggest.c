/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names nearest to one that is not known: near is what a slip of the finger
 * makes of it, and what has all of its words.
 */
#include "base/suggest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FAR		1000u	/* a score that is no longer near */
#define MAX_SLIPS	4u
#define WORDS		10u	/* the score of having all the words */
#define SHORTEST_WORD	3	/* shorter ones are in any name */

/* Case, and which of - _ : . ties words together, is nothing to err in. */
static char fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 'a';
	return c == '-' || c == ':' || c == '.' ? '_' : c;
}

/* Returns the length. */
static size_t fold_name(char *to, const char *from, size_t len)
{
	size_t i;

	if (len > SUGGEST_LENGTH)
		len = SUGGEST_LENGTH;
	for (i = 0; i < len && from[i]; i++)
		to[i] = fold(from[i]);
	to[i] = '\0';
	return i;
}

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* How many letters are wrong, missing, too many, or swapped with the next. */
static unsigned int distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int row[3][SUGGEST_LENGTH + 1];
	unsigned int *two = row[0], *one = row[1], *now = row[2], *t;
	size_t i, j;

	for (j = 0; j <= m; j++)
		one[j] = j;
	for (i = 1; i <= n; i++) {
		now[0] = i;
		for (j = 1; j <= m; j++) {
			now[j] = one[j - 1] + (a[i - 1] != b[j - 1]);
			now[j] = min(now[j], min(one[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = min(now[j], two[j - 2] + 1);
		}
		t = two;
		two = one;
		one = now;
		now = t;
	}
	return one[m];
}

/* Is each word of WANT part of NAME, and is there one worth the name? */
static bool has_words(const char *want, const char *name)
{
	char word[SUGGEST_LENGTH + 1];
	bool any = false;
	size_t len;

	while (*want) {
		len = strcspn(want, "_");
		memcpy(word, want, len);
		word[len] = '\0';
		if (!strstr(name, word))
			return false;
		any |= len >= SHORTEST_WORD;
		want += len;
		want += strspn(want, "_");
	}
	return any;
}

static unsigned int score_of(const char *want, const char *name)
{
	size_t n = strlen(want), m = strlen(name);
	size_t apart = n < m ? m - n : n - m;
	unsigned int limit = min(1 + n / 6, MAX_SLIPS);
	unsigned int d;

	if (apart <= limit) {
		d = distance(want, n, name, m);
		if (d <= limit)
			return d;
	}
	return has_words(want, name) ? WORDS + apart : FAR;
}

void suggest_begin(struct suggest *s, const char *want, size_t len)
{
	memset(s, 0, sizeof(*s));
	fold_name(s->want, want, len);
}

/* Where that name is among the best; nr if it is not. */
static size_t place_of(const struct suggest *s, const char *prefix,
		       const char *name)
{
	size_t len = strlen(prefix), i;

	for (i = 0; i < s->nr; i++)
		if (!strncmp(s->best[i].name, prefix, len) &&
		    !strcmp(s->best[i].name + len, name))
			break;
	return i;
}

static void take_out(struct suggest *s, size_t i)
{
	free(s->best[i].name);
	s->nr--;
	memmove(&s->best[i], &s->best[i + 1],
		(s->nr - i) * sizeof(s->best[0]));
}

static void put_in(struct suggest *s, size_t i, char *name, unsigned int score)
{
	memmove(&s->best[i + 1], &s->best[i],
		(s->nr - i) * sizeof(s->best[0]));
	s->nr++;
	s->best[i].name = name;
	s->best[i].score = score;
}

void suggest_offer(struct suggest *s, const char *prefix, const char *name,
		   unsigned int later)
{
	char folded[SUGGEST_LENGTH + 1];
	unsigned int score;
	struct buf whole = { 0 };
	size_t i;

	fold_name(folded, name, SUGGEST_LENGTH);
	score = score_of(s->want, folded) + later;
	if (score >= FAR)
		return;
	/* a name may be near in two ways */
	i = place_of(s, prefix, name);
	if (i < s->nr) {
		if (s->best[i].score <= score)
			return;
		take_out(s, i);
	}
	for (i = 0; i < s->nr && s->best[i].score <= score; i++)
		;
	if (i == SUGGEST_MAX)
		return;
	if (s->nr == SUGGEST_MAX)
		take_out(s, s->nr - 1);
	buf_puts(&whole, prefix);
	buf_puts(&whole, name);
	put_in(s, i, buf_take(&whole), score);
}

void suggest_end(struct suggest *s, struct buf *out)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		buf_puts(out, i ? ", " : "; near: ");
		buf_puts(out, s->best[i].name);
		free(s->best[i].name);
	}
	s->nr = 0;
}
