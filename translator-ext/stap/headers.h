/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What brings the kernel's headers, where stap misses them. */
#ifndef STAPWATCH_HEADERS_H
#define STAPWATCH_HEADERS_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/**
 * headers_put - add a line below one of stap's, if that is of missing headers
 * @line: what stap said, without its newline; need not end in a NUL
 */
void headers_put(const char *line, size_t len, struct buf *out);

/** headers_tell - the same where nobody has seen what stap said: if the running kernel has none */
void headers_tell(FILE *out);

#endif
