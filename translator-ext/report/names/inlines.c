/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined functions; inlines.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "report/names/inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/foreign.h"
#include "base/intern.h"
#include "report/names/elf_check.h"
#include "report/names/symtab.h"

#define DEEPEST 64		/* scopes within scopes */

/* What a file has that takes next to nothing. */
#define LEAST_RANGES 65536u
#define LEAST_NS 250000000u

#define NS_A_BYTE 1000u		/* an honest one takes some ten */

/* What stands side by side: the functions of a unit, the scopes in one scope. */
struct level {
	struct inlines *in;
	Dwarf_Die *dies;
	size_t nr, size;
	struct symtab ranges;	/* their names are numbers of dies */
};

/* A compilation unit. */
struct unit {
	struct level functions;
	Dwarf_Files *files;
};

struct inlines {
	Dwfl_Module *mod;
	struct line_tables *lines;
	struct intern offsets;	/* of units that were asked for */
	struct unit *units;
	size_t size;
	struct intern scopes;	/* that were asked for, by where they are */
	struct level *levels;	/* what is in each */
	size_t levels_size;
	struct intern counted;	/* files, of whose bytes there may be so many: */
	uint64_t ranges_left;	/* that may be kept */
	/* of a CPU, for lists: what is left, and what was when this one was begun */
	uint64_t ns_left, ns_begun;
	unsigned int steps;
};

/* A range has four bytes at least. */
static void count_bytes(struct inlines *in, uint64_t bytes)
{
	in->ranges_left += bytes / 4;
	in->ns_left += bytes * NS_A_BYTE;
}

struct inlines *inlines_new(Dwfl_Module *mod, uint64_t bytes,
			    struct line_tables *lines)
{
	struct inlines *in = xmalloc(sizeof(*in));

	*in = (struct inlines) {
		.mod = mod,
		.lines = lines,
		.ranges_left = LEAST_RANGES,
		.ns_left = LEAST_NS,
	};
	count_bytes(in, bytes);
	return in;
}

/*
 * Scopes can be told within each other and beside each other, and elfutils looks for the
 * end of one without looking where others end.  So what listing them takes is measured.
 */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void begin_time(struct inlines *in)
{
	in->ns_begun = cpu_ns();
}

static void end_time(struct inlines *in)
{
	const uint64_t now = cpu_ns(), ns = now - in->ns_begun;

	in->ns_left -= ns < in->ns_left ? ns : in->ns_left;
	in->ns_begun = now;
}

/* Between the two; to be asked at each step. */
static bool has_time(struct inlines *in)
{
	if (!(++in->steps % 64))
		end_time(in);
	return in->ns_left;
}

static void level_free(struct level *l)
{
	free(l->dies);
	symtab_free(&l->ranges);
}

void inlines_free(struct inlines *in)
{
	uint32_t i;

	for (i = 0; i < in->offsets.nr; i++)
		level_free(&in->units[i].functions);
	free(in->units);
	intern_free(&in->offsets);
	for (i = 0; i < in->scopes.nr; i++)
		level_free(&in->levels[i]);
	free(in->levels);
	intern_free(&in->scopes);
	intern_free(&in->counted);
	free(in);
}

/* ---- levels */

static void level_add(struct level *l, Dwarf_Die *die)
{
	const size_t before = l->ranges.nr;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (l->in->ranges_left &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		l->in->ranges_left--;
		if (start >= end)
			continue;
		/* where several begin the longest one stays */
		symtab_add(&l->ranges, &(struct symbol) {
			.addr = start, .size = end - start, .name = l->nr,
			.rank = end - start < UINT32_MAX ? end - start :
							   UINT32_MAX,
		});
	}
	if (l->ranges.nr == before)
		return;
	l->dies = array_room(l->dies, &l->size, l->nr + 1, sizeof(*l->dies));
	l->dies[l->nr++] = *die;
}

/* Nothing is added any more. */
static void level_end(struct level *l, struct buf *why)
{
	if (!l->in->ranges_left && !why->len)
		buf_puts(why, "what is inlined is not all looked at: it has more ranges of addresses than a file of its size can have");
	if (!l->in->ns_left && !why->len)
		buf_puts(why, "what is inlined is not all looked at: it takes longer than that of a file of its size can take");
	symtab_sort(&l->ranges);
}

/* Scopes can overlap, as link-time optimization leaves them. */
static Dwarf_Die *level_at(struct level *l, Dwarf_Addr addr)
{
	const struct symbol *range = symtab_find(&l->ranges, addr);

	return range ? &l->dies[range->name] : NULL;
}

/* ---- the functions of a unit */

/* Once, however many units name it. */
static void count_file(struct inlines *in, int fd)
{
	const uint32_t before = in->counted.nr;
	uint64_t key[2];
	struct stat st;

	if (fstat(fd, &st))
		return;
	key[0] = st.st_dev;
	key[1] = st.st_ino;
	if (intern(&in->counted, key, sizeof(key)) == before)
		count_bytes(in, elf_bytes(fd));
}

static bool is_too_long(const char *name)
{
	return strnlen(name, PATH_MAX) == PATH_MAX;
}

/*
 * elfutils opens what a unit names, be it a pipe, in its directory or beside the
 * program: so it is not asked for what is no regular file there, or more than it may
 * have.  Another's may become so meanwhile, and root asks for none of these.
 */
static bool may_open(struct inlines *in, Dwarf_Die *unit, const char *beside,
		     const char *name)
{
	const struct foreign_rule rule = {
		.most = ELF_MOST, .own = !geteuid(),
	};
	const char *slash = strrchr(beside, '/');
	Dwarf_Attribute a;
	const char *dir = dwarf_attr(unit, DW_AT_comp_dir, &a) ?
			  dwarf_formstring(&a) : NULL;
	struct buf paths[3] = { 0 };
	bool may = true;
	int fd, i;

	/* and neither for what can be no name: elfutils puts it together for each unit */
	if (is_too_long(name) || (dir && is_too_long(dir)))
		return false;

	buf_printf(&paths[0], "%s.dwp", beside);
	if (*name == '/')
		buf_puts(&paths[1], name);
	else if (slash)
		buf_printf(&paths[1], "%.*s/%s", (int)(slash - beside), beside,
			   name);
	if (*name != '/' && dir)
		buf_printf(&paths[2], "%s/%s", dir, name);
	for (i = 0; i < 3; i++) {
		fd = paths[i].s ? foreign_open(paths[i].s, &rule) : -1;
		if (fd >= 0 ? !!elf_check(fd) :
		    paths[i].s && errno != ENOENT && errno != ENOTDIR)
			may = false;
		if (fd >= 0) {
			count_file(in, fd);
			close(fd);
		}
		free(paths[i].s);
	}
	return may;
}

/* -gsplit-dwarf leaves a skeleton, and has the unit in a file of its own. */
static void go_to_split(struct inlines *in, Dwarf_Die *unit, struct buf *why)
{
	const char *name = NULL, *main_file = NULL, *debug = NULL;
	Dwarf_Attribute a;
	Dwarf_Die split;
	uint8_t type;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL,
			  NULL) || type != DW_UT_skeleton)
		return;
	if (dwarf_attr(unit, DW_AT_dwo_name, &a) ||
	    dwarf_attr(unit, DW_AT_GNU_dwo_name, &a))
		name = dwarf_formstring(&a);
	if (!name)
		return;
	dwfl_module_info(in->mod, NULL, NULL, NULL, NULL, NULL, &main_file,
			 &debug);
	if (!may_open(in, unit, debug ?: main_file ?: "", name))
		buf_printf(why, "inlined functions are in %.*s, which is no ELF file of a fair size, or another user's",
			   PATH_MAX, name);
	else if (!dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL,
				NULL, NULL) && split.addr)
		*unit = split;
	else
		buf_printf(why, "inlined functions are in %s, which is not there",
			   name);
}

static bool may_have_functions(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_module:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
		return true;
	}
	return false;
}

/* What comes after DIE; PARENTS are what it is in. */
static bool next_die(Dwarf_Die *die, Dwarf_Die *parents, unsigned int *depth)
{
	Dwarf_Die child;

	if (*depth < DEEPEST && may_have_functions(die) &&
	    !dwarf_child(die, &child)) {
		parents[(*depth)++] = *die;
		*die = child;
		return true;
	}
	while (dwarf_siblingof(die, die)) {
		if (!*depth)
			return false;
		*die = parents[--*depth];
	}
	return true;
}

/*
 * Not by dwarf_getfuncs(), which calls itself as deep as scopes are in each other, and
 * cannot be stopped where the same one is told again and again.
 */
static void add_functions(struct level *l, Dwarf_Die *unit)
{
	Dwarf_Die parents[DEEPEST], die;
	unsigned int depth = 0;

	if (dwarf_child(unit, &die))
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			level_add(l, &die);
	} while (has_time(l->in) && next_die(&die, parents, &depth));
}

static struct unit *unit_of(struct inlines *in, Dwarf_Die *cu,
			    struct buf *why)
{
	const Dwarf_Off offset = dwarf_dieoffset(cu);
	const uint32_t before = in->offsets.nr;
	const uint32_t nr = intern(&in->offsets, &offset, sizeof(offset));
	Dwarf_Die unit = *cu;
	struct unit *u;

	in->units = array_room(in->units, &in->size, nr + 1,
			       sizeof(*in->units));
	u = &in->units[nr];
	if (nr != before)
		return u;
	u->functions.in = in;
	go_to_split(in, &unit, why);
	begin_time(in);
	add_functions(&u->functions, &unit);
	end_time(in);
	level_end(&u->functions, why);
	u->files = line_tables_files(in->lines, &unit, why);
	return u;
}

/* ---- within a function */

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		return dwarf_formstring(&a);
	return dwarf_diename(die);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, &value) ?
		value : 0;
}

static struct elf_inlined describe(const struct unit *u, Dwarf_Die *die)
{
	const Dwarf_Word file = number_of(die, DW_AT_call_file);

	return (struct elf_inlined) {
		.name = name_of(die),
		.file = u->files ? dwarf_filesrc(u->files, file, NULL, NULL) :
				   NULL,
		.line = number_of(die, DW_AT_call_line),
	};
}

static bool is_scope(Dwarf_Die *die)
{
	const int tag = dwarf_tag(die);

	return tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

/* The scopes in one, which are listed once: it may have a million, and as many samples. */
static struct level *level_in(struct inlines *in, Dwarf_Die *scope,
			      struct buf *why)
{
	const uint32_t before = in->scopes.nr;
	const uint32_t nr = intern(&in->scopes, &scope->addr,
				   sizeof(scope->addr));
	struct level *l;
	Dwarf_Die die;

	in->levels = array_room(in->levels, &in->levels_size, nr + 1,
				sizeof(*in->levels));
	l = &in->levels[nr];
	if (nr != before)
		return l;
	l->in = in;
	if (dwarf_child(scope, &die))
		return l;
	begin_time(in);
	do {
		if (is_scope(&die))
			level_add(l, &die);
	} while (has_time(in) && !dwarf_siblingof(&die, &die));
	end_time(in);
	level_end(l, why);
	return l;
}

unsigned int inlines_at(struct inlines *in, uint64_t addr,
			struct elf_inlined list[ELF_INLINED_MAX],
			struct buf *why)
{
	struct elf_inlined outside_in[ELF_INLINED_MAX];
	unsigned int nr = 0, depth = 0, i;
	Dwarf_Die *cu, *scope;
	struct unit *u;
	Dwarf_Addr bias;

	cu = dwfl_module_addrdie(in->mod, addr, &bias);
	if (!cu)
		return 0;
	u = unit_of(in, cu, why);
	scope = level_at(&u->functions, addr - bias);
	while (scope && nr < ELF_INLINED_MAX && depth++ < DEEPEST) {
		scope = level_at(level_in(in, scope, why), addr - bias);
		if (scope && dwarf_tag(scope) == DW_TAG_inlined_subroutine)
			outside_in[nr++] = describe(u, scope);
	}
	for (i = 0; i < nr; i++)
		list[i] = outside_in[nr - 1 - i];
	return nr;
}

#endif
