/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report of a timeline; report_timeline.h says what is wanted of it. */
#include "cmd/report_timeline.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/shown.h"
#include "cmd/line.h"
#include "cmd/ppa_syscalls.h"
#include "cmd/ppa_why.h"
#include "report/input/merge.h"

static const char *part_name(unsigned int part)
{
	return part < PPA_NR_PARTS ? ppa_part_name(part) : NULL;
}

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

/* Each machine has numbers of its own. */
static const char *no_name(uint32_t call)
{
	(void)call;
	return NULL;
}

/* What is not shown is told of. */
static void say_losses(const struct timeline *t, struct warnings *w)
{
	const uint64_t threads = t->checked + t->differ + t->unchecked;

	loss_say(&t->loss, &t->skipped, t->name, w);
	if (t->lost)
		warnings_add(
			w, WARNING_NUMBERS, warnings_share(t->lost, t->taken),
			"%s: of %" PRIu64 " slices %" PRIu64
			" were lost to a full buffer; what threads did in that time is left out",
			t->name, t->taken, t->lost);
	if (t->damaged)
		warnings_add(w, WARNING_NUMBERS,
			     warnings_share(t->damaged, t->taken),
			     "%s: %" PRIu64 " records of slices are damaged",
			     t->name, t->damaged);
	if (t->differ)
		warnings_add(
			w, WARNING_NUMBERS, warnings_share(t->differ, threads),
			"%s: the slices of %" PRIu64
			" threads are not what was accounted for; those of %" PRIu64
			" are",
			t->name, t->differ, t->checked);
	if (t->unchecked)
		warnings_add(
			w, WARNING_NUMBERS,
			warnings_share(t->unchecked, threads),
			"%s: %" PRIu64 " threads have slices that are missing",
			t->name, t->unchecked);
}

/* Not all slices have been printed. */
static int say_error(const struct timeline *t)
{
	struct buf why = { 0 };

	if (!t->slices.spool.error)
		return 0;
	spool_why(&t->slices.spool, &why);
	shown_line(stderr, "stapwatch report: %s: %s", t->name, why.s);
	free(why.s);
	return 1;
}

void report_say_clock(const char *first, const char *name, struct warnings *w)
{
	warnings_add(w, WARNING_HINT, 0,
		     "%s: is not of one boot with %s, or its clock was set or its machine slept since: its times are as right as the wall clocks of both",
		     name, first);
}

/* The timelines of all traces, as they were named. */
struct reading {
	struct merge traces;
	struct timeline *all[ALIGN_TRACES];
	size_t nr;
	struct timeline_view views[ALIGN_TRACES];
	int trace_width;	/* what their names take; 0: there is one */
};

/* Return: 0, or -1 after a message */
static int read_one(struct reading *rd, size_t i)
{
	const struct merge_source *from = &rd->traces.sources[i];
	struct buf why = { 0 };

	rd->all[i] = timeline_read(from->trace, from->clock.name,
				   from->clock.shift, &why);
	if (!rd->all[i])
		shown_line(stderr, "stapwatch report: %s: %s", from->clock.name,
			   why.s);
	free(why.s);
	if (!rd->all[i])
		return -1;
	rd->all[i]->boot = from->clock.boot;
	rd->nr++;
	return 0;
}

static int read_all(struct reading *rd, const struct settings *s)
{
	const struct merge_source *from = rd->traces.sources;
	struct buf why = { 0 };
	size_t i;

	if (merge_open(&rd->traces, s->paths, s->nr_paths, &why)) {
		shown_line(stderr, "stapwatch report: %s", why.s);
		free(why.s);
		return -1;
	}
	for (i = 0; i < s->nr_paths; i++)
		if (from[i].clock.boot &&
		    report_of_boots(s, from->clock.name, from[i].clock.name))
			return -1;
	for (i = 0; i < s->nr_paths; i++)
		if (read_one(rd, i))
			return -1;
	timeline_join_clocks(rd->all, rd->nr);
	return 0;
}

static void widen(int *width, const char *name)
{
	struct buf shown = { 0 };
	int w;

	shown_text(&shown, name);
	w = shown_width(shown.s ?: "");
	*width = w > *width ? w : *width;
	free(shown.s);
}

static void make_views(struct reading *rd, const struct timeline_filter *filter)
{
	int width = sizeof("TRACE") - 1;
	size_t i;

	for (i = 0; i < rd->nr; i++)
		widen(&width, rd->all[i]->name);
	for (i = 0; i < rd->nr; i++)
		rd->views[i] = (struct timeline_view) {
			.timeline = rd->all[i],
			.nr = rd->nr - i,
			.trace_width = rd->nr > 1 ? width : 0,
			.filter = *filter,
			.part_name = part_name,
			.call_name = rd->all[i]->machine == OUR_MACHINE ?
				     ppa_call_name : no_name,
		};
}

static int print_all(struct reading *rd, const struct settings *s,
		     void (*print)(const struct timeline_view *v,
				   struct buf *out, FILE *to),
		     struct warnings *w, struct buf *out)
{
	struct timeline_filter filter = {
		.comm = s->filter.comm,
		.pid = s->filter.pid,
		.tid = s->filter.tid,
		.cpu = s->filter.cpu,
		.span = s->filter.span,
	};
	const struct merge_source *from = rd->traces.sources;
	struct buf names = { 0 };
	int status = 0;
	size_t i;

	timeline_filter_marks(rd->all, rd->nr, &filter);
	make_views(rd, &filter);
	print(rd->views, out, stdout);
	for (i = 0; i < rd->nr; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", rd->all[i]->name);
	spans_say(&filter.spans, &filter.span, names.s, w);
	free(names.s);
	spans_free(&filter.spans);
	for (i = 0; i < rd->nr; i++) {
		say_losses(rd->all[i], w);
		if (from[i].clock.boot)
			report_say_clock(from->clock.name, rd->all[i]->name, w);
		status |= say_error(rd->all[i]);
	}
	return status;
}

int report_timeline(const struct settings *s,
		    void (*print)(const struct timeline_view *v,
				  struct buf *out, FILE *to),
		    struct warnings *w, struct buf *out)
{
	struct reading rd = { 0 };
	int status = 1;
	size_t i;

	if (!read_all(&rd, s) && !cmd_line_output_begin("report", s->file))
		status = print_all(&rd, s, print, w, out);
	for (i = 0; i < rd.nr; i++)
		timeline_free(rd.all[i]);
	merge_close(&rd.traces);
	return status;
}
