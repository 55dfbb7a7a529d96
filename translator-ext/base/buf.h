/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing string.  Out of memory ends the program, with a message.
 */
#ifndef STAPWATCH_BUF_H
#define STAPWATCH_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Always NUL-terminated; { 0 } is empty, and then s is NULL. */
struct buf {
	char *s;
	size_t len;
	size_t size;
};

void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0), nonnull(2)));
/* buf_stap_string() - a string as scripts have it, in quotes */
void buf_stap_string(struct buf *b, const char *s);
/* buf_take() - the string, never NULL, to be freed; the buffer is empty */
char *buf_take(struct buf *b);
/* buf_flush() - write all of it, and empty it; -1 with errno */
int buf_flush(struct buf *b, int fd);
/*
 * buf_drain() - write it to a file, if there is one and there is much of it;
 * after an error, which ferror() tells, it stays: who writes it then learns why
 */
void buf_drain(struct buf *b, FILE *to);

void *xmalloc(size_t size);
void *xrealloc(void *p, size_t size);
char *xstrndup(const char *s, size_t n);
char *xstrdup(const char *s);

#endif
