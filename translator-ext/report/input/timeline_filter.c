/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a timeline is wanted; timeline.h has it. */
#include "report/input/timeline.h"

#include <fnmatch.h>

#include "report/input/align.h"

/* The first of the marks that have not been told of; NULL: that was all. */
static const struct mark *next_mark(struct timeline *const *all, size_t nr,
				    size_t *told)
{
	const struct mark *first = NULL, *m;
	size_t i, of = 0;

	for (i = 0; i < nr; i++) {
		if (told[i] == all[i]->marks.nr)
			continue;
		m = &all[i]->marks.list[told[i]];
		if (first && m->ns >= first->ns)
			continue;
		first = m;
		of = i;
	}
	told[of] += !!first;
	return first;
}

void timeline_filter_marks(struct timeline *const *all, size_t nr,
			   struct timeline_filter *filter)
{
	size_t told[ALIGN_TRACES] = { 0 }, i;
	const struct mark *m;
	uint64_t begin;

	for (i = 0; i < nr; i++) {
		begin = timeline_ns(all[i], all[i]->begin);
		if (!i || begin < filter->zero)
			filter->zero = begin;
	}
	while ((m = next_mark(all, nr, told)))
		spans_mark(&filter->spans, &filter->span, m->ns, m->name);
}

bool timeline_wants_mark(const struct timeline_filter *filter,
			 const struct mark *m)
{
	return (filter->cpu < 0 || filter->cpu == m->cpu) &&
	       (filter->pid < 0 || filter->pid == m->pid) &&
	       (filter->tid < 0 || filter->tid == m->tid) &&
	       spans_want(&filter->spans, &filter->span, filter->zero, m->ns,
			  m->ns);
}

bool timeline_wants(const struct timeline *t,
		    const struct timeline_filter *filter,
		    const struct timeline_slice *s)
{
	const struct timeline_thread *th;

	if (filter->cpu >= 0 && filter->cpu != s->cpu)
		return false;
	if (!span_is_all(&filter->span) &&
	    !spans_want(&filter->spans, &filter->span, filter->zero,
			timeline_ns(t, s->from), timeline_ns(t, s->to)))
		return false;
	if (s->thread == TIMELINE_NONE)
		return filter->pid < 0 && filter->tid < 0 && !filter->comm;
	th = &t->threads[s->thread];
	return (filter->pid < 0 || filter->pid == th->pid) &&
	       (filter->tid < 0 || filter->tid == th->tid) &&
	       (!filter->comm || !fnmatch(filter->comm, th->name, 0));
}
