/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list in the order of its keys, as long as a disk has room for.
 *
 * What is too much for memory is sorted in parts, which base/spool.h keeps and which
 * are merged as they are read again.
 */
#ifndef STAPWATCH_SORTER_H
#define STAPWATCH_SORTER_H

#include "base/heap.h"
#include "base/spool.h"

struct sorter_key;
struct sorter_part;

/* sorter_init() makes one. */
struct sorter {
	size_t each, most;
	/* of the part that is filled, in the order in which they came */
	char *list;
	size_t nr, size;
	struct sorter_key *keys;
	size_t size_keys;
	struct sorter_part *parts; /* those that are full */
	size_t nr_parts, size_parts;
	struct spool spool;
	/* of what is read again */
	struct heap heap; /* parts, by what comes next of each */
	size_t next; /* where there are no parts */
	char *taken;
};

/**
 * sorter_init - an empty list
 * @each: so many bytes has an element, the first eight of which are its key, an
 *	  unsigned number
 * @most: about so many bytes of elements are in memory
 */
void sorter_init(struct sorter *s, size_t each, size_t most);

/** sorter_add - one more, which is copied */
void sorter_add(struct sorter *s, const void *element);

/** sorter_sort - all have been added: sorter_next() tells them */
void sorter_sort(struct sorter *s);

/**
 * sorter_next - the next, valid until the one after it is asked for
 *
 * Of those with the same key, who was added first is told first.
 *
 * Return: NULL at the end, and after an error, which spool.error tells
 */
const void *sorter_next(struct sorter *s);
void sorter_free(struct sorter *s);

#endif
