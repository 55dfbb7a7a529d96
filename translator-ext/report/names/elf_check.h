/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files that somebody else may have made, before elfutils has them.
 *
 * elfutils unpacks what is compressed, in memory and whole, however much it is; and it
 * goes through all that a header says is there, holes too.  So what it may have is
 * limited by what there is of the file on its disk, which its maker had to pay.
 */
#ifndef STAPWATCH_ELF_CHECK_H
#define STAPWATCH_ELF_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_MOST (4ULL << 30)	/* bytes of a file */

/** elf_bytes - how many bytes a file has that somebody paid for: none in holes */
uint64_t elf_bytes(int fd);

/** elf_is - does that file begin as ELF files do? */
bool elf_is(int fd);

/**
 * elf_check - may elfutils read that file?
 *
 * Nothing is mapped and nothing kept.  It is as the file is now: of somebody who can
 * write to it meanwhile nobody knows.
 *
 * Return: NULL, or why not
 */
const char *elf_check(int fd);

#endif
