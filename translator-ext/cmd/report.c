/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report: what its options lead to. */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "base/warnings.h"
#include "cmd/line.h"
#include "cmd/output.h"
#include "cmd/report_follow.h"
#include "cmd/report_options.h"
#include "cmd/report_timeline.h"
#include "config.h"
#include "report/input/profile.h"
#include "report/output/annotate.h"
#include "report/output/branch_table.h"
#include "report/output/calltree.h"
#include "report/output/diff.h"
#include "report/output/flame_svg.h"
#include "report/output/folded.h"
#include "report/output/pprof.h"
#include "report/output/rows_csv.h"
#include "report/output/rows_json.h"
#include "report/output/samples.h"
#include "report/output/table.h"
#include "report/output/view.h"

/* Writes what is no text. */
static bool is_binary(enum output output)
{
	return output == OUTPUT_PPROF || output == OUTPUT_PERFETTO;
}

/* Each trace has to have both. */
static int check_wall(const struct profile *p)
{
	const struct profile_trace *t;

	for (t = p->traces; t < p->traces + p->nr_traces; t++) {
		if (t->has_on_cpu && t->has_off_cpu)
			continue;
		shown_line(stderr, "stapwatch report: %s: --wall wants samples of time on CPUs and off them, and there are none of %s; stapwatch record --wall takes both",
			   t->name, t->has_off_cpu ? "cpu_clock" : "off_cpu");
		return -1;
	}
	return 0;
}

static int check_boots(const void *settings, const char *first,
		       const char *other)
{
	return report_of_boots(settings, first, other);
}

static struct profile *read_profile(const struct settings *s,
				    const char *const *paths, size_t nr)
{
	struct profile_filter filter = s->filter;
	struct buf why = { 0 };
	struct profile *p;

	filter.of_boots = check_boots;
	filter.of_boots_arg = s;
	p = profile_read(paths, nr, s->fields, &filter, &why);
	if (!p && why.len)
		shown_line(stderr, "stapwatch report: %s", why.s);
	free(why.s);
	if (p && s->fields & PROFILE_WALL && check_wall(p)) {
		profile_free(p);
		p = NULL;
	}
	return p;
}

static void say_broken(const struct profile_trace *t, const struct view *v,
		       uint64_t read, struct warnings *w)
{
	const uint32_t nr = t - v->profile->traces;
	const uint64_t kernels = view_broken(v, nr, VIEW_END_KERNEL);
	const uint64_t all = view_broken(v, nr, VIEW_END_NO_CODE) + kernels;
	struct buf of = { 0 };

	if (!all)
		return;
	if (kernels)
		buf_printf(&of, ", %" PRIu64 " of them at an address of the kernel's",
			   kernels);
	warnings_note(w, WARNING_NUMBERS, all, read,
		      "%s: the user stacks of %" PRIu64 " samples end where the process has no code%s, as they do in code without frame pointers; ustack_id_dwarf() in the script follows them: see 'man stapwatch-profile'",
		      t->name, all, of.s ?: "");
	free(of.s);
}

/* The module may have known less, or more, than this command does. */
static void say_version(const struct profile_trace *t, struct warnings *w)
{
	const uint32_t by = t->head->made_by;
	char version[32];
	int len;

	if (!by)
		return;
	len = snprintf(version, sizeof(version), "%u.%u", by >> 16,
		       by >> 8 & 0xff);
	if (by & 0xff)
		snprintf(version + len, sizeof(version) - len, ".%u",
			 by & 0xff);
	if (strcmp(version, STAPWATCH_VERSION))
		warnings_add(w, WARNING_HINT, 0,
			     "%s: was made by stapwatch %s, and this is " STAPWATCH_VERSION,
			     t->name, version);
}

static void put_word(struct buf *out, const char *option, const char *word)
{
	if (word)
		buf_printf(out, " --%s '%s'", option, word);
}

static void put_number(struct buf *out, const char *option, int64_t number)
{
	if (number >= 0)
		buf_printf(out, " --%s %" PRId64, option, number);
}

/* A mark that is not there, spans_say() tells. */
static void put_span(struct buf *out, const struct span *span, bool has_marks)
{
	if (span->begin && has_marks)
		buf_printf(out, " --between '%s,%s'", span->begin, span->end);
	if (!span->from && !span->to)
		return;
	buf_puts(out, " --time ");
	if (span->from)
		buf_printf(out, "%.9g", span->from / 1e9);
	buf_puts(out, "-");
	if (span->to)
		buf_printf(out, "%.9g", span->to / 1e9);
}

/* Nothing is no answer to who has asked for some samples; who draws says so itself. */
static void say_none(const struct settings *s, const struct profile *p,
		     const struct view *v, struct warnings *w)
{
	struct buf of = { 0 };
	size_t i;

	if (s->output == OUTPUT_FOLDED || s->output == OUTPUT_FLAMEGRAPH)
		return;
	for (i = 0; i < v->nr_totals; i++)
		if (v->totals[i].samples || v->totals[i].idle_samples)
			return;
	put_word(&of, "comm", s->filter.comm);
	put_number(&of, "pid", s->filter.pid);
	put_number(&of, "tid", s->filter.tid);
	put_number(&of, "cpu", s->filter.cpu);
	put_word(&of, "event", s->filter.event);
	put_word(&of, "image", s->view.image);
	put_word(&of, "symbol", s->view.symbol);
	/* which has the marks of that time */
	if (s->output != OUTPUT_SAMPLES)
		put_span(&of, &s->filter.span, p->spans.nr);
	if (of.len)
		warnings_add(w, WARNING_NUMBERS, 1,
			     "%s: no sample is left that is of%s", p->name,
			     of.s);
	free(of.s);
}

/* The trace has no sample at all: what it has, and what shows that. */
static void say_other(const struct settings *s, const struct profile_trace *t,
		      const struct loss_sum *sum, struct warnings *w)
{
	struct buf marks = { 0 };

	if (sum->read || sum->lost || sum->missing)
		return;
	if (t->notes)
		buf_printf(&marks, "%" PRIu64 " marks", t->notes);
	if (t->has_timeline)
		warnings_add(w, WARNING_NUMBERS, 1,
			     "%s: has no samples but a timeline of %" PRIu64 " slices%s%s: --timeline shows it as text, --perfetto and --chrome are for viewers",
			     t->name, t->slices, t->notes ? " and " : "",
			     marks.s ?: "");
	else if (!t->notes)
		warnings_add(w, WARNING_NUMBERS, 1, "%s: has no samples",
			     t->name);
	else if (s->output != OUTPUT_SAMPLES)
		warnings_add(w, WARNING_NUMBERS, 1,
			     "%s: has no samples but %s: --samples shows them",
			     t->name, marks.s);
	free(marks.s);
}

/* Of the whole trace. */
static void say_missing(const struct profile_trace *t,
			const struct loss_sum *sum, struct warnings *w)
{
	const uint64_t missing = sum->lost + sum->missing;
	const double share = warnings_share(missing, loss_samples(sum));

	if (!missing)
		return;
	if (sum->taken)
		warnings_add(w, WARNING_NUMBERS, share,
			     "%s: of %" PRIu64 " samples %" PRIu64 " are missing",
			     t->name, sum->taken, missing);
	else
		warnings_add(w, WARNING_NUMBERS, share,
			     "%s: %" PRIu64 " samples are missing, of at least %" PRIu64,
			     t->name, missing, sum->read + missing);
}

/* What is not in the report of one trace. */
static void say_trace(const struct settings *s, const struct profile_trace *t,
		      struct view *v, struct warnings *w)
{
	const struct loss_sum sum = loss_sum(&t->loss);

	w->samples += sum.read;
	say_missing(t, &sum, w);
	loss_say(&t->loss, &t->skipped, t->name, w);
	if (t->no_stack)
		warnings_add(w, WARNING_NUMBERS,
			     warnings_share(t->no_stack, sum.read),
			     "%s: the stacks of %" PRIu64 " samples are not in the trace",
			     t->name, t->no_stack);
	say_broken(t, v, sum.read, w);
	if (t->no_period)
		warnings_add(w, WARNING_NUMBERS,
			     warnings_share(t->no_period, sum.read),
			     "%s: the periods of %" PRIu64 " samples are more than can be, and are counted as 0",
			     t->name, t->no_period);
	say_other(s, t, &sum, w);
	say_version(t, w);
	if (t->boot)
		report_say_clock(v->profile->traces->name, t->name, w);
}

/* What is not in the report is told of. */
static void say_losses(const struct settings *s, const struct profile *p,
		       struct view *v, struct warnings *w)
{
	size_t i;

	w->several |= p->nr_traces > 1;
	say_none(s, p, v, w);
	spans_say(&p->spans, &s->filter.span, p->name, w);
	for (i = 0; i < p->nr_traces; i++)
		say_trace(s, &p->traces[i], v, w);
	places_say(v->places, w);
}

#define WRITTEN_IN_PART (128 + SIGPIPE)

static int write_out(const struct buf *out)
{
	if (out->len)
		fwrite(out->s, 1, out->len, stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	/* whoever reads has enough, which is no error */
	if (errno == EPIPE)
		return WRITTEN_IN_PART;
	shown_line(stderr, "stapwatch report: stdout: %s", strerror(errno));
	return 1;
}

/* The one event of a format that has room for one only; -1 after a message. */
static int64_t only_event(struct view *v)
{
	struct buf names = { 0 };
	int64_t event = -1;
	unsigned int nr = 0;
	uint64_t idle = 0;
	uint32_t i;

	for (i = 0; i < v->nr_totals; i++) {
		idle += v->totals[i].idle_samples;
		if (!v->totals[i].samples)
			continue;
		buf_printf(&names, "%s%s", nr++ ? ", " : "",
			   profile_event_name(v->profile, i));
		event = i;
	}
	if (!nr && idle)
		shown_line(stderr, "stapwatch report: all %" PRIu64 " samples are of the idle loop, which --idle draws",
			   idle);
	else if (!nr)
		shown_line(stderr, "stapwatch report: no sample is left to draw");
	else if (nr > 1)
		shown_line(stderr, "stapwatch report: there are samples of %s: choose one by --event",
			   names.s);
	free(names.s);
	return nr == 1 ? event : -1;
}

static int print_stacks(const struct settings *s, struct view *v,
			struct buf *out)
{
	const struct intern *texts = &v->profile->texts;
	const int64_t event = only_event(v);
	struct flame_svg flame = { .limit = s->limit };
	struct buf title = { 0 };
	struct calltree tree;

	if (event < 0)
		return 1;
	calltree_make(&tree, v, event, &s->columns, false, SORT_EVENTS);
	if (s->output == OUTPUT_FOLDED) {
		folded_print(&tree, texts, out, stdout);
	} else {
		buf_printf(&title, "%s: %s", v->profile->name,
			   profile_event_name(v->profile, event));
		flame.title = title.s;
		flame.idle_samples = v->totals[event].idle_samples;
		flame.idle_events = v->totals[event].idle_events;
		flame_svg_print(&flame, &tree, texts, out, stdout);
		free(title.s);
	}
	calltree_free(&tree);
	return 0;
}

static int print_branches(const struct settings *s, struct view *v,
			  struct warnings *w, struct buf *out)
{
	const struct profile *p = v->profile;
	const struct profile_trace *t;

	if (!branch_table_print(v, &s->columns, s->sort, s->limit, out)) {
		shown_line(stderr, "stapwatch report: no sample has branches; it takes an event of a PMU that records them (x86 LBR, arm64 BRBE)");
		return 1;
	}
	for (t = p->traces; t < p->traces + p->nr_traces; t++)
		if (t->without_branches)
			warnings_add(w, WARNING_NUMBERS,
				     warnings_share(t->without_branches,
						    t->without_branches +
						    t->with_branches),
				     "%s: %" PRIu64 " samples have no branches",
				     t->name, t->without_branches);
	return 0;
}

static int print_view(const struct settings *s, struct view *v,
		      struct warnings *w, struct buf *out)
{
	if (cmd_line_output_begin("report", s->file))
		return 1;
	switch (s->output) {
	case OUTPUT_TABLE:
		if (s->json)
			rows_json(v, &s->columns, s->sort, s->inclusive,
				  s->limit, out, stdout);
		else if (s->csv)
			rows_csv(v, &s->columns, s->sort, s->inclusive,
				 s->limit, out, stdout);
		else
			table_print(v, &s->columns, s->sort, s->inclusive,
				    s->limit, out);
		return 0;
	case OUTPUT_CALLEES:
	case OUTPUT_CALLERS:
		calltree_print(v, &s->columns, s->output == OUTPUT_CALLERS,
			       s->sort, s->limit, out, stdout);
		return 0;
	case OUTPUT_FOLDED:
	case OUTPUT_FLAMEGRAPH:
		return print_stacks(s, v, out);
	case OUTPUT_PPROF:
		pprof_print(v, &s->columns, out, stdout);
		return 0;
	case OUTPUT_ANNOTATE:
		annotate_print(v, w, out);
		return 0;
	case OUTPUT_BRANCHES:
		return print_branches(s, v, w, out);
	case OUTPUT_SAMPLES:
		if (s->json)
			samples_json(v, &s->columns, out, stdout);
		else
			samples_print(v, &s->columns, out, stdout);
		return 0;
	case OUTPUT_DIFF:
	case OUTPUT_TIMELINE:
	case OUTPUT_CHROME:
	case OUTPUT_PERFETTO:
		break;
	}
	return 1;
}

/*
 * A list of samples of several traces shows the trace of each.  A number of a process is
 * nothing without it where there are several boots.
 */
static bool wants_trace(const struct settings *s, const struct profile *p)
{
	if (p->nr_boots > 1 && s->columns.fields & (PROFILE_PID | PROFILE_TID))
		return true;
	return p->nr_traces > 1 && s->output == OUTPUT_SAMPLES && !s->by;
}

/* *ENDED, where that is wanted: nothing more can come. */
static int report_one(const struct settings *asked, struct warnings *w,
		      struct buf *out, bool *ended)
{
	struct profile *p = read_profile(asked, asked->paths, asked->nr_paths);
	struct settings s = *asked;
	struct view *v;
	int status;

	if (!p)
		return 1;
	if (wants_trace(&s, p))
		columns_add_trace(&s.columns);
	v = view_new(p, &s.from, &s.view);
	status = print_view(&s, v, w, out);
	say_losses(&s, p, v, w);
	if (ended)
		*ended = loss_ended(&p->traces->loss);
	view_free(v);
	profile_free(p);
	return status;
}

/* What is not there yet is no loss: only the last report's warnings are left. */
static int report_followed(const struct settings *s, struct warnings *w,
			   struct buf *out)
{
	struct follow f;
	int status = 0;
	bool last = false;

	follow_begin(&f, *s->paths);
	while (!last && !status) {
		last = follow_next(&f);
		if (!f.grown && f.again)
			break;
		warnings_drop(w);
		buf_puts(out, follow_head(&f));
		status = report_one(s, w, out, &f.ended) ?: write_out(out);
		out->len = 0;
	}
	return status;
}

static int report_two(const struct settings *s, struct warnings *w,
		      struct buf *out)
{
	struct profile *before = read_profile(s, &s->other, 1);
	struct profile *now = NULL;
	struct view *first, *second;
	int status = 1;

	if (before)
		now = read_profile(s, s->paths, 1);
	if (now && !cmd_line_output_begin("report", s->file)) {
		first = view_new(before, &s->from, &s->view);
		second = view_new(now, &s->from, &s->view);
		diff_print(first, second, &s->columns, s->sort, s->limit, out);
		w->several = true;
		say_losses(s, before, first, w);
		say_losses(s, now, second, w);
		view_free(first);
		view_free(second);
		status = 0;
	}
	if (now)
		profile_free(now);
	if (before)
		profile_free(before);
	return status;
}

static int report_slices(const struct settings *s, struct warnings *w,
			 struct buf *out)
{
	return report_timeline(s,
			       s->output == OUTPUT_CHROME   ? timeline_chrome :
			       s->output == OUTPUT_PERFETTO ? timeline_perfetto :
			       s->json			    ? timeline_json :
							      timeline_text,
			       w, out);
}

static int open_output(const char *file)
{
	/* record has the same -o for it */
	if (output_is_trace(file))
		return cmd_line_fail("report", "-o is for the report, and would overwrite a trace: -i is for the trace");
	return cmd_line_output("report", file);
}

int cmd_report(int argc, char **argv)
{
	struct warnings warnings = { 0 };
	struct buf out = { 0 };
	struct settings s;
	int status;

	/* a file that may not be as long as that is an error like a full disk */
	signal(SIGXFSZ, SIG_IGN);
	if (report_options(argc, argv, &s))
		return 1;
	if (s.file && open_output(s.file))
		return 1;
	warnings.all_told = s.verbose;
	if (is_binary(s.output) && isatty(STDOUT_FILENO)) {
		report_wrong("--%s writes what is no text: give a file by -o",
			     s.output == OUTPUT_PPROF ? "pprof" : "perfetto");
		return 1;
	}
	if (report_is_timeline(s.output))
		status = report_slices(&s, &warnings, &out);
	else if (s.output == OUTPUT_DIFF)
		status = report_two(&s, &warnings, &out);
	else if (s.follow)
		status = report_followed(&s, &warnings, &out);
	else
		status = report_one(&s, &warnings, &out, NULL);
	/* what is below the report is told also where only its head is read */
	signal(SIGPIPE, SIG_IGN);
	warnings_print_numbers(&warnings, "stapwatch report", stderr);
	status = write_out(&out) ?: status;
	warnings_print(&warnings, "stapwatch report", stderr);
	if (status == WRITTEN_IN_PART) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	free(out.s);
	return status;
}
