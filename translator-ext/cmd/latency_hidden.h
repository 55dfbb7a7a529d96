/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of a library that programs of today are not linked with: each is there, by an
 * older version, for programs from before another function of its name.
 */
#ifndef STAPWATCH_LATENCY_HIDDEN_H
#define STAPWATCH_LATENCY_HIDDEN_H

#ifdef HAVE_LIBDW

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

struct latency_hidden {
	struct latency_hidden_symbol {
		const char *name;	/* the ELF file's */
		GElf_Addr at;
		bool hidden;
	} *symbols;
	size_t nr, room;
};

/**
 * latency_hidden_read - those of a file, by its dynamic symbols
 * @h: all 0; latency_hidden_free() frees it, before the file is closed
 * @longest: of what names are asked for; longer ones are left out
 */
void latency_hidden_read(struct latency_hidden *h, Elf *elf, size_t longest);
void latency_hidden_free(struct latency_hidden *h);

/**
 * latency_hidden_has - is one of this name, without its version, at this address?
 *
 * It is not, if programs of today are linked with that address by the name, too.
 */
bool latency_hidden_has(const struct latency_hidden *h, const char *name,
			GElf_Addr at);

#endif

#endif
