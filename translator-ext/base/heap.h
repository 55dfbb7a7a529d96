/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes next of many: the least key, and of those that are alike who came first. */
#ifndef STAPWATCH_HEAP_H
#define STAPWATCH_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Four of them are a line of the processor's cache. */
struct heap_entry {
	uint64_t key;
	uint32_t nr; /* of the same key, the order; wraps */
	uint32_t at; /* the caller's */
};

/* { 0 } is empty. */
struct heap {
	struct heap_entry *list; /* the first is the next to be taken */
	size_t nr, size;
};

void heap_put(struct heap *h, const struct heap_entry *e);

/** heap_take - the next, of a heap that is not empty */
struct heap_entry heap_take(struct heap *h);
void heap_free(struct heap *h);

#endif
