/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a command line; words.h. */
#include "cmd/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%"

char *words_of_shell(int argc, char **argv)
{
	struct buf b = { 0 };
	int i;

	for (i = 0; i < argc; i++) {
		const char *s = argv[i];

		if (i)
			buf_puts(&b, " ");
		if (*s && !s[strspn(s, PLAIN)]) {
			buf_puts(&b, s);
			continue;
		}
		buf_puts(&b, "'");
		for (; *s; s++) {
			if (*s == '\'')
				buf_puts(&b, "'\\''");
			else
				buf_add(&b, s, 1);
		}
		buf_puts(&b, "'");
	}
	return buf_take(&b);
}

char *words_of_global(const char *name, const char *value)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s=%s", name, value);
	return buf_take(&b);
}

char *words_of_cpus(const char *list)
{
	char *words = words_of_global("stapwatch_cpus", list), *c;

	/* -G lets no comma pass */
	for (c = words; *c; c++)
		if (*c == ',')
			*c = '.';
	return words;
}

bool words_number(const char *s, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(s, &end, 10);
	return *s >= '0' && *s <= '9' && !*end && !errno && *n &&
	       *n <= INT32_MAX;
}
