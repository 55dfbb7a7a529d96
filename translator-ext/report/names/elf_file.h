/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF file of an image, by elfutils: found, proven to be the one that was
 * mapped, and asked for its symbols, lines and code.
 *
 * A file at the image's path counts only if its build-id is the image's or,
 * where the trace has none, if it is the same inode and was not written since.
 * Another one with that build-id will do: below /usr/lib/debug, or of
 * debuginfod where DEBUGINFOD_URLS names servers.
 */
#ifndef STAPWATCH_ELF_FILE_H
#define STAPWATCH_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "report/input/images.h"
#include "report/names/symtab.h"

struct elf_file;

/**
 * elf_file_open - find an image's file
 * @head: of the trace
 * @root: the directory that processes' files are below, or NULL
 * @why: what is to be told of it, found or not: a line without its end, or
 *	nothing
 *
 * Return: NULL if there is none
 */
struct elf_file *elf_file_open(const struct image *image,
			       const struct sw_trace_head *head,
			       const char *root, struct buf *why);
void elf_file_close(struct elf_file *f);

/**
 * elf_file_symbols - its functions, sorted
 *
 * Names stay where they are: those in a file may overlap, and be far more than it.
 */
void elf_file_symbols(struct elf_file *f, struct symtab *tab);

/**
 * elf_file_address - the address in the file's own numbering
 * @offset: as the image has it
 *
 * Return: whether it has one
 */
bool elf_file_address(const struct elf_file *f, uint64_t offset,
		      uint64_t *addr);

/**
 * elf_file_line - source file and line of an address
 * @why: gets what is to be told of the file, once, if it has too many
 *
 * Return: NULL if not known
 */
const char *elf_file_line(struct elf_file *f, uint64_t addr, int *line,
			  struct buf *why);

/**
 * elf_file_writer - who can have written what is read from it
 *
 * Of lines it is known when they were asked for.
 *
 * Return: as of foreign_writer()
 */
uid_t elf_file_writer(const struct elf_file *f);

/* A function that is inlined, and where that is. */
struct elf_inlined {
	const char *name;	/* as the linker would have it, or NULL */
	const char *file;	/* of the call, or NULL */
	int line;
};

#define ELF_INLINED_MAX 32	/* within each other; more are not looked at */

/**
 * elf_file_inlined - what is inlined at an address
 * @list: gets it, innermost first
 * @why: gets what is to be told of its unit, once, if it is not to be had
 *
 * Return: how many
 */
unsigned int elf_file_inlined(struct elf_file *f, uint64_t addr,
			      struct elf_inlined list[ELF_INLINED_MAX],
			      struct buf *why);

/**
 * elf_file_code - the bytes from an address on
 * @size: how many are wanted; gets how many there are
 *
 * Return: NULL if it has none there
 */
const void *elf_file_code(struct elf_file *f, uint64_t addr, size_t *size);

#endif
