/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols that are there for old programs; latency_hidden.h. */
#include "cmd/latency_hidden.h"

#ifdef HAVE_LIBDW

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

/* The bit of a symbol's version that says so. */
#define VERSION_HIDDEN 0x8000

static int by_symbol(const void *a, const void *b)
{
	const struct latency_hidden_symbol *x = a, *y = b;

	return strcmp(x->name, y->name) ?: (x->at > y->at) - (x->at < y->at);
}

/* Those that are hidden by each of their versions stay, each once. */
static void keep_hidden(struct latency_hidden *h)
{
	size_t i, end, nr = 0;
	bool hidden;

	for (i = 0; i < h->nr; i = end) {
		hidden = true;
		for (end = i; end < h->nr && !by_symbol(&h->symbols[i],
						       &h->symbols[end]); end++)
			hidden = hidden && h->symbols[end].hidden;
		if (hidden)
			h->symbols[nr++] = h->symbols[i];
	}
	h->nr = nr;
}

static Elf_Scn *section_of(Elf *elf, GElf_Word type, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, shdr) && shdr->sh_type == type)
			break;
	return scn;
}

void latency_hidden_read(struct latency_hidden *h, Elf *elf, size_t longest)
{
	GElf_Shdr symbols_head, versions_head;
	Elf_Scn *const scn = section_of(elf, SHT_DYNSYM, &symbols_head);
	Elf_Scn *const versions_scn = section_of(elf, SHT_GNU_versym,
						 &versions_head);
	Elf_Data *symbols = scn ? elf_getdata(scn, NULL) : NULL;
	Elf_Data *versions = versions_scn ? elf_getdata(versions_scn, NULL) :
					    NULL;
	GElf_Versym version;
	GElf_Sym sym;
	int i;

	if (!symbols || !versions)
		return;
	for (i = 0; gelf_getsym(symbols, i, &sym) &&
		    gelf_getversym(versions, i, &version); i++) {
		const char *name;

		if (sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, symbols_head.sh_link, sym.st_name);
		if (!name || strnlen(name, longest + 1) > longest)
			continue;
		h->symbols = array_room(h->symbols, &h->room, h->nr + 1,
					sizeof(*h->symbols));
		h->symbols[h->nr++] = (struct latency_hidden_symbol) {
			name, sym.st_value, version & VERSION_HIDDEN
		};
	}
	qsort(h->symbols, h->nr, sizeof(*h->symbols), by_symbol);
	keep_hidden(h);
}

void latency_hidden_free(struct latency_hidden *h)
{
	free(h->symbols);
}

bool latency_hidden_has(const struct latency_hidden *h, const char *name,
			GElf_Addr at)
{
	const struct latency_hidden_symbol key = { .name = name, .at = at };

	return h->nr && bsearch(&key, h->symbols, h->nr, sizeof(key), by_symbol);
}

#endif
