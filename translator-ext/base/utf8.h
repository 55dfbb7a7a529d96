/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UTF-8, of which what others named may be none.  The locale has no say in it.
 */
#ifndef STAPWATCH_UTF8_H
#define STAPWATCH_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/**
 * utf8_length - how many bytes the first character of a text has
 * @text: ends in a NUL; the empty one begins with a character of 1 byte
 *
 * Return: 1 to 4; 0 if the text does not begin with UTF-8
 */
size_t utf8_length(const char *text);

/**
 * utf8_code - the first character of a text
 * @text: the same text
 * @len: what utf8_length() said of it, and not 0
 */
uint32_t utf8_code(const char *text, size_t len);

/** utf8_characters - how many characters a text has; a byte that is no UTF-8 is one */
size_t utf8_characters(const char *text);

/**
 * utf8_text - add a text as UTF-8
 *
 * A byte that is none comes out as the character of its number, as in json_string().
 */
void utf8_text(struct buf *out, const char *text);

/** utf8_is_control - one of C0, DEL or C1: a command to a terminal, no text */
static inline bool utf8_is_control(uint32_t code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0);
}

#endif
