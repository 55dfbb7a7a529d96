/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments of ELF files; elf_segments.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "report/names/elf_segments.h"

#include <stdlib.h>

static void add_segment(struct elf_segments *s, uint64_t offset, uint64_t len,
			uint64_t addr)
{
	s->all = array_room(s->all, &s->size, s->nr + 1, sizeof(*s->all));
	s->all[s->nr++] = (struct elf_segment) { offset, len, addr };
}

/* Its code was taken out. */
static bool is_debug_file(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR &&
		    sh.sh_type == SHT_NOBITS && sh.sh_size)
			return true;
	return false;
}

static void read_all(struct elf_segments *s, Elf *elf, size_t nr)
{
	GElf_Phdr ph;
	size_t i;

	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD)
			add_segment(s, ph.p_offset, ph.p_filesz, ph.p_vaddr);
}

/* ---- of a debug file */

struct pages {
	uint64_t size;		/* a power of two */
	Elf *elf;
	size_t nr_headers;
	uint64_t start;		/* of the first segment */
	uint64_t end;		/* of the last one */
};

static uint64_t page_of(const struct pages *p, uint64_t addr)
{
	return addr & -p->size;
}

static uint64_t page_behind(const struct pages *p, uint64_t addr)
{
	return page_of(p, addr + p->size - 1);
}

static void find_ends(struct pages *p)
{
	GElf_Phdr ph;
	uint64_t end;
	size_t i;

	p->start = UINT64_MAX;
	for (i = 0; i < p->nr_headers; i++) {
		if (!gelf_getphdr(p->elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		end = page_behind(p, ph.p_vaddr + ph.p_memsz);
		if (end > p->end)
			p->end = end;
		if (page_of(p, ph.p_vaddr) < p->start)
			p->start = page_of(p, ph.p_vaddr);
	}
}

/*
 * Can that have been mapped so?  Who loads a file maps it all as it maps the
 * first segment, and then the others over that.
 */
static bool can_be(const struct pages *p, const GElf_Phdr *ph,
		   const struct image_part *part)
{
	const uint64_t start = page_of(p, ph->p_vaddr);
	const uint64_t end = page_behind(p, ph->p_vaddr + ph->p_memsz);

	return ph->p_type == PT_LOAD && ph->p_flags & PF_X &&
	       (part->len == end - start ||
		(start == p->start && part->len == p->end - start));
}

/* The only segment that a part can be, if no other place can be that. */
static bool find_segment(const struct pages *p, const struct image *image,
			 const struct image_part *part, GElf_Phdr *found)
{
	unsigned int nr = 0;
	GElf_Phdr ph;
	uint32_t k;
	size_t i;

	for (i = 0; i < p->nr_headers; i++) {
		if (!gelf_getphdr(p->elf, i, &ph) ||
		    !can_be(p, &ph, part))
			continue;
		*found = ph;
		nr++;
	}
	for (k = 0; nr == 1 && k < image->nr_parts; k++)
		nr += image->parts[k].offset != part->offset &&
		      can_be(p, found, &image->parts[k]);
	return nr == 1;
}

static void match_all(struct elf_segments *s, const struct pages *p,
		      const struct image *image)
{
	const struct image_part *part;
	GElf_Phdr ph;
	uint32_t i;

	for (i = 0; i < image->nr_parts; i++) {
		part = &image->parts[i];
		if (find_segment(p, image, part, &ph))
			add_segment(s, part->offset + ph.p_vaddr -
				    page_of(p, ph.p_vaddr), ph.p_memsz,
				    ph.p_vaddr);
	}
}

bool elf_segments_read(struct elf_segments *segments, Elf *elf,
		       const struct image *image, uint64_t page_size)
{
	struct pages p = { .size = page_size, .elf = elf };

	if (elf_getphdrnum(elf, &p.nr_headers))
		return false;
	if (!is_debug_file(elf)) {
		read_all(segments, elf, p.nr_headers);
	} else if (page_size && !(page_size & (page_size - 1))) {
		find_ends(&p);
		match_all(segments, &p, image);
	}
	return segments->nr;
}

void elf_segments_free(struct elf_segments *segments)
{
	free(segments->all);
}

bool elf_segments_address(const struct elf_segments *segments, uint64_t offset,
			  uint64_t *addr)
{
	const struct elf_segment *s;
	size_t i;

	for (i = 0; i < segments->nr; i++) {
		s = &segments->all[i];
		if (offset < s->offset || offset - s->offset >= s->len)
			continue;
		*addr = s->addr + (offset - s->offset);
		return true;
	}
	return false;
}

#endif
