/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an image calls a place, an offset in its file, as an address of that
 * file.
 *
 * The program headers tell, of the file that was mapped.  Those of a debug file
 * keep the addresses and what they are in memory, but their offsets may be
 * those of the debug file.  There a mapping tells, which is as long as one
 * segment and no other.
 */
#ifndef STAPWATCH_ELF_SEGMENTS_H
#define STAPWATCH_ELF_SEGMENTS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/input/images.h"

struct elf_segment {
	uint64_t offset;	/* in the file that was mapped */
	uint64_t len;
	uint64_t addr;
};

/* { 0 } has none. */
struct elf_segments {
	struct elf_segment *all;
	size_t nr, size;
};

/**
 * elf_segments_read - the segments of an image's file
 * @elf: that file, or its debug file
 * @page_size: of the machine that mapped it
 *
 * Return: whether there are any; of a debug file's only those that are told
 */
bool elf_segments_read(struct elf_segments *segments, Elf *elf,
		       const struct image *image, uint64_t page_size);
void elf_segments_free(struct elf_segments *segments);

/** elf_segments_address - the address of an offset; whether it has one */
bool elf_segments_address(const struct elf_segments *segments,
			  uint64_t offset, uint64_t *addr);

#endif
