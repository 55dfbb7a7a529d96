/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for a terminal; shown.h says what is wanted of it. */
#define _XOPEN_SOURCE 700	/* wcwidth(), uselocale() */
#include "base/shown.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/utf8.h"

/* @kept: control characters that stay; @backslash: does not stay */
static void add(struct buf *out, const char *text, const char *kept,
		bool backslash)
{
	size_t len, i;

	for (; *text; text += len) {
		len = utf8_length(text);
		if (len && (!utf8_is_control(utf8_code(text, len)) ||
			    strchr(kept, *text)) &&
		    !(backslash && *text == '\\')) {
			buf_add(out, text, len);
			continue;
		}
		if (!len)
			len = 1;
		for (i = 0; i < len; i++)
			buf_printf(out, "\\x%02x", (unsigned char)text[i]);
	}
}

void shown_text(struct buf *out, const char *text)
{
	add(out, text, "", false);
}

void shown_lines(struct buf *out, const char *text)
{
	add(out, text, "\n\t", false);
}

void shown_name(struct buf *out, const char *name)
{
	add(out, name, "", true);
}

void shown_line(FILE *out, const char *fmt, ...)
{
	struct buf line = { 0 }, shown = { 0 };
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&line, fmt, args);
	va_end(args);
	if (line.len)
		shown_text(&shown, line.s);
	buf_puts(&shown, "\n");
	/* in one piece: others write to the same terminal */
	fwrite(shown.s, 1, shown.len, out);
	free(line.s);
	free(shown.s);
}

void shown_out(FILE *out, const char *text, size_t len)
{
	const char *end = text + len;
	struct buf shown = { 0 };

	if (!isatty(fileno(out))) {
		fwrite(text, 1, len, out);
		return;
	}
	for (; text < end; text++) {
		shown_lines(&shown, text);
		text += strlen(text);
		if (text < end)
			buf_puts(&shown, "\\x00");
	}
	fwrite(shown.s ?: "", 1, shown.len, out);
	free(shown.s);
}

/*
 * wcwidth(3) knows what lies beyond ASCII only where the locale is one of
 * UTF-8, and the user's may be another.  A system without C.UTF-8 has the
 * user's.  What it does not know takes one column.
 */
static int columns_of(uint32_t code)
{
	static locale_t utf8;
	static bool tried;
	locale_t before;
	int width;

	if (code < 0x80)
		return 1;
	if (!tried)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	tried = true;
	before = uselocale(utf8);
	width = wcwidth(code);
	uselocale(before);
	return width < 0 ? 1 : width;
}

/* How many bytes of a text fit; *width gets how many columns these take. */
static size_t fitting(const char *text, int most, int *width)
{
	const char *s = text;
	size_t len;
	int columns;

	*width = 0;
	for (; *s; s += len) {
		len = utf8_length(s);
		columns = len ? columns_of(utf8_code(s, len)) : 1;
		len += !len;
		if (columns > most - *width)
			break;
		*width += columns;
	}
	return s - text;
}

int shown_width(const char *text)
{
	int width;

	fitting(text, INT32_MAX, &width);
	return width;
}

static void add_spaces(struct buf *out, int nr)
{
	buf_printf(out, "%*s", nr > 0 ? nr : 0, "");
}

void shown_pad(struct buf *out, const char *text, int width)
{
	const int columns = shown_width(text);

	add_spaces(out, width - columns);
	buf_puts(out, text);
	add_spaces(out, -width - columns);
}

void shown_cut(struct buf *out, const char *text, int width)
{
	int columns;

	buf_add(out, text, fitting(text, width, &columns));
	add_spaces(out, width - columns);
}
