/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of lines; line_tables.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "report/names/line_tables.h"

#include <stdlib.h>

#define LEAST 65536u /* that any file may have */

void line_tables_init(struct line_tables *t, uint64_t bytes)
{
	*t = (struct line_tables){ .left = LEAST + bytes };
}

void line_tables_free(struct line_tables *t)
{
	intern_free(&t->units);
	intern_free(&t->tables);
	free(t->may);
}

static bool has_any_left(struct line_tables *t, struct buf *why)
{
	if (!t->left && !t->is_said && !why->len) {
		buf_puts(why, "not all lines are looked at: it has more of them than a file of its size can have");
		t->is_said = true;
	}
	return t->left;
}

static void count(struct line_tables *t, const void *table, size_t nr)
{
	const uint32_t before = t->tables.nr;

	if (intern(&t->tables, &table, sizeof(table)) == before)
		t->left -= nr < t->left ? nr : t->left;
}

static bool has_lines(struct line_tables *t, Dwarf_Die *cu, struct buf *why)
{
	Dwarf_Lines *lines;
	size_t nr;

	if (!has_any_left(t, why) || dwarf_getsrclines(cu, &lines, &nr))
		return false;
	count(t, lines, nr);
	return true;
}

bool line_tables_may(struct line_tables *t, Dwarf_Die *cu, struct buf *why)
{
	const uint32_t before = t->units.nr;
	const uint32_t nr = intern(&t->units, &cu->addr, sizeof(cu->addr));

	t->may = array_room(t->may, &t->size, nr + 1, sizeof(*t->may));
	if (nr == before)
		t->may[nr] = has_lines(t, cu, why);
	return t->may[nr];
}

Dwarf_Files *line_tables_files(struct line_tables *t, Dwarf_Die *unit,
			       struct buf *why)
{
	Dwarf_Files *files;
	size_t nr;

	/* some versions of libdw read lines with them */
	has_lines(t, unit, why);
	if (!has_any_left(t, why) || dwarf_getsrcfiles(unit, &files, &nr))
		return NULL;
	count(t, files, nr);
	return files;
}

#endif
