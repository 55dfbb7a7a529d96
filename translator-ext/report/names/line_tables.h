/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which units' tables of lines libdw may read.
 *
 * Tables can be over one another: each of many units can have one that ends where the
 * others end, and goes around their headers.  So lines and files are counted, and a
 * file has no more of them than bytes.
 */
#ifndef STAPWATCH_LINE_TABLES_H
#define STAPWATCH_LINE_TABLES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/intern.h"

struct line_tables {
	struct intern units; /* that were asked for */
	bool *may; /* for each: its lines can be asked for */
	size_t size;
	struct intern tables; /* that were counted: units can share one */
	uint64_t left; /* lines and files */
	bool is_said;
};

/** line_tables_init - of a file of so many bytes, as elf_bytes() has them */
void line_tables_init(struct line_tables *t, uint64_t bytes);
void line_tables_free(struct line_tables *t);

/**
 * line_tables_may - has a unit lines that can be asked for?
 * @why: gets what is to be told, once, if others have too many
 */
bool line_tables_may(struct line_tables *t, Dwarf_Die *cu, struct buf *why);

/** line_tables_files - the files of a unit, to be asked for once; NULL: none, or as above */
Dwarf_Files *line_tables_files(struct line_tables *t, Dwarf_Die *unit,
			       struct buf *why);

#endif
