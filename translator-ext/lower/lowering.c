/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes wrong, said where it stands in the user's script. */
#include "lower/lowering.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/shown.h"

static void fail(struct lowering *l, const struct token *t, const char *fmt,
		 va_list args)
{
	struct buf what = { 0 };

	if (++l->errors > LOWER_MAX_ERRORS)
		return;
	buf_vprintf(&what, fmt, args);
	shown_line(l->err, "%s:%u:%u: %s", l->name, t->line, t->column,
		   what.s ?: "");
	free(what.s);
}

void lower_fail(struct lowering *l, size_t i, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fail(l, &l->s.t.tok[i], fmt, args);
	va_end(args);
}

void lower_fail_at(struct lowering *l, const struct token *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fail(l, t, fmt, args);
	va_end(args);
}
