/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By which instructions a program's function returns.
 *
 * Probes there do what a probe on the function's return does, and leave the stack
 * as it is.  So a program may look through its stack, and leave calls as it likes.
 */
#ifndef STAPWATCH_LATENCY_EXITS_H
#define STAPWATCH_LATENCY_EXITS_H

#ifdef HAVE_LIBDW

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* As the runtime has it. */
#define LATENCY_MAX_EXITS 32

/* A function's code, or a part of it that the compiler has put elsewhere. */
struct latency_code {
	uint64_t addr, size;
	uint64_t offset;	/* in the file */
	const char *bytes;
};

/**
 * latency_exits_find - all ways out of a function, if each is a return of its own
 * @elf: the file
 * @parts: the function, and then its other parts
 * @nr: of them
 * @exits: gets each instruction's distance from the function, hexadecimal, after its sign
 *
 * Return: NULL, or why not, with the function as the subject
 */
const char *latency_exits_find(Elf *elf, const struct latency_code *parts,
			       size_t nr, struct buf *exits);

/** latency_exits_why_never - NULL, or why no function's can be found in a file */
const char *latency_exits_why_never(Elf *elf);

#endif

#endif
