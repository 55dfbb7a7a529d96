/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Build-ids out of notes, good ones and what a file may hold instead.
 */
#include <stdlib.h>
#include "trace/buildid.h"
#include "test.h"

static u8 id[SW_BUILD_ID];

/* Notes of just that size, so that ASan sees what is beyond. */
static bool look(const void *notes, size_t bytes)
{
	void *copy = malloc(bytes ?: 1);
	bool found;

	if (!copy)
		abort();
	memcpy(copy, notes, bytes);
	found = sw_build_id_in_notes(copy, bytes, id);
	free(copy);
	return found;
}

struct notes {
	Elf32_Nhdr other;
	char other_name[8];	/* "Linux" and what fills it up */
	u32 other_desc[2];
	Elf32_Nhdr nhdr;
	char name[4];
	u8 desc[20];
};

static struct notes good(void)
{
	struct notes n = {
		.other = { 6, 8, 0 }, .other_name = "Linux",
		.nhdr = { 4, 20, NT_GNU_BUILD_ID }, .name = "GNU",
	};
	int i;

	for (i = 0; i < 20; i++)
		n.desc[i] = i + 1;
	return n;
}

static void test_notes(void)
{
	struct notes n = good();
	size_t i, found = 0;

	TEST("a build-id after another note", look(&n, sizeof(n)) &&
	     !memcmp(id, n.desc, 20));
	for (i = 0; i < sizeof(n); i++)
		found += look(&n, i);
	TEST_EQUAL("cut off anywhere it is none", found, 0);
	n.nhdr.n_descsz = 8;
	TEST("a short one ends in zeros", look(&n, sizeof(n)) && id[7] == 8 &&
	     !id[8] && !id[19]);
	n.nhdr.n_descsz = 21;
	TEST("a longer one is none", !look(&n, sizeof(n)));
	n.nhdr.n_descsz = 0;
	TEST("nor is an empty one", !look(&n, sizeof(n)));
	n = good();
	n.nhdr.n_type = 1;
	TEST("nor one of another type", !look(&n, sizeof(n)));
	n = good();
	n.name[0] = 'X';
	TEST("nor another owner's", !look(&n, sizeof(n)));
	n = good();
	n.other.n_namesz = 0xfffffffd;
	TEST("a name beyond the end", !look(&n, sizeof(n)));
	n.other.n_namesz = 6;
	n.other.n_descsz = 0xffffffff;
	TEST("a descriptor beyond the end", !look(&n, sizeof(n)));
}

static void test_heads(void)
{
	Elf64_Ehdr e64 = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
		.e_phoff = 64, .e_phnum = 7, .e_phentsize = sizeof(Elf64_Phdr),
	};
	Elf32_Ehdr e32 = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB },
		.e_phoff = 52, .e_phnum = 3, .e_phentsize = sizeof(Elf32_Phdr),
	};
	union {
		Elf64_Phdr p64;
		Elf32_Phdr p32;
	} phdr = {
		.p64 = { .p_type = PT_NOTE, .p_offset = 1, .p_filesz = 2 },
	};
	union {
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} head = { .e64 = e64 };
	struct sw_elf elf;
	u64 at, bytes;

	TEST("a 64-bit file", sw_elf_head(&head, &elf) && elf.phoff == 64 &&
	     elf.phnum == 7 && sw_elf_notes(&elf, &phdr, &at, &bytes) &&
	     at == 1 && bytes == 2);
	head.e64.e_phentsize = 1;
	TEST("of headers that are none", !sw_elf_head(&head, &elf));
	head.e64 = e64;
	head.e64.e_ident[EI_DATA] = ELFDATA2MSB;
	TEST("of another byte order", !sw_elf_head(&head, &elf));
	head.e64 = e64;
	head.e64.e_ident[0] = '#';
	TEST("a file of another kind", !sw_elf_head(&head, &elf));
	head.e32 = e32;
	phdr.p32 = (Elf32_Phdr) {
		.p_type = PT_NOTE, .p_offset = 3, .p_filesz = 4,
	};
	TEST("a 32-bit file", sw_elf_head(&head, &elf) && elf.phoff == 52 &&
	     elf.phnum == 3 && sw_elf_notes(&elf, &phdr, &at, &bytes) &&
	     at == 3 && bytes == 4);
	phdr.p64 = (Elf64_Phdr) { .p_type = PT_LOAD };
	head.e64 = e64;
	TEST("a header of something else", sw_elf_head(&head, &elf) &&
	     !sw_elf_notes(&elf, &phdr, &at, &bytes));
}

int main(void)
{
	test_notes();
	test_heads();
	return test_failures != 0;
}
