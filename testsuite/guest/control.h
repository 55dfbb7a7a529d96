/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs share that have a session in a script's. */
#ifndef GUEST_CONTROL_H
#define GUEST_CONTROL_H

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "stapwatch.h"

static const char *path;

static const char *result(int rc)
{
	return rc ? strerrorname_np(errno) : "0";
}

static void say(const char *what, int rc)
{
	printf("%s: %s\n", what, result(rc));
}

static void say_why(const char *what, int rc)
{
	printf("%s: %s: %s\n", what, result(rc), rc ? stapwatch_error() : "");
}

static struct stapwatch_control *open_it(void)
{
	struct stapwatch_control *c = stapwatch_control_open(path);

	if (!c)
		errx(1, "%s", stapwatch_error());
	return c;
}

/* So many page faults. */
static void touch(int pages)
{
	char *m = mmap(NULL, pages * 4096L, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (m == MAP_FAILED || madvise(m, pages * 4096L, MADV_NOHUGEPAGE))
		err(1, "memory");
	for (i = 0; i < pages; i++)
		m[i * 4096L] = 1;
	munmap(m, pages * 4096L);
}

#endif
