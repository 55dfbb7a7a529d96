/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lex.h"
#include "buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
	const char *text;
	size_t len;
	size_t at;
	unsigned int line;
	size_t line_start;
};

static int peek(const struct cursor *c, size_t ahead)
{
	return c->len - c->at > ahead ? (unsigned char)c->text[c->at + ahead]
				      : -1;
}

static void step(struct cursor *c, size_t n)
{
	while (n-- && c->at < c->len) {
		if (c->text[c->at++] == '\n') {
			c->line++;
			c->line_start = c->at;
		}
	}
}

static void skip_line(struct cursor *c)
{
	const char *end = memchr(c->text + c->at, '\n', c->len - c->at);

	c->at = end ? (size_t)(end - c->text) : c->len;
}

/* To behind the two characters END, or to the end of the text. */
static void skip_past(struct cursor *c, const char *end)
{
	while (c->at < c->len &&
	       (peek(c, 0) != end[0] || peek(c, 1) != end[1]))
		step(c, 1);
	step(c, 2);
}

static bool skip_comment(struct cursor *c)
{
	int ch = peek(c, 0), next = peek(c, 1);

	if (ch == '#' || (ch == '/' && next == '/')) {
		skip_line(c);
		return true;
	}
	if (ch == '/' && next == '*') {
		step(c, 2);
		skip_past(c, "*/");
		return true;
	}
	return false;
}

static bool is_word(int ch)
{
	return ch >= 0 && (isalnum(ch) || ch == '_' || ch == '$');
}

static void skip_string(struct cursor *c)
{
	step(c, 1);
	while (c->at < c->len && peek(c, 0) != '\n') {
		int ch = peek(c, 0);

		step(c, ch == '\\' ? 2 : 1);
		if (ch == '"')
			break;
	}
}

static size_t op_len(const struct cursor *c)
{
	static const char two[][3] = {
		"==", "!=", "<=", ">=", "=~", "!~", "+=", "-=", "*=", "/=",
		"%=", "&=", "^=", "|=", ".=", "&&", "||", "++", "--", "->",
		"<<", ">>", "%(", "%?", "%:", "%)",
	};
	static const char three[][4] = { "<<<", ">>>", "<<=", ">>=" };
	const char *s = c->text + c->at;
	size_t left = c->len - c->at, i;

	for (i = 0; left >= 3 && i < sizeof(three) / sizeof(*three); i++)
		if (!memcmp(s, three[i], 3))
			return 3;
	for (i = 0; left >= 2 && i < sizeof(two) / sizeof(*two); i++)
		if (!memcmp(s, two[i], 2))
			return 2;
	return 1;
}

static enum token_type skip_token(struct cursor *c)
{
	int ch = peek(c, 0), next = peek(c, 1);

	if ((ch == '$' || ch == '@') && next == '#') {
		step(c, 2);
		return TOK_WORD;
	}
	if (isalpha(ch) || ch == '_' || ch == '$' || ch == '@') {
		do
			step(c, 1);
		while (is_word(peek(c, 0)));
		return TOK_WORD;
	}
	if (isdigit(ch)) {
		while (peek(c, 0) >= 0 && isalnum(peek(c, 0)))
			step(c, 1);
		return TOK_NUMBER;
	}
	if (ch == '"') {
		skip_string(c);
		return TOK_STRING;
	}
	if (ch == '%' && next == '{') {
		step(c, 2);
		skip_past(c, "%}");
		return TOK_EMBEDDED;
	}
	step(c, op_len(c));
	return TOK_OP;
}

void lex(const char *text, size_t len, struct tokens *out)
{
	struct cursor c = { .text = text, .len = len, .line = 1 };
	size_t room = 0;

	*out = (struct tokens) { .text = text };
	while (c.at < len) {
		struct token *t;

		if (isspace(peek(&c, 0))) {
			step(&c, 1);
			continue;
		}
		if (skip_comment(&c))
			continue;
		if (out->nr == room) {
			room = room ? 2 * room : 256;
			out->tok = xrealloc(out->tok, room * sizeof(*out->tok));
		}
		t = &out->tok[out->nr++];
		t->line = c.line;
		t->column = c.at - c.line_start + 1;
		t->offset = c.at;
		t->type = skip_token(&c);
		t->len = c.at - t->offset;
	}
	out->lines = c.line - (len && text[len - 1] == '\n');
}

void tokens_free(struct tokens *t)
{
	free(t->tok);
	*t = (struct tokens) { 0 };
}

bool token_is(const struct tokens *t, size_t i, const char *s)
{
	return i < t->nr && t->tok[i].len == strlen(s) &&
	       !memcmp(t->text + t->tok[i].offset, s, t->tok[i].len);
}

bool token_is_name(const struct tokens *t, size_t i)
{
	const char *s;

	if (i >= t->nr || t->tok[i].type != TOK_WORD)
		return false;
	s = t->text + t->tok[i].offset;
	return *s != '$' && *s != '@';
}
