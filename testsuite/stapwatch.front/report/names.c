/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: names SYMBOLS BYTES >PROGRAM
 *
 * A program of that many functions of a byte.  All their names are in one text of that
 * many bytes, from another byte of it on to its end.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 0x1000

static const char sections[] =
	"\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id";
static const struct {
	Elf64_Nhdr head;
	char name[4];
	char id[20];
} note = { { 4, 20, 3 }, "GNU", "names that are long" };

static long put(const void *part, size_t size)
{
	const long at = ftell(stdout);

	fwrite(part, 1, size, stdout);
	return at;
}

int main(int argc, char **argv)
{
	const size_t symbols = argc > 2 ? strtoul(argv[1], NULL, 0) : 1;
	const size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	Elf64_Shdr s[6] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = TEXT,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_offset = TEXT,
		  .sh_size = symbols },
		{ .sh_name = 7, .sh_type = SHT_SYMTAB, .sh_link = 3, .sh_info = 1,
		  .sh_entsize = sizeof(Elf64_Sym),
		  .sh_size = (symbols + 1) * sizeof(Elf64_Sym) },
		{ .sh_name = 15, .sh_type = SHT_STRTAB, .sh_size = bytes + 2 },
		{ .sh_name = 23, .sh_type = SHT_STRTAB,
		  .sh_size = sizeof(sections) },
		{ .sh_name = 33, .sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC,
		  .sh_size = sizeof(note) },
	};
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_phoff = sizeof(head),
		.e_ehsize = sizeof(head), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1, .e_shentsize = sizeof(*s), .e_shnum = 6,
		.e_shstrndx = 4,
	};
	Elf64_Phdr load = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = TEXT,
		.p_filesz = TEXT + symbols, .p_memsz = TEXT + symbols,
	};
	Elf64_Sym sym = { 0 };
	size_t i;

	fseek(stdout, TEXT + symbols, SEEK_SET);
	s[2].sh_offset = put(&sym, sizeof(sym));
	for (i = 0; i < symbols; i++) {
		sym.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		sym.st_shndx = 1;
		sym.st_value = TEXT + i;
		sym.st_size = 1;
		sym.st_name = 1 + i % bytes;
		put(&sym, sizeof(sym));
	}
	s[3].sh_offset = put("", 1);
	for (i = 0; i < bytes; i++)
		putchar("abcdefghijklmnopqrstuvwxyz"[i % 26]);
	putchar(0);
	s[4].sh_offset = put(sections, sizeof(sections));
	s[5].sh_offset = put(&note, sizeof(note));
	head.e_shoff = put(s, sizeof(s));
	rewind(stdout);
	put(&head, sizeof(head));
	put(&load, sizeof(load));
	return 0;
}
