/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DWARF refers to in a file that several programs have in common
 * (.gnu_debugaltlink), where that file is not there.
 *
 * libdw would open what has that name by itself when a string or a type is asked for
 * that is in it, and wait where it is a pipe.  So it gets a file that has nothing.
 */
#ifndef STAPWATCH_NO_ALT_H
#define STAPWATCH_NO_ALT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/buf.h"

struct no_alt {
	Elf *elf;
	Dwarf *dwarf;
	const char *name;	/* that it stands for; NULL: that is said */
};

/**
 * no_alt_set - that DWARF refers to nothing
 *
 * Return: false: it cannot be had, and @main is not to be read
 */
bool no_alt_set(struct no_alt *a, Dwarf *main);

/** no_alt_say - once, that a name may be in what is not there */
void no_alt_say(struct no_alt *a, struct buf *why);

/** no_alt_free - after who refers to it is gone; { 0 } is free */
void no_alt_free(struct no_alt *a);

#endif
