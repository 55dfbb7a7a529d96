/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ELF file of an image; elf_file.h says what is wanted of it. */
#include "report/names/elf_file.h"

#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/foreign.h"
#include "report/names/debug_file.h"
#include "report/names/elf_check.h"
#include "report/names/elf_find.h"
#include "report/names/elf_segments.h"
#include "report/names/inlines.h"
#include "report/names/line_tables.h"
#include "report/names/no_alt.h"

struct elf_file {
	Dwfl_Callbacks callbacks;
	char *debug_dirs;	/* as elfutils has them */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Elf *elf;
	char *path;
	size_t root_len;	/* bytes of it that are a directory taken for / */
	uid_t writer;		/* who wrote it, or its debugging information */
	uint64_t bytes;		/* that these have */
	bool by_address;	/* the kernel's: offsets are addresses */
	uint64_t shift;		/* to take from these */
	struct elf_segments segments;	/* where offsets are such in a file */
	int fd;			/* a module's, until elfutils takes it */
	/* a module's, or NULL */
	const struct sw_trace_section *sections;
	struct line_tables lines;
	struct inlines *inlines;	/* NULL: not asked for yet */
	bool has_alt;		/* libdwfl has what several files have in common */
	bool looked_at_alt;
	struct no_alt no_alt;	/* else it is this */
};

/* Will libdwfl take it?  If it does not, libdw opens what has that name by itself. */
static bool has_dwarf(int fd)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);

	if (dwarf)
		dwarf_end(dwarf);
	return dwarf;
}

/* What one of two writers wrote, the other one is not to be taken for. */
static void add_file(struct elf_file *f, int fd)
{
	const uid_t writer = foreign_writer(fd);

	f->bytes += elf_bytes(fd);
	if (writer)
		f->writer = f->writer && f->writer != writer ? FOREIGN_NOBODY :
							       writer;
}

/*
 * What several files have in common has no checksum here.  A program's debug file has
 * one, and a link whose checksum is 0 is none.
 */
static bool is_alt(Dwfl_Module *mod, const char *link, GElf_Word crc)
{
	const char *debug_link = NULL;
	Dwarf_Addr bias;
	Elf *elf;

	if (!link || crc)
		return false;
	elf = dwfl_module_getelf(mod, &bias);
	if (elf)
		debug_link = dwelf_elf_gnu_debuglink(elf, &crc);
	return !debug_link || strcmp(link, debug_link);
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file_name,
			  const char *link, GElf_Word crc, char **found)
{
	struct elf_file *f = *userdata;
	const char *path = f->path, *debug = NULL;
	const bool alt = is_alt(mod, link, crc);
	size_t root_len = f->root_len;
	int fd = -1;

	/* what several files have in common is told by who has the DWARF */
	if (alt)
		debug = file_name;
	else if (!file_name)
		dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL,
				 &debug);
	if (debug) {
		if (strncmp(debug, path, root_len))
			root_len = 0;
		path = debug;
	}
	if (alt || (link && crc))
		fd = debug_file_open(mod, path, root_len, link, crc, found);
	if (fd < 0)
		fd = dwfl_standard_find_debuginfo(mod, userdata, name, base,
						  NULL, NULL, 0, found);
	if (fd >= 0)
		add_file(f, fd);
	if (alt)
		f->has_alt = fd >= 0 && has_dwarf(fd);
	return fd;
}

/*
 * Before any of its DWARF is read: where that refers to what several files have in
 * common, and nobody has found it, it refers to nothing.
 */
static bool may_read_dwarf(struct elf_file *f)
{
	const void *id;
	Dwarf_Addr bias;
	Dwarf *main;

	if (!f->looked_at_alt) {
		f->looked_at_alt = true;
		main = dwfl_module_getdwarf(f->mod, &bias);
		/* with those of the debug file, which is known now */
		line_tables_init(&f->lines, f->bytes);
		if (!main || f->has_alt ||
		    dwelf_dwarf_gnu_debugaltlink(main, &f->no_alt.name, &id) <= 0)
			f->has_alt = true;
		else
			no_alt_set(&f->no_alt, main);
	}
	return f->has_alt || f->no_alt.dwarf;
}

static void set_callbacks(struct elf_file *f, const char *root)
{
	struct buf dirs = { 0 };
	char *whole;

	f->callbacks = (Dwfl_Callbacks) {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	/* it takes no directories relative to this one */
	whole = root ? realpath(root, NULL) : NULL;
	if (!whole)
		return;
	buf_printf(&dirs, ":.debug:%s/usr/lib/debug:/usr/lib/debug", whole);
	free(whole);
	f->debug_dirs = buf_take(&dirs);
	f->callbacks.debuginfo_path = &f->debug_dirs;
}

static bool find_stext(struct elf_file *f, uint64_t *addr)
{
	const int nr = dwfl_module_getsymtab(f->mod);
	const char *name;
	GElf_Sym sym;
	int i;

	for (i = 0; i < nr; i++) {
		name = dwfl_module_getsym_info(f->mod, i, &sym, addr, NULL,
					       NULL, NULL);
		if (name && !strcmp(name, "_stext"))
			return true;
	}
	return false;
}

/* ---- a kernel's module: sections, each of which lies somewhere */

static int give_file(Dwfl_Module *mod, void **userdata, const char *name,
		     Dwarf_Addr base, char **file_name, Elf **elf)
{
	struct elf_file *f = *userdata;
	const int fd = f->fd;

	(void)mod;
	(void)name;
	(void)base;
	(void)elf;
	f->fd = -1;
	*file_name = xstrdup(f->path);
	return fd;
}

static bool loaded_at(const struct elf_file *f, const char *section,
		      uint64_t *addr)
{
	const struct sw_trace_section *s = f->sections;
	unsigned int i;

	for (i = 0; i < SW_TRACE_SECTIONS && *s[i].name; i++) {
		if (strcmp(s[i].name, section))
			continue;
		*addr = s[i].addr;
		return true;
	}
	return false;
}

static int section_address(Dwfl_Module *mod, void **userdata, const char *name,
			   Dwarf_Addr base, const char *section,
			   GElf_Word number, const GElf_Shdr *header,
			   Dwarf_Addr *addr)
{
	uint64_t at = -1;

	(void)mod;
	(void)name;
	(void)base;
	(void)number;
	(void)header;
	/* of what is not code nobody asks where it is */
	loaded_at(*userdata, section, &at);
	*addr = at;
	return DWARF_CB_OK;
}

static void report_module(struct elf_file *f, const struct image *im)
{
	f->by_address = true;
	f->mod = dwfl_report_module(f->dwfl, im->path, im->addr,
				    im->addr + im->len);
}

/* What the callbacks are given. */
static void set_userdata(struct elf_file *f)
{
	void **userdata;

	dwfl_module_info(f->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = f;
}

static bool open_module(struct elf_file *f, struct elf_search *s, int fd)
{
	const char *reason = NULL;
	GElf_Addr bias;
	uint64_t stext;

	if (f->sections) {
		f->callbacks.find_elf = give_file;
		f->callbacks.section_address = section_address;
		f->fd = fd;
	}
	f->dwfl = dwfl_begin(&f->callbacks);
	if (f->dwfl && f->sections)
		report_module(f, s->image);
	else if (f->dwfl)
		f->mod = dwfl_report_elf(f->dwfl, f->path, f->path, fd, 0,
					 true);
	if (!f->mod) {
		close(fd);
		f->fd = -1;
		reason = dwfl_errmsg(-1);
	} else {
		set_userdata(f);
		/* which owns fd from here on */
		dwfl_report_end(f->dwfl, NULL, NULL);
		f->elf = dwfl_module_getelf(f->mod, &bias);
		if (!f->elf)
			reason = dwfl_errmsg(-1);
	}
	if (!reason && s->image->kind == IMAGE_KERNEL) {
		f->by_address = true;
		if (find_stext(f, &stext))
			f->shift = s->head->stext - stext;
		else
			reason = "it has no symbol _stext";
	}
	if (reason)
		elf_because(s, reason);
	return !reason;
}

/* A symbol that may be another one's is none. */
static bool read_segments(struct elf_file *f, struct elf_search *s)
{
	if (f->by_address ||
	    elf_segments_read(&f->segments, f->elf, s->image,
			      s->head->page_size))
		return true;
	buf_printf(s->why, "%s which of its segments was mapped cannot be told",
		   s->why->len ? ", but" : "it has no code in it, and");
	return false;
}

struct elf_file *elf_file_open(const struct image *image,
			       const struct sw_trace_head *head,
			       const char *root, struct buf *why)
{
	struct elf_file *f = xmalloc(sizeof(*f));
	struct elf_search s = {
		.image = image,
		.head = head,
		.root = root,
		.callbacks = &f->callbacks,
		.why = why,
	};
	struct buf path = { 0 };
	int fd;

	*f = (struct elf_file) { .fd = -1, .sections = image->sections };
	set_callbacks(f, root);
	elf_version(EV_CURRENT);
	buf_puts(why, "");
	if (image->kind == IMAGE_MODULE && !f->sections) {
		elf_because(&s, "the trace does not say where its sections are");
		elf_file_close(f);
		return NULL;
	}
	fd = elf_find(&s, &path);
	f->path = buf_take(&path);
	f->root_len = s.root_len;
	if (fd >= 0)
		add_file(f, fd);
	if (fd >= 0 && open_module(f, &s, fd) && read_segments(f, &s))
		return f;
	elf_file_close(f);
	return NULL;
}

void elf_file_close(struct elf_file *f)
{
	if (f->inlines)
		inlines_free(f->inlines);
	line_tables_free(&f->lines);
	elf_segments_free(&f->segments);
	if (f->dwfl)
		dwfl_end(f->dwfl);
	no_alt_free(&f->no_alt);
	if (f->fd >= 0)
		close(f->fd);
	free(f->debug_dirs);
	free(f->path);
	free(f);
}

static uint32_t rank_of(const GElf_Sym *sym)
{
	const bool function = GELF_ST_TYPE(sym->st_info) != STT_NOTYPE;

	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		return 2 + 4 * function;
	case STB_WEAK:
		return 1 + 4 * function;
	}
	return 4 * function;
}

/*
 * Debug information has symbols, too, whose addresses are none of code: those of
 * a section that is not in memory have no number of one here.
 */
static bool is_in_code(Elf *elf, GElf_Word shndx)
{
	Elf_Scn *scn = elf_getscn(elf, shndx);
	GElf_Shdr sh;

	if (shndx == (GElf_Word)-1)
		return false;
	/* a file may have come without its section headers */
	return !scn || !gelf_getshdr(scn, &sh) ||
	       sh.sh_flags & SHF_EXECINSTR;
}

/* Code, as far as a symbol tells; labels within a function are none. */
static bool is_function(const char *name, const GElf_Sym *sym, GElf_Word shndx,
			Elf *elf)
{
	const int type = GELF_ST_TYPE(sym->st_info);

	if (!name || !*name || shndx == SHN_UNDEF || shndx == SHN_ABS ||
	    !is_in_code(elf, shndx))
		return false;
	if (type == STT_NOTYPE)
		return GELF_ST_BIND(sym->st_info) != STB_LOCAL;
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/*
 * The jumps to other objects have no symbols of their own, and are not the last
 * function before them that has no size.
 */
static void add_jumps(struct elf_file *f, struct symtab *tab)
{
	struct symbol s = { .text = "[plt]" };
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(f->elf, &names))
		return;
	while ((scn = elf_nextscn(f->elf, scn))) {
		name = gelf_getshdr(scn, &sh) ?
			elf_strptr(f->elf, names, sh.sh_name) : NULL;
		if (!name || strncmp(name, ".plt", 4) || !sh.sh_size)
			continue;
		s.addr = sh.sh_addr;
		s.size = sh.sh_size;
		symtab_add(tab, &s);
	}
}

void elf_file_symbols(struct elf_file *f, struct symtab *tab)
{
	const int nr = dwfl_module_getsymtab(f->mod);
	struct symbol s;
	GElf_Word shndx;
	GElf_Sym sym;
	Elf *elf;
	int i;

	for (i = 1; i < nr; i++) {
		s.text = dwfl_module_getsym_info(f->mod, i, &sym, &s.addr,
						 &shndx, &elf, NULL);
		if (!is_function(s.text, &sym, shndx, elf))
			continue;
		s.size = sym.st_size;
		s.rank = rank_of(&sym);
		s.name = i;
		symtab_add(tab, &s);
	}
	if (!f->sections)
		add_jumps(f, tab);
	symtab_sort(tab);
}

bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *addr)
{
	*addr = offset - f->shift;
	return f->by_address ||
	       elf_segments_address(&f->segments, offset, addr);
}

const char *elf_file_line(struct elf_file *f, uint64_t addr, int *line,
			  struct buf *why)
{
	Dwarf_Die *cu;
	Dwarf_Addr bias;
	Dwfl_Line *l;

	if (!may_read_dwarf(f))
		return NULL;
	cu = dwfl_module_addrdie(f->mod, addr, &bias);
	if (!cu || !line_tables_may(&f->lines, cu, why))
		return NULL;
	l = dwfl_module_getsrc(f->mod, addr);
	return l ? dwfl_lineinfo(l, NULL, line, NULL, NULL, NULL) : NULL;
}

uid_t elf_file_writer(const struct elf_file *f)
{
	return f->writer;
}

static bool lacks_name(const struct elf_inlined *list, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && list[i].name; i++)
		;
	return i < nr;
}

unsigned int elf_file_inlined(struct elf_file *f, uint64_t addr,
			      struct elf_inlined list[ELF_INLINED_MAX],
			      struct buf *why)
{
	unsigned int nr;

	if (!may_read_dwarf(f))
		return 0;
	if (!f->inlines)
		f->inlines = inlines_new(f->mod, f->bytes, &f->lines);
	nr = inlines_at(f->inlines, addr, list, why);
	if (f->no_alt.dwarf && lacks_name(list, nr))
		no_alt_say(&f->no_alt, why);
	return nr;
}

/* Where a section is, as addresses are given here. */
static bool lies_at(struct elf_file *f, const GElf_Shdr *sh, uint64_t *addr)
{
	const char *name;
	size_t names;

	*addr = sh->sh_addr;
	if (!f->sections)
		return true;
	name = elf_getshdrstrndx(f->elf, &names) ? NULL :
		elf_strptr(f->elf, names, sh->sh_name);
	return name && loaded_at(f, name, addr);
}

const void *elf_file_code(struct elf_file *f, uint64_t addr, size_t *size)
{
	GElf_Shdr sh;
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	uint64_t at;

	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
		    sh.sh_type == SHT_NOBITS || !lies_at(f, &sh, &at) ||
		    addr < at || addr - at >= sh.sh_size)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || addr - at >= data->d_size)
			return NULL;
		if (*size > data->d_size - (addr - at))
			*size = data->d_size - (addr - at);
		return (const char *)data->d_buf + (addr - at);
	}
	return NULL;
}

#else /* !HAVE_LIBDW */

struct elf_file *elf_file_open(const struct image *image,
			       const struct sw_trace_head *head,
			       const char *root, struct buf *why)
{
	(void)image;
	(void)head;
	(void)root;
	buf_puts(why, "built without elfutils, which reads such files");
	return NULL;
}

void elf_file_close(struct elf_file *f)
{
	(void)f;
}

void elf_file_symbols(struct elf_file *f, struct symtab *tab)
{
	(void)f;
	(void)tab;
}

bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *addr)
{
	(void)f;
	*addr = offset;
	return false;
}

const char *elf_file_line(struct elf_file *f, uint64_t addr, int *line,
			  struct buf *why)
{
	(void)f;
	(void)addr;
	(void)line;
	(void)why;
	return NULL;
}

uid_t elf_file_writer(const struct elf_file *f)
{
	(void)f;
	return 0;
}

unsigned int elf_file_inlined(struct elf_file *f, uint64_t addr,
			      struct elf_inlined list[ELF_INLINED_MAX],
			      struct buf *why)
{
	(void)f;
	(void)addr;
	(void)list;
	(void)why;
	return 0;
}

const void *elf_file_code(struct elf_file *f, uint64_t addr, size_t *size)
{
	(void)f;
	(void)addr;
	(void)size;
	return NULL;
}

#endif
