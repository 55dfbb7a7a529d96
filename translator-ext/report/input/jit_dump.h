/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a JIT compiler writes of its code while it goes on: jit-PID.dump, in the format
 * of perf's agents (tools/perf/Documentation/jitdump-specification.txt of the kernel).
 * It says from when on which function is where, so code that took the place of other
 * code, or was moved, is told apart by the time of a sample.
 *
 * The file is the program's: what stands in it is not trusted.
 */
#ifndef STAPWATCH_JIT_DUMP_H
#define STAPWATCH_JIT_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"

/* Places of such code are no addresses of a process: each function has its own. */
#define JIT_PLACES (1ULL << 63)

/* A function, from a time on, at an address. */
struct jit_code {
	uint64_t time;		/* ns, of the clock that a trace has */
	uint64_t addr;
	uint64_t size;
	uint64_t place;		/* what stands for its first byte for ever */
	uint32_t name;		/* a number of the texts */
};

struct jit_dump;

/** jit_dump_is - whether a mapped file's path is that of such a file */
bool jit_dump_is(const char *path);

/**
 * jit_dump_read - what a process's file says
 * @path: as the process has it; looked for below its root while it lives
 *
 * Return: never NULL; without code where there is no such file, or none to be
 * trusted
 */
struct jit_dump *jit_dump_read(const char *path, uint32_t pid,
			       struct intern *texts);
void jit_dump_free(struct jit_dump *d);

/** jit_dump_why - what was not taken, and why; NULL: nothing */
const char *jit_dump_why(const struct jit_dump *d);

/** jit_dump_codes - all of it, in the order of time */
const struct jit_code *jit_dump_codes(const struct jit_dump *d, uint32_t *nr);

/**
 * jit_dump_state - which code is there at a time
 *
 * Times must not go back from call to call; a state stays as it is for ever.
 */
uint32_t jit_dump_state(struct jit_dump *d, uint64_t time);

/**
 * jit_dump_find - whose an address is
 * @place: gets what stands for it
 *
 * Return: whether it is any's in that state
 */
bool jit_dump_find(const struct jit_dump *d, uint32_t state, uint64_t addr,
		   uint64_t *place);

#endif
