/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of a stap script, in stap's own terms, with their places.
 *
 * Any bytes are tokens of some kind: what stap would refuse is for stap to
 * refuse.  Arguments are put in as stap does it, character by character: $1 as
 * it is, @1 as a string.  Stap reads up to a NUL, and so do we.
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
	const char *s;		/* not terminated */
	size_t len;
	enum token_type type;
	unsigned int line;	/* from 1 */
	unsigned int column;	/* from 1, in bytes */
	/*
	 * Where it stands in the script.  If it was made, of an argument or by
	 * a macro, it is what it was made of that stands there.
	 */
	size_t at;
	size_t span;
	bool made;
	bool dead;		/* in a branch that is not taken */
};

struct tokens {
	struct token *tok;
	size_t nr;
	size_t room;
	unsigned int lines;	/* of the text; the last need not end in \n */
	bool broken;		/* the preprocessor's part of it: stap refuses it */
	struct token open;	/* a comment that has no end, if its span is not 0 */
	char **made;		/* what tokens that cross an edge say */
	size_t nr_made;
};

/* A script's arguments, $1 and @1 the first. */
struct script_args {
	const char *const *args;
	size_t nr;
};

void lex(const char *text, size_t len, const struct script_args *args,
	 struct tokens *out);
void tokens_free(struct tokens *t);
void tokens_add(struct tokens *t, const struct token *tok);

/* Is token I there, and spelled S? */
bool token_is(const struct tokens *t, size_t i, const char *s);
/* Is it a word that begins with no $ or @? */
bool token_is_name(const struct tokens *t, size_t i);
bool token_same_word(const struct token *a, const struct token *b);
/* Were tokens A and B made by the same? */
bool token_same_maker(const struct token *a, const struct token *b);

#endif
