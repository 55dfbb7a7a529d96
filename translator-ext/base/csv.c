/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in CSV; csv.h says what is wanted of it. */
#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

void csv_text(struct buf *out, const char *text)
{
	struct buf plain = { 0 };
	const char *s;

	shown_text(&plain, text);
	buf_puts(out, "\"");
	if (*text && strchr("=+-@", *text) && strcmp(text, "-"))
		buf_puts(out, "'");
	for (s = plain.s ?: ""; *s; s++) {
		if (*s == '"')
			buf_puts(out, "\"");
		buf_add(out, s, 1);
	}
	buf_puts(out, "\"");
	free(plain.s);
}
