/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all views of a timeline call things. */
#include "report/output/timeline_view.h"

#include "report/input/align.h"

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

const struct timeline_slice *timeline_view_next(const struct timeline_view *v)
{
	const struct timeline_slice *s;

	do
		s = timeline_next(v->timeline);
	while (s && !timeline_wants(v->timeline, &v->filter, s));
	return s;
}

/* What comes next of a timeline. */
struct coming {
	const struct timeline_view *view;
	const struct timeline_slice *slice; /* NULL: there is no more */
	uint64_t ns; /* of it */
	size_t mark; /* its number */
};

static void take_next(struct coming *c)
{
	c->slice = timeline_view_next(c->view);
	if (c->slice)
		c->ns = timeline_ns(c->view->timeline, c->slice->from);
}

/* Whose slice is the next one, of equal times the first's; NULL: there is no more. */
static struct coming *next_slice(struct coming *all, size_t nr)
{
	struct coming *first = NULL, *c;

	for (c = all; c < all + nr; c++)
		if (c->slice && (!first || c->ns < first->ns))
			first = c;
	return first;
}

/* The same of a mark up to NS. */
static struct coming *next_mark(struct coming *all, size_t nr, uint64_t ns)
{
	struct coming *first = NULL, *c;
	const struct marks *m;
	uint64_t at, least = 0;

	for (c = all; c < all + nr; c++) {
		m = &c->view->timeline->marks;
		if (c->mark == m->nr)
			continue;
		at = m->list[c->mark].ns;
		if (at > ns || (first && at >= least))
			continue;
		first = c;
		least = at;
	}
	return first;
}

static void visit_marks(struct coming *all, size_t nr, uint64_t ns,
			const struct timeline_visit *visit, struct buf *out)
{
	struct coming *c;
	const struct mark *m;

	while ((c = next_mark(all, nr, ns))) {
		m = &c->view->timeline->marks.list[c->mark++];
		if (timeline_wants_mark(&c->view->filter, m))
			visit->mark(c->view, m, out);
	}
}

void timeline_visit(const struct timeline_view *v,
		    const struct timeline_visit *visit, struct buf *out,
		    FILE *to)
{
	struct coming all[ALIGN_TRACES], *c;
	size_t i;

	for (i = 0; i < v->nr; i++) {
		all[i] = (struct coming){ .view = &v[i] };
		take_next(&all[i]);
	}
	while ((c = next_slice(all, v->nr))) {
		visit_marks(all, v->nr, c->ns, visit, out);
		visit->slice(c->view, c->slice, out);
		buf_drain(out, to);
		take_next(c);
	}
	visit_marks(all, v->nr, UINT64_MAX, visit, out);
}
