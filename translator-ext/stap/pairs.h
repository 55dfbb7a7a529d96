/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SystemTaps that make no modules for a kernel: pairs.tbl. */
#ifndef STAPWATCH_PAIRS_H
#define STAPWATCH_PAIRS_H

#include <stdbool.h>

/**
 * pairs_fit - can the stap at @path make modules that the kernel loads?
 * @version: the stap's
 * @release: the kernel's, as uname -r has it; NULL: the one that stap takes unasked
 *
 * Return: false after a message, where it is sure that it cannot; where it may have
 * been patched, true after a warning
 */
bool pairs_fit(const char *path, const char *version, const char *release);

#endif
