/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that a probe on the return of their functions ends.
 *
 * Such a probe has the kernel put another return address on the stack, for as long as
 * the call is under way.  Who looks through the stack meanwhile does not know it.
 */
#ifndef STAPWATCH_LATENCY_RETURNS_H
#define STAPWATCH_LATENCY_RETURNS_H

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>

/**
 * latency_returns_why - what speaks against such probes in a file
 * @mod: with its symbols
 * @elf: of it
 *
 * Return: NULL, or the end of a message: "... --force records all the same"
 */
const char *latency_returns_why(Dwfl_Module *mod, Elf *elf);

#endif

#endif
