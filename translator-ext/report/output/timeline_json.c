/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timeline as JSON, an object on a line of its own for each slice and mark. */
#include "report/output/timeline_view.h"

#include <stdlib.h>

#include "base/json.h"
#include "report/output/mark_json.h"

static void put_thread(const struct timeline_view *v, uint32_t nr,
		       struct json *j)
{
	const struct timeline_thread *th = &v->timeline->threads[nr];

	json_uint(j, "pid", th->pid);
	json_uint(j, "tid", th->tid);
	json_string(j, "comm", th->name);
}

static void put_waker(const struct timeline_view *v,
		      const struct timeline_slice *s, struct json *j)
{
	const struct timeline_thread *th;

	if (s->waker != TIMELINE_NONE) {
		th = &v->timeline->threads[s->waker];
		json_uint(j, "waker_tid", th->tid);
		json_string(j, "waker_comm", th->name);
	} else if (timeline_waker(s)) {
		json_string(j, "waker_comm", timeline_waker(s));
	}
}

static void put_cpu(const struct timeline_slice *s, struct json *j)
{
	struct buf name = { 0 };
	uint64_t values[4];
	unsigned int i;

	timeline_values(s, values);
	json_int(j, "cpu", s->cpu);
	for (i = 0; i < 4; i++) {
		name.len = 0;
		buf_printf(&name, "%s_ticks", timeline_value_names[i]);
		json_uint(j, name.s, values[i]);
	}
	free(name.s);
}

static void put_slice(const struct timeline_view *v,
		      const struct timeline_slice *s, struct buf *out)
{
	const struct timeline *t = v->timeline;
	const uint64_t from = timeline_ns(t, s->from);
	struct json j = { .out = out };

	json_document(&j);
	json_uint(&j, "time_ns", from - v->filter.zero);
	json_uint(&j, "duration_ns", timeline_ns(t, s->to) - from);
	json_uint(&j, "ticks", s->to - s->from);
	json_string(&j, "state", timeline_state(v, s));
	if (s->thread != TIMELINE_NONE)
		put_thread(v, s->thread, &j);
	if (s->cpu >= 0)
		put_cpu(s, &j);
	if (s->call != SW_SLICE_NO_CALL)
		json_uint(&j, "syscall_nr", s->call);
	if (timeline_call(v, s))
		json_string(&j, "syscall_name", timeline_call(v, s));
	put_waker(v, s, &j);
	if (v->trace_width)
		json_string(&j, "trace", t->name);
	json_end_document(&j);
}

static void put_mark(const struct timeline_view *v, const struct mark *m,
		     struct buf *out)
{
	mark_json(out, m, v->filter.zero,
		  v->trace_width ? v->timeline->name : NULL);
}

void timeline_json(const struct timeline_view *v, struct buf *out, FILE *to)
{
	static const struct timeline_visit visit = { put_slice, put_mark };

	timeline_visit(v, &visit, out, to);
}
