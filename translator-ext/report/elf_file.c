/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ELF file of an image; elf_file.h says what is wanted of it. */
#define _GNU_SOURCE	/* memfd_create() */
#include "elf_file.h"

#ifdef HAVE_LIBDW

#include <dirent.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "build_id.h"
#include "inlines.h"
#include "kallsyms.h"
#include "module_file.h"

struct elf_file {
	Dwfl_Callbacks callbacks;
	char *debug_dirs;	/* as elfutils has them */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Elf *elf;
	char *path;
	bool by_address;	/* the kernel's: offsets are addresses */
	uint64_t shift;		/* to take from these */
	bool only_debug;	/* its program headers are not to be trusted */
	int fd;			/* a module's, until elfutils takes it */
	const struct trace_section *sections;	/* a module's, or NULL */
	struct inlines *inlines;	/* NULL: not asked for yet */
};

static void set_callbacks(struct elf_file *f, const char *root)
{
	struct buf dirs = { 0 };
	char *whole;

	f->callbacks = (Dwfl_Callbacks) {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
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

/* ---- which file */

struct search {
	const struct image *image;
	const struct trace_head *head;
	const char *root;	/* of the machine's files; NULL: as they are */
	struct buf *why;	/* the last reason against a file */
};

static void because(struct search *s, const char *reason)
{
	s->why->len = 0;
	buf_puts(s->why, reason);
}

static bool has_build_id(const struct image *im)
{
	return im->flags & TRACE_MMAP_BUILD_ID;
}

static void check_build_id(struct search *s, int fd, bool *same)
{
	char was[BUILD_ID_TEXT], is[BUILD_ID_TEXT];
	uint8_t id[TRACE_BUILD_ID] = { 0 };
	const void *bits;
	ssize_t len;
	Elf *elf;

	elf = dwelf_elf_begin(fd);
	len = elf ? dwelf_elf_gnu_build_id(elf, &bits) : -1;
	if (len > 0)
		memcpy(id, bits, len < TRACE_BUILD_ID ? len : TRACE_BUILD_ID);
	elf_end(elf);
	*same = len > 0 && !memcmp(id, s->image->build_id, TRACE_BUILD_ID);
	if (*same)
		return;
	because(s, "another file has taken its place");
	build_id_text(s->image->build_id, was);
	if (len > 0)
		buf_printf(s->why, ": build-id %s, and it was %s",
			   build_id_text(id, is), was);
	else
		buf_printf(s->why, ": without a build-id, and it was %s", was);
}

static bool is_unchanged(struct search *s, const struct stat *st)
{
	const struct image *im = s->image;
	const uint64_t mapped = s->head->realtime +
				(im->mapped - s->head->r.time);

	if (im->inode != st->st_ino || im->dev_major != major(st->st_dev) ||
	    im->dev_minor != minor(st->st_dev)) {
		because(s, "another file has taken its place: it is another inode, and there was no build-id");
		return false;
	}
	if ((uint64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec >
	    mapped) {
		because(s, "it has been written to since it was mapped, and there was no build-id");
		return false;
	}
	return true;
}

/* Returns a file descriptor of the right file, or -1. */
static int try_path(struct search *s, const char *path)
{
	struct stat st;
	bool same;
	int fd;

	/* not to hang in a fifo that took its place */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		because(s, errno == ENOENT || errno == ENOTDIR ?
			   "it is gone" : strerror(errno));
		return -1;
	}
	same = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (!same)
		because(s, "another thing that is no file has taken its place");
	else if (has_build_id(s->image))
		check_build_id(s, fd, &same);
	else
		same = is_unchanged(s, &st);
	if (same)
		return fd;
	close(fd);
	return -1;
}

/* A mount namespace's number, as the trace has it; 0: not known. */
static uint32_t namespace_of(const char *pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/mnt", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static int try_below(struct search *s, const char *pid, struct buf *path)
{
	path->len = 0;
	buf_printf(path, "/proc/%s/root%s", pid, s->image->path);
	return try_path(s, path->s);
}

/* Through any process that sees the same mounts. */
static int try_namespace(struct search *s, struct buf *path)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int fd = -1;

	while (dir && fd < 0 && (d = readdir(dir)))
		if (*d->d_name >= '0' && *d->d_name <= '9' &&
		    namespace_of(d->d_name) == s->image->mnt_ns)
			fd = try_below(s, d->d_name, path);
	if (dir)
		closedir(dir);
	return fd;
}

static int try_process_file(struct search *s, struct buf *path)
{
	const uint32_t ns = s->image->mnt_ns;
	char pid[16];
	int fd = -1;

	if (s->root) {
		buf_printf(path, "%s%s", s->root, s->image->path);
		return try_path(s, path->s);
	}
	snprintf(pid, sizeof(pid), "%u", s->image->pid);
	if (!ns || ns == namespace_of("self")) {
		buf_puts(path, s->image->path);
		fd = try_path(s, path->s);
		/* it may have a root of its own */
		if (fd < 0 && ns && has_build_id(s->image) &&
		    namespace_of(pid) == ns)
			fd = try_below(s, pid, path);
		return fd;
	}
	if (namespace_of(pid) == ns)
		fd = try_below(s, pid, path);
	if (fd < 0)
		fd = try_namespace(s, path);
	if (fd < 0 && has_build_id(s->image)) {
		/* the same file, by whatever way it is seen */
		path->len = 0;
		buf_puts(path, s->image->path);
		fd = try_path(s, path->s);
	}
	if (fd < 0)
		because(s, "no process is left that sees its mount namespace");
	return fd;
}

/* This process's own is the same, if the kernel is. */
static int try_vdso(struct search *s, struct buf *path)
{
	const char *start = (const char *)getauxval(AT_SYSINFO_EHDR);
	const GElf_Ehdr *e = (const void *)start;
	size_t size;
	bool same;
	int fd;

	if (!start || !kernel_is_this(s->head)) {
		because(s, "that of another kernel");
		return -1;
	}
	size = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0 || write(fd, start, size) != (ssize_t)size) {
		because(s, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	buf_puts(path, "[vdso]");
	if (!has_build_id(s->image))
		return fd;
	check_build_id(s, fd, &same);
	if (same)
		return fd;
	close(fd);
	return -1;
}

static int try_kernel_below(struct search *s, const char *root,
			    struct buf *path)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
	};
	size_t i;
	int fd;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		path->len = 0;
		buf_puts(path, root);
		buf_printf(path, places[i], s->head->release);
		fd = try_path(s, path->s);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static int try_kernel(struct search *s, struct buf *path)
{
	int fd = -1;

	if (!has_build_id(s->image) || !s->head->stext) {
		because(s, "the trace does not say which kernel it is of");
		return -1;
	}
	if (s->root)
		fd = try_kernel_below(s, s->root, path);
	if (fd < 0)
		fd = try_kernel_below(s, "", path);
	if (fd < 0)
		because(s, "no vmlinux of it was found");
	return fd;
}

struct module_search {
	struct search *search;
	struct buf *path;
};

static int try_module_path(void *arg, const char *path)
{
	struct module_search *m = arg;

	m->path->len = 0;
	buf_puts(m->path, path);
	return try_path(m->search, path);
}

static int try_module(struct search *s, struct buf *path)
{
	struct module_search m = { s, path };
	int fd = -1;

	if (!has_build_id(s->image)) {
		because(s, "the trace does not have its build-id");
		return -1;
	}
	because(s, "no file of it was found below /lib/modules");
	if (s->root)
		fd = module_file_find(s->root, s->head->release,
				      s->image->path, try_module_path, &m);
	if (fd < 0)
		fd = module_file_find("", s->head->release, s->image->path,
				      try_module_path, &m);
	return fd;
}

/* ---- by build-id alone */

/* elfutils does not always tell. */
static void put_path(struct buf *path, int fd)
{
	char link[64], target[4096];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, target, sizeof(target));
	path->len = 0;
	buf_add(path, target, len < 0 ? 0 : len);
}

/*
 * Below /usr/lib/debug, or from debuginfod.  *only_debug: it is what was taken
 * from the file, not the file.
 */
static int find_by_build_id(struct elf_file *f, const struct image *im,
			    struct buf *path)
{
	Dwfl *dwfl = dwfl_begin(&f->callbacks);
	Dwfl_Module *mod = NULL;
	char *name = NULL;
	void **userdata;
	Elf *elf = NULL;
	int fd = -1;

	if (dwfl)
		mod = dwfl_report_module(dwfl, im->path, 0x1000, 0x2000);
	if (mod && !dwfl_module_report_build_id(mod, im->build_id,
			build_id_length(im->build_id), 0)) {
		dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL,
				 NULL);
		fd = dwfl_build_id_find_elf(mod, userdata, im->path, 0x1000,
					    &name, &elf);
		f->only_debug = fd < 0;
		if (fd < 0)
			fd = dwfl_build_id_find_debuginfo(mod, userdata,
					im->path, 0x1000, NULL, NULL, 0, &name);
	}
	elf_end(elf);
	if (fd >= 0)
		put_path(path, fd);
	free(name);
	if (dwfl)
		dwfl_end(dwfl);
	return fd;
}

static int find_file(struct elf_file *f, struct search *s, struct buf *path)
{
	int fd;

	if (s->image->kind == IMAGE_KERNEL)
		fd = try_kernel(s, path);
	else if (s->image->kind == IMAGE_MODULE)
		fd = try_module(s, path);
	else if (s->image->kind == IMAGE_VDSO)
		fd = try_vdso(s, path);
	else
		fd = try_process_file(s, path);
	if (fd >= 0) {
		s->why->len = 0;
		return fd;
	}
	if (!has_build_id(s->image))
		return -1;
	fd = find_by_build_id(f, s->image, path);
	if (fd >= 0)
		buf_printf(s->why, "; its symbols are of %s", path->s);
	return fd;
}

/* ---- the file */

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
	const struct trace_section *s = f->sections;
	unsigned int i;

	for (i = 0; i < TRACE_SECTIONS && *s[i].name; i++) {
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
	void **userdata;

	f->by_address = true;
	f->mod = dwfl_report_module(f->dwfl, im->path, im->addr,
				    im->addr + im->len);
	if (!f->mod)
		return;
	dwfl_module_info(f->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = f;
}

static bool open_module(struct elf_file *f, struct search *s, int fd)
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
		because(s, reason);
	return !reason;
}

struct elf_file *elf_file_open(const struct image *image,
			       const struct trace_head *head, const char *root,
			       struct buf *why)
{
	struct search s = { image, head, root, why };
	struct elf_file *f = xmalloc(sizeof(*f));
	struct buf path = { 0 };
	int fd;

	*f = (struct elf_file) { .fd = -1, .sections = image->sections };
	set_callbacks(f, root);
	elf_version(EV_CURRENT);
	buf_puts(why, "");
	if (image->kind == IMAGE_MODULE && !f->sections) {
		because(&s, "the trace does not say where its sections are");
		elf_file_close(f);
		return NULL;
	}
	fd = find_file(f, &s, &path);
	f->path = buf_take(&path);
	if (fd >= 0 && open_module(f, &s, fd))
		return f;
	elf_file_close(f);
	return NULL;
}

void elf_file_close(struct elf_file *f)
{
	if (f->inlines)
		inlines_free(f->inlines);
	if (f->dwfl)
		dwfl_end(f->dwfl);
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

/* Code, as far as a symbol tells; labels within a function are none. */
static bool is_function(const char *name, const GElf_Sym *sym, GElf_Word shndx)
{
	const int type = GELF_ST_TYPE(sym->st_info);

	if (!name || !*name || shndx == SHN_UNDEF || shndx == SHN_ABS)
		return false;
	if (type == STT_NOTYPE)
		return GELF_ST_BIND(sym->st_info) != STB_LOCAL;
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/*
 * The jumps to other objects have no symbols of their own, and are not the last
 * function before them that has no size.
 */
static void add_jumps(struct elf_file *f, struct intern *texts,
		      struct symtab *tab)
{
	struct symbol s = { .name = intern_string(texts, "[plt]") };
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

void elf_file_symbols(struct elf_file *f, struct intern *texts,
		      struct symtab *tab)
{
	const int nr = dwfl_module_getsymtab(f->mod);
	struct symbol s;
	const char *name;
	GElf_Word shndx;
	GElf_Sym sym;
	int i;

	for (i = 1; i < nr; i++) {
		name = dwfl_module_getsym_info(f->mod, i, &sym, &s.addr,
					       &shndx, NULL, NULL);
		if (!is_function(name, &sym, shndx))
			continue;
		s.size = sym.st_size;
		s.rank = rank_of(&sym);
		s.name = intern_string(texts, name);
		symtab_add(tab, &s);
	}
	if (!f->sections)
		add_jumps(f, texts, tab);
	symtab_sort(tab);
}

bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *addr)
{
	uint64_t first = UINT64_MAX;
	GElf_Phdr ph;
	size_t nr, i;

	*addr = offset - f->shift;
	if (f->by_address)
		return true;
	if (elf_getphdrnum(f->elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(f->elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (first == UINT64_MAX)
			first = ph.p_vaddr & -(uint64_t)4096;
		/* what was taken out has left its addresses, not its offsets */
		if (f->only_debug) {
			*addr = offset + first;
			if (ph.p_flags & PF_X && *addr >= ph.p_vaddr &&
			    *addr - ph.p_vaddr < ph.p_memsz)
				return true;
		} else if (offset >= ph.p_offset &&
			   offset - ph.p_offset < ph.p_filesz) {
			*addr = offset - ph.p_offset + ph.p_vaddr;
			return true;
		}
	}
	return false;
}

const char *elf_file_line(struct elf_file *f, uint64_t addr, int *line)
{
	Dwfl_Line *l = dwfl_module_getsrc(f->mod, addr);

	return l ? dwfl_lineinfo(l, NULL, line, NULL, NULL, NULL) : NULL;
}

unsigned int elf_file_inlined(struct elf_file *f, uint64_t addr,
			      struct elf_inlined list[ELF_INLINED_MAX])
{
	if (!f->inlines)
		f->inlines = inlines_new(f->mod);
	return inlines_at(f->inlines, addr, list);
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
			       const struct trace_head *head, const char *root,
			       struct buf *why)
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

void elf_file_symbols(struct elf_file *f, struct intern *texts,
		      struct symtab *tab)
{
	(void)f;
	(void)texts;
	(void)tab;
}

bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *addr)
{
	(void)f;
	*addr = offset;
	return false;
}

const char *elf_file_line(struct elf_file *f, uint64_t addr, int *line)
{
	(void)f;
	(void)addr;
	(void)line;
	return NULL;
}

unsigned int elf_file_inlined(struct elf_file *f, uint64_t addr,
			      struct elf_inlined list[ELF_INLINED_MAX])
{
	(void)f;
	(void)addr;
	(void)list;
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
