/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Warnings of a command: collected where something is found, told at one place, each
 * once, in the order of what they are about.
 */
#ifndef STAPWATCH_WARNINGS_H
#define STAPWATCH_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a warning is about, the worst first. */
enum warning_of {
	WARNING_NUMBERS,	/* they are wrong, or not of all */
	WARNING_NAMES,		/* what the numbers are of is not known */
	WARNING_HINT,
};

struct warning;

/* { 0 } has none. */
struct warnings {
	struct warning *all;
	size_t nr, size;
	bool several;		/* there is more than one trace: each line names its own */
};

/**
 * warnings_share - which part of WHOLE is meant, from 0 to 1
 * @whole: 0: nobody knows, and it may be all
 */
double warnings_share(uint64_t part, uint64_t whole);

/**
 * warnings_add - one more
 * @share: of warnings that are about the same, the greatest is told first
 * @fmt: as of printf(): a line without its end
 */
void warnings_add(struct warnings *w, enum warning_of of, double share,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/**
 * warnings_print - tell all that there are, sorted, those that are alike once
 * @command: what stands before each
 *
 * None is left.
 */
void warnings_print(struct warnings *w, const char *command, FILE *out);

#endif
