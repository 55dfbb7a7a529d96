/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking "/lib/modules/RELEASE/build/.config" failed: stap says no more than that,
 * nor which package has it.
 */
#define _GNU_SOURCE	/* memmem() */
#include "stap/headers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/shown.h"

static void put(const char *release, int n, struct buf *out)
{
	buf_printf(out, "stapwatch: there are no headers of Linux %.*s, for which stap is to compile: apt-get install linux-headers-%.*s (Debian), dnf install kernel-devel-%.*s (Fedora)",
		   n, release, n, release, n, release);
}

void headers_put(const char *line, size_t len, struct buf *out)
{
	static const char before[] = "Checking \"/lib/modules/";
	static const char after[] = "/build/.config\" failed";
	const size_t begin = strlen(before);
	const char *release = line + begin, *end;

	if (len < begin || memcmp(line, before, begin))
		return;
	end = memmem(release, len - begin, after, strlen(after));
	if (!end)
		return;
	buf_puts(out, "\n");
	put(release, end - release, out);
}

void headers_tell(FILE *out)
{
	struct buf config = { 0 }, text = { 0 };
	struct utsname u;

	if (uname(&u))
		return;
	buf_printf(&config, "/lib/modules/%s/build/.config", u.release);
	if (access(config.s, F_OK)) {
		put(u.release, strlen(u.release), &text);
		shown_line(out, "%s", text.s);
	}
	free(config.s);
	free(text.s);
}
