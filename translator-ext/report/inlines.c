/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined functions; inlines.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "intern.h"

#define DEEPEST 64		/* scopes within scopes */

struct range {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Die function;
};

/* A compilation unit. */
struct unit {
	struct range *ranges;	/* by address */
	size_t nr, size;
	Dwarf_Files *files;
};

struct inlines {
	Dwfl_Module *mod;
	struct intern offsets;	/* of units that were asked for */
	struct unit *units;
	size_t size;
};

struct inlines *inlines_new(Dwfl_Module *mod)
{
	struct inlines *in = xmalloc(sizeof(*in));

	*in = (struct inlines) { .mod = mod };
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

static void add_function(struct unit *u, Dwarf_Die *function)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		u->ranges = array_room(u->ranges, &u->size, u->nr + 1,
				       sizeof(*u->ranges));
		u->ranges[u->nr++] = (struct range) { start, end, *function };
	}
}

static void add_functions(struct unit *u, Dwarf_Die *of, unsigned int depth)
{
	Dwarf_Die die;

	if (depth == DEEPEST || dwarf_child(of, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_function(u, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			add_functions(u, &die, depth + 1);
		}
	} while (!dwarf_siblingof(&die, &die));
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct unit *unit_of(struct inlines *in, Dwarf_Die *cu)
{
	const Dwarf_Off offset = dwarf_dieoffset(cu);
	const uint32_t before = in->offsets.nr;
	const uint32_t nr = intern(&in->offsets, &offset, sizeof(offset));
	struct unit *u;
	size_t files;

	in->units = array_room(in->units, &in->size, nr + 1,
			       sizeof(*in->units));
	u = &in->units[nr];
	if (nr != before)
		return u;
	add_functions(u, cu, 0);
	if (u->nr)
		qsort(u->ranges, u->nr, sizeof(*u->ranges), by_start);
	if (dwarf_getsrcfiles(cu, &u->files, &files))
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
			struct elf_inlined list[ELF_INLINED_MAX])
{
	struct elf_inlined outside_in[ELF_INLINED_MAX];
	unsigned int nr = 0, depth = 0, i;
	Dwarf_Die *cu, *function, scope;
	struct unit *u;
	Dwarf_Addr bias;

	cu = dwfl_module_addrdie(in->mod, addr, &bias);
	if (!cu)
		return 0;
	u = unit_of(in, cu);
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
