/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	buf_reserve(b, n);
	va_start(args, fmt);
	vsnprintf(b->s + b->len, n + 1, fmt, args);
	va_end(args);
	b->len += n;
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
