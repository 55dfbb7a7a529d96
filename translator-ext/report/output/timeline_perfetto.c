/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timeline as Perfetto's trace packets, written field by field: what a dozen fields
 * of its schema take is less than any library of protocol buffers asks for.
 *
 * A slice is an event that begins and one that ends, on the track of its thread or
 * CPU.  Who is woken has an arrow from an instant on its waker's track.
 */
#include "report/output/timeline_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "report/output/protobuf.h"

/* Fields: of Trace, TracePacket, TrackDescriptor, ... */
enum {
	TRACE_PACKET = 1,

	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK = 60,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,

	PROCESS_PID = 1,
	PROCESS_NAME = 6,

	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,

	EVENT_NOTE = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS = 48,

	NOTE_NUMBER = 3,
	NOTE_TEXT = 6,
	NOTE_NAME = 10,
};

enum { SLICE_BEGINS = 1, SLICE_ENDS, INSTANT };

/* Tracks' numbers, which are no others'. */
#define TRACK_CPUS 1
#define TRACK_MARKS 2
#define TRACK_OF_CPU(cpu) (3 + (uint64_t)(cpu))
#define TRACK_OF_PROCESS(pid) (1ull << 32 | (pid))
#define TRACK_OF_THREAD(nr) (2ull << 32 | (nr))

struct writing {
	const struct timeline_view *v;
	struct buf *out;
	FILE *to;
	struct buf packet, event, note;
	uint64_t flows;
	bool *has_track; /* by thread */
	bool *has_cpu;
	size_t nr_cpus;
	struct intern processes;
	bool begun;
};

static void end_packet(struct writing *w)
{
	protobuf_number(&w->packet, PACKET_SEQUENCE, 1);
	/* nothing of an earlier packet is meant */
	if (!w->begun)
		protobuf_number(&w->packet, PACKET_SEQUENCE_FLAGS, 1);
	w->begun = true;
	protobuf_part(w->out, TRACE_PACKET, &w->packet);
	buf_drain(w->out, w->to);
}

/* ---- tracks */

/* W->event has more of it, or is empty. */
static void put_track(struct writing *w, uint64_t uuid, uint64_t parent,
		      const char *name)
{
	protobuf_number(&w->event, TRACK_UUID, uuid);
	if (parent)
		protobuf_number(&w->event, TRACK_PARENT, parent);
	if (name)
		protobuf_text(&w->event, TRACK_NAME, name);
	protobuf_part(&w->packet, PACKET_TRACK, &w->event);
	end_packet(w);
}

static uint64_t track_of_cpu(struct writing *w, unsigned int cpu)
{
	char name[32];

	if (!w->nr_cpus)
		put_track(w, TRACK_CPUS, 0, "CPUs");
	w->has_cpu = array_room(w->has_cpu, &w->nr_cpus, cpu + 1,
				sizeof(*w->has_cpu));
	if (!w->has_cpu[cpu]) {
		w->has_cpu[cpu] = true;
		snprintf(name, sizeof(name), "CPU %u", cpu);
		put_track(w, TRACK_OF_CPU(cpu), TRACK_CPUS, name);
	}
	return TRACK_OF_CPU(cpu);
}

static uint64_t track_of_process(struct writing *w,
				 const struct timeline_thread *th)
{
	const uint32_t nr = w->processes.nr;

	if (intern(&w->processes, &th->pid, sizeof(th->pid)) == nr) {
		protobuf_number(&w->note, PROCESS_PID, th->pid);
		if (th->tid == th->pid)
			protobuf_text(&w->note, PROCESS_NAME, th->name);
		protobuf_part(&w->event, TRACK_PROCESS, &w->note);
		put_track(w, TRACK_OF_PROCESS(th->pid), 0, NULL);
	}
	return TRACK_OF_PROCESS(th->pid);
}

static uint64_t track_of_thread(struct writing *w, uint32_t nr)
{
	const struct timeline_thread *th = &w->v->timeline->threads[nr];
	uint64_t process;

	if (!w->has_track[nr]) {
		w->has_track[nr] = true;
		process = track_of_process(w, th);
		protobuf_number(&w->note, THREAD_PID, th->pid);
		protobuf_number(&w->note, THREAD_TID, th->tid);
		protobuf_text(&w->note, THREAD_NAME, th->name);
		protobuf_part(&w->event, TRACK_THREAD, &w->note);
		put_track(w, TRACK_OF_THREAD(nr), process, NULL);
	}
	return TRACK_OF_THREAD(nr);
}

/* ---- events */

static void note_number(struct writing *w, const char *name, uint64_t value)
{
	protobuf_text(&w->note, NOTE_NAME, name);
	protobuf_number(&w->note, NOTE_NUMBER, value);
	protobuf_part(&w->event, EVENT_NOTE, &w->note);
}

static void note_text(struct writing *w, const char *name, const char *value)
{
	protobuf_text(&w->note, NOTE_NAME, name);
	protobuf_text(&w->note, NOTE_TEXT, value);
	protobuf_part(&w->event, EVENT_NOTE, &w->note);
}

static void put_notes(struct writing *w, const struct timeline_slice *s)
{
	uint64_t values[4];
	unsigned int i;

	note_number(w, "ticks", s->to - s->from);
	if (s->cpu >= 0) {
		note_number(w, "cpu", s->cpu);
		timeline_values(s, values);
		for (i = 0; i < 4; i++)
			note_number(w, timeline_value_names[i], values[i]);
	}
	if (s->call != SW_SLICE_NO_CALL)
		note_number(w, "call", s->call);
	if (timeline_call(w->v, s))
		note_text(w, "call_name", timeline_call(w->v, s));
	if (s->waker != TIMELINE_NONE)
		note_number(w, "waker", w->v->timeline->threads[s->waker].tid);
	else if (timeline_waker(s))
		note_text(w, "waker_name", timeline_waker(s));
}

/* W->event has more of it, or is empty. */
static void put_event_at(struct writing *w, uint64_t ns, uint64_t track,
			 unsigned int type, const char *name)
{
	protobuf_number(&w->event, EVENT_TYPE, type);
	protobuf_number(&w->event, EVENT_TRACK, track);
	if (name)
		protobuf_text(&w->event, EVENT_NAME, name);
	protobuf_number(&w->packet, PACKET_TIME, ns);
	protobuf_part(&w->packet, PACKET_EVENT, &w->event);
	end_packet(w);
}

static void put_event(struct writing *w, uint64_t tick, uint64_t track,
		      unsigned int type, const char *name)
{
	put_event_at(w, timeline_ns(w->v->timeline, tick), track, type, name);
}

static void put_marks(struct writing *w)
{
	const struct marks *m = &w->v->timeline->marks;
	bool has_track = false;
	size_t i;

	for (i = 0; i < m->nr; i++) {
		if (!timeline_wants_mark(&w->v->filter, &m->list[i]))
			continue;
		if (!has_track)
			put_track(w, TRACK_MARKS, 0, "marks");
		has_track = true;
		note_number(w, "tid", m->list[i].tid);
		put_event_at(w, m->list[i].ns, TRACK_MARKS, INSTANT,
			     m->list[i].name);
	}
}

/* A fixed number of 64 bits, in the order of bytes that is little-endian. */
static void put_flow(struct writing *w, unsigned int field)
{
	unsigned char bytes[8];
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = w->flows >> 8 * i;
	protobuf_varint(&w->event, field << 3 | 1);
	buf_add(&w->event, bytes, sizeof(bytes));
}

static void put_slice(struct writing *w, const struct timeline_slice *s,
		      uint64_t track, const char *name, bool ends_arrow)
{
	if (ends_arrow)
		put_flow(w, EVENT_FLOW_ENDS);
	put_notes(w, s);
	put_event(w, s->from, track, SLICE_BEGINS, name);
	put_event(w, s->to, track, SLICE_ENDS, NULL);
}

static void put_thread_slice(struct writing *w, const struct timeline_slice *s)
{
	const uint64_t track = track_of_thread(w, s->thread);
	const bool arrow = s->waker != TIMELINE_NONE;
	uint64_t from;

	if (arrow) {
		from = track_of_thread(w, s->waker);
		w->flows++;
		put_flow(w, EVENT_FLOW);
		put_event(w, s->from, from, INSTANT, "wakes");
	}
	put_slice(w, s, track, timeline_state(w->v, s), arrow);
}

void timeline_perfetto(const struct timeline_view *v, struct buf *out, FILE *to)
{
	const struct timeline *t = v->timeline;
	struct writing w = { .v = v, .out = out, .to = to };
	const struct timeline_slice *s;
	const char *name;

	w.has_track = xmalloc(t->nr_threads + 1);
	memset(w.has_track, 0, t->nr_threads + 1);
	put_marks(&w);
	while ((s = timeline_view_next(v))) {
		name = s->thread == TIMELINE_NONE ? timeline_state(v, s) :
						    t->threads[s->thread].name;
		if (s->cpu >= 0)
			put_slice(&w, s, track_of_cpu(&w, s->cpu), name, false);
		if (s->thread != TIMELINE_NONE)
			put_thread_slice(&w, s);
	}
	free(w.has_track);
	free(w.has_cpu);
	free(w.packet.s);
	free(w.event.s);
	free(w.note.s);
	intern_free(&w.processes);
}
