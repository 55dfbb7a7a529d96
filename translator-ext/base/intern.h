/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of any bytes, numbered from 0 in the order in which they first came: the
 * one hash table of a report, which nobody can fill with keys that meet.  What
 * belongs to a key stands in an array of the caller's by its number.
 */
#ifndef STAPWATCH_INTERN_H
#define STAPWATCH_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern_key {
	const void *key;	/* aligned to 8; stays where it is */
	uint32_t len;
	uint32_t hash;
};

struct intern_block;

/* { 0 } is empty. */
struct intern {
	struct intern_key *keys;
	uint32_t nr;
	uint32_t size;
	uint32_t *slots;	/* a number plus 1; 0: free */
	uint32_t nr_slots;	/* a power of two */
	struct intern_block *blocks;
};

/** intern - the number of a key, which is added if it is not there */
uint32_t intern(struct intern *t, const void *key, size_t len);

/** intern_find - the number of a key; returns whether it is there */
bool intern_find(const struct intern *t, const void *key, size_t len,
		 uint32_t *number);

/** intern_string - the same of a text, which intern_text() gives back */
uint32_t intern_string(struct intern *t, const char *s);

/**
 * intern_name - the same of a name in a file that somebody else may have made
 *
 * Names there can overlap, and each be as long as the file: what is beyond 4 KB is "...".
 */
uint32_t intern_name(struct intern *t, const char *name);

static inline const char *intern_text(const struct intern *t, uint32_t number)
{
	return t->keys[number].key;
}

void intern_free(struct intern *t);

/**
 * array_room - make room in an array that grows
 * @array: of @size elements of @each bytes, or NULL
 * @nr: how many it must hold; what is added is zeroed
 *
 * Return: the array, perhaps elsewhere
 */
void *array_room(void *array, size_t *size, size_t nr, size_t each);

/**
 * array_up_to - how many elements are not above a value
 * @array: @nr elements of @each bytes, in the order of the 64 bits at @offset
 */
size_t array_up_to(const void *array, size_t nr, size_t each, size_t offset,
		   uint64_t value);

#endif
