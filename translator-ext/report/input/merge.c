/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several traces as one; merge.h says what is wanted of it. */
#include "report/input/merge.h"

#include <stdlib.h>

#include "base/buf.h"

static int open_one(struct merge *m, const char *path, struct buf *why)
{
	struct merge_source *s = &m->sources[m->nr];
	struct buf reason = { 0 };

	s->trace = trace_open(path, &reason);
	if (!s->trace) {
		buf_printf(why, "%s: %s", path, reason.s);
		free(reason.s);
		return -1;
	}
	s->clock.name = path;
	s->clock.head = trace_head(s->trace);
	m->nr++;
	return 0;
}

int merge_open(struct merge *m, const char *const *paths, size_t nr,
	       struct buf *why)
{
	struct aligned clocks[ALIGN_TRACES];
	size_t i;

	*m = (struct merge) { 0 };
	for (i = 0; i < nr; i++)
		if (open_one(m, paths[i], why))
			return -1;
	for (i = 0; i < nr; i++)
		clocks[i] = m->sources[i].clock;
	if (align(clocks, nr, &m->first, &m->nr_boots, why))
		return -1;
	for (i = 0; i < nr; i++)
		m->sources[i].clock = clocks[i];
	return 0;
}

void merge_close(struct merge *m)
{
	struct merge_source *s;

	for (s = m->sources; s < m->sources + m->nr; s++) {
		if (s->order) {
			opening_free(&s->opening);
			order_free(s->order);
		}
		trace_close(s->trace);
	}
}

static void take_next(struct merge_source *s)
{
	s->next = opening_next(&s->opening);
	if (s->next)
		s->time = align_time(s->clock.shift, s->next->time);
}

void merge_begin(struct merge *m, size_t source, struct loss *loss,
		 struct procs *procs)
{
	struct merge_source *s = &m->sources[source];

	s->order = order_new(s->trace, loss);
	opening_read(&s->opening, s->order, s->clock.head->r.time, procs);
	take_next(s);
}

const struct sw_trace_record *merge_next(struct merge *m, size_t *source)
{
	const struct merge_source *best = NULL, *s;

	if (m->last)
		take_next(&m->sources[m->last - 1]);
	for (s = m->sources; s < m->sources + m->nr; s++) {
		if (!s->next)
			continue;
		if (order_is_timeless(s->next)) {
			best = s;
			break;
		}
		if (!best || s->time < best->time)
			best = s;
	}
	m->last = 0;
	if (!best)
		return NULL;
	*source = best - m->sources;
	m->last = *source + 1;
	return best->next;
}

int merge_permille(const struct merge *m)
{
	int all = 0, permille;
	size_t i;

	for (i = 0; i < m->nr; i++) {
		permille = trace_permille(m->sources[i].trace);
		if (permille < 0)
			return -1;
		all += permille;
	}
	return m->nr ? all / (int)m->nr : -1;
}
