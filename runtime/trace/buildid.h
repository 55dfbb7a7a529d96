/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build-id among an ELF file's notes.  A file may say anything: whatever
 * does not fit is no build-id.
 *
 * Any context, where no more is read than what the caller has in memory;
 * sw_file_build_id() any but NMI.
 */
#ifndef STAPWATCH_TRACE_BUILDID_H
#define STAPWATCH_TRACE_BUILDID_H

#include "base/compat.h"
#ifdef __KERNEL__
#include "base/kernel.h"
#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
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

#ifdef __KERNEL__

/* Notes that are looked through, at most: on the stack. */
#define SW_NOTES_MAX 512
#define SW_PHDRS_MAX 64

/*
 * What is in memory of a file.  Its user decides how long a read takes (FUSE), and
 * what a page of it lets the kernel see (memfd_secret(2)), so nothing is read in,
 * and what is there is copied as though it might fault.
 */
static bool sw_file_peek(struct file *file, u64 at, void *to, size_t bytes)
{
	bool had = true;
	size_t some;

	for (; bytes && had; bytes -= some, at += some, to += some) {
		some = min_t(size_t, bytes, PAGE_SIZE - offset_in_page(at));
		had = sw_page_cache_copy(file->f_mapping, at, to, some);
	}
	return had;
}

static int sw_file_notes(struct file *file, const struct sw_elf *elf, u8 *id)
{
	u8 notes[SW_NOTES_MAX] __aligned(4);
	u64 at, bytes;
	unsigned int i;
	union {
		Elf32_Phdr p32;
		Elf64_Phdr p64;
	} phdr;

	for (i = 0; i < elf->phnum && i < SW_PHDRS_MAX; i++) {
		if (!sw_file_peek(file, elf->phoff + i * elf->phentsize, &phdr,
				  elf->phentsize))
			return -EAGAIN;
		if (!sw_elf_notes(elf, &phdr, &at, &bytes))
			continue;
		bytes = min_t(u64, bytes, SW_NOTES_MAX);
		if (!sw_file_peek(file, at, notes, bytes))
			return -EAGAIN;
		if (sw_build_id_in_notes(notes, bytes, id))
			return 1;
	}
	return 0;
}

/**
 * sw_file_build_id - an ELF file's build-id, as far as the file is in memory
 * @file: one that is mapped
 * @id: SW_BUILD_ID bytes; a shorter one ends in zeros
 * Context: any but NMI; it waits for nothing.
 * Return: 1: there it is; 0: the file has none; -EAGAIN: that part is not in memory.
 */
static int sw_file_build_id(struct file *file, u8 *id)
{
	struct sw_elf elf;
	Elf64_Ehdr head;

	/* devices have other things in their pages */
	if (!S_ISREG(file_inode(file)->i_mode))
		return 0;
	if (!sw_file_peek(file, 0, &head, sizeof(head)))
		return -EAGAIN;
	return sw_elf_head(&head, &elf) ? sw_file_notes(file, &elf, id) : 0;
}

#endif

#endif
