/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reading and writing a map's files have in common; see map.h. */
#include "lib/map.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char error_text[512];

const char *stapwatch_error(void)
{
	return error_text;
}

int map_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error_text, sizeof(error_text), fmt, ap);
	va_end(ap);
	errno = err;
	return -1;
}

int map_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int fd;

	dir = slash ? strndup(path, slash - path + 1) : strdup(".");
	if (!dir)
		return map_fail(ENOMEM, "out of memory");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		map_fail(errno, "%s: %s", dir, strerror(errno));
	free(dir);
	return fd;
}

void map_names_path(char path[MAP_NAMES_PATH], uint64_t session)
{
	snprintf(path, MAP_NAMES_PATH, PERFMAP_NAMES_OF,
		 (unsigned long long)session);
}
