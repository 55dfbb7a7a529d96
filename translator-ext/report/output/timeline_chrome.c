/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timeline as the JSON of Chrome's trace events, which Perfetto's viewer reads,
 * too.  CPUs stand as the threads of a process 0, which there is none of.
 */
#include "report/output/timeline_view.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/shown.h"

struct writing {
	const struct timeline_view *v;
	struct json j;
	uint64_t flows; /* arrows so far */
};

static void begin_event(struct writing *w, const char *phase, uint32_t pid,
			uint32_t tid)
{
	json_break(&w->j);
	json_object(&w->j, NULL);
	json_string(&w->j, "ph", phase);
	json_uint(&w->j, "pid", pid);
	json_uint(&w->j, "tid", tid);
}

/* Microseconds, to the nanosecond. */
static void put_time(struct writing *w, const char *name, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ns / 1000,
		 (unsigned int)(ns % 1000));
	json_text(&w->j, name, text);
}

static void put_called(struct writing *w, const char *what, uint32_t pid,
		       uint32_t tid, const char *name)
{
	begin_event(w, "M", pid, tid);
	json_string(&w->j, "name", what);
	json_object(&w->j, "args");
	json_string(&w->j, "name", name);
	json_end_object(&w->j);
	json_end_object(&w->j);
}

static void put_names(struct writing *w)
{
	const struct timeline *t = w->v->timeline;
	const struct timeline_thread *th;
	size_t i;

	put_called(w, "process_name", 0, 0, "CPUs");
	for (i = 0; i < t->nr_threads; i++) {
		th = &t->threads[i];
		if (th->tid == th->pid)
			put_called(w, "process_name", th->pid, th->tid,
				   th->name);
		put_called(w, "thread_name", th->pid, th->tid, th->name);
	}
}

static void put_args(struct writing *w, const struct timeline_slice *s)
{
	const struct timeline_thread *th;
	uint64_t values[4];
	unsigned int i;

	json_object(&w->j, "args");
	json_uint(&w->j, "ticks", s->to - s->from);
	if (s->cpu >= 0) {
		timeline_values(s, values);
		json_int(&w->j, "cpu", s->cpu);
		for (i = 0; i < 4; i++)
			json_uint(&w->j, timeline_value_names[i], values[i]);
	}
	if (s->call != SW_SLICE_NO_CALL)
		json_uint(&w->j, "call", s->call);
	if (timeline_call(w->v, s))
		json_string(&w->j, "call_name", timeline_call(w->v, s));
	if (s->waker != TIMELINE_NONE) {
		th = &w->v->timeline->threads[s->waker];
		json_uint(&w->j, "waker", th->tid);
		json_string(&w->j, "waker_name", th->name);
	} else if (timeline_waker(s)) {
		json_string(&w->j, "waker_name", timeline_waker(s));
	}
	json_end_object(&w->j);
}

static void put_slice(struct writing *w, const struct timeline_slice *s,
		      uint32_t pid, uint32_t tid, const char *name)
{
	const struct timeline *t = w->v->timeline;
	const uint64_t from = timeline_ns(t, s->from);

	begin_event(w, "X", pid, tid);
	json_string(&w->j, "name", name);
	put_time(w, "ts", from);
	put_time(w, "dur", timeline_ns(t, s->to) - from);
	put_args(w, s);
	json_end_object(&w->j);
}

static void put_arrow_end(struct writing *w)
{
	json_string(&w->j, "name", "wakes");
	json_string(&w->j, "cat", "wakes");
	json_uint(&w->j, "id", w->flows);
	json_end_object(&w->j);
}

/* From the waker to the thread that it woke. */
static void put_arrow(struct writing *w, const struct timeline_slice *s)
{
	const struct timeline *t = w->v->timeline;
	const struct timeline_thread *from = &t->threads[s->waker];
	const struct timeline_thread *to = &t->threads[s->thread];
	const uint64_t ns = timeline_ns(t, s->from);

	w->flows++;
	begin_event(w, "s", from->pid, from->tid);
	put_time(w, "ts", ns);
	put_arrow_end(w);
	begin_event(w, "f", to->pid, to->tid);
	put_time(w, "ts", ns);
	json_string(&w->j, "bp", "e");
	put_arrow_end(w);
}

/* A line across all lanes. */
static void put_mark(struct writing *w, const struct mark *m)
{
	begin_event(w, "i", m->pid, m->tid);
	put_time(w, "ts", m->ns);
	json_string(&w->j, "s", "g");
	json_string(&w->j, "name", m->name);
	json_end_object(&w->j);
}

void timeline_chrome(const struct timeline_view *v, struct buf *out, FILE *to)
{
	struct writing w = { .v = v, .j = { .out = out } };
	const struct timeline *t = v->timeline;
	const struct timeline_thread *th;
	const struct timeline_slice *s;
	size_t i;

	json_object(&w.j, NULL);
	json_string(&w.j, "displayTimeUnit", "ns");
	json_array(&w.j, "traceEvents");
	put_names(&w);
	for (i = 0; i < t->marks.nr; i++)
		if (timeline_wants_mark(&v->filter, &t->marks.list[i]))
			put_mark(&w, &t->marks.list[i]);
	while ((s = timeline_view_next(v))) {
		th = s->thread == TIMELINE_NONE ? NULL : &t->threads[s->thread];
		if (s->cpu >= 0)
			put_slice(&w, s, 0, s->cpu,
				  th ? th->name : timeline_state(v, s));
		if (th)
			put_slice(&w, s, th->pid, th->tid,
				  timeline_state(v, s));
		if (s->waker != TIMELINE_NONE)
			put_arrow(&w, s);
		buf_drain(out, to);
	}
	json_line(&w.j);
	json_end_array(&w.j);
	json_end_object(&w.j);
	json_line(&w.j);
}
