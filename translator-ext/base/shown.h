/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text as a terminal may see it.
 *
 * Whatever has a name that others gave it (files, processes, events, counters)
 * goes through here before it is printed, on stdout and on stderr: a terminal
 * does as it is told, whoever says it.
 *
 * Text is UTF-8, in every locale.  A control character (C0, DEL, C1) and a byte
 * that is no UTF-8 come out as \xNN, byte by byte.
 */
#ifndef STAPWATCH_SHOWN_H
#define STAPWATCH_SHOWN_H

#include <stdio.h>

#include "base/buf.h"

/** shown_text - add a text as a terminal may see it */
void shown_text(struct buf *out, const char *text);

/**
 * shown_name - the same, with \x5c for a backslash
 *
 * So two names that differ look different, and look as in a map's list of names.
 */
void shown_name(struct buf *out, const char *name);

/**
 * shown_line - print a line as a terminal may see it
 * @fmt: as of printf(); the line's end is put after it
 */
void shown_line(FILE *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** shown_lines - the same of a text whose lines and tabs stay what they are */
void shown_lines(struct buf *out, const char *text);

/**
 * shown_out - print what may go to a file, or to a terminal
 * @text: @len bytes and a NUL; a file gets them as they are
 */
void shown_out(FILE *out, const char *text, size_t len);

/*
 * The following take what the functions above gave, or other text without
 * control characters.
 */

/** shown_width - how many of a terminal's columns a text takes */
int shown_width(const char *text);

/**
 * shown_pad - add a text, and spaces up to a width
 * @width: in columns; below 0 the spaces come after the text
 *
 * A text that is wider is added whole.
 */
void shown_pad(struct buf *out, const char *text, int width);

/**
 * shown_cut - add as much of a text as fits, and spaces after it
 * @width: in columns, which are filled exactly
 */
void shown_cut(struct buf *out, const char *text, int width);

#endif
