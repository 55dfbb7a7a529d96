/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions; function.h says what is wanted of it. */
#include "report/names/function.h"

#include <stdlib.h>

#define LONGEST (1024 * 1024)	/* bytes of code that are looked at */

static void add_block(struct function *f, uint64_t addr)
{
	if (addr < f->start || addr >= f->end)
		return;
	f->blocks = array_room(f->blocks, &f->size_blocks, f->nr_blocks + 1,
			       sizeof(*f->blocks));
	f->blocks[f->nr_blocks++] = addr;
}

static int by_addr(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void find_blocks(struct function *f)
{
	size_t i, used = 0;

	add_block(f, f->start);
	for (i = 0; i < f->nr; i++) {
		if (!f->code[i].branches)
			continue;
		add_block(f, f->code[i].target);
		add_block(f, f->code[i].addr + f->code[i].size);
	}
	qsort(f->blocks, f->nr_blocks, sizeof(*f->blocks), by_addr);
	for (i = 1; i < f->nr_blocks; i++)
		if (f->blocks[i] != f->blocks[used])
			f->blocks[++used] = f->blocks[i];
	f->nr_blocks = used + 1;
}

void function_read(struct places *pl, const struct place *place,
		   struct disasm *d, struct function *f)
{
	struct elf_file *elf = place_elf(pl, place->image);
	struct instruction *in;
	uint64_t addr, at;
	size_t size;

	*f = (struct function) {
		.start = place->start,
		.end = place->start + place->size,
	};
	if (!d || !elf || !place->size ||
	    !elf_file_address(elf, place->offset, &addr))
		return;
	/* the file's addresses are not the kernel's */
	addr -= place->addr - place->start;
	size = place->size < LONGEST ? place->size : LONGEST;
	f->bytes = elf_file_code(elf, addr, &size);
	if (!f->bytes)
		return;
	for (at = 0; at < size; at += in->size) {
		f->code = array_room(f->code, &f->size, f->nr + 1,
				     sizeof(*f->code));
		in = &f->code[f->nr++];
		disasm_one(d, f->bytes + at, size - at, f->start + at, in);
	}
	find_blocks(f);
}

void function_drop_code(struct function *f)
{
	free(f->code);
	f->code = NULL;
	f->nr = f->size = 0;
}

void function_free(struct function *f)
{
	function_drop_code(f);
	free(f->blocks);
}

void function_block(const struct function *f, uint64_t addr, uint64_t *start,
		    uint64_t *end)
{
	size_t i;

	*start = f->start;
	*end = f->end;
	for (i = 0; i < f->nr_blocks; i++) {
		if (f->blocks[i] > addr) {
			*end = f->blocks[i];
			return;
		}
		*start = f->blocks[i];
	}
}
