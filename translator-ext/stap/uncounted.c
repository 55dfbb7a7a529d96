/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "unable to find local 'pmu'": the function may have had such a variable, so that it was
 * for stap to look.
 */
#define _GNU_SOURCE	/* memmem() */
#include "stap/uncounted.h"

#include <string.h>

static bool has(const char *text, size_t len, const char *s)
{
	return memmem(text, len, s, strlen(s));
}

bool uncounted_may_be(const char *text, size_t len)
{
	return has(text, len, "$pmu[");
}

void uncounted_put(const char *line, size_t len, struct buf *out)
{
	if (has(line, len, "unable to find local 'pmu'"))
		buf_puts(out, "\nstapwatch: $pmu[N] is of probe points that count: write startwatch(\"EVENT\") before function(\"...\"), as in kernel.startwatch(\"EVENT\").function(\"...\")");
}
