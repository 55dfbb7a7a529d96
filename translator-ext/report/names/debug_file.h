/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the debugging information of an ELF file is, if not in it.
 *
 * By its build-id elfutils looks in directories of root's, and asks debuginfod.
 * By a name that stands in the ELF file it would open whatever has that name,
 * and wait where it is a pipe; so that is done here.
 */
#ifndef STAPWATCH_DEBUG_FILE_H
#define STAPWATCH_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/**
 * debug_file_open - the file that .gnu_debuglink or .gnu_debugaltlink names
 * @path: of the ELF file, of which @root_len bytes are the directory that is
 *	its /
 * @link: what stands there
 * @crc: of the file, if @mod has no build-id; 0: of what several files have in
 *	common, and then it is to be root's or this user's
 * @name: gets its name, for elfutils to free
 *
 * Return: a file descriptor, or -1
 */
int debug_file_open(Dwfl_Module *mod, const char *path, size_t root_len,
		    const char *link, GElf_Word crc, char **name);

#endif
