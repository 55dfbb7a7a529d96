/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An input as a file that a reader opens by its path. */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../ensure.h"

/* One file has them all, one after the other. */
static inline const char *input_path(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	ensure(fd >= 0 && !ftruncate(fd, size));
	ensure(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

#endif
