/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report: its options, and what they lead to. */
#include "cmd/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/report_timeline.h"
#include "config.h"
#include "report/input/profile.h"
#include "report/output/annotate.h"
#include "report/output/branch_table.h"
#include "report/output/calltree.h"
#include "report/output/columns.h"
#include "report/output/diff.h"
#include "report/output/flame_svg.h"
#include "report/output/folded.h"
#include "report/output/pprof.h"
#include "report/output/table.h"
#include "report/output/view.h"

enum output {
	OUTPUT_TABLE,
	OUTPUT_CALLEES,
	OUTPUT_CALLERS,
	OUTPUT_FOLDED,
	OUTPUT_FLAMEGRAPH,
	OUTPUT_PPROF,
	OUTPUT_ANNOTATE,
	OUTPUT_BRANCHES,
	OUTPUT_DIFF,
	/* of a timeline, not of samples */
	OUTPUT_TIMELINE,
	OUTPUT_CHROME,
	OUTPUT_PERFETTO,
};

/* What an output is made by without --by, and what it takes besides. */
static const struct {
	const char *by;
	unsigned int fields;
	double limit;
} defaults[] = {
	[OUTPUT_TABLE] = { "comm,image,symbol", 0, 0 },
	[OUTPUT_CALLEES] = { "comm", PROFILE_IP | PROFILE_STACK, 0.5 },
	[OUTPUT_CALLERS] = { NULL, PROFILE_IP | PROFILE_STACK, 0.5 },
	[OUTPUT_FOLDED] = { "comm", PROFILE_IP | PROFILE_STACK, 0 },
	/* narrower than half a pixel */
	[OUTPUT_FLAMEGRAPH] = { "comm", PROFILE_IP | PROFILE_STACK, 0.04 },
	[OUTPUT_PPROF] = { "comm", PROFILE_IP | PROFILE_STACK, 0 },
	[OUTPUT_ANNOTATE] = { NULL, PROFILE_IP, 0 },
	[OUTPUT_BRANCHES] = { "symbol", PROFILE_BRANCHES, 0 },
	[OUTPUT_DIFF] = { "comm,image,symbol", 0, 0 },
	[OUTPUT_PERFETTO] = { NULL, 0, 0 },
};

struct settings {
	const char *path;
	const char *other;	/* of --diff */
	struct places_from from;
	enum output output;
	const char *by;
	struct columns columns;
	enum rows_sort sort;
	struct profile_filter filter;
	struct view_filter view;
	double limit;		/* negative: the output's own */
	bool idle;		/* is to be drawn */
};

static int __attribute__((format(printf, 1, 2)))
wrong(const char *fmt, ...)
{
	struct buf what = { 0 };
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&what, fmt, args);
	va_end(args);
	shown_line(stderr, "stapwatch report: %s; see 'man stapwatch-report'", what.s);
	free(what.s);
	return -1;
}

static int parse_number(const char *option, const char *s, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(s, &end, 10);
	if (errno || end == s || *end || *number < 0)
		return wrong("--%s wants a number: \"%s\"", option, s);
	return 0;
}

static int parse_limit(const char *s, double *limit)
{
	char *end;

	*limit = strtod(s, &end);
	if (end == s || *end || !(*limit >= 0 && *limit <= 100))
		return wrong("--limit wants a share, from 0 to 100 percent: \"%s\"",
			     s);
	return 0;
}

static int parse_by(const char *by, struct columns *columns)
{
	struct buf why = { 0 };
	int err = columns_parse(by, columns, &why);

	if (err)
		wrong("%s", why.s);
	free(why.s);
	return err;
}

static int parse_sort(const char *s, enum rows_sort *sort)
{
	static const char *const names[] = {
		[SORT_EVENTS] = "events",
		[SORT_SAMPLES] = "samples",
		[SORT_NAME] = "name",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i], s)) {
			*sort = i;
			return 0;
		}
	}
	return wrong("--sort wants events, samples or name: \"%s\"", s);
}

static int set_output(struct settings *s, enum output output)
{
	if (s->output != OUTPUT_TABLE && s->output != output)
		return wrong("one of --callees, --callers, --folded, --flamegraph, --pprof, --annotate, --branches, --diff, --timeline, --chrome and --perfetto is enough");
	s->output = output;
	return 0;
}

enum option_number {
	OPT_OUTPUT = 256,	/* and an enum output */
	OPT_BY = OPT_OUTPUT + OUTPUT_PERFETTO + 1,
	OPT_COMM,
	OPT_CPU,
	OPT_EVENT,
	OPT_IDLE,
	OPT_IMAGE,
	OPT_INLINE,
	OPT_KALLSYMS,
	OPT_LIMIT,
	OPT_NO_DEMANGLE,
	OPT_PID,
	OPT_ROOT,
	OPT_SORT,
	OPT_SYMBOL,
	OPT_TID,
};

static const struct option options[] = {
	{ "annotate", required_argument, NULL, OPT_OUTPUT + OUTPUT_ANNOTATE },
	{ "branches", no_argument, NULL, OPT_OUTPUT + OUTPUT_BRANCHES },
	{ "by", required_argument, NULL, OPT_BY },
	{ "callees", no_argument, NULL, OPT_OUTPUT + OUTPUT_CALLEES },
	{ "callers", no_argument, NULL, OPT_OUTPUT + OUTPUT_CALLERS },
	{ "chrome", no_argument, NULL, OPT_OUTPUT + OUTPUT_CHROME },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "diff", required_argument, NULL, OPT_OUTPUT + OUTPUT_DIFF },
	{ "event", required_argument, NULL, OPT_EVENT },
	{ "flamegraph", no_argument, NULL, OPT_OUTPUT + OUTPUT_FLAMEGRAPH },
	{ "folded", no_argument, NULL, OPT_OUTPUT + OUTPUT_FOLDED },
	{ "idle", no_argument, NULL, OPT_IDLE },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "inline", no_argument, NULL, OPT_INLINE },
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "no-demangle", no_argument, NULL, OPT_NO_DEMANGLE },
	{ "perfetto", no_argument, NULL, OPT_OUTPUT + OUTPUT_PERFETTO },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "pprof", no_argument, NULL, OPT_OUTPUT + OUTPUT_PPROF },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "symbol", required_argument, NULL, OPT_SYMBOL },
	{ "tid", required_argument, NULL, OPT_TID },
	{ "timeline", no_argument, NULL, OPT_OUTPUT + OUTPUT_TIMELINE },
	{ 0 },
};

static int take_option(struct settings *s, int opt)
{
	switch (opt) {
	case OPT_OUTPUT + OUTPUT_ANNOTATE:
		s->view.symbol = optarg;
		return set_output(s, OUTPUT_ANNOTATE);
	case OPT_OUTPUT + OUTPUT_DIFF:
		s->other = optarg;
		return set_output(s, OUTPUT_DIFF);
	case OPT_BY:
		s->by = optarg;
		return 0;
	case OPT_COMM:
		s->filter.comm = optarg;
		return 0;
	case OPT_CPU:
		return parse_number("cpu", optarg, &s->filter.cpu);
	case OPT_EVENT:
		s->filter.event = optarg;
		return 0;
	case OPT_IDLE:
		s->idle = true;
		return 0;
	case OPT_IMAGE:
		s->view.image = optarg;
		return 0;
	case OPT_INLINE:
		s->from.inlined = true;
		return 0;
	case OPT_KALLSYMS:
		s->from.kallsyms = optarg;
		return 0;
	case OPT_LIMIT:
		return parse_limit(optarg, &s->limit);
	case OPT_NO_DEMANGLE:
		s->from.mangled = true;
		return 0;
	case OPT_PID:
		return parse_number("pid", optarg, &s->filter.pid);
	case OPT_ROOT:
		s->from.root = optarg;
		return 0;
	case OPT_SORT:
		return parse_sort(optarg, &s->sort);
	case OPT_SYMBOL:
		s->view.symbol = optarg;
		return 0;
	case OPT_TID:
		return parse_number("tid", optarg, &s->filter.tid);
	}
	return set_output(s, opt - OPT_OUTPUT);
}

static int check_branches(const struct columns *columns)
{
	size_t i;

	for (i = 0; i < columns->nr; i++)
		if (!branch_table_takes(columns->list[i]))
			return wrong("--branches has no %s to be made by",
				     columns->list[i]->name);
	return 0;
}

static bool is_timeline(enum output output)
{
	return output >= OUTPUT_TIMELINE;
}

/* Writes what is no text. */
static bool is_binary(enum output output)
{
	return output == OUTPUT_PPROF || output == OUTPUT_PERFETTO;
}

static int check_timeline(const struct settings *s)
{
	if (s->by || s->filter.event || s->view.image || s->view.symbol ||
	    s->limit >= 0 || s->sort || s->from.root || s->from.kallsyms ||
	    s->from.inlined || s->from.mangled)
		return wrong("a timeline has no samples: it takes --comm, --cpu, --pid and --tid only");
	return 0;
}

static int parse_options(int argc, char **argv, struct settings *s)
{
	const char *by;
	char letter[3];
	int opt;

	*s = (struct settings) {
		.filter = { .pid = -1, .tid = -1, .cpu = -1 },
		.limit = -1,
	};
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (opt == ':')
			return wrong("option %s wants a value",
				     cmd_refused(opt, argv, letter));
		if (opt == '?')
			return wrong("option %s is not known",
				     cmd_refused(opt, argv, letter));
		if (take_option(s, opt))
			return -1;
	}
	if (argc - optind != 1)
		return wrong(argc == optind ? "which trace? Name a FILE, or - for stdin" :
					      "one trace is enough");
	s->path = argv[optind];
	if (s->idle && s->output != OUTPUT_FLAMEGRAPH)
		return wrong("--idle is for --flamegraph; the idle loop is in all else");
	if (is_timeline(s->output))
		return check_timeline(s);
	s->view.without_idle = s->output == OUTPUT_FLAMEGRAPH && !s->idle;
	if (s->limit < 0)
		s->limit = defaults[s->output].limit;
	by = s->by ?: defaults[s->output].by;
	if (by && parse_by(by, &s->columns))
		return -1;
	return s->output == OUTPUT_BRANCHES ? check_branches(&s->columns) : 0;
}

static struct profile *read_profile(const struct settings *s, const char *path,
				    unsigned int fields)
{
	struct buf why = { 0 };
	struct profile *p = profile_read(path, fields, &s->filter, &why);

	if (!p)
		shown_line(stderr, "stapwatch report: %s: %s", path, why.s);
	free(why.s);
	return p;
}

static void say_broken(const struct profile *p, const struct view *v)
{
	const uint64_t kernels = view_broken(v, VIEW_END_KERNEL);
	const uint64_t all = view_broken(v, VIEW_END_NO_CODE) + kernels;
	struct buf of = { 0 };

	if (!all)
		return;
	if (kernels)
		buf_printf(&of, ", %" PRIu64 " of them at an address of the kernel's",
			   kernels);
	shown_line(stderr, "stapwatch report: %s: the user stacks of %" PRIu64 " samples end where the process has no code%s, as they do in code without frame pointers; ustack_id_dwarf() in the script follows them: see 'man stapwatch-profile'",
		   p->name, all, of.s ?: "");
	free(of.s);
}

/* The module may have known less, or more, than this command does. */
static void say_version(const struct profile *p)
{
	const uint32_t by = p->head->made_by;
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
		shown_line(stderr, "stapwatch report: %s: was made by stapwatch %s, and this is " STAPWATCH_VERSION,
			   p->name, version);
}

/* What is not in the report is told of, in lines of stderr. */
static void say_losses(const struct profile *p, struct view *v)
{
	const struct loss_sum sum = loss_sum(&p->loss);

	say_version(p);
	loss_say(&p->loss, &p->skipped, p->name, stderr);
	places_say(v->places, stderr);
	if (p->no_stack)
		shown_line(stderr, "stapwatch report: %s: the stacks of %" PRIu64 " samples are not in the trace",
			   p->name, p->no_stack);
	say_broken(p, v);
	if (p->no_period)
		shown_line(stderr, "stapwatch report: %s: the periods of %" PRIu64 " samples are more than can be, and are counted as 0",
			   p->name, p->no_period);
	if (sum.lost || sum.missing)
		shown_line(stderr, "stapwatch report: %s: of %" PRIu64 " samples %" PRIu64 " are missing",
			   p->name, sum.taken, sum.lost + sum.missing);
}

static int write_out(const struct buf *out)
{
	if (out->len)
		fwrite(out->s, 1, out->len, stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
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
	calltree_make(&tree, v, event, &s->columns, false);
	if (s->output == OUTPUT_FOLDED) {
		folded_print(&tree, texts, out);
	} else {
		buf_printf(&title, "%s: %s", s->path,
			   profile_event_name(v->profile, event));
		flame.title = title.s;
		flame.idle_samples = v->totals[event].idle_samples;
		flame.idle_events = v->totals[event].idle_events;
		flame_svg_print(&flame, &tree, texts, out);
		free(title.s);
	}
	calltree_free(&tree);
	return 0;
}

static int print_branches(const struct settings *s, struct view *v,
			  struct buf *out)
{
	const struct branches *b = &v->profile->branches;
	uint64_t without = 0;
	size_t i;

	if (!branch_table_print(v, &s->columns, s->sort, s->limit, out)) {
		shown_line(stderr, "stapwatch report: no sample has branches; it takes an event of a PMU that records them (x86 LBR, arm64 BRBE)");
		return 1;
	}
	for (i = 0; i < b->nr_totals; i++)
		without += b->totals[i].without;
	if (without)
		shown_line(stderr, "stapwatch report: %s: %" PRIu64 " samples have no branches",
			   s->path, without);
	return 0;
}

static int print_view(const struct settings *s, struct view *v, struct buf *out)
{
	switch (s->output) {
	case OUTPUT_TABLE:
		table_print(v, &s->columns, s->sort, s->limit, out);
		return 0;
	case OUTPUT_CALLEES:
	case OUTPUT_CALLERS:
		calltree_print(v, &s->columns, s->output == OUTPUT_CALLERS,
			       s->limit, out, stdout);
		return 0;
	case OUTPUT_FOLDED:
	case OUTPUT_FLAMEGRAPH:
		return print_stacks(s, v, out);
	case OUTPUT_PPROF:
		pprof_print(v, &s->columns, out, stdout);
		return 0;
	case OUTPUT_ANNOTATE:
		annotate_print(v, out);
		return 0;
	case OUTPUT_BRANCHES:
		return print_branches(s, v, out);
	case OUTPUT_DIFF:
	case OUTPUT_TIMELINE:
	case OUTPUT_CHROME:
	case OUTPUT_PERFETTO:
		break;
	}
	return 1;
}

static unsigned int needed_fields(const struct settings *s)
{
	unsigned int fields = s->columns.fields | defaults[s->output].fields;

	if (s->view.image || s->view.symbol)
		fields |= PROFILE_IP;
	return fields;
}

static int report_one(const struct settings *s, struct buf *out)
{
	struct profile *p = read_profile(s, s->path, needed_fields(s));
	struct view *v;
	int status;

	if (!p)
		return 1;
	v = view_new(p, &s->from, &s->view);
	status = print_view(s, v, out);
	say_losses(p, v);
	view_free(v);
	profile_free(p);
	return status;
}

static int report_two(const struct settings *s, struct buf *out)
{
	struct profile *before = read_profile(s, s->other, needed_fields(s));
	struct profile *now = NULL;
	struct view *v, *w;

	if (before)
		now = read_profile(s, s->path, needed_fields(s));
	if (now) {
		v = view_new(before, &s->from, &s->view);
		w = view_new(now, &s->from, &s->view);
		diff_print(v, w, &s->columns, s->limit, out);
		say_losses(before, v);
		say_losses(now, w);
		view_free(v);
		view_free(w);
		profile_free(now);
	}
	if (before)
		profile_free(before);
	return !now;
}

static int report_slices(const struct settings *s, struct buf *out)
{
	const struct timeline_filter filter = {
		.comm = s->filter.comm,
		.pid = s->filter.pid,
		.tid = s->filter.tid,
		.cpu = s->filter.cpu,
	};

	return report_timeline(s->path, &filter,
			       s->output == OUTPUT_CHROME   ? timeline_chrome :
			       s->output == OUTPUT_PERFETTO ? timeline_perfetto :
							      timeline_text,
			       out);
}

int cmd_report(int argc, char **argv)
{
	struct buf out = { 0 };
	struct settings s;
	int status;

	if (parse_options(argc, argv, &s))
		return 1;
	if (is_binary(s.output) && isatty(STDOUT_FILENO)) {
		wrong("--%s writes what is no text: give stdout a file",
		      s.output == OUTPUT_PPROF ? "pprof" : "perfetto");
		return 1;
	}
	if (is_timeline(s.output))
		status = report_slices(&s, &out);
	else if (s.output == OUTPUT_DIFF)
		status = report_two(&s, &out);
	else
		status = report_one(&s, &out);
	status = write_out(&out) ?: status;
	free(out.s);
	return status;
}
