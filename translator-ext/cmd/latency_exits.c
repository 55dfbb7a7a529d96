/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways out of a program's function; latency_exits.h. */
#include "cmd/latency_exits.h"

#ifdef HAVE_LIBDW

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "report/names/disasm.h"

#define LONGEST (1024 * 1024)	/* bytes of code that are looked at */

static bool is_within(const struct latency_code *parts, size_t nr,
		      uint64_t addr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (addr - parts[i].addr < parts[i].size)
			return true;
	return false;
}

static void put_exit(const struct latency_code *function,
		     const struct latency_code *part, uint64_t addr,
		     struct buf *exits)
{
	const uint64_t offset = part->offset + (addr - part->addr);

	if (offset < function->offset)
		buf_printf(exits, "-%" PRIx64, function->offset - offset);
	else
		buf_printf(exits, "+%" PRIx64, offset - function->offset);
}

/* ---- switches */

/* The first word of a table, SIZE bytes, as it is in the file. */
static bool read_word(Elf *elf, uint64_t addr, size_t size, int64_t *word)
{
	GElf_Phdr phdr;
	size_t nr, i, length;
	const char *file = elf_rawfile(elf, &length);
	int32_t distance;

	if (!file || elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		uint64_t at;

		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    addr - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		at = addr - phdr.p_vaddr + phdr.p_offset;
		if (at > length || length - at < size)
			return false;
		if (size == sizeof(*word)) {
			memcpy(word, file + at, sizeof(*word));
			return true;
		}
		memcpy(&distance, file + at, sizeof(distance));
		*word = distance;
		return true;
	}
	return false;
}

/* A table of functions looks the same, but leads elsewhere. */
static bool is_switch(Elf *elf, const struct latency_code *parts, size_t nr,
		      const struct instruction *in)
{
	int64_t word;

	switch (in->by) {
	case DISASM_MARKED:
		return true;
	case DISASM_ADDRESSES:
		return read_word(elf, in->table, 8, &word) &&
		       (uint64_t)word != parts[0].addr &&
		       is_within(parts, nr, word);
	case DISASM_DISTANCES:
		return read_word(elf, in->table, 4, &word) &&
		       is_within(parts, nr, in->table + word);
	case DISASM_FROM:
		return is_within(parts, nr, in->table);
	case DISASM_NO_SWITCH:
		break;
	}
	return false;
}

/* What a jump says against it. */
static const char *jump_out(Elf *elf, const struct latency_code *parts,
			    size_t nr, const struct instruction *in)
{
	if (!in->target)
		return is_switch(elf, parts, nr, in) ? NULL :
		       "jumps to where only its run tells";
	/* each time round it would look like a call */
	if (in->target == parts[0].addr)
		return "jumps to its own beginning";
	return is_within(parts, nr, in->target) ? NULL :
	       "ends by a jump to another function, too";
}

/* ---- the function */

struct search {
	Elf *elf;
	struct disasm *d;
	const struct latency_code *parts;
	size_t nr;
	unsigned int nr_exits;
	struct buf *exits;
};

static const char *find_in(struct search *s, const struct latency_code *part)
{
	struct instruction in;
	const char *why;
	uint64_t at;

	if (part->size > LONGEST)
		return "is longer than one mebibyte";
	for (at = 0; at < part->size; at += in.size) {
		disasm_one(s->d, part->bytes + at, part->size - at,
			   part->addr + at, &in);
		/* what comes after it is no instruction for sure */
		if (in.bad)
			return "has instructions that are not known here";
		if (!in.branches)
			continue;
		why = in.returns ? NULL :
		      jump_out(s->elf, s->parts, s->nr, &in);
		if (why)
			return why;
		if (!in.returns)
			continue;
		if (in.addr == s->parts[0].addr)
			return "is nothing but a return";
		if (++s->nr_exits > LATENCY_MAX_EXITS)
			return "returns in more than 32 places";
		put_exit(&s->parts[0], part, in.addr, s->exits);
	}
	return NULL;
}

static struct disasm *disasm_of(Elf *elf)
{
	GElf_Ehdr head;

	return gelf_getehdr(elf, &head) ? disasm_new(head.e_machine) : NULL;
}

const char *latency_exits_why_never(Elf *elf)
{
	struct disasm *d = disasm_of(elf);

	disasm_free(d);
	if (d)
		return NULL;
	return disasm_built() ?
	       "where its functions return is not known, as it is of another processor" :
	       "where its functions return is not known, as this stapwatch was built without capstone";
}

const char *latency_exits_find(Elf *elf, const struct latency_code *parts,
			       size_t nr, struct buf *exits)
{
	struct search s = {
		.elf = elf, .d = disasm_of(elf), .parts = parts, .nr = nr,
		.exits = exits
	};
	const char *why = s.d ? NULL : "has returns that are not known here";
	size_t i;

	for (i = 0; i < nr && !why; i++)
		why = find_in(&s, &parts[i]);
	if (!why && !s.nr_exits)
		why = "has no return";
	disasm_free(s.d);
	return why;
}

#endif
