/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many inputs went through a harness, which it says in the end, all in one form:
 * "fuzz TARGET: N executions, S s, seed D".  The target is what the program is called,
 * and the seed is the environment's FUZZ_SEED, or none.
 *
 * And which of them have all of it, where that takes most of the time.
 */
#ifndef EXECUTIONS_H
#define EXECUTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern char *program_invocation_short_name;

static unsigned long executions;
static struct timespec executions_began;

static void executions_say(void)
{
	const char *seed = getenv("FUZZ_SEED");
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("fuzz %s: %lu executions, %ld s, seed %s\n",
	       program_invocation_short_name, executions,
	       (long)(now.tv_sec - executions_began.tv_sec),
	       seed ? seed : "none");
}

/* One more.  After it, so that a process that it began does not say it, too. */
static inline void executions_add(void)
{
	if (executions++)
		return;
	clock_gettime(CLOCK_MONOTONIC, &executions_began);
	atexit(executions_say);
}

/* All have, unless who compiles it wants more of them in the same time. */
#ifndef ONE_OF
#define ONE_OF 1
#endif

/* Does this one?  The same input always does. */
static inline bool executions_all_of(const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261u;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619u;
	return (hash >> 16) % ONE_OF == 0;
}

#endif
