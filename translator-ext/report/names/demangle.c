/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as their sources have them; demangle.h says what is wanted of it. */
#include "report/names/demangle.h"

#include <stddef.h>

#ifdef HAVE_LIBIBERTY

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

/* Debian's place, and Fedora's */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

/* What a name is made of may be in it again and again: ten bytes more may double it. */
#define LONGEST 4096

struct text {
	char s[LONGEST];
	size_t len;
	jmp_buf too_long;
};

/*
 * libiberty writes on to the end, whatever its reader does with that, so a name that
 * grows too long is left at once.  For names of C++ it holds nothing but its stack; of
 * one of Rust's, the identifier that it was at.
 */
static void add_text(const char *s, size_t len, void *arg)
{
	struct text *t = arg;

	if (len >= sizeof(t->s) - t->len)
		longjmp(t->too_long, 1);
	memcpy(t->s + t->len, s, len);
	t->len += len;
}

static bool demangle_by(int (*to)(const char *, int, demangle_callbackref,
				  void *),
			const char *name, struct text *t)
{
	t->len = 0;
	if (setjmp(t->too_long))
		return false;
	return to(name, DMGL_PARAMS | DMGL_ANSI, add_text, t);
}

char *demangle(const char *name)
{
	struct text t;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, LONGEST) == LONGEST)
		return NULL;
	if (!demangle_by(rust_demangle_callback, name, &t) &&
	    !demangle_by(cplus_demangle_v3_callback, name, &t))
		return NULL;
	return xstrndup(t.s, t.len);
}

#else /* !HAVE_LIBIBERTY */

char *demangle(const char *name)
{
	(void)name;
	return NULL;
}

#endif
