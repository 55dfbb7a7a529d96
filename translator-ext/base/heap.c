/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The least first; heap.h says what is wanted of it. */
#include "base/heap.h"

#include <stdlib.h>

#include "base/intern.h"

#define BELOW 4 /* each has as many below it, none of which goes before it */

static bool is_before(const struct heap_entry *x, const struct heap_entry *y)
{
	return x->key != y->key ? x->key < y->key :
				  (int32_t)(x->nr - y->nr) < 0;
}

void heap_put(struct heap *h, const struct heap_entry *e)
{
	size_t i = h->nr++, above;

	h->list = array_room(h->list, &h->size, h->nr, sizeof(*h->list));
	for (; i; i = above) {
		above = (i - 1) / BELOW;
		if (!is_before(e, &h->list[above]))
			break;
		h->list[i] = h->list[above];
	}
	h->list[i] = *e;
}

/* The first of those below one; 0 if there is none. */
static size_t first_below(const struct heap *h, size_t i)
{
	const size_t from = BELOW * i + 1;
	size_t first = from, k;

	if (from >= h->nr)
		return 0;
	for (k = from + 1; k < from + BELOW && k < h->nr; k++)
		if (is_before(&h->list[k], &h->list[first]))
			first = k;
	return first;
}

struct heap_entry heap_take(struct heap *h)
{
	const struct heap_entry first = h->list[0], e = h->list[--h->nr];
	size_t i = 0, below;

	while ((below = first_below(h, i)) && is_before(&h->list[below], &e)) {
		h->list[i] = h->list[below];
		i = below;
	}
	h->list[i] = e;
	return first;
}

void heap_free(struct heap *h)
{
	free(h->list);
	*h = (struct heap){ 0 };
}
