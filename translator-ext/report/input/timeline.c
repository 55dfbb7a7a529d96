/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace's timeline; timeline.h says what is wanted of it.
 *
 * All records are read first: where CPUs lost something is known after their ends.
 * Then threads are followed through what CPUs tell in the order of time: what a thread
 * does off CPUs is known when it comes to one again.  What threads are called is known
 * when all is told, and slices are printed after that.
 */
#include "report/input/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/progress.h"
#include "report/input/align.h"
#include "report/input/slices.h"

#define MEMORY (32 << 20) /* for slices */

/* What a thread's accounting says, and what its slices do. */
struct sums {
	uint64_t base[PPA_NR_PARTS]; /* of the one, at the beginning */
	uint64_t parts[PPA_NR_PARTS]; /* of the others since */
};

/* A thread that is followed, by its number in the timeline. */
struct follow {
	bool known; /* what it does since `at' is `part' */
	bool ended;
	bool complete; /* from `since' on nothing was missed */
	/* where its end is told: between these its slices are summed up */
	uint64_t since, until;
	struct sums *sums;
	bool reached; /* a slice ended then */
	uint64_t at;
	uint32_t part;
	uint16_t call;
};

struct reading {
	struct timeline *t;
	struct slices cpus;
	uint64_t end; /* of what CPUs told */
	bool is_kept; /* what was before that was not put out */
	struct sw_trace_thread **states; /* in the order of the stream */
	size_t nr_states, size_states;
	bool has_head;
	/* threads: by tid who has it now, by tid and `born' all of them */
	struct intern tids;
	uint32_t *current;
	size_t size_current;
	struct intern births;
	struct follow *follow;
	size_t size_follow;
};

/* ---- records */

static void on_thread(struct reading *rd, const struct sw_trace_thread *r)
{
	struct sw_trace_thread *copy = xmalloc(r->r.size);

	memcpy(copy, r, r->r.size);
	rd->states = array_room(rd->states, &rd->size_states, rd->nr_states + 1,
				sizeof(*rd->states));
	rd->states[rd->nr_states++] = copy;
}

static void on_record(struct reading *rd, const struct sw_trace_record *r)
{
	const struct sw_trace_timeline *head = (const void *)r;

	switch (r->type) {
	case SW_TRACE_TIMELINE:
		rd->has_head = true;
		rd->t->hz = head->hz;
		rd->t->tick = head->tick;
		rd->t->time = align_time(rd->t->shift, r->time);
		rd->t->rate = (struct timeline_rate) { head->hz, 1000000000 };
		break;
	case SW_TRACE_THREAD:
		on_thread(rd, (const void *)r);
		break;
	case SW_TRACE_SLICES:
		slices_record(&rd->cpus, (const void *)r);
		break;
	case SW_TRACE_SLICES_END:
		slices_end(&rd->cpus, (const void *)r);
		break;
	case SW_TRACE_NOTE:
		marks_add(&rd->t->marks, (const void *)r, 0,
			  align_time(rd->t->shift, r->time));
		break;
	}
}

/* ---- threads */

/* Who has TID now, or has that number from here on; TIMELINE_NONE: nobody. */
static uint32_t *current_of(struct reading *rd, uint32_t tid)
{
	const uint32_t nr = intern(&rd->tids, &tid, sizeof(tid));
	const size_t had = rd->size_current;
	size_t i;

	rd->current = array_room(rd->current, &rd->size_current, nr + 1,
				 sizeof(*rd->current));
	for (i = had; i < rd->size_current; i++)
		rd->current[i] = TIMELINE_NONE;
	return &rd->current[nr];
}

/* The number of the thread that was born then. */
static uint32_t thread_of(struct reading *rd, uint32_t tid, uint64_t born)
{
	const uint64_t key[2] = { tid, born };
	const uint32_t nr = intern(&rd->births, key, sizeof(key));
	struct timeline *t = rd->t;

	if (nr < t->nr_threads)
		return nr;
	t->threads = array_room(t->threads, &t->size_threads, nr + 1,
				sizeof(*t->threads));
	rd->follow = array_room(rd->follow, &rd->size_follow, nr + 1,
				sizeof(*rd->follow));
	t->threads[nr].tid = tid;
	t->threads[nr].pid = tid;
	t->threads[nr].born = born;
	t->nr_threads = nr + 1;
	return nr;
}

/* Who has TID; one of which nothing is known but that. */
static uint32_t who(struct reading *rd, uint32_t tid)
{
	uint32_t *current = current_of(rd, tid);

	if (*current == TIMELINE_NONE)
		*current = thread_of(rd, tid, UINT64_MAX);
	return *current;
}

static void set_name(struct timeline_thread *th, const void *name)
{
	memcpy(th->name, name, sizeof(th->name));
	th->name[sizeof(th->name) - 1] = '\0';
}

/* ---- slices */

static struct timeline_slice a_slice(uint64_t from, uint64_t to, uint32_t thread,
				     int32_t cpu, uint8_t part)
{
	return (struct timeline_slice){
		.from = from,
		.to = to,
		.thread = thread,
		.cpu = cpu,
		.part = part,
		.call = SW_SLICE_NO_CALL,
		.waker = TIMELINE_NONE,
	};
}

static void put_slice(struct timeline *t, const struct timeline_slice *s)
{
	if (s->from < t->begin)
		t->begin = s->from;
	sorter_add(&t->slices, s);
}

static void begin_sums(struct follow *f)
{
	if (f->sums)
		memset(f->sums, 0, sizeof(*f->sums));
}

/* What ends before SINCE is in what it began with. */
static bool is_counted(const struct follow *f, uint64_t to)
{
	return to > f->since && to <= f->until;
}

/* It begins or ends to run, and what it did before is known or not. */
static void stands_at(struct follow *f, uint64_t time, bool complete)
{
	if (is_counted(f, time) && !complete)
		f->complete = false;
	f->reached |= time == f->until;
	f->at = time;
}

static void add_to(struct follow *f, unsigned int part, uint64_t ticks,
		   uint64_t to)
{
	if (f->sums && is_counted(f, to) && part < PPA_NR_PARTS)
		f->sums->parts[part] += ticks;
}

/* Who sleeps for days, or a CPU that idles for minutes, does not make a timeline of seconds
 * that long. */
static uint64_t kept_from(const struct reading *rd, uint64_t from)
{
	return rd->is_kept && from < rd->cpus.oldest ? rd->cpus.oldest : from;
}

static void was_idle(struct reading *rd, const struct told *d)
{
	struct timeline_slice s = a_slice(d->time - d->dt, d->time,
					  TIMELINE_NONE, d->cpu, TIMELINE_IDLE);

	s.irq = d->irq;
	s.soft = d->soft;
	s.from = kept_from(rd, s.from);
	put_slice(rd->t, &s);
}

/* Thread NR ran. */
static void ran(struct reading *rd, const struct told *d, uint32_t nr)
{
	struct timeline_slice s = a_slice(d->time - d->dt, d->time, nr, d->cpu,
					  TIMELINE_RUN);
	struct follow *f = &rd->follow[nr];

	s.call = d->call;
	if (d->part & SW_SLICE_NOT_ACCOUNTED) {
		s.part = PPA_PART_NOT_ACCOUNTED;
		add_to(f, PPA_PART_NOT_ACCOUNTED, d->dt, d->time);
	} else {
		s.system = d->system;
		s.irq = d->irq;
		s.soft = d->soft;
		add_to(f, PPA_PART_USER, timeline_rest(&s), d->time);
		add_to(f, PPA_PART_SYSTEM, d->system, d->time);
		add_to(f, PPA_PART_INT, d->irq, d->time);
		add_to(f, PPA_PART_SOFT, d->soft, d->time);
	}
	put_slice(rd->t, &s);
}

/* Who has run goes, or has run until here. */
static void goes(struct reading *rd, const struct told *d, bool stays)
{
	struct follow *f;
	uint32_t nr;

	if (!d->prev) {
		was_idle(rd, d);
		return;
	}
	nr = who(rd, d->prev);
	ran(rd, d, nr);
	f = &rd->follow[nr];
	stands_at(f, d->time, d->time - d->dt == f->at);
	f->known = !stays;
	f->call = d->call;
	f->part = d->part & ~SW_SLICE_NOT_ACCOUNTED;
	f->ended = f->part == SW_SLICE_OVER;
}

/* WAKER: a thread, SW_SLICE_BY_..., or 0. */
static void off_cpu(struct reading *rd, uint32_t nr, unsigned int part,
		    uint64_t from, uint64_t to, uint32_t waker)
{
	struct timeline_slice s = a_slice(from, to, nr, -1, part);

	if (to <= from)
		return;
	add_to(&rd->follow[nr], part, to - from, to);
	s.from = kept_from(rd, from);
	if (to <= s.from)
		return;
	s.call = rd->follow[nr].call;
	if (waker & SW_SLICE_BY)
		s.woken_by = waker;
	else if (waker)
		s.waker = who(rd, waker);
	put_slice(rd->t, &s);
}

/* A thread comes to a CPU: now is known what it did since it went. */
static void comes(struct reading *rd, const struct told *d)
{
	const uint32_t nr = who(rd, d->tid);
	struct follow *f = &rd->follow[nr];
	uint64_t woken = d->time - d->ready;
	bool is_known;

	is_known = f->known && !f->ended && f->at <= d->time &&
		   !slices_have_gap(&rd->cpus, f->at, d->time);
	if (is_known) {
		if (woken < f->at)
			woken = f->at;
		off_cpu(rd, nr, f->part, f->at, woken, 0);
		off_cpu(rd, nr, PPA_PART_WOKEN, woken, d->time, d->waker);
	}
	f = &rd->follow[nr];
	stands_at(f, d->time, is_known);
	f->known = false;
	f->ended = false;
}

static void is_born(struct reading *rd, const struct told *d)
{
	const uint32_t nr = thread_of(rd, d->tid, d->words[1]);
	struct follow *f = &rd->follow[nr];

	*current_of(rd, d->tid) = nr;
	rd->t->threads[nr].pid = d->prev;
	begin_sums(f);
	*f = (struct follow){
		.until = f->until,
		.sums = f->sums,
		.reached = f->until == d->time,
		.known = true,
		.complete = true,
		.since = d->time,
		.at = d->time,
		.part = PPA_PART_UNKNOWN,
		.call = SW_SLICE_NO_CALL,
	};
}

static void on_told(struct reading *rd, const struct told *d)
{
	uint32_t nr;

	if (d->flags & SW_SLICE_BORN) {
		is_born(rd, d);
	} else if (d->flags & SW_SLICE_NAME) {
		nr = who(rd, d->tid);
		set_name(&rd->t->threads[nr], d->words);
		rd->t->threads[nr].pid = d->prev;
	} else if (d->flags & SW_SLICE_BEGIN) {
		if (!d->tid)
			return;
		nr = who(rd, d->tid);
		/* what it did before it was here is not told */
		stands_at(&rd->follow[nr], d->time, false);
		rd->follow[nr].known = false;
	} else {
		goes(rd, d, d->prev == d->tid);
		if (d->tid && d->prev != d->tid)
			comes(rd, d);
	}
}

/* ---- what threads stood at */

static void begins_with(struct reading *rd, const struct sw_trace_thread *r)
{
	const uint32_t nr = thread_of(rd, r->tid, r->born);
	struct follow *f = &rd->follow[nr];
	uint32_t i;

	if (r->flags & SW_TRACE_THREAD_ENDED)
		return;
	rd->is_kept |= !!(r->flags & SW_TRACE_THREAD_KEPT);
	*current_of(rd, r->tid) = nr;
	rd->t->threads[nr].pid = r->pid;
	set_name(&rd->t->threads[nr], r->comm);
	begin_sums(f);
	*f = (struct follow){
		.until = f->until,
		.sums = f->sums,
		.reached = f->until == r->at,
		.known = !(r->flags & SW_TRACE_THREAD_RUNS),
		.complete = true,
		.since = r->at,
		.at = r->at,
		.part = r->part,
		.call = SW_SLICE_NO_CALL,
	};
	for (i = 0; f->sums && i < r->nr_parts && i < PPA_NR_PARTS; i++)
		f->sums->base[i] = r->parts[i];
}

/* Up to when its slices are summed up. */
static void ends_at(struct reading *rd, const struct sw_trace_thread *r)
{
	const uint32_t nr = thread_of(rd, r->tid, r->born);
	struct follow *f = &rd->follow[nr];

	f->until = r->at;
	f->sums = f->sums ?: xmalloc(sizeof(*f->sums));
	begin_sums(f);
}

/* Are its slices what the accounting says, up to the same tick? */
static void ends_with(struct reading *rd, const struct sw_trace_thread *r)
{
	const uint32_t nr = thread_of(rd, r->tid, r->born);
	struct timeline *t = rd->t;
	struct follow *f = &rd->follow[nr];
	uint64_t is;
	uint32_t i;

	t->threads[nr].pid = r->pid;
	set_name(&t->threads[nr], r->comm);
	if (!f->complete) {
		t->unchecked++;
		return;
	}
	t->threads[nr].checked = f->reached;
	for (i = 0; i < PPA_NR_PARTS; i++) {
		is = i < r->nr_parts ? r->parts[i] : 0;
		if (f->sums->base[i] + f->sums->parts[i] != is)
			t->threads[nr].checked = false;
	}
	if (t->threads[nr].checked)
		t->checked++;
	else
		t->differ++;
}

/* What is still going on when the timeline ends, at END. */
static void go_on(struct reading *rd, uint64_t end)
{
	const struct follow *f;
	uint32_t nr;

	for (nr = 0; nr < rd->t->nr_threads; nr++) {
		f = &rd->follow[nr];
		if (f->known && !f->ended && f->at < end &&
		    !slices_have_gap(&rd->cpus, f->at, end))
			off_cpu(rd, nr, f->part, f->at, end, 0);
	}
}

/* ---- all of it */

static void follow_told(struct reading *rd)
{
	const uint64_t nr = rd->cpus.nr_told;
	const struct told *d;
	uint64_t i = 0;

	while ((d = slices_next(&rd->cpus))) {
		if (d->time > rd->end)
			rd->end = d->time;
		on_told(rd, d);
		progress("following", i++ * 1000 / nr);
	}
}

static void follow_all(struct reading *rd)
{
	struct timeline *t = rd->t;
	size_t i;

	slices_order(&rd->cpus);
	for (i = 0; i < rd->nr_states; i++)
		if (!(rd->states[i]->flags & SW_TRACE_THREAD_FIRST))
			ends_at(rd, rd->states[i]);
	for (i = 0; i < rd->nr_states; i++)
		if (rd->states[i]->flags & SW_TRACE_THREAD_FIRST)
			begins_with(rd, rd->states[i]);
	follow_told(rd);
	for (i = 0; i < rd->nr_states; i++)
		if (!(rd->states[i]->flags & SW_TRACE_THREAD_FIRST))
			ends_with(rd, rd->states[i]);
	go_on(rd, rd->end);
	if (t->begin == UINT64_MAX)
		t->begin = t->tick;
	sorter_sort(&t->slices);
	t->damaged = rd->cpus.damaged;
	t->taken = rd->cpus.taken;
	t->lost = rd->cpus.lost;
	/* a thread that ran within what was lost, and only there, has no gap of its own */
	if (t->lost) {
		t->unchecked += t->differ;
		t->differ = 0;
	}
}

static void free_reading(struct reading *rd)
{
	size_t i;

	for (i = 0; i < rd->nr_states; i++)
		free(rd->states[i]);
	free(rd->states);
	for (i = 0; i < rd->t->nr_threads; i++)
		free(rd->follow[i].sums);
	slices_free(&rd->cpus);
	free(rd->current);
	free(rd->follow);
	intern_free(&rd->tids);
	intern_free(&rd->births);
}

struct timeline *timeline_read(struct trace *trace, const char *name,
			       int64_t shift, struct buf *why)
{
	struct timeline *t = xmalloc(sizeof(*t));
	const struct sw_trace_record *r;
	struct reading rd = { 0 };

	*t = (struct timeline){
		.name = name, .shift = shift, .begin = UINT64_MAX
	};
	sorter_init(&t->slices, sizeof(struct timeline_slice), MEMORY);
	slices_init(&rd.cpus);
	rd.t = t;
	loss_record(&t->loss, &trace_head(trace)->r);
	t->machine = trace_head(trace)->machine;
	while ((r = trace_next(trace))) {
		loss_record(&t->loss, r);
		on_record(&rd, r);
		progress("reading", trace_permille(trace));
	}
	t->skipped = *trace_skipped(trace);
	marks_sort(&t->marks);
	if (rd.has_head)
		follow_all(&rd);
	else
		buf_puts(
			why,
			"it has no timeline: `stapwatch record --timeline' and ppa_timeline() in a script record one");
	progress_end();
	if (rd.cpus.spool.error)
		spool_why(&rd.cpus.spool, why);
	else if (t->slices.spool.error)
		spool_why(&t->slices.spool, why);
	free_reading(&rd);
	if (!why->len)
		return t;
	timeline_free(t);
	return NULL;
}

void timeline_free(struct timeline *t)
{
	loss_free(&t->loss);
	marks_free(&t->marks);
	free(t->threads);
	sorter_free(&t->slices);
	free(t);
}

const struct timeline_slice *timeline_next(struct timeline *t)
{
	return sorter_next(&t->slices);
}
