/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/input/thread_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void forget(struct thread_counts_last *l)
{
	memset(l->counts, 0xff, l->nr * sizeof(*l->counts));
}

static struct thread_counts_last *
last_of(struct thread_counts *t, const struct sw_trace_sample *s,
	uint64_t stretch)
{
	const uint32_t key[2] = { s->event, stretch >> 32 };
	const uint32_t nr = intern(&t->keys, key, sizeof(key));
	struct thread_counts_last *l;

	t->last = array_room(t->last, &t->size, nr + 1, sizeof(*t->last));
	l = &t->last[nr];
	if (l->nr < s->nr_counts) {
		l->counts = xrealloc(l->counts, s->nr_counts * sizeof(*l->counts));
		memset(l->counts + l->nr, 0xff,
		       (s->nr_counts - l->nr) * sizeof(*l->counts));
		l->nr = s->nr_counts;
	}
	if (l->holes != (uint32_t)stretch)
		forget(l);
	l->holes = stretch;
	return l;
}

const uint64_t *thread_counts_since(struct thread_counts *t,
				    const struct sw_trace_sample *s,
				    uint64_t stretch, const uint64_t *counts)
{
	uint64_t *last;
	unsigned int i;

	memset(t->since, 0xff, sizeof(t->since));
	/* no thread: there are no counts */
	if (!stretch || !s->nr_counts)
		return t->since;
	last = last_of(t, s, stretch)->counts;
	for (i = 0; i < s->nr_counts; i++) {
		if (counts[i] == UINT64_MAX)
			continue;
		if (last[i] <= counts[i])
			t->since[i] = counts[i] - last[i];
		last[i] = counts[i];
	}
	return t->since;
}

void thread_counts_free(struct thread_counts *t)
{
	uint32_t i;

	for (i = 0; i < t->keys.nr; i++)
		free(t->last[i].counts);
	free(t->last);
	intern_free(&t->keys);
}
