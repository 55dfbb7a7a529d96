/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose code the compiler has put into others', as DWARF tells.
 *
 * Of a compilation unit the functions are listed once, when the first of its
 * addresses is asked for; and so is what is inlined in one, in its turn.  An address
 * then costs a search in each list that it is in.
 */
#ifndef STAPWATCH_INLINES_H
#define STAPWATCH_INLINES_H

#include <elfutils/libdwfl.h>

#include "report/names/elf_file.h"
#include "report/names/line_tables.h"

struct inlines;

/**
 * inlines_new - of a module
 * @bytes: that its files have, as elf_bytes() has it.  A list of ranges can be named by
 *	each function of a file, and scopes can be told within each other and beside
 *	each other: ranges and a CPU's time are limited by bytes.  What is not looked at
 *	then is told.
 * @lines: of these files
 */
struct inlines *inlines_new(Dwfl_Module *mod, uint64_t bytes,
			    struct line_tables *lines);
void inlines_free(struct inlines *in);

/** inlines_at - as elf_file_inlined() */
unsigned int inlines_at(struct inlines *in, uint64_t addr,
			struct elf_inlined list[ELF_INLINED_MAX],
			struct buf *why);

#endif
