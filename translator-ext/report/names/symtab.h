/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols by address, wherever they come from. */
#ifndef STAPWATCH_SYMTAB_H
#define STAPWATCH_SYMTAB_H

#include <stdint.h>
#include <stddef.h>

#include "base/intern.h"

struct symbol {
	uint64_t addr;
	uint64_t size;		/* 0: up to the next one */
	const char *text;	/* its name, which lasts as long as its file; or NULL */
	uint32_t name;		/* a number of the texts, or else of its file's names */
	uint32_t rank;		/* of those at one address the highest stays */
};

/* From an address on, up to the next part, it is this symbol's if any's. */
struct symtab_part {
	uint64_t addr;
	size_t symbol;
};

/* { 0 } has none. */
struct symtab {
	struct symbol *symbols;
	size_t nr, size;
	struct symtab_part *parts;	/* by address */
	size_t nr_parts, size_parts;
};

void symtab_add(struct symtab *t, const struct symbol *symbol);

/**
 * symtab_sort - to be called once when all are there, before looking for one
 */
void symtab_sort(struct symtab *t);

/**
 * symtab_find - the symbol that an address lies in, or NULL
 *
 * Of several it is the one that begins last.
 */
const struct symbol *symtab_find(const struct symtab *t, uint64_t addr);

void symtab_free(struct symtab *t);

#endif
