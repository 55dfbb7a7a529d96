/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces, aggregated; profile.h says what is wanted of it. */
#include "report/input/profile.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/progress.h"
#include "report/input/merge.h"
#include "report/input/profile_names.h"
#include "report/input/thread_counts.h"

/* What is kept of each trace while it is read. */
struct source {
	struct profile_numbers numbers;
	struct thread_counts thread_counts;
};

struct reading {
	struct profile *p;
	struct source *sources;	/* by the traces' numbers */
	struct profile_shared shared;
	struct merge merge;
	unsigned int fields;
	const struct profile_filter *filter;
	int8_t *comms;		/* 0: not tried; else whether it is wanted */
	size_t size_comms;
	int64_t wall;		/* the event that stands for both; -1: none yet */
};

/* A sample, and what the profile has in place of its trace's own numbers. */
struct taken {
	const struct sw_trace_sample *s;
	struct source *of;
	uint32_t trace;
	uint32_t event;
	uint64_t time;
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

static enum profile_wait wait_of(const struct profile *p,
				 const struct taken *t)
{
	if (!profile_is_off_cpu(p, t->event))
		return PROFILE_NO_WAIT;
	if (!(t->s->flags & SW_TRACE_OPEN))
		return PROFILE_WAIT_ENDED;
	return t->s->flags & SW_TRACE_THROUGHOUT ? PROFILE_WAIT_THROUGHOUT :
						   PROFILE_WAIT_OPEN;
}

/* A wait that a range of time may cut: --wall tells how long all was within it. */
static bool is_cut(const struct reading *rd, const struct taken *t)
{
	const struct span *span = &rd->filter->span;

	return rd->fields & PROFILE_WALL &&
	       profile_is_off_cpu(rd->p, t->event) && !span->begin && (span->from || span->to);
}

/* A wait's sample was taken at its end. */
static uint64_t began(const struct reading *rd, const struct taken *t)
{
	return is_cut(rd, t) ? span_since(t->s->period, t->time) : t->time;
}

/* What of a sample's period is wanted. */
static uint64_t period_of(const struct reading *rd, const struct taken *t)
{
	const struct span *span = &rd->filter->span;
	const uint64_t zero = rd->p->first->r.time;
	uint64_t from = span_since(zero, began(rd, t));
	uint64_t to = span_since(zero, t->time);

	if (!is_cut(rd, t))
		return t->s->period;
	if (from < span->from)
		from = span->from;
	if (span->to && to > span->to)
		to = span->to;
	return span_since(from, to);
}

static bool is_wanted(struct reading *rd, const struct taken *t, uint32_t comm)
{
	const struct profile_filter *f = rd->filter;
	const struct sw_trace_sample *s = t->s;

	return spans_want(&rd->p->spans, &f->span, rd->p->first->r.time,
			  began(rd, t), t->time) &&
	       (f->pid < 0 || f->pid == s->pid) &&
	       (f->tid < 0 || f->tid == s->tid) &&
	       (f->cpu < 0 || f->cpu == s->r.cpu) &&
	       (!f->event || !fnmatch(f->event,
				      profile_event_name(rd->p, t->event),
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

static void add_values(struct cell *c, const struct taken *t,
		       const uint64_t *latency, const uint64_t *counts)
{
	unsigned int i;

	if (latency)
		stat_add(stats_of(c, 0), *latency);
	/* all ones: there was no value */
	for (i = 0; i < t->s->nr_counts; i++) {
		if (counts[i] == UINT64_MAX)
			continue;
		profile_need_value(&t->of->numbers, i);
		stat_add(stats_of(c, i + 1), counts[i]);
	}
}

/* ---- time on CPUs and off them */

/* The event that it counts for; -1: none. */
static int64_t wall_event(struct reading *rd, const struct taken *t)
{
	if (!t->s->pid || !(profile_is_off_cpu(rd->p, t->event) ||
			    profile_is_on_cpu(rd->p, t->event)))
		return -1;
	if (rd->wall < 0)
		rd->wall = t->event;
	return rd->wall;
}

static void name_wall(struct reading *rd)
{
	struct profile *p = rd->p;

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

static void fill_key(const struct reading *rd, const struct taken *t,
		     uint32_t comm, struct cell_key *key)
{
	const struct sw_trace_sample *s = t->s;
	const bool user = s->flags & SW_TRACE_USER;
	struct procs *procs = rd->p->traces[t->trace].procs;
	const unsigned int f = rd->fields;
	const enum profile_wait wait = wait_of(rd->p, t);
	const char *mark = wait_mark(f, wait);
	uint32_t space;

	*key = (struct cell_key) { .wait = wait, .trace = t->trace };
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

static void add_branches(struct profile *p, const struct taken *t,
			 const struct cell_key *key, const uint64_t *list)
{
	const struct branch_key like = {
		.comm = key->comm,
		.pid = key->pid,
		.tid = key->tid,
		.cpu = key->cpu,
		.event = key->event,
		.trace = t->trace,
	};

	p->traces[t->trace].with_branches += !!t->s->nr_branches;
	p->traces[t->trace].without_branches += !t->s->nr_branches;
	branches_add(&p->branches, p->traces[t->trace].procs, t->s, &like,
		     list);
}

static void keep_sample(struct profile *p, const struct taken *t, uint32_t cell,
			const uint64_t *latency, const uint64_t *counts)
{
	const size_t nr = t->s->nr_counts + 1;
	unsigned int i;
	uint64_t *to;

	p->values = array_room(p->values, &p->size_values, p->nr_values + nr,
			       sizeof(*p->values));
	to = p->values + p->nr_values;
	*to = latency ? *latency : UINT64_MAX;
	memcpy(to + 1, counts, t->s->nr_counts * sizeof(*to));
	for (i = 0; i < t->s->nr_counts; i++)
		profile_need_value(&t->of->numbers, i);
	p->each = array_room(p->each, &p->size_each, p->nr_each + 1,
			     sizeof(*p->each));
	p->each[p->nr_each++] = (struct profile_sample) {
		.time = t->time,
		.period = t->s->period,
		.cell = cell,
		.nr_values = nr,
		.values = p->nr_values,
	};
	p->nr_values += nr;
}

/* What is between this sample and the one before. */
static const uint64_t *counts_of(const struct taken *t)
{
	const struct sw_trace_sample *s = t->s;
	const uint64_t *counts = s->more + (s->r.size - sizeof(*s)) / 8 -
				 s->nr_counts - 3 * (size_t)s->nr_branches;

	if (s->has & SW_TRACE_HAS_THREAD)
		return thread_counts_since(&t->of->thread_counts, s, counts[-1],
					   counts);
	return counts;
}

static void on_sample(struct reading *rd, const struct taken *t)
{
	const struct sw_trace_sample *s = t->s;
	const uint64_t *more = s->more, *latency = NULL, *counts = counts_of(t);
	struct profile *p = rd->p;
	const uint32_t comm = procs_comm(p->traces[t->trace].procs, s->pid,
					 s->tid);
	int64_t event = t->event;
	struct cell_key key;
	uint64_t period;
	struct cell *c;
	uint32_t nr;

	if (!is_wanted(rd, t, comm))
		return;
	if (rd->fields & PROFILE_WALL)
		event = wall_event(rd, t);
	if (event < 0)
		return;
	fill_key(rd, t, comm, &key);
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
	period = period_of(rd, t);
	if (period > INT64_MAX - p->periods) {
		p->traces[t->trace].no_period++;
	} else {
		p->periods += period;
		c->events += period;
	}
	add_values(c, t, latency, counts);
	if (rd->fields & PROFILE_EACH)
		keep_sample(p, t, nr, latency, counts);
	if (rd->fields & PROFILE_BRANCHES)
		add_branches(p, t, &key, more + s->nr_counts);
}

/* Whose it is says --pid and --tid; no event has it, and no name of a thread's. */
static void on_mark(struct reading *rd, uint32_t trace,
		    const struct sw_trace_note *r)
{
	const uint64_t time = merge_time(&rd->merge, trace, r->r.time);
	const struct profile_filter *f = rd->filter;
	struct profile *p = rd->p;

	p->traces[trace].notes++;
	spans_mark(&p->spans, &f->span, time, r->name);
	if (rd->fields & PROFILE_EACH &&
	    spans_want(&p->spans, &f->span, p->first->r.time, time, time) &&
	    (f->pid < 0 || f->pid == r->pid) &&
	    (f->tid < 0 || f->tid == r->tid) &&
	    (f->cpu < 0 || f->cpu == r->r.cpu))
		marks_add(&p->marks, r, trace, time);
}

static void on_slices_end(struct profile_trace *t,
			  const struct sw_trace_slices_end *r)
{
	if (r->lost < r->taken)
		t->slices += r->taken - r->lost;
}

static void on_record(struct reading *rd, uint32_t trace,
		      const struct sw_trace_record *r)
{
	struct source *of = &rd->sources[trace];
	const struct sw_trace_sample *s = (const void *)r;
	struct profile_trace *t = &rd->p->traces[trace];
	struct taken taken;

	switch (r->type) {
	case SW_TRACE_EVENT:
		profile_on_event(&of->numbers, (const void *)r);
		break;
	case SW_TRACE_COUNT:
		profile_on_count(&of->numbers, (const void *)r);
		break;
	case SW_TRACE_STACK:
		profile_on_stack(rd->p, trace, (const void *)r);
		break;
	case SW_TRACE_SAMPLE:
		taken = (struct taken) {
			.s = s,
			.of = of,
			.trace = trace,
			.event = profile_event_number(&of->numbers, s->event),
			.time = merge_time(&rd->merge, trace, r->time),
		};
		on_sample(rd, &taken);
		break;
	case SW_TRACE_NOTE:
		on_mark(rd, trace, (const void *)r);
		break;
	case SW_TRACE_TIMELINE:
		t->has_timeline = true;
		break;
	case SW_TRACE_SLICES_END:
		on_slices_end(t, (const void *)r);
		break;
	default:
		procs_record(t->procs, r);
	}
}

static bool is_lost(const struct profile *p, uint32_t trace, uint32_t stack)
{
	return stack && !profile_stack(p, trace, stack);
}

/* When all stacks are there, those that came after their samples too. */
static void count_lost_stacks(struct profile *p)
{
	const struct cell_key *key;
	uint32_t i;

	for (i = 0; i < p->keys.nr; i++) {
		key = profile_key(p, i);
		if (is_lost(p, key->trace, key->kstack) ||
		    is_lost(p, key->trace, key->ustack))
			p->traces[key->trace].no_stack += p->cells[i].samples;
	}
}

/* ---- traces */

static struct sw_trace_head *copy_head(const struct sw_trace_head *head)
{
	struct sw_trace_head *copy = xmalloc(head->r.size);

	memcpy(copy, head, head->r.size);
	return copy;
}

static void take_traces(struct reading *rd)
{
	const struct merge *m = &rd->merge;
	struct profile *p = rd->p;
	size_t i;

	p->traces = xmalloc(m->nr * sizeof(*p->traces));
	rd->sources = xmalloc(m->nr * sizeof(*rd->sources));
	memset(rd->sources, 0, m->nr * sizeof(*rd->sources));
	for (i = 0; i < m->nr; i++)
		p->traces[i] = (struct profile_trace) {
			.name = m->sources[i].clock.name,
			.head = copy_head(m->sources[i].clock.head),
			.boot = m->sources[i].clock.boot,
		};
	p->nr_traces = m->nr;
	p->nr_boots = m->nr_boots;
	p->first = p->traces[m->first].head;
}

static void begin_trace(struct reading *rd, size_t nr)
{
	struct profile *p = rd->p;
	struct profile_trace *t = &p->traces[nr];
	struct source *of = &rd->sources[nr];

	t->procs = procs_new(&p->images, &p->texts, nr, t->head);
	of->numbers = (struct profile_numbers) {
		.p = p,
		.shared = p->nr_traces > 1 ? &rd->shared : NULL,
		.trace = nr,
	};
	profile_numbers_begin(&of->numbers);
	merge_begin(&rd->merge, nr, &t->loss, t->procs);
}

/* Before they are read, which may take long. */
static int check_boots(const struct reading *rd)
{
	const struct profile_filter *f = rd->filter;
	const struct profile_trace *t = rd->p->traces;

	for (; f->of_boots && t < rd->p->traces + rd->p->nr_traces; t++)
		if (t->boot && f->of_boots(f->of_boots_arg,
					   rd->p->traces->name, t->name))
			return -1;
	return 0;
}

static int read_all(struct reading *rd, struct buf *why)
{
	struct profile *p = rd->p;
	const struct sw_trace_record *r;
	size_t i;

	take_traces(rd);
	if (check_boots(rd))
		return -1;
	p->images.texts = &p->texts;
	for (i = 0; i < p->nr_traces; i++)
		begin_trace(rd, i);
	while (!rd->shared.full && (r = merge_next(&rd->merge, &i))) {
		on_record(rd, i, r);
		progress("reading", merge_permille(&rd->merge));
	}
	progress_end();
	for (i = 0; i < p->nr_traces; i++)
		p->traces[i].skipped = *trace_skipped(rd->merge.sources[i].trace);
	if (!rd->shared.full)
		return 0;
	buf_printf(why, "%s: have more than %u counts by different names together: report fewer traces at once",
		   p->name, UINT8_MAX);
	return -1;
}

static void free_reading(struct reading *rd)
{
	size_t i;

	merge_close(&rd->merge);
	for (i = 0; i < rd->p->nr_traces; i++) {
		profile_numbers_free(&rd->sources[i].numbers);
		thread_counts_free(&rd->sources[i].thread_counts);
	}
	profile_shared_free(&rd->shared);
	free(rd->sources);
	free(rd->comms);
}

struct profile *profile_read(const char *const *paths, size_t nr,
			     unsigned int fields,
			     const struct profile_filter *filter,
			     struct buf *why)
{
	struct reading rd = { .fields = fields, .filter = filter, .wall = -1 };
	struct profile *p = xmalloc(sizeof(*p));
	bool failed;

	*p = (struct profile) { 0 };
	p->name = profile_names_of(p, paths, nr);
	rd.p = p;
	failed = merge_open(&rd.merge, paths, nr, why) || read_all(&rd, why);
	free_reading(&rd);
	if (failed) {
		profile_free(p);
		return NULL;
	}
	if (fields & PROFILE_WALL)
		name_wall(&rd);
	count_lost_stacks(p);
	profile_tell_counts_apart(p);
	return p;
}

uint64_t profile_samples(const struct profile *p)
{
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < p->nr_traces; i++)
		samples += loss_sum(&p->traces[i].loss).read;
	return samples;
}

static void free_traces(struct profile *p)
{
	struct profile_trace *t;

	for (t = p->traces; t < p->traces + p->nr_traces; t++) {
		free(t->head);
		loss_free(&t->loss);
		if (t->procs)
			procs_free(t->procs);
	}
	free(p->traces);
}

void profile_free(struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->stack_numbers.nr; i++)
		free(p->stacks[i].ip);
	for (i = 0; i < p->keys.nr; i++)
		free(p->cells[i].stats);
	free_traces(p);
	free(p->stacks);
	free(p->cells);
	free(p->events);
	free(p->counts);
	free(p->each);
	free(p->values);
	branches_free(&p->branches);
	spans_free(&p->spans);
	marks_free(&p->marks);
	images_free(&p->images);
	intern_free(&p->stack_numbers);
	intern_free(&p->keys);
	intern_free(&p->texts);
	free(p);
}
