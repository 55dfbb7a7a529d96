/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What brings the kernel's headers, where stap misses them. */
#ifndef STAPWATCH_HEADERS_H
#define STAPWATCH_HEADERS_H

#include <stddef.h>

#include "base/buf.h"

/**
 * headers_put - add a line below one of stap's, if that is of missing headers
 * @line: what stap said, without its newline; need not end in a NUL
 */
void headers_put(const char *line, size_t len, struct buf *out);

#endif
