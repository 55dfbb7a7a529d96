/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols by address; symtab.h says what is wanted of it. */
#include "report/names/symtab.h"

#include <stdlib.h>

#include "base/buf.h"

void symtab_add(struct symtab *t, const struct symbol *symbol)
{
	t->symbols = array_room(t->symbols, &t->size, t->nr + 1,
				sizeof(*t->symbols));
	t->symbols[t->nr++] = *symbol;
}

/* The best of an address first; the rest is the order in which they came. */
static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static uint64_t end_of(const struct symbol *s)
{
	return s->size > UINT64_MAX - s->addr ? UINT64_MAX : s->addr + s->size;
}

static void add_part(struct symtab *t, uint64_t addr, size_t symbol)
{
	t->parts = array_room(t->parts, &t->size_parts, t->nr_parts + 1,
			      sizeof(*t->parts));
	t->parts[t->nr_parts++] = (struct symtab_part) { addr, symbol };
}

/*
 * Where a symbol ends within another one, that goes on.  @open are those that
 * have begun; the last is the innermost.
 */
static size_t close_before(struct symtab *t, size_t *open, size_t nr,
			   uint64_t addr)
{
	uint64_t end;

	while (nr && end_of(&t->symbols[open[nr - 1]]) <= addr) {
		end = end_of(&t->symbols[open[--nr]]);
		while (nr && end_of(&t->symbols[open[nr - 1]]) <= end)
			nr--;
		if (nr && end < addr)
			add_part(t, end, open[nr - 1]);
	}
	return nr;
}

static void make_parts(struct symtab *t)
{
	size_t *open = xmalloc(t->nr * sizeof(*open));
	size_t nr = 0, i;

	for (i = 0; i < t->nr; i++) {
		nr = close_before(t, open, nr, t->symbols[i].addr);
		add_part(t, t->symbols[i].addr, i);
		open[nr++] = i;
	}
	close_before(t, open, nr, UINT64_MAX);
	free(open);
}

void symtab_sort(struct symtab *t)
{
	size_t i, used = 0;

	if (!t->nr)
		return;
	qsort(t->symbols, t->nr, sizeof(*t->symbols), by_addr);
	for (i = 1; i < t->nr; i++)
		if (t->symbols[i].addr != t->symbols[used].addr)
			t->symbols[++used] = t->symbols[i];
	t->nr = used + 1;
	for (i = 0; i + 1 < t->nr; i++)
		if (!t->symbols[i].size)
			t->symbols[i].size = t->symbols[i + 1].addr -
					     t->symbols[i].addr;
	/* nobody knows where that one ends: at the end of its page */
	if (!t->symbols[i].size)
		t->symbols[i].size = 4096 - t->symbols[i].addr % 4096;
	make_parts(t);
}

const struct symbol *symtab_find(const struct symtab *t, uint64_t addr)
{
	const size_t nr = array_up_to(t->parts, t->nr_parts, sizeof(*t->parts),
				      offsetof(struct symtab_part, addr), addr);
	const struct symbol *s;

	if (!nr)
		return NULL;
	s = &t->symbols[t->parts[nr - 1].symbol];
	return addr - s->addr < s->size ? s : NULL;
}

void symtab_free(struct symtab *t)
{
	free(t->symbols);
	free(t->parts);
	*t = (struct symtab) { 0 };
}
