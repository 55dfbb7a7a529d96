/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A $pmu[N] of a probe point that counts nothing, where stap took it for a variable. */
#ifndef STAPWATCH_UNCOUNTED_H
#define STAPWATCH_UNCOUNTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/** uncounted_may_be - has the script a $pmu[N], in whatever place? */
bool uncounted_may_be(const char *text, size_t len);

/**
 * uncounted_put - add a line below one of stap's, if that knows of no such variable
 * @line: what stap said, without its newline; need not end in a NUL
 */
void uncounted_put(const char *line, size_t len, struct buf *out);

#endif
