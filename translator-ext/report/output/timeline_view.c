/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all views of a timeline call things. */
#include "report/output/timeline_view.h"

const char *const timeline_value_names[4] = { "user", "system", "int",
					      "softirq" };

const char *timeline_state(const struct timeline_view *v,
			   const struct timeline_slice *s)
{
	if (s->part == TIMELINE_RUN)
		return "running";
	if (s->part == TIMELINE_IDLE)
		return "idle";
	return v->part_name(s->part) ?: "other";
}

const char *timeline_call(const struct timeline_view *v,
			  const struct timeline_slice *s)
{
	return s->call != SW_SLICE_NO_CALL ? v->call_name(s->call) : NULL;
}

const char *timeline_waker(const struct timeline_slice *s)
{
	switch (s->woken_by) {
	case 0:
		return NULL;
	case SW_SLICE_BY_IRQ:
		return "an interrupt";
	case SW_SLICE_BY_SOFTIRQ:
		return "a softirq";
	case SW_SLICE_BY_IDLE:
		return "an idle CPU";
	}
	return "something else";
}

void timeline_values(const struct timeline_slice *s, uint64_t values[4])
{
	values[0] = s->part == TIMELINE_RUN ? timeline_rest(s) : 0;
	values[1] = s->system;
	values[2] = s->irq;
	values[3] = s->soft;
}

/* Marks from number NR on, up to NS. */
static size_t visit_marks(const struct timeline_view *v,
			  const struct timeline_visit *visit, size_t nr,
			  uint64_t ns, struct buf *out)
{
	const struct marks *m = &v->timeline->marks;

	for (; nr < m->nr && m->list[nr].ns <= ns; nr++)
		if (timeline_wants_mark(v->timeline, &v->filter, &m->list[nr]))
			visit->mark(v, &m->list[nr], out);
	return nr;
}

const struct timeline_slice *timeline_view_next(const struct timeline_view *v)
{
	const struct timeline_slice *s;

	do
		s = timeline_next(v->timeline);
	while (s && !timeline_wants(v->timeline, &v->filter, s));
	return s;
}

void timeline_visit(const struct timeline_view *v,
		    const struct timeline_visit *visit, struct buf *out,
		    FILE *to)
{
	const struct timeline_slice *s;
	size_t marks = 0;

	while ((s = timeline_view_next(v))) {
		marks = visit_marks(v, visit, marks,
				    timeline_ns(v->timeline, s->from), out);
		visit->slice(v, s, out);
		buf_drain(out, to);
	}
	visit_marks(v, visit, marks, UINT64_MAX, out);
}
