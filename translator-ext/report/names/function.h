/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's instructions, source lines and basic blocks.
 *
 * A block begins at the function, where a jump within it leads, and after a
 * jump or a return.
 */
#ifndef STAPWATCH_FUNCTION_H
#define STAPWATCH_FUNCTION_H

#include "report/names/disasm.h"
#include "report/names/places.h"

struct function {
	const char *bytes;		/* as long as the places; NULL: not to be had */
	struct instruction *code;	/* of these */
	size_t nr, size;
	uint64_t *blocks;		/* where they begin, in order */
	size_t nr_blocks, size_blocks;
	uint64_t start;			/* as place_get() has its addresses */
	uint64_t end;
};

/**
 * function_read - the function that a place is in
 * @d: NULL leaves it without code
 * @f: gets it; function_free() frees it
 */
void function_read(struct places *pl, const struct place *place,
		   struct disasm *d, struct function *f);
void function_free(struct function *f);

/** function_drop_code - keep no more of it than its blocks */
void function_drop_code(struct function *f);

/** function_block - where the block of an address begins and ends */
void function_block(const struct function *f, uint64_t addr, uint64_t *start,
		    uint64_t *end);

#endif
