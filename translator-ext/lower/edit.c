/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replacing in the user's text, which keeps its lines and columns. */
#include "lower/lowering.h"

#include <string.h>

void edit_blank(struct lowering *l, const struct tokens *t, size_t begin,
		size_t end)
{
	size_t i, k;

	for (i = begin; i < end; i++) {
		const struct token *tok = &t->tok[i];

		for (k = tok->at; k < tok->at + tok->span; k++)
			if (l->text[k] != '\n')
				l->text[k] = ' ';
	}
}

void edit_put(struct lowering *l, size_t offset, const char *s)
{
	memcpy(l->text + offset, s, strlen(s));
}

size_t edit_room(const struct lowering *l, const struct tokens *t, size_t i,
		 size_t end)
{
	const struct token *first = &t->tok[i];
	size_t to = first->at + first->span;
	const char *newline;

	for (i++; i < end; i++) {
		const struct token *tok = &t->tok[i];

		if (token_same_maker(&tok[-1], tok))
			continue;
		/* comments stay, so tokens must touch */
		if (tok->at != to)
			break;
		to = tok->at + tok->span;
	}
	/* a string may go on in the next line */
	newline = memchr(l->user + first->at, '\n', to - first->at);
	if (newline)
		to = newline - l->user;
	return to - first->at;
}

void edit_copy(const struct lowering *l, size_t begin, size_t end,
	       struct buf *b)
{
	size_t i, k, to = 0;

	for (i = begin; i < end; i++) {
		const struct token *t = &l->s.t.tok[i];

		if (i > begin && token_same_maker(&t[-1], t))
			continue;
		if (i > begin && t->at != to)
			buf_puts(b, " ");
		to = t->at + t->span;
		for (k = t->at; k < to; k++) {
			char c = l->user[k];

			buf_add(b, c == '\n' ? " " : &c, 1);
		}
	}
}

void edit_tail_line(struct lowering *l)
{
	buf_puts(&l->tail, "\n");
	l->tail_lines++;
}
