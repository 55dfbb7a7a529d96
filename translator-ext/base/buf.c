/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRAINED (256 * 1024)	/* bytes that are much */

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ?: 1);
	if (!p) {
		fputs("stapwatch: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

void *xmalloc(size_t size)
{
	return xrealloc(NULL, size);
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

static void buf_reserve(struct buf *b, size_t more)
{
	if (b->s && b->size - b->len > more)
		return;
	b->size = (b->len + more + 1) * 2;
	b->s = xrealloc(b->s, b->size);
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
	buf_reserve(b, len);
	if (len)
		memcpy(b->s + b->len, bytes, len);
	b->len += len;
	b->s[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	if (n >= 0) {
		buf_reserve(b, n);
		vsnprintf(b->s + b->len, n + 1, fmt, again);
		b->len += n;
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	buf_vprintf(b, fmt, args);
	va_end(args);
}

void buf_stap_string(struct buf *b, const char *s)
{
	buf_puts(b, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_puts(b, "\\");
		if (isprint((unsigned char)*s))
			buf_add(b, s, 1);
		else
			buf_printf(b, "\\%03o", (unsigned char)*s);
	}
	buf_puts(b, "\"");
}

char *buf_take(struct buf *b)
{
	char *s;

	buf_add(b, "", 0);
	s = b->s;
	*b = (struct buf) { 0 };
	return s;
}

int buf_flush(struct buf *b, int fd)
{
	size_t at = 0;
	ssize_t done;

	while (at < b->len) {
		done = write(fd, b->s + at, b->len - at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		at += done;
	}
	b->len = 0;
	return 0;
}

void buf_drain(struct buf *b, FILE *to)
{
	if (!to || b->len < DRAINED || ferror(to))
		return;
	if (fwrite(b->s, 1, b->len, to) == b->len)
		b->len = 0;
}
