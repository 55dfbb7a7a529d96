/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build-id among an ELF file's notes.  A file may say anything: whatever
 * does not fit is no build-id.
 *
 * Any context; no more is read than what the caller has in memory.
 */
#ifndef STAPWATCH_BUILDID_H
#define STAPWATCH_BUILDID_H

#include "compat.h"
#ifdef __KERNEL__
#include <linux/elf.h>
#include <linux/string.h>
#else
#include <elf.h>
#include <string.h>
#endif

#ifndef NT_GNU_BUILD_ID
#define NT_GNU_BUILD_ID 3
#endif
#define SW_BUILD_ID 20

/* The head of an ELF file of either class, as far as this needs it. */
struct sw_elf {
	u64 phoff;
	unsigned int phnum;
	unsigned int phentsize;
	bool is_64;
};

/**
 * sw_build_id_in_notes - look for a build-id
 * @notes: so many bytes, aligned to 4
 * @id: SW_BUILD_ID bytes; a shorter one ends in zeros
 * Return: is there one?
 */
static inline bool
sw_build_id_in_notes(const void *notes, size_t bytes, u8 *id)
{
	const char *at = notes;

	while (bytes >= sizeof(Elf32_Nhdr)) {
		const Elf32_Nhdr *n = (const void *)at;
		size_t name = ((size_t)n->n_namesz + 3) & ~3UL;
		size_t desc = ((size_t)n->n_descsz + 3) & ~3UL;

		at += sizeof(*n);
		bytes -= sizeof(*n);
		if (name > bytes || desc > bytes - name)
			return false;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    !memcmp(at, "GNU", 4) && n->n_descsz &&
		    n->n_descsz <= SW_BUILD_ID) {
			memset(id, 0, SW_BUILD_ID);
			memcpy(id, at + name, n->n_descsz);
			return true;
		}
		at += name + desc;
		bytes -= name + desc;
	}
	return false;
}

/**
 * sw_elf_head - what stands at an ELF file's beginning
 * @head: at least sizeof(Elf64_Ehdr) bytes
 * Return: is it one, of this machine's byte order?
 */
static inline bool sw_elf_head(const void *head, struct sw_elf *elf)
{
	const Elf32_Ehdr *e32 = head;
	const Elf64_Ehdr *e64 = head;
	const u16 one = 1;
	const u8 order = *(const u8 *)&one ? ELFDATA2LSB : ELFDATA2MSB;

	if (memcmp(e32->e_ident, ELFMAG, SELFMAG) ||
	    e32->e_ident[EI_DATA] != order)
		return false;
	elf->is_64 = e32->e_ident[EI_CLASS] == ELFCLASS64;
	elf->phoff = elf->is_64 ? e64->e_phoff : e32->e_phoff;
	elf->phnum = elf->is_64 ? e64->e_phnum : e32->e_phnum;
	elf->phentsize = elf->is_64 ? e64->e_phentsize : e32->e_phentsize;
	return elf->phentsize == (elf->is_64 ? sizeof(Elf64_Phdr)
					     : sizeof(Elf32_Phdr));
}

/**
 * sw_elf_notes - where a program header says that notes are
 * Return: is it one of notes?
 */
static inline bool
sw_elf_notes(const struct sw_elf *elf, const void *phdr, u64 *at, u64 *bytes)
{
	const Elf32_Phdr *p32 = phdr;
	const Elf64_Phdr *p64 = phdr;

	*at = elf->is_64 ? p64->p_offset : p32->p_offset;
	*bytes = elf->is_64 ? p64->p_filesz : p32->p_filesz;
	return (elf->is_64 ? p64->p_type : p32->p_type) == PT_NOTE;
}

#endif
