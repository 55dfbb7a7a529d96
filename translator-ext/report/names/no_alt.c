/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of DWARF that has nothing; no_alt.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "report/names/no_alt.h"

#include <elf.h>
#include <endian.h>
#include <limits.h>
#include <stddef.h>

/* Lines, of no unit.  Without any it would be no DWARF. */
struct nothing {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	char names[24];
	char lines[4];
};

static const struct nothing nothing = {
	.head = {
		.e_ident = {
			ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB
							: ELFDATA2MSB,
			EV_CURRENT,
		},
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 1,
	},
	.sections = {
		{ 0 },
		{
			.sh_name = 1, .sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct nothing, names),
			.sh_size = sizeof(nothing.names), .sh_addralign = 1,
		}, {
			.sh_name = 11, .sh_type = SHT_PROGBITS,
			.sh_offset = offsetof(struct nothing, lines),
			.sh_size = sizeof(nothing.lines), .sh_addralign = 1,
		},
	},
	.names = "\0.shstrtab\0.debug_line",
};

bool no_alt_set(struct no_alt *a, Dwarf *main)
{
	elf_version(EV_CURRENT);
	/* which it only reads */
	a->elf = elf_memory((char *)&nothing, sizeof(nothing));
	a->dwarf = a->elf ? dwarf_begin_elf(a->elf, DWARF_C_READ, NULL) : NULL;
	if (a->dwarf)
		dwarf_setalt(main, a->dwarf);
	return a->dwarf;
}

/* That of a function which is inlined in several files stands in what these have in
 * common. */
void no_alt_say(struct no_alt *a, struct buf *why)
{
	if (!a->name || why->len)
		return;
	buf_printf(why, "a name of what is inlined is missing; it may be in %.*s, which is not there, or no ELF file of a fair size",
		   PATH_MAX, a->name);
	a->name = NULL;
}

void no_alt_free(struct no_alt *a)
{
	if (a->dwarf)
		dwarf_end(a->dwarf);
	elf_end(a->elf);
	*a = (struct no_alt) { 0 };
}

#endif
