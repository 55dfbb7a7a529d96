/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timeline as JSON, an object on a line of its own for each slice and mark. */
#include "report/output/timeline_view.h"

#include <inttypes.h>

#include "base/json.h"
#include "report/output/mark_json.h"

static void put_thread(const struct timeline_view *v, uint32_t nr,
		       struct buf *out)
{
	const struct timeline_thread *th = &v->timeline->threads[nr];

	buf_printf(out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"comm\":",
		   th->pid, th->tid);
	json_quote(out, th->name);
}

static void put_waker(const struct timeline_view *v,
		      const struct timeline_slice *s, struct buf *out)
{
	const struct timeline_thread *th;

	if (s->waker != TIMELINE_NONE) {
		th = &v->timeline->threads[s->waker];
		buf_printf(out, ",\"waker\":%" PRIu32 ",\"waker_name\":", th->tid);
		json_quote(out, th->name);
	} else if (timeline_waker(s)) {
		buf_printf(out, ",\"waker_name\":\"%s\"", timeline_waker(s));
	}
}

static void put_slice(const struct timeline_view *v,
		      const struct timeline_slice *s, struct buf *out)
{
	const struct timeline *t = v->timeline;
	const uint64_t from = timeline_ns(t, s->from);
	uint64_t values[4];
	unsigned int i;

	buf_printf(out, "{\"time_ns\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"ticks\":%" PRIu64 ",\"state\":\"%s\"",
		   from - timeline_ns(t, t->begin), timeline_ns(t, s->to) - from,
		   s->to - s->from, timeline_state(v, s));
	if (s->thread != TIMELINE_NONE)
		put_thread(v, s->thread, out);
	if (s->cpu >= 0) {
		buf_printf(out, ",\"cpu\":%d", s->cpu);
		timeline_values(s, values);
		for (i = 0; i < 4; i++)
			buf_printf(out, ",\"%s_ticks\":%" PRIu64,
				   timeline_value_names[i], values[i]);
	}
	if (s->call != SW_SLICE_NO_CALL)
		buf_printf(out, ",\"call\":%u", s->call);
	if (timeline_call(v, s))
		buf_printf(out, ",\"call_name\":\"%s\"", timeline_call(v, s));
	put_waker(v, s, out);
	buf_puts(out, "}\n");
}

static void put_mark(const struct timeline_view *v, const struct mark *m,
		     struct buf *out)
{
	mark_json(out, m, timeline_ns(v->timeline, v->timeline->begin));
}

void timeline_json(const struct timeline_view *v, struct buf *out, FILE *to)
{
	static const struct timeline_visit visit = { put_slice, put_mark };

	timeline_visit(v, &visit, out, to);
}
