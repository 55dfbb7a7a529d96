/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a timeline is wanted; timeline.h has it. */
#include "report/input/timeline.h"

#include <fnmatch.h>

void timeline_filter_marks(const struct timeline *t,
			   struct timeline_filter *filter)
{
	size_t i;

	for (i = 0; i < t->marks.nr; i++)
		spans_mark(&filter->spans, &filter->span, t->marks.list[i].ns,
			   t->marks.list[i].name);
}

bool timeline_wants_mark(const struct timeline *t,
			 const struct timeline_filter *filter,
			 const struct mark *m)
{
	return (filter->cpu < 0 || filter->cpu == m->cpu) &&
	       (filter->pid < 0 || filter->pid == m->pid) &&
	       (filter->tid < 0 || filter->tid == m->tid) &&
	       spans_want(&filter->spans, &filter->span,
			  timeline_ns(t, t->begin), m->ns, m->ns);
}

bool timeline_wants(const struct timeline *t,
		    const struct timeline_filter *filter,
		    const struct timeline_slice *s)
{
	const struct timeline_thread *th;

	if (filter->cpu >= 0 && filter->cpu != s->cpu)
		return false;
	if (!span_is_all(&filter->span) &&
	    !spans_want(&filter->spans, &filter->span,
			timeline_ns(t, t->begin), timeline_ns(t, s->from),
			timeline_ns(t, s->to)))
		return false;
	if (s->thread == TIMELINE_NONE)
		return filter->pid < 0 && filter->tid < 0 && !filter->comm;
	th = &t->threads[s->thread];
	return (filter->pid < 0 || filter->pid == th->pid) &&
	       (filter->tid < 0 || filter->tid == th->tid) &&
	       (!filter->comm || !fnmatch(filter->comm, th->name, 0));
}

uint64_t timeline_ns(const struct timeline *t, uint64_t tick)
{
	const bool before = tick < t->tick;
	const uint64_t d = before ? t->tick - tick : tick - t->tick;
	const uint64_t ns = (unsigned __int128)d * 1000000000 / t->hz;

	/* what a damaged trace says may be out of all bounds */
	if (before)
		return ns < t->time ? t->time - ns : 0;
	return t->time + ns;
}
