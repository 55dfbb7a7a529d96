/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined functions; inlines.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "report/names/inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/foreign.h"
#include "base/intern.h"
#include "report/names/elf_check.h"

#define DEEPEST 64		/* scopes within scopes */

struct range {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Die function;
};

/* A compilation unit. */
struct unit {
	struct inlines *in;
	struct range *ranges;	/* by address */
	size_t nr, size;
	Dwarf_Files *files;
};

struct inlines {
	Dwfl_Module *mod;
	struct intern offsets;	/* of units that were asked for */
	struct unit *units;
	size_t size;
	uint64_t ranges_left;	/* that may be kept */
};

struct inlines *inlines_new(Dwfl_Module *mod, uint64_t bytes)
{
	struct inlines *in = xmalloc(sizeof(*in));

	*in = (struct inlines) { .mod = mod, .ranges_left = bytes };
	return in;
}

void inlines_free(struct inlines *in)
{
	uint32_t i;

	for (i = 0; i < in->offsets.nr; i++)
		free(in->units[i].ranges);
	free(in->units);
	intern_free(&in->offsets);
	free(in);
}

/* ---- the functions of a unit */

static int add_function(Dwarf_Die *function, void *unit)
{
	struct unit *u = unit;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (u->in->ranges_left &&
	       (at = dwarf_ranges(function, at, &base, &start, &end)) > 0) {
		u->in->ranges_left--;
		if (start >= end)
			continue;
		u->ranges = array_room(u->ranges, &u->size, u->nr + 1,
				       sizeof(*u->ranges));
		u->ranges[u->nr++] = (struct range) { start, end, *function };
	}
	return DWARF_CB_OK;
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
	struct stat st;
	bool may = true;
	int fd, i;

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
		if (fd >= 0 && !fstat(fd, &st))
			in->ranges_left += st.st_size;
		if (fd >= 0)
			close(fd);
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
		buf_printf(why, "what is inlined is told by %s, which is no ELF file of a fair size, or another user's",
			   name);
	else if (!dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL,
				NULL, NULL) && split.addr)
		*unit = split;
	else
		buf_printf(why, "what is inlined is told by %s, which is not there",
			   name);
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct unit *unit_of(struct inlines *in, Dwarf_Die *cu,
			    struct buf *why)
{
	const Dwarf_Off offset = dwarf_dieoffset(cu);
	const uint32_t before = in->offsets.nr;
	const uint32_t nr = intern(&in->offsets, &offset, sizeof(offset));
	Dwarf_Die unit = *cu;
	struct unit *u;
	size_t files;

	in->units = array_room(in->units, &in->size, nr + 1,
			       sizeof(*in->units));
	u = &in->units[nr];
	if (nr != before)
		return u;
	u->in = in;
	go_to_split(in, &unit, why);
	dwarf_getfuncs(&unit, add_function, u, 0);
	if (!in->ranges_left && !why->len)
		buf_puts(why, "what is inlined is not all looked at: it has more ranges of addresses than a file of its size can have");
	if (u->nr)
		qsort(u->ranges, u->nr, sizeof(*u->ranges), by_start);
	if (dwarf_getsrcfiles(&unit, &u->files, &files))
		u->files = NULL;
	return u;
}

static Dwarf_Die *function_at(struct unit *u, Dwarf_Addr addr)
{
	const size_t nr = array_up_to(u->ranges, u->nr, sizeof(*u->ranges),
				      offsetof(struct range, start), addr);

	return nr && addr < u->ranges[nr - 1].end ?
		&u->ranges[nr - 1].function : NULL;
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

/* The scope within *SCOPE that has an address. */
static bool go_down(Dwarf_Die *scope, Dwarf_Addr addr)
{
	Dwarf_Die die;

	if (dwarf_child(scope, &die))
		return false;
	do {
		if (is_scope(&die) && dwarf_haspc(&die, addr) > 0) {
			*scope = die;
			return true;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

unsigned int inlines_at(struct inlines *in, uint64_t addr,
			struct elf_inlined list[ELF_INLINED_MAX],
			struct buf *why)
{
	struct elf_inlined outside_in[ELF_INLINED_MAX];
	unsigned int nr = 0, depth = 0, i;
	Dwarf_Die *cu, *function, scope;
	struct unit *u;
	Dwarf_Addr bias;

	cu = dwfl_module_addrdie(in->mod, addr, &bias);
	if (!cu)
		return 0;
	u = unit_of(in, cu, why);
	function = function_at(u, addr - bias);
	if (!function)
		return 0;
	scope = *function;
	while (nr < ELF_INLINED_MAX && depth++ < DEEPEST &&
	       go_down(&scope, addr - bias))
		if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
			outside_in[nr++] = describe(u, &scope);
	for (i = 0; i < nr; i++)
		list[i] = outside_in[nr - 1 - i];
	return nr;
}

#endif
