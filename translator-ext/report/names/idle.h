/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's functions in which a CPU has nothing to do. */
#ifndef STAPWATCH_IDLE_H
#define STAPWATCH_IDLE_H

#include <stdbool.h>

/**
 * is_idle_function - whether a CPU's idle thread, while it is there, is idle
 * @name: of the innermost function: interrupts within the loop are work
 */
bool is_idle_function(const char *name);

#endif
