/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of a stap script, in stap's own terms, with their places.
 *
 * Any bytes are tokens of some kind: what stap would refuse is for stap to
 * refuse.
 */
#ifndef STAPWATCH_LEX_H
#define STAPWATCH_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum token_type {
	TOK_WORD,	/* identifiers, keywords, $target, @macro */
	TOK_NUMBER,
	TOK_STRING,	/* with its quotes; one that has no end too */
	TOK_EMBEDDED,	/* %{ ... %} */
	TOK_OP,		/* operators, and any other character */
};

struct token {
	enum token_type type;
	unsigned int line;	/* from 1 */
	unsigned int column;	/* from 1, in bytes */
	size_t offset;
	size_t len;
};

struct tokens {
	const char *text;
	struct token *tok;
	size_t nr;
	unsigned int lines;	/* of the text; the last need not end in \n */
};

void lex(const char *text, size_t len, struct tokens *out);
void tokens_free(struct tokens *t);

/* Is token I there, and spelled S? */
bool token_is(const struct tokens *t, size_t i, const char *s);
/* Is it a word that begins with no $ or @? */
bool token_is_name(const struct tokens *t, size_t i);

#endif
