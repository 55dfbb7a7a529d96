/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of C++ and of Rust as their sources have them, by libiberty. */
#ifndef STAPWATCH_DEMANGLE_H
#define STAPWATCH_DEMANGLE_H

/**
 * demangle - what a symbol's name stands for
 *
 * Return: to be freed; NULL: nothing else than it says, or built without
 */
char *demangle(const char *name);

#endif
