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
	bool all_told;		/* notes of few samples, too */
	uint64_t samples;	/* of which there are notes */
	size_t few;		/* notes that warnings_print() leaves out */
	uint64_t few_samples;	/* that they are on; one that is in two of them is so twice */
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
 * warnings_note - one more, which is left out if it is of few samples
 * @samples: that it is on; 0: nobody knows, and it is told
 * @whole: of so many
 */
void warnings_note(struct warnings *w, enum warning_of of, uint64_t samples,
		   uint64_t whole, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/**
 * warnings_print_numbers - tell those that numbers are wrong, or not of all
 * @command: what stands before each
 *
 * For who has the numbers still to show: nobody is to read these without.  The others are left,
 * and those that warnings_print() leaves out.
 */
void warnings_print_numbers(struct warnings *w, const char *command, FILE *out);

/**
 * warnings_print - tell all that there are, sorted, those that are alike once
 * @command: what stands before each
 *
 * Notes that are on less than 1 % of the samples in all are left out; a last line has how
 * many these are.  None is left.
 */
void warnings_print(struct warnings *w, const char *command, FILE *out);

/** warnings_drop - tell none; it is as at the begin */
void warnings_drop(struct warnings *w);

#endif
