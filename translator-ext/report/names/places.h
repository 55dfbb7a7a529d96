/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places in images, and what they are called: symbol, source file and line.
 * Each is looked for once.
 */
#ifndef STAPWATCH_PLACES_H
#define STAPWATCH_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/warnings.h"
#include "report/input/profile.h"
#include "report/names/elf_file.h"

struct place {
	uint32_t image;
	uint32_t symbol;	/* a number of the texts; by default [IMAGE] */
	uint32_t function;	/* the same, if it is not told to be inlined */
	uint32_t linkage;	/* the same, as the linker has it */
	uint64_t offset;	/* as the image has it */
	uint64_t addr;		/* as the symbols have it */
	uint64_t start;		/* of the symbol */
	uint64_t size;		/* 0: no symbol is known */
	uint32_t file;		/* a number of the texts plus 1; 0: not known */
	uint32_t line;
	bool line_tried;
	uint32_t nr_frames;	/* 0: not tried */
	size_t frames;
};

/* Where names come from; NULL: from this machine. */
struct places_from {
	const char *kallsyms;	/* a file with the kernel's symbols */
	const char *root;	/* the directory that files and sources are below */
	bool inlined;		/* functions that are inlined are wanted */
	bool mangled;		/* names as the linker has them */
};

/* Places, innermost first. */
struct place_frames {
	uint32_t nr;
	const uint32_t *places;
};

struct places;

/** places_new - what a profile's places are called */
struct places *places_new(struct profile *profile,
			  const struct places_from *from);
void places_free(struct places *pl);

/** place_number - a place, with its symbol */
uint32_t place_number(struct places *pl, uint32_t image, uint64_t offset);
const struct place *place_get(const struct places *pl, uint32_t place);

/** place_line - the same with its source line, which takes longer */
const struct place *place_line(struct places *pl, uint32_t place);

struct source_file;

/** place_source - source_file_read() of a place's file, which is known */
void place_source(struct places *pl, const struct place *place,
		  struct source_file *f, size_t *room, struct buf *why);

/**
 * place_frames - a place as the functions that are inlined there
 *
 * The last is the function that they are in.  Without them, or if they are not
 * wanted, it is the place itself.
 *
 * Return: what holds until the next call
 */
struct place_frames place_frames(struct places *pl, uint32_t place);

/** place_elf - the file that a place's code is in, or NULL */
struct elf_file *place_elf(struct places *pl, uint32_t image);

/**
 * places_missed - samples at a place, which may have no symbol
 *
 * To be called for what is reported; places_say() tells of them.
 */
void places_missed(struct places *pl, const struct place *place,
		   uint64_t samples);

/** places_say - a warning for each image that has samples without a symbol */
void places_say(struct places *pl, struct warnings *w);

#endif
