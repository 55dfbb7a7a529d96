/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timeline as text, a line for each slice. */
#include "report/output/timeline_view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/shown.h"

/* Microseconds, to the nanosecond. */
static void put_us(struct buf *out, int width, uint64_t ns)
{
	buf_printf(out, "%*" PRIu64 ".%03u", width, ns / 1000,
		   (unsigned int)(ns % 1000));
}

static void put_values(const struct timeline_view *v,
		       const struct timeline_slice *s, struct buf *out)
{
	const uint64_t hz = v->timeline->hz;
	uint64_t values[4];
	unsigned int i;

	timeline_values(s, values);
	for (i = 0; i < 4; i++) {
		if (!values[i])
			continue;
		buf_printf(out, " %s ", timeline_value_names[i]);
		put_us(out, 0, (unsigned __int128)values[i] * 1000000000 / hz);
	}
}

static void put_name(struct buf *out, const char *name)
{
	struct buf shown = { 0 };

	shown_text(&shown, name);
	shown_cut(out, shown.s ?: "", 15);
	free(shown.s);
}

/* Of which of several it is. */
static void put_trace(const struct timeline_view *v, struct buf *out)
{
	struct buf name = { 0 };

	if (!v->trace_width)
		return;
	shown_text(&name, v->timeline->name);
	shown_pad(out, name.s ?: "", -v->trace_width);
	buf_puts(out, " ");
	free(name.s);
}

static void put_since(const struct timeline_view *v, uint64_t ns,
		      struct buf *out)
{
	const uint64_t since = span_since(v->filter.zero, ns);

	buf_printf(out, "%5" PRIu64 ".%09u ", since / 1000000000,
		   (unsigned int)(since % 1000000000));
}

static void put_slice(const struct timeline_view *v,
		      const struct timeline_slice *s, struct buf *out)
{
	const struct timeline *t = v->timeline;
	const uint64_t from = timeline_ns(t, s->from);
	const struct timeline_thread *th;

	put_since(v, from, out);
	put_us(out, 9, timeline_ns(t, s->to) - from);
	if (s->cpu >= 0)
		buf_printf(out, " %4d ", s->cpu);
	else
		buf_puts(out, "    - ");
	if (s->thread == TIMELINE_NONE) {
		buf_printf(out, "%7s %-15s ", "-", "");
	} else {
		th = &t->threads[s->thread];
		buf_printf(out, "%7" PRIu32 " ", th->tid);
		put_name(out, th->name);
		buf_puts(out, " ");
	}
	put_trace(v, out);
	buf_puts(out, timeline_state(v, s));
	if (s->cpu >= 0)
		put_values(v, s, out);
	if (timeline_call(v, s))
		buf_printf(out, " call %s", timeline_call(v, s));
	else if (s->call != SW_SLICE_NO_CALL)
		buf_printf(out, " call %u", s->call);
	if (s->waker != TIMELINE_NONE) {
		th = &t->threads[s->waker];
		buf_printf(out, " by %" PRIu32 "%s", th->tid,
			   *th->name ? " " : "");
		shown_text(out, th->name);
	} else if (timeline_waker(s)) {
		buf_printf(out, " by %s", timeline_waker(s));
	}
	buf_puts(out, "\n");
}

static void put_mark(const struct timeline_view *v, const struct mark *m,
		     struct buf *out)
{
	put_since(v, m->ns, out);
	buf_printf(out, "%13s %4" PRIu32 " %7" PRIu32 " %-15s ", "-", m->cpu,
		   m->tid, "");
	put_trace(v, out);
	buf_puts(out, "mark ");
	shown_text(out, m->name);
	buf_puts(out, "\n");
}

void timeline_text(const struct timeline_view *v, struct buf *out, FILE *to)
{
	static const struct timeline_visit visit = { put_slice, put_mark };

	buf_printf(out, "%15s %13s %4s %7s %-15s ", "SECONDS", "LASTEDus",
		   "CPU", "TID", "NAME");
	if (v->trace_width)
		buf_printf(out, "%-*s ", v->trace_width, "TRACE");
	buf_puts(out, "STATE\n");
	timeline_visit(v, &visit, out, to);
}
