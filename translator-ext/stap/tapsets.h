/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tapsets that stap is given, and whether they are this command's. */
#ifndef STAPWATCH_TAPSETS_H
#define STAPWATCH_TAPSETS_H

#include <stdbool.h>

/** tapsets_option - what stap's -I is to be; NULL if stap looks there by itself */
const char *tapsets_option(void);

/**
 * tapsets_fit - are the tapsets of the same version as the command?
 *
 * What a script is lowered to is theirs to know, so others may do anything with it.
 * Tapsets that are not there are stap's to speak of.
 *
 * Return: false after a message
 */
bool tapsets_fit(void);

#endif
