/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols by address; symtab.h says what is wanted of it. */
#include "symtab.h"

#include <stdlib.h>

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
}

const struct symbol *symtab_find(const struct symtab *t, uint64_t addr)
{
	const size_t nr = array_up_to(t->symbols, t->nr, sizeof(*t->symbols),
				      offsetof(struct symbol, addr), addr);
	const struct symbol *s;

	if (!nr)
		return NULL;
	s = &t->symbols[nr - 1];
	return addr - s->addr < s->size ? s : NULL;
}

void symtab_free(struct symtab *t)
{
	free(t->symbols);
	*t = (struct symtab) { 0 };
}
