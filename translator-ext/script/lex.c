/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/lex.h"
#include "base/buf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
	const char *text;
	size_t len;
	size_t at;
	unsigned int line;
	size_t line_start;
	/* an argument that is read before the text goes on */
	const struct script_args *args;
	char *paste;
	size_t paste_at;
	size_t paste_len;
	struct token maker;	/* where that stands */
};

static size_t pasted(const struct cursor *c)
{
	return c->paste_len - c->paste_at;
}

static bool is_more(const struct cursor *c)
{
	return pasted(c) || c->at < c->len;
}

static int peek(const struct cursor *c, size_t ahead)
{
	if (ahead < pasted(c))
		return (unsigned char)c->paste[c->paste_at + ahead];
	ahead -= pasted(c);
	return c->len - c->at > ahead ? (unsigned char)c->text[c->at + ahead]
				      : -1;
}

static void step(struct cursor *c, size_t n)
{
	while (n-- && is_more(c)) {
		if (pasted(c)) {
			c->paste_at++;
		} else if (c->text[c->at++] == '\n') {
			c->line++;
			c->line_start = c->at;
		}
	}
}

static void skip_line(struct cursor *c)
{
	while (is_more(c) && peek(c, 0) != '\n')
		step(c, 1);
}

/* To the place after the two characters END, or to the end of the text. */
static bool skip_past(struct cursor *c, const char *end)
{
	bool there;

	while (is_more(c) &&
	       (peek(c, 0) != end[0] || peek(c, 1) != end[1]))
		step(c, 1);
	there = is_more(c);
	step(c, 2);
	return there;
}

static bool skip_comment(struct cursor *c, struct tokens *out)
{
	struct token begin = {
		.line = c->line, .column = c->at - c->line_start + 1,
		.at = c->at, .span = 2,
	};
	int ch = peek(c, 0), next = peek(c, 1);

	if (ch == '#' || (ch == '/' && next == '/')) {
		skip_line(c);
		return true;
	}
	if (ch == '/' && next == '*') {
		step(c, 2);
		if (!skip_past(c, "*/"))
			out->open = begin;
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
	while (is_more(c) && peek(c, 0) != '\n') {
		int ch = peek(c, 0);

		step(c, ch == '\\' ? 2 : 1);
		if (ch == '"')
			break;
	}
}

static bool spells(const struct cursor *c, const char *s)
{
	size_t k;

	for (k = 0; s[k]; k++)
		if (peek(c, k) != (unsigned char)s[k])
			return false;
	return true;
}

static size_t op_len(const struct cursor *c)
{
	static const char two[][3] = {
		"==", "!=", "<=", ">=", "=~", "!~", "+=", "-=", "*=", "/=",
		"%=", "&=", "^=", "|=", ".=", "&&", "||", "++", "--", "->",
		"<<", ">>", "%(", "%?", "%:", "%)",
	};
	static const char three[][4] = { "<<<", ">>>", "<<=", ">>=" };
	size_t i;

	for (i = 0; i < sizeof(three) / sizeof(*three); i++)
		if (spells(c, three[i]))
			return 3;
	for (i = 0; i < sizeof(two) / sizeof(*two); i++)
		if (spells(c, two[i]))
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

/* As a string of the language, in quotes. */
static void put_quoted(struct buf *b, const char *s)
{
	buf_puts(b, "\"");
	for (; *s; s++) {
		unsigned char ch = *s;

		if (!isprint(ch)) {
			buf_printf(b, "\\%03o", ch);
			continue;
		}
		if (ch == '"' || ch == '\\')
			buf_puts(b, "\\");
		buf_add(b, s, 1);
	}
	buf_puts(b, "\"");
}

/*
 * $1, @1, $# and @#: what they stand for is read in their place.  Return: whether
 * there is such an argument here; one within another is for stap to refuse.
 */
static bool paste(struct cursor *c)
{
	size_t k = 1, n = 0, start = c->at;
	int kind = peek(c, 0);
	struct buf b = { 0 };
	char number[24];
	const char *s;

	if ((kind != '$' && kind != '@') || pasted(c))
		return false;
	if (peek(c, 1) == '#') {
		snprintf(number, sizeof(number), "%zu", c->args->nr);
		s = number;
		k = 2;
	} else {
		while (isdigit(peek(c, k)) && n <= c->args->nr)
			n = n * 10 + peek(c, k++) - '0';
		if (n < 1 || n > c->args->nr)
			return false;
		s = c->args->args[n - 1];
	}
	c->maker = (struct token) {
		.line = c->line, .column = start - c->line_start + 1,
		.at = start, .span = k, .made = true,
	};
	step(c, k);
	if (kind == '@')
		put_quoted(&b, s);
	else
		buf_puts(&b, s);
	free(c->paste);
	c->paste_at = 0;
	c->paste_len = b.len;
	c->paste = buf_take(&b);
	return true;
}

void tokens_add(struct tokens *t, const struct token *tok)
{
	if (t->nr == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->tok = xrealloc(t->tok, t->room * sizeof(*t->tok));
	}
	t->tok[t->nr++] = *tok;
}

/* One that is read from an argument, and maybe goes on in the text. */
static void take_made(struct cursor *c, struct tokens *out)
{
	size_t from = c->paste_at, at = c->at;
	struct token t = c->maker;
	struct buf b = { 0 };

	t.type = skip_token(c);
	buf_add(&b, c->paste + from, c->paste_at - from);
	buf_add(&b, c->text + at, c->at - at);
	t.span = c->at - t.at;
	t.len = b.len;
	out->made = xrealloc(out->made,
			     (out->nr_made + 1) * sizeof(*out->made));
	t.s = out->made[out->nr_made++] = buf_take(&b);
	tokens_add(out, &t);
}

void lex(const char *text, size_t len, const struct script_args *args,
	 struct tokens *out)
{
	struct cursor c = {
		.text = text, .len = strnlen(text, len), .line = 1, .args = args,
	};
	struct token t = { 0 };
	size_t i;

	*out = (struct tokens) { 0 };
	while (is_more(&c)) {
		if (isspace(peek(&c, 0))) {
			step(&c, 1);
			continue;
		}
		if (skip_comment(&c, out) || paste(&c))
			continue;
		if (pasted(&c)) {
			take_made(&c, out);
			continue;
		}
		t.line = c.line;
		t.column = c.at - c.line_start + 1;
		t.at = c.at;
		t.s = text + c.at;
		t.type = skip_token(&c);
		t.span = t.len = c.at - t.at;
		tokens_add(out, &t);
	}
	free(c.paste);
	for (i = 0; i < len; i++)
		out->lines += text[i] == '\n';
	out->lines += !len || text[len - 1] != '\n';
}

void tokens_free(struct tokens *t)
{
	size_t k;

	for (k = 0; k < t->nr_made; k++)
		free(t->made[k]);
	free(t->made);
	free(t->tok);
	*t = (struct tokens) { 0 };
}

bool token_is(const struct tokens *t, size_t i, const char *s)
{
	return i < t->nr && t->tok[i].len == strlen(s) &&
	       !memcmp(t->tok[i].s, s, t->tok[i].len);
}

bool token_is_name(const struct tokens *t, size_t i)
{
	return i < t->nr && t->tok[i].type == TOK_WORD &&
	       *t->tok[i].s != '$' && *t->tok[i].s != '@';
}

bool token_same_word(const struct token *a, const struct token *b)
{
	return a->len == b->len && !memcmp(a->s, b->s, a->len);
}

bool token_same_maker(const struct token *a, const struct token *b)
{
	return a->made && b->made && a->at == b->at;
}
