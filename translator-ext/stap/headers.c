/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking "/lib/modules/RELEASE/build/.config" failed: stap says no more than that,
 * nor which package has it.
 */
#define _GNU_SOURCE	/* memmem() */
#include "stap/headers.h"

#include <string.h>

void headers_put(const char *line, size_t len, struct buf *out)
{
	static const char before[] = "Checking \"/lib/modules/";
	static const char after[] = "/build/.config\" failed";
	const size_t begin = strlen(before);
	const char *release = line + begin, *end;
	int n;

	if (len < begin || memcmp(line, before, begin))
		return;
	end = memmem(release, len - begin, after, strlen(after));
	if (!end)
		return;
	n = end - release;
	buf_printf(out, "\nstapwatch: there are no headers of Linux %.*s, for which stap is to compile: apt-get install linux-headers-%.*s (Debian), dnf install kernel-devel-%.*s (Fedora)",
		   n, release, n, release, n, release);
}
