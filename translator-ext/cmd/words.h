/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a command line: what we are given, and what we give to stap. */
#ifndef STAPWATCH_WORDS_H
#define STAPWATCH_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/** words_of_shell - what a shell takes for just these words, to be freed */
char *words_of_shell(int argc, char **argv);

/** words_of_global - what stap -G takes, to be freed */
char *words_of_global(const char *name, const char *value);

/** words_of_cpus - the same, of the CPUs to count on: "0,2-3" */
char *words_of_cpus(const char *list);

/** words_number - a word as a number from 1 to INT32_MAX; false if it is none */
bool words_number(const char *s, uint64_t *n);

#endif
