/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of functions that the compiler has put elsewhere, as main.cold.
 *
 * Nobody calls them.  They belong to the function at whose address a symbol has the name
 * before the ".cold": a constructor, say, has several names, and its part one of them.
 */
#ifndef STAPWATCH_LATENCY_PARTS_H
#define STAPWATCH_LATENCY_PARTS_H

#ifdef HAVE_LIBDW

#include "cmd/latency_exits.h"

struct latency_part {
	char *name;		/* of its function */
	uint64_t of;		/* where that is; 0: no symbol says so */
	struct latency_code code;
};

struct latency_parts {
	struct latency_part *all;
	size_t nr, room;
};

/** latency_parts_add - one more, whose name latency_is_part() */
void latency_parts_add(struct latency_parts *p, const char *name,
		       const struct latency_code *code);

/** latency_parts_sort - all are there */
void latency_parts_sort(struct latency_parts *p);

/** latency_parts_symbol - a function's name and address, after that */
void latency_parts_symbol(struct latency_parts *p, const char *name,
			  uint64_t addr);

/**
 * latency_parts_of - those of the function at an address
 * @code: gets them, if they are not more
 * @most: of these
 *
 * Return: how many there are
 */
size_t latency_parts_of(const struct latency_parts *p, uint64_t addr,
			struct latency_code *code, size_t most);
void latency_parts_free(struct latency_parts *p);

#endif

#endif
