/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts that are sorted, and merged; sorter.h says what is wanted of it. */
#include "base/sorter.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

struct sorter_key {
	uint64_t key;
	uint32_t nr; /* the element's, in its part */
};

struct sorter_part {
	uint64_t at, end; /* what of it is still in the spool */
	char *buffer;
	size_t next, nr; /* elements in it */
};

void sorter_init(struct sorter *s, size_t each, size_t most)
{
	*s = (struct sorter){
		.each = each,
		.most = most / each ?: 1,
		.spool = { .most = most },
	};
}

void sorter_free(struct sorter *s)
{
	size_t i;

	for (i = 0; i < s->nr_parts; i++)
		free(s->parts[i].buffer);
	free(s->parts);
	free(s->list);
	free(s->keys);
	free(s->taken);
	spool_free(&s->spool);
	heap_free(&s->heap);
	*s = (struct sorter){ 0 };
}

/* ---- a part */

static int compare(const void *a, const void *b)
{
	const struct sorter_key *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static void sort_part(struct sorter *s)
{
	size_t i;

	s->keys = array_room(s->keys, &s->size_keys, s->nr, sizeof(*s->keys));
	for (i = 0; i < s->nr; i++) {
		memcpy(&s->keys[i].key, s->list + i * s->each,
		       sizeof(s->keys[i].key));
		s->keys[i].nr = i;
	}
	if (s->nr)
		qsort(s->keys, s->nr, sizeof(*s->keys), compare);
}

static void end_part(struct sorter *s)
{
	struct sorter_part *p;
	size_t i;

	sort_part(s);
	s->parts = array_room(s->parts, &s->size_parts, s->nr_parts + 1,
			      sizeof(*s->parts));
	p = &s->parts[s->nr_parts++];
	p->at = p->end = s->spool.filed + s->spool.held.len;
	for (i = 0; i < s->nr; i++)
		spool_add(&s->spool, s->list + s->keys[i].nr * s->each,
			  s->each);
	p->end += s->nr * s->each;
	s->nr = 0;
}

void sorter_add(struct sorter *s, const void *element)
{
	if (s->nr == s->most)
		end_part(s);
	s->list = array_room(s->list, &s->size, s->nr + 1, s->each);
	memcpy(s->list + s->nr++ * s->each, element, s->each);
}

/* ---- all of them */

/* The next of a part is in its buffer, and it is in the heap; not at its end. */
static void put_next(struct sorter *s, uint32_t nr)
{
	/* together they have as much as a part had when it was filled */
	const size_t most = s->most / s->nr_parts ?: 1;
	struct sorter_part *p = &s->parts[nr];
	struct heap_entry e = { .nr = nr, .at = nr };
	size_t left = (p->end - p->at) / s->each;

	if (p->next == p->nr) {
		p->next = 0;
		p->nr = left < most ? left : most;
		if (!p->nr || !spool_read(&s->spool, p->at, p->buffer,
					  p->nr * s->each))
			return;
		p->at += p->nr * s->each;
	}
	memcpy(&e.key, p->buffer + p->next * s->each, sizeof(e.key));
	heap_put(&s->heap, &e);
}

void sorter_sort(struct sorter *s)
{
	size_t i;

	if (!s->nr_parts) {
		sort_part(s);
		return;
	}
	end_part(s);
	free(s->list);
	free(s->keys);
	s->list = NULL;
	s->keys = NULL;
	s->taken = xmalloc(s->each);
	for (i = 0; i < s->nr_parts; i++) {
		s->parts[i].buffer = xmalloc((s->most / s->nr_parts ?: 1) *
					     s->each);
		put_next(s, i);
	}
}

const void *sorter_next(struct sorter *s)
{
	struct sorter_part *p;
	uint32_t nr;

	if (!s->nr_parts)
		return s->next < s->nr ?
			       s->list + s->keys[s->next++].nr * s->each :
			       NULL;
	if (!s->heap.nr || s->spool.error)
		return NULL;
	nr = heap_take(&s->heap).at;
	p = &s->parts[nr];
	memcpy(s->taken, p->buffer + p->next++ * s->each, s->each);
	put_next(s, nr);
	return s->taken;
}
