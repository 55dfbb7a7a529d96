/* SPDX-License-Identifier: GPL-2.0-or-later */
/* May elfutils read that file? elf_check.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "report/names/elf_check.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#include "base/foreign.h"

/* Debugging information is a fifth of its size at best, and small files are cheap. */
#define TIMES 16
#ifndef ELF_FREE
#define ELF_FREE (64ULL << 20)
#endif

#define LZMA_MEMORY (128ULL << 20)	/* of a decoder: "xz -9" wants 65 MB */

static const char no_elf[] = "not a valid ELF file";
static const char too_much[] =
	"it has far more in it, unpacked, than a file of its size can have";

uint64_t elf_bytes(int fd)
{
	struct stat st;
	uint64_t size, there;

	if (fstat(fd, &st))
		return 0;
	size = st.st_size;
	there = 512ULL * st.st_blocks;
	return there < size ? there : size;
}

bool elf_is(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/*
 * More sections than fit in the header are counted elsewhere, and elfutils makes room
 * for each; it is object files that have so many.
 */
static bool has_sections(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} head = { 0 };

	if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head.e32))
		return false;
	return head.ident[EI_CLASS] == ELFCLASS32 ?
		head.e32.e_shnum || !head.e32.e_shoff :
		head.e64.e_shnum || !head.e64.e_shoff;
}

#ifdef HAVE_LZMA

/* What .gnu_debugdata unpacks to; MOST and more are the same. */
static uint64_t unpacked(int fd, const GElf_Shdr *sh, uint64_t most)
{
	uint8_t in[65536], out[65536];
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_auto_decoder(&z, LZMA_MEMORY, 0);
	uint64_t at = 0;
	ssize_t n;

	while (ret == LZMA_OK && z.total_out < most) {
		if (!z.avail_in && at < sh->sh_size) {
			n = sh->sh_size - at < sizeof(in) ?
				sh->sh_size - at : sizeof(in);
			n = pread(fd, in, n, sh->sh_offset + at);
			z.next_in = in;
			z.avail_in = n > 0 ? n : 0;
			at = n > 0 ? at + n : sh->sh_size;
		}
		z.next_out = out;
		z.avail_out = sizeof(out);
		ret = lzma_code(&z, LZMA_RUN);
	}
	lzma_end(&z);
	return ret == LZMA_MEMLIMIT_ERROR || z.total_out > most ? most :
								  z.total_out;
}

#else

/* Nobody knows: so of what others may have made nothing is unpacked. */
static uint64_t unpacked(int fd, const GElf_Shdr *sh, uint64_t most)
{
	(void)sh;
	return foreign_writer(fd) ? most : 0;
}

#endif

/* As the header of what is compressed says. */
static uint64_t compressed(int fd, Elf *elf, const GElf_Shdr *sh)
{
	union {
		Elf32_Chdr c32;
		Elf64_Chdr c64;
	} c;
	Elf_Data data = {
		.d_buf = &c,
		.d_type = ELF_T_CHDR,
		.d_version = EV_CURRENT,
		.d_size = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT),
	};

	if (pread(fd, &c, data.d_size, sh->sh_offset) != (ssize_t)data.d_size ||
	    !gelf_xlatetom(elf, &data, &data,
			   elf_getident(elf, NULL)[EI_DATA]))
		return 0;
	return gelf_getclass(elf) == ELFCLASS64 ? c.c64.ch_size : c.c32.ch_size;
}

/* The same as GNU had it before: "ZLIB" and a big-endian number. */
static uint64_t gnu_compressed(int fd, const GElf_Shdr *sh)
{
	unsigned char head[12];
	uint64_t size = 0;
	int i;

	if (pread(fd, head, sizeof(head), sh->sh_offset) != sizeof(head) ||
	    memcmp(head, "ZLIB", 4))
		return 0;
	for (i = 4; i < 12; i++)
		size = size << 8 | head[i];
	return size;
}

/*
 * Takes what elfutils makes of sections from *MOST.  Names are asked for when it is
 * known that to read them unpacks little.
 */
static bool fits(int fd, Elf *elf, bool by_name, uint64_t *most)
{
	Elf_Scn *scn = NULL;
	const char *name;
	uint64_t size;
	size_t names;
	GElf_Shdr sh;

	if (by_name && elf_getshdrstrndx(elf, &names))
		return true;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		size = 0;
		name = by_name ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (!by_name && sh.sh_flags & SHF_COMPRESSED)
			size = compressed(fd, elf, &sh);
		else if (name && !strcmp(name, ".gnu_debugdata"))
			size = unpacked(fd, &sh, *most);
		else if (name && !strncmp(name, ".zdebug", 7))
			size = gnu_compressed(fd, &sh);
		if (size >= *most)
			return false;
		*most -= size;
	}
	return true;
}

const char *elf_check(int fd)
{
	struct stat st;
	uint64_t most;
	bool all;
	Elf *elf;

	if (!elf_is(fd) || !has_sections(fd) || fstat(fd, &st))
		return no_elf;
	most = ELF_FREE + TIMES * 512ULL * st.st_blocks;
	if ((uint64_t)st.st_size > most)
		return too_much;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	all = elf && fits(fd, elf, false, &most) && fits(fd, elf, true, &most);
	elf_end(elf);
	return !elf ? no_elf : all ? NULL : too_much;
}

#endif
