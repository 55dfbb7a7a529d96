/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace, aggregated; profile.h says what is wanted of it. */
#include "report/input/profile.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/progress.h"
#include "report/input/opening.h"
#include "report/input/profile_names.h"
#include "report/input/thread_counts.h"
#include "report/input/trace_order.h"

struct reading {
	struct profile *p;
	unsigned int fields;
	const struct profile_filter *filter;
	int8_t *comms;		/* 0: not tried; else whether it is wanted */
	size_t size_comms;
	int64_t wall;		/* the event that stands for both; -1: none yet */
	struct thread_counts thread_counts;
};

/* ---- samples */

static bool comm_wanted(struct reading *rd, uint32_t comm)
{
	if (!rd->filter->comm)
		return true;
	rd->comms = array_room(rd->comms, &rd->size_comms, comm + 1,
			       sizeof(*rd->comms));
	if (!rd->comms[comm])
		rd->comms[comm] = fnmatch(rd->filter->comm,
					  intern_text(&rd->p->texts, comm),
					  0) ? -1 : 1;
	return rd->comms[comm] > 0;
}

static bool is_off_cpu(const struct profile *p, uint32_t event)
{
	return event < p->nr_events &&
	       p->events[event].flags & SW_TRACE_EVENT_WAIT;
}

static enum profile_wait wait_of(const struct profile *p,
				 const struct sw_trace_sample *s)
{
	if (!is_off_cpu(p, s->event))
		return PROFILE_NO_WAIT;
	if (!(s->flags & SW_TRACE_OPEN))
		return PROFILE_WAIT_ENDED;
	return s->flags & SW_TRACE_THROUGHOUT ? PROFILE_WAIT_THROUGHOUT :
						PROFILE_WAIT_OPEN;
}

/* A wait that a range of time may cut: --wall tells how long all was within it. */
static bool is_cut(const struct reading *rd, const struct sw_trace_sample *s)
{
	const struct span *span = &rd->filter->span;

	return rd->fields & PROFILE_WALL && is_off_cpu(rd->p, s->event) &&
	       !span->begin && (span->from || span->to);
}

/* A wait's sample was taken at its end. */
static uint64_t began(const struct reading *rd, const struct sw_trace_sample *s)
{
	return is_cut(rd, s) ? span_since(s->period, s->r.time) : s->r.time;
}

/* What of a sample's period is wanted. */
static uint64_t period_of(const struct reading *rd,
			  const struct sw_trace_sample *s)
{
	const struct span *span = &rd->filter->span;
	const uint64_t zero = rd->p->head->r.time;
	uint64_t from = span_since(zero, began(rd, s));
	uint64_t to = span_since(zero, s->r.time);

	if (!is_cut(rd, s))
		return s->period;
	if (from < span->from)
		from = span->from;
	if (span->to && to > span->to)
		to = span->to;
	return span_since(from, to);
}

static bool is_wanted(struct reading *rd, const struct sw_trace_sample *s,
		      uint32_t comm)
{
	const struct profile_filter *f = rd->filter;

	return spans_want(&rd->p->spans, &f->span, rd->p->head->r.time,
			  began(rd, s), s->r.time) &&
	       (f->pid < 0 || f->pid == s->pid) &&
	       (f->tid < 0 || f->tid == s->tid) &&
	       (f->cpu < 0 || f->cpu == s->r.cpu) &&
	       (!f->event || !fnmatch(f->event,
				      profile_event_name(rd->p, s->event),
				      0)) &&
	       comm_wanted(rd, comm);
}

static struct stat_values *stats_of(struct cell *c, uint32_t nr)
{
	size_t size = c->nr_stats;

	if (nr >= size) {
		c->stats = xrealloc(c->stats, (nr + 1) * sizeof(*c->stats));
		memset(c->stats + size, 0,
		       (nr + 1 - size) * sizeof(*c->stats));
		c->nr_stats = nr + 1;
	}
	return &c->stats[nr];
}

static void add_values(struct cell *c, const struct sw_trace_sample *s,
		       const uint64_t *latency, const uint64_t *counts)
{
	unsigned int i;

	if (latency)
		stat_add(stats_of(c, 0), *latency);
	/* all ones: there was no value */
	for (i = 0; i < s->nr_counts; i++)
		if (counts[i] != UINT64_MAX)
			stat_add(stats_of(c, i + 1), counts[i]);
}

/* ---- time on CPUs and off them */

static bool is_on_cpu(const struct profile *p, uint32_t event)
{
	const char *name = event < p->nr_events ? p->events[event].name : NULL;

	return name && (!strcmp(name, "cpu_clock") ||
			!strcmp(name, "task_clock"));
}

bool profile_has_waits(const struct profile *p, uint32_t event)
{
	return is_off_cpu(p, event) ||
	       (event < p->nr_events && p->events[event].is_wall);
}

bool profile_is_time(const struct profile *p, uint32_t event)
{
	return profile_has_waits(p, event) || is_on_cpu(p, event);
}

/* The event that it counts for; -1: none. */
static int64_t wall_event(struct reading *rd, const struct sw_trace_sample *s)
{
	if (!s->pid || !(is_off_cpu(rd->p, s->event) ||
			 is_on_cpu(rd->p, s->event)))
		return -1;
	if (rd->wall < 0)
		rd->wall = s->event;
	return rd->wall;
}

static void name_wall(struct reading *rd)
{
	struct profile *p = rd->p;
	uint32_t i;

	for (i = 0; i < p->nr_events; i++) {
		p->has_on_cpu |= is_on_cpu(p, i);
		p->has_off_cpu |= is_off_cpu(p, i);
	}
	if (rd->wall >= 0)
		*profile_event_of(p, rd->wall) = (struct profile_event) {
			.name = profile_keep_text(p, "wall clock"),
			.is_wall = true,
		};
}

/* Where stacks are shown it is called by what waits; one that ended, of time alone. */
static const char *wait_mark(unsigned int fields, enum profile_wait wait)
{
	static const char *const marks[] = {
		[PROFILE_WAIT_OPEN] = "[off CPU, open]",
		[PROFILE_WAIT_THROUGHOUT] = "[off CPU, throughout]",
	};

	if (!(fields & PROFILE_STACK))
		return NULL;
	if (wait == PROFILE_WAIT_ENDED)
		return fields & PROFILE_WALL ? "[off CPU]" : NULL;
	return marks[wait];
}

static void fill_key(const struct reading *rd, const struct sw_trace_sample *s,
		     uint32_t comm, struct cell_key *key)
{
	const bool user = s->flags & SW_TRACE_USER;
	struct procs *procs = rd->p->procs;
	const unsigned int f = rd->fields;
	const enum profile_wait wait = wait_of(rd->p, s);
	const char *mark = wait_mark(f, wait);
	uint32_t space;

	*key = (struct cell_key) { .wait = wait };
	if (f & PROFILE_COMM)
		key->comm = comm;
	if (f & PROFILE_PID)
		key->pid = s->pid;
	if (f & PROFILE_TID)
		key->tid = s->tid;
	if (f & PROFILE_CPU)
		key->cpu = s->r.cpu;
	if (mark) {
		key->image = image_of_mark(&rd->p->images, mark);
		key->off = true;
	} else if (f & PROFILE_IP) {
		space = user ? procs_space(procs, s->pid, s->r.time) :
			       procs_modules(procs);
		key->image = procs_find(procs, space, !user, s->ip,
					&key->offset);
		key->idle = !s->pid;
	}
	if (f & PROFILE_STACK) {
		key->kstack = s->flags & SW_TRACE_NO_KSTACK ?
			      PROFILE_STACK_LOST : s->kstack;
		key->ustack = s->flags & SW_TRACE_NO_USTACK ?
			      PROFILE_STACK_LOST : s->ustack;
		if (s->kstack)
			key->modules = procs_modules(procs);
		if (s->ustack)
			key->space = procs_space(procs, s->pid, s->r.time);
		key->in_user = user;
	}
}

static void add_branches(struct profile *p, const struct sw_trace_sample *s,
			 const struct cell_key *key, const uint64_t *list)
{
	const struct branch_key like = {
		.comm = key->comm,
		.pid = key->pid,
		.tid = key->tid,
		.cpu = key->cpu,
		.event = key->event,
	};

	branches_add(&p->branches, p->procs, s, &like, list);
}

static void keep_sample(struct profile *p, const struct sw_trace_sample *s,
			uint32_t cell, const uint64_t *latency,
			const uint64_t *counts)
{
	const size_t nr = s->nr_counts + 1;
	uint64_t *to;

	p->values = array_room(p->values, &p->size_values, p->nr_values + nr,
			       sizeof(*p->values));
	to = p->values + p->nr_values;
	*to = latency ? *latency : UINT64_MAX;
	memcpy(to + 1, counts, s->nr_counts * sizeof(*to));
	p->each = array_room(p->each, &p->size_each, p->nr_each + 1,
			     sizeof(*p->each));
	p->each[p->nr_each++] = (struct profile_sample) {
		.time = s->r.time,
		.period = s->period,
		.cell = cell,
		.nr_values = nr,
		.values = p->nr_values,
	};
	p->nr_values += nr;
}

/* What is between this sample and the one before. */
static const uint64_t *counts_of(struct reading *rd,
				 const struct sw_trace_sample *s)
{
	const uint64_t *counts = s->more + (s->r.size - sizeof(*s)) / 8 -
				 s->nr_counts - 3 * (size_t)s->nr_branches;

	if (s->has & SW_TRACE_HAS_THREAD)
		return thread_counts_since(&rd->thread_counts, s, counts[-1],
					   counts);
	return counts;
}

static void on_sample(struct reading *rd, const struct sw_trace_sample *s)
{
	const uint64_t *more = s->more, *latency = NULL, *counts = counts_of(rd, s);
	struct profile *p = rd->p;
	const uint32_t comm = procs_comm(p->procs, s->pid, s->tid);
	int64_t event = s->event;
	struct cell_key key;
	uint64_t period;
	struct cell *c;
	uint32_t nr;

	if (!is_wanted(rd, s, comm))
		return;
	if (rd->fields & PROFILE_WALL)
		event = wall_event(rd, s);
	if (event < 0)
		return;
	fill_key(rd, s, comm, &key);
	key.event = event;
	if (s->has & SW_TRACE_HAS_ADDR) {
		if (rd->fields & PROFILE_ADDR) {
			key.addr = *more;
			key.has |= SW_TRACE_HAS_ADDR;
		}
		more++;
	}
	if (s->has & SW_TRACE_HAS_LATENCY)
		latency = more++;
	if (s->has & SW_TRACE_HAS_DATA_SRC) {
		if (rd->fields & PROFILE_DATA_SRC) {
			key.data_src = *more;
			key.has |= SW_TRACE_HAS_DATA_SRC;
		}
		more++;
	}
	nr = intern(&p->keys, &key, sizeof(key));
	p->cells = array_room(p->cells, &p->size_cells, nr + 1,
			      sizeof(*p->cells));
	c = &p->cells[nr];
	c->samples++;
	period = period_of(rd, s);
	if (period > INT64_MAX - p->periods) {
		p->no_period++;
	} else {
		p->periods += period;
		c->events += period;
	}
	add_values(c, s, latency, counts);
	if (rd->fields & PROFILE_EACH)
		keep_sample(p, s, nr, latency, counts);
	if (rd->fields & PROFILE_BRANCHES)
		add_branches(p, s, &key, more + s->nr_counts);
}

/* Whose it is says --pid and --tid; no event has it, and no name of a thread's. */
static void on_mark(struct reading *rd, const struct sw_trace_note *r)
{
	const struct profile_filter *f = rd->filter;
	struct profile *p = rd->p;

	p->notes++;
	spans_mark(&p->spans, &f->span, r->r.time, r->name);
	if (rd->fields & PROFILE_EACH &&
	    spans_want(&p->spans, &f->span, p->head->r.time, r->r.time,
		       r->r.time) &&
	    (f->pid < 0 || f->pid == r->pid) &&
	    (f->tid < 0 || f->tid == r->tid) &&
	    (f->cpu < 0 || f->cpu == r->r.cpu))
		marks_add(&p->marks, r);
}

static void on_slices_end(struct profile *p,
			  const struct sw_trace_slices_end *r)
{
	if (r->lost < r->taken)
		p->slices += r->taken - r->lost;
}

static void on_record(struct reading *rd, const struct sw_trace_record *r)
{
	switch (r->type) {
	case SW_TRACE_EVENT:
		profile_on_event(rd->p, (const void *)r);
		break;
	case SW_TRACE_COUNT:
		profile_on_count(rd->p, (const void *)r);
		break;
	case SW_TRACE_STACK:
		profile_on_stack(rd->p, (const void *)r);
		break;
	case SW_TRACE_SAMPLE:
		on_sample(rd, (const void *)r);
		break;
	case SW_TRACE_NOTE:
		on_mark(rd, (const void *)r);
		break;
	case SW_TRACE_TIMELINE:
		rd->p->has_timeline = true;
		break;
	case SW_TRACE_SLICES_END:
		on_slices_end(rd->p, (const void *)r);
		break;
	default:
		procs_record(rd->p->procs, r);
	}
}

static bool is_lost(const struct profile *p, uint32_t stack)
{
	return stack && !profile_stack(p, stack);
}

/* When all stacks are there, those that came after their samples too. */
static void count_lost_stacks(struct profile *p)
{
	const struct cell_key *key;
	uint32_t i;

	for (i = 0; i < p->keys.nr; i++) {
		key = profile_key(p, i);
		if (is_lost(p, key->kstack) || is_lost(p, key->ustack))
			p->no_stack += p->cells[i].samples;
	}
}

struct profile *profile_read(const char *path, unsigned int fields,
			     const struct profile_filter *filter,
			     struct buf *why)
{
	struct trace *trace = trace_open(path, why);
	const struct sw_trace_record *r;
	struct reading rd = { .fields = fields, .filter = filter, .wall = -1 };
	struct opening opening;
	struct profile *p;
	struct order *o;

	if (!trace)
		return NULL;
	rd.p = p = xmalloc(sizeof(*p));
	*p = (struct profile) {
		.name = path,
		.head = xmalloc(trace_head(trace)->r.size),
	};
	memcpy(p->head, trace_head(trace), trace_head(trace)->r.size);
	images_init(&p->images, &p->texts, p->head);
	p->procs = procs_new(&p->images, &p->texts);
	o = order_new(trace, &p->loss);
	opening_read(&opening, o, p->head->r.time, p->procs);
	while ((r = opening_next(&opening))) {
		on_record(&rd, r);
		progress("reading", trace_permille(trace));
	}
	progress_end();
	if (fields & PROFILE_WALL)
		name_wall(&rd);
	count_lost_stacks(p);
	profile_tell_counts_apart(p);
	p->skipped = *trace_skipped(trace);
	opening_free(&opening);
	order_free(o);
	trace_close(trace);
	thread_counts_free(&rd.thread_counts);
	free(rd.comms);
	return p;
}

void profile_free(struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->stack_numbers.nr; i++)
		free(p->stacks[i].ip);
	for (i = 0; i < p->keys.nr; i++)
		free(p->cells[i].stats);
	free(p->stacks);
	free(p->cells);
	free(p->events);
	free(p->counts);
	free(p->head);
	free(p->each);
	free(p->values);
	branches_free(&p->branches);
	spans_free(&p->spans);
	marks_free(&p->marks);
	loss_free(&p->loss);
	procs_free(p->procs);
	images_free(&p->images);
	intern_free(&p->stack_numbers);
	intern_free(&p->keys);
	intern_free(&p->texts);
	free(p);
}
