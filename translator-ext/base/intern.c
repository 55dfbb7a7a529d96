/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbered keys; intern.h says what is wanted of it. */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/siphash.h"

#define BLOCK_SIZE (256 * 1024)

struct intern_block {
	struct intern_block *next;
	size_t used;
	size_t size;
	char bytes[] __attribute__((aligned(8)));
};

void *array_room(void *array, size_t *size, size_t nr, size_t each)
{
	size_t old = *size;

	if (nr <= old)
		return array;
	*size = nr < 8 ? 8 : nr * 2;
	array = xrealloc(array, *size * each);
	memset((char *)array + old * each, 0, (*size - old) * each);
	return array;
}

size_t array_up_to(const void *array, size_t nr, size_t each, size_t offset,
		   uint64_t value)
{
	size_t low = 0, high = nr, middle;
	uint64_t there;

	while (low < high) {
		middle = low + (high - low) / 2;
		memcpy(&there, (const char *)array + middle * each + offset,
		       sizeof(there));
		if (there <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One key for all tables: who writes what is read does not know it. */
static uint32_t hash_of(const void *key, size_t len)
{
	static struct siphash_key secret;
	static bool drawn;

	if (!drawn)
		secret = siphash_random();
	drawn = true;
	return siphash(&secret, key, len);
}

/* Returns the slot of a key, or the one where it would be. */
static uint32_t *find_slot(const struct intern *t, const void *key, size_t len,
			   uint32_t hash)
{
	const uint32_t mask = t->nr_slots - 1;
	const struct intern_key *k;
	uint32_t i = hash & mask;

	for (; t->slots[i]; i = (i + 1) & mask) {
		k = &t->keys[t->slots[i] - 1];
		if (k->hash == hash && k->len == len &&
		    !memcmp(k->key, key, len))
			break;
	}
	return &t->slots[i];
}

static void more_slots(struct intern *t)
{
	uint32_t i, k, mask;

	t->nr_slots = t->nr_slots ? t->nr_slots * 2 : 64;
	mask = t->nr_slots - 1;
	free(t->slots);
	t->slots = xmalloc(t->nr_slots * sizeof(*t->slots));
	memset(t->slots, 0, t->nr_slots * sizeof(*t->slots));
	for (k = 0; k < t->nr; k++) {
		i = t->keys[k].hash & mask;
		while (t->slots[i])
			i = (i + 1) & mask;
		t->slots[i] = k + 1;
	}
}

static void *keep(struct intern *t, const void *key, size_t len)
{
	const size_t room = (len + 7) & ~(size_t)7;
	struct intern_block *b = t->blocks;
	size_t size;
	void *at;

	if (!b || b->size - b->used < room) {
		size = room > BLOCK_SIZE ? room : BLOCK_SIZE;
		/* a small table takes no large block */
		if (!b && room < 4096)
			size = 4096;
		b = xmalloc(sizeof(*b) + size);
		*b = (struct intern_block) { t->blocks, 0, size };
		t->blocks = b;
	}
	at = b->bytes + b->used;
	memcpy(at, key, len);
	b->used += room;
	return at;
}

bool intern_find(const struct intern *t, const void *key, size_t len,
		 uint32_t *number)
{
	uint32_t slot;

	if (!t->nr)
		return false;
	slot = *find_slot(t, key, len, hash_of(key, len));
	*number = slot - 1;
	return slot;
}

uint32_t intern(struct intern *t, const void *key, size_t len)
{
	const uint32_t hash = hash_of(key, len);
	uint32_t *slot;
	size_t size;

	if (t->nr >= t->nr_slots / 2)
		more_slots(t);
	slot = find_slot(t, key, len, hash);
	if (*slot)
		return *slot - 1;
	size = t->size;
	t->keys = array_room(t->keys, &size, t->nr + 1, sizeof(*t->keys));
	t->size = size;
	t->keys[t->nr] = (struct intern_key) { keep(t, key, len), len, hash };
	*slot = ++t->nr;
	return *slot - 1;
}

uint32_t intern_string(struct intern *t, const char *s)
{
	return intern(t, s, strlen(s) + 1);
}

uint32_t intern_name(struct intern *t, const char *name)
{
	char cut[4096];
	const size_t len = strnlen(name, sizeof(cut));

	if (len < sizeof(cut))
		return intern(t, name, len + 1);
	memcpy(cut, name, sizeof(cut));
	strcpy(cut + sizeof(cut) - sizeof("..."), "...");
	return intern_string(t, cut);
}

void intern_free(struct intern *t)
{
	struct intern_block *b, *next;

	for (b = t->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(t->keys);
	free(t->slots);
	*t = (struct intern) { 0 };
}
