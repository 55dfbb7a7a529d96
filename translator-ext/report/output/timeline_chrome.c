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
	struct buf *out;
	bool first;
	uint64_t flows; /* arrows so far */
};

static void begin_event(struct writing *w, char phase, uint32_t pid,
			uint32_t tid)
{
	buf_printf(w->out,
		   "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		   w->first ? "" : ",\n", phase, pid, tid);
	w->first = false;
}

/* Microseconds, to the nanosecond. */
static void put_time(struct writing *w, const char *name, uint64_t ns)
{
	buf_printf(w->out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000,
		   (unsigned int)(ns % 1000));
}

static void put_called(struct writing *w, const char *what, uint32_t pid,
		       uint32_t tid, const char *name)
{
	begin_event(w, 'M', pid, tid);
	buf_printf(w->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	json_quote(w->out, name);
	buf_puts(w->out, "}}");
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

	buf_printf(w->out, ",\"args\":{\"ticks\":%" PRIu64, s->to - s->from);
	if (s->cpu >= 0) {
		timeline_values(s, values);
		buf_printf(w->out, ",\"cpu\":%d", s->cpu);
		for (i = 0; i < 4; i++)
			buf_printf(w->out, ",\"%s\":%" PRIu64,
				   timeline_value_names[i], values[i]);
	}
	if (s->call != SW_SLICE_NO_CALL)
		buf_printf(w->out, ",\"call\":%u", s->call);
	if (timeline_call(w->v, s))
		buf_printf(w->out, ",\"call_name\":\"%s\"",
			   timeline_call(w->v, s));
	if (s->waker != TIMELINE_NONE) {
		th = &w->v->timeline->threads[s->waker];
		buf_printf(w->out,
			   ",\"waker\":%" PRIu32 ",\"waker_name\":", th->tid);
		json_quote(w->out, th->name);
	} else if (timeline_waker(s)) {
		buf_printf(w->out, ",\"waker_name\":\"%s\"", timeline_waker(s));
	}
	buf_puts(w->out, "}}");
}

static void put_slice(struct writing *w, const struct timeline_slice *s,
		      uint32_t pid, uint32_t tid, const char *name)
{
	const struct timeline *t = w->v->timeline;
	const uint64_t from = timeline_ns(t, s->from);

	begin_event(w, 'X', pid, tid);
	buf_puts(w->out, ",\"name\":");
	json_quote(w->out, name);
	put_time(w, "ts", from);
	put_time(w, "dur", timeline_ns(t, s->to) - from);
	put_args(w, s);
}

/* From who woke to who was woken. */
static void put_arrow(struct writing *w, const struct timeline_slice *s)
{
	const struct timeline *t = w->v->timeline;
	const struct timeline_thread *from = &t->threads[s->waker];
	const struct timeline_thread *to = &t->threads[s->thread];
	const uint64_t ns = timeline_ns(t, s->from);

	w->flows++;
	begin_event(w, 's', from->pid, from->tid);
	put_time(w, "ts", ns);
	buf_printf(w->out,
		   ",\"name\":\"wakes\",\"cat\":\"wakes\",\"id\":%" PRIu64 "}",
		   w->flows);
	begin_event(w, 'f', to->pid, to->tid);
	put_time(w, "ts", ns);
	buf_printf(
		w->out,
		",\"bp\":\"e\",\"name\":\"wakes\",\"cat\":\"wakes\",\"id\":%" PRIu64
		"}",
		w->flows);
}

/* A line across all lanes. */
static void put_mark(struct writing *w, const struct mark *m)
{
	begin_event(w, 'i', m->pid, m->tid);
	put_time(w, "ts", m->ns);
	buf_puts(w->out, ",\"s\":\"g\",\"name\":");
	json_quote(w->out, m->name);
	buf_puts(w->out, "}");
}

void timeline_chrome(const struct timeline_view *v, struct buf *out, FILE *to)
{
	struct writing w = { .v = v, .out = out, .first = true };
	const struct timeline *t = v->timeline;
	const struct timeline_thread *th;
	const struct timeline_slice *s;
	size_t i;

	buf_puts(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	put_names(&w);
	for (i = 0; i < t->marks.nr; i++)
		if (timeline_wants_mark(t, &v->filter, &t->marks.list[i]))
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
	buf_puts(out, "\n]}\n");
}
