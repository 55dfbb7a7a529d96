/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever bytes a trace has, the report takes them, and keeps its word: what
 * is read and what is said to be missing is what the bytes are, and each output
 * has all samples in it.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); so do damage.c and mutate.c.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/input/merge.h"
#include "report/input/profile.h"
#include "report/output/annotate.h"
#include "report/output/branch_table.h"
#include "report/output/calltree.h"
#include "report/output/columns.h"
#include "report/output/diff.h"
#include "report/output/flame_svg.h"
#include "report/output/folded.h"
#include "report/output/pprof.h"
#include "report/output/rows_csv.h"
#include "report/output/rows_json.h"
#include "report/output/samples.h"
#include "report/output/table.h"
#include "report/output/timeline_view.h"
#include "report/output/view.h"
#include "input.h"
#include "reading.h"
#include "several.h"
#include "trace_words.h"
#include "../executions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct profile_filter everything = {
	.pid = -1, .tid = -1, .cpu = -1,
};

static const struct profile_filter some = {
	.pid = -1, .tid = -1, .cpu = -1,
	.span = { .from = 1, .to = 1ull << 40, .begin = "*", .end = "o*" },
};

static FILE *null;

static uint64_t folded_total(const struct calltree *t, const struct profile *p)
{
	struct buf out = { 0 };
	uint64_t total = 0;
	char *line, *rest;

	folded_print(t, &p->texts, &out, NULL);
	for (line = out.s; line && *line; line = rest + 1) {
		rest = strchr(line, '\n');
		ensure(rest);
		*rest = '\0';
		ensure(strrchr(line, ' '));
		total += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	}
	free(out.s);
	return total;
}

static void check_trees(struct view *v, const struct columns *columns)
{
	const struct flame_svg flame = { .title = "fuzz" };
	struct buf out = { 0 };
	struct calltree t;
	uint32_t i, inverted;

	for (i = 0; i < v->nr_totals; i++) {
		for (inverted = 0; inverted < 2; inverted++) {
			calltree_make(&t, v, i, columns, inverted,
				      SORT_EVENTS);
			ensure(t.nodes->samples == v->totals[i].samples);
			ensure(t.nodes->events == v->totals[i].events);
			if (!inverted && v->totals[i].samples)
				ensure(folded_total(&t, v->profile) ==
				       calltree_weight(&t, t.nodes));
			if (!inverted)
				flame_svg_print(&flame, &t, &v->profile->texts,
						&out, NULL);
			calltree_free(&t);
			/* one is enough where there are 65536 */
			if (i > 3)
				break;
		}
		if (i > 3)
			break;
	}
	free(out.s);
}

static void check_branches(struct view *v)
{
	const struct branches *b = &v->profile->branches;
	struct columns columns;
	struct buf out = { 0 };
	uint64_t taken = 0, samples = 0;
	uint32_t i;

	for (i = 0; i < b->keys.nr; i++) {
		ensure(b->counts[i].taken);
		ensure(b->counts[i].predicted + b->counts[i].mispredicted <=
		       b->counts[i].taken);
		taken += b->counts[i].taken;
	}
	for (i = 0; i < b->nr_totals; i++)
		samples += b->totals[i].samples + b->totals[i].without;
	ensure(samples == profile_samples(v->profile));
	ensure(!columns_parse("comm,pid,tid,cpu,image,symbol,line,address",
			      &columns, &out));
	ensure(branch_table_print(v, &columns, SORT_EVENTS, 0, &out) == taken);
	free(out.s);
}

/* What is in a stack is there, and nobody is in more than there is. */
static void check_totals(struct view *v, const struct columns *columns)
{
	struct rows rows;
	uint64_t all = 0;
	uint32_t i;

	rows_make(&rows, v, columns, SORT_SAMPLES, true);
	for (i = 0; i < rows.keys.nr; i++) {
		all += rows.all[i].samples;
		ensure(rows.all[i].total_samples >= rows.all[i].samples);
		ensure(rows.all[i].total_samples <=
		       v->totals[rows.all[i].event].samples);
	}
	ensure(all == profile_samples(v->profile));
	rows_free(&rows);
}

/* Of the same bytes no more than some of the samples. */
static void check_spans(const char *path, uint64_t samples)
{
	struct buf why = { 0 };
	struct profile *p = profile_read(&path, 1, PROFILE_EACH, &some, &why);
	struct warnings warnings = { 0 };

	ensure(p && p->nr_each <= samples);
	ensure(!p->nr_each || p->spans.nr);
	spans_say(&p->spans, &some.span, "fuzz", &warnings);
	warnings_print(&warnings, "fuzz", null);
	profile_free(p);
	free(why.s);
}

/* Of time no more than all, and all of one event, whose stacks are as any. */
static void check_wall(const char *path, uint64_t samples)
{
	const struct view_filter all = { 0 };
	const struct places_from from = { .kallsyms = "/dev/null" };
	struct buf why = { 0 }, out = { 0 };
	struct profile *p = profile_read(&path, 1, ~0u, &everything, &why);
	struct columns columns;
	struct view *v;
	uint32_t i, events = 0;

	ensure(p && p->nr_each <= samples);
	ensure(!p->nr_each || p->traces->has_on_cpu || p->traces->has_off_cpu);
	v = view_new(p, &from, &all);
	for (i = 0; i < v->nr_totals; i++)
		events += !!v->totals[i].samples;
	ensure(events <= 1);
	ensure(!columns_parse("comm", &columns, &out));
	check_trees(v, &columns);
	rows_csv(v, &columns, SORT_NAME, false, 0, &out, null);
	free(out.s);
	free(why.s);
	view_free(v);
	profile_free(p);
}

/* What had not ended is a part of an event's waits, and no other event's. */
static void check_open(const struct view *v)
{
	const struct profile *p = v->profile;
	uint32_t i;

	for (i = 0; i < v->nr_totals; i++) {
		ensure(v->totals[i].open_samples <= v->totals[i].samples);
		ensure(v->totals[i].open_events <= v->totals[i].events);
		ensure(!v->totals[i].open_samples ||
		       p->events[i].flags & SW_TRACE_EVENT_WAIT);
	}
}

static void check_view(struct profile *p)
{
	const struct view_filter all = { 0 };
	const struct places_from from = { .kallsyms = "/dev/null" };
	struct view *v = view_new(p, &from, &all);
	struct warnings warnings = { 0 };
	struct columns columns;
	struct buf out = { 0 };
	uint64_t samples = 0;
	uint32_t i;

	for (i = 0; i < v->nr_totals; i++)
		samples += v->totals[i].samples;
	ensure(samples == profile_samples(p));
	check_open(v);
	ensure(!columns_parse("comm,pid,tid,cpu,wait,image,symbol,line,address,stack,data,source,trace",
			      &columns, &out));
	table_print(v, &columns, SORT_NAME, false, 0, &out);
	samples_print(v, &columns, &out, null);
	samples_json(v, &columns, &out, null);
	rows_json(v, &columns, SORT_NAME, false, 0, &out, null);
	ensure(!columns_parse("comm,image,line,wait", &columns, &out));
	table_print(v, &columns, SORT_EVENTS, true, 0, &out);
	check_totals(v, &columns);
	ensure(!columns_parse("comm", &columns, &out));
	check_trees(v, &columns);
	calltree_print(v, &columns, true, SORT_NAME, 1, &out, NULL);
	pprof_print(v, &columns, &out, NULL);
	annotate_print(v, &warnings, &out);
	check_branches(v);
	diff_print(v, v, &columns, SORT_CHANGE, 0, &out);
	places_say(v->places, &warnings);
	warnings_print(&warnings, "fuzz", null);
	free(out.s);
	view_free(v);
}

static const char *call_name(uint32_t call)
{
	return call % 2 ? "a_call" : NULL;
}

static const char *part_name(unsigned int part)
{
	return part < PPA_NR_PARTS ? "part" : NULL;
}

typedef void timeline_print(const struct timeline_view *v, struct buf *out,
			    FILE *to);

/* Slices are told once.  Return: is there a timeline? */
static bool print_timeline(const char *path, timeline_print *print,
			   const struct span *span)
{
	struct timeline_view v = {
		.filter = { .pid = -1, .tid = -1, .cpu = -1, .span = *span },
		.nr = 1,
		.part_name = part_name,
		.call_name = call_name,
	};
	struct buf why = { 0 };
	struct trace *trace = trace_open(path, &why);
	bool is_there;

	if (trace)
		v.timeline = timeline_read(trace, path, 0, &why);
	is_there = v.timeline;
	ensure(is_there == !why.len);
	if (is_there) {
		timeline_filter_marks(&v.timeline, 1, &v.filter);
		print(&v, &why, null);
		ensure(!timeline_next(v.timeline));
		spans_free(&v.filter.spans);
		timeline_free(v.timeline);
	}
	if (trace)
		trace_close(trace);
	free(why.s);
	return is_there;
}

static void check_each(const struct timeline_view *v, struct buf *out, FILE *to)
{
	(void)out;
	(void)to;
	check_slices(v->timeline);
}

static void check_timeline(const char *path)
{
	static const struct span all;

	if (!print_timeline(path, check_each, &all))
		return;
	print_timeline(path, timeline_json, &all);
	print_timeline(path, timeline_json, &some.span);
	print_timeline(path, timeline_text, &all);
	print_timeline(path, timeline_chrome, &all);
	print_timeline(path, timeline_perfetto, &all);
}

/* Slices of several timelines, in the order of one clock; not what is beyond its end. */
static uint64_t slices_at;
static bool slices_end;

static void look_at_slice(const struct timeline_view *v,
			  const struct timeline_slice *s, struct buf *out)
{
	const uint64_t ns = timeline_ns(v->timeline, s->from);

	(void)out;
	slices_end |= s->from >> 50 || v->timeline->hz < 1000000 ||
		      v->timeline->time >> 62;
	ensure(ns >= slices_at || slices_end);
	slices_at = ns;
}

static void look_at_mark(const struct timeline_view *v, const struct mark *m,
			 struct buf *out)
{
	(void)v;
	(void)out;
	ensure(m->ns >= slices_at || slices_end);
	slices_at = m->ns;
}

static void check_slices_of(struct timeline **all, size_t nr)
{
	static const struct timeline_visit visit = { look_at_slice, look_at_mark };
	struct timeline_filter filter = { .pid = -1, .tid = -1, .cpu = -1 };
	struct timeline_view v[SEVERAL];
	struct buf out = { 0 };
	size_t i;

	timeline_filter_marks(all, nr, &filter);
	for (i = 0; i < nr; i++)
		v[i] = (struct timeline_view) {
			.timeline = all[i],
			.nr = nr - i,
			.trace_width = 5,
			.filter = filter,
			.part_name = part_name,
			.call_name = call_name,
		};
	slices_at = 0;
	slices_end = false;
	timeline_visit(v, &visit, &out, null);
	for (i = 0; i < nr; i++)
		ensure(!timeline_next(all[i]));
	spans_free(&filter.spans);
}

static void check_timelines(const uint8_t *data, size_t size)
{
	struct timeline *all[SEVERAL];
	const char *paths[SEVERAL];
	struct buf why = { 0 };
	struct merge m;
	size_t i, nr = 0;

	for (i = 0; i < SEVERAL; i++)
		paths[i] = several_path(data, size, i);
	if (!merge_open(&m, paths, SEVERAL, &why)) {
		for (; nr < SEVERAL; nr++) {
			all[nr] = timeline_read(m.sources[nr].trace, paths[nr],
						m.sources[nr].clock.shift, &why);
			if (!all[nr])
				break;
			all[nr]->boot = m.sources[nr].clock.boot;
		}
		timeline_join_clocks(all, nr);
		if (nr == SEVERAL)
			check_slices_of(all, nr);
	}
	for (i = 0; i < nr; i++)
		timeline_free(all[i]);
	merge_close(&m);
	free(why.s);
}

/* What several traces have is shown as that of one is. */
static void check_several(const uint8_t *data, size_t size)
{
	struct profile *p = several_read(data, size, ~PROFILE_WALL,
					 &everything);

	if (!p)
		return;
	check_view(p);
	profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = input_path(data, size);
	struct buf why = { 0 };
	struct profile *p;

	if (!null)
		null = fopen("/dev/null", "w");
	p = profile_read(&path, 1, ~PROFILE_WALL, &everything, &why);
	ensure(!p == !!why.len);
	check_timeline(path);
	if (p)
		check_reading(p, size, null);
	if (p && executions_all_of(data, size)) {
		check_spans(path, p->nr_each);
		check_wall(path, p->nr_each);
		check_view(p);
		check_several(data, size);
		check_timelines(data, size);
	}
	if (p)
		profile_free(p);
	free(why.s);
	executions_add();
	return 0;
}
