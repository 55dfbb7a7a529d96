/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stapwatch report is asked for; report_options.h has it. */
#include "cmd/report_options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/line.h"
#include "report/output/branch_table.h"

/* What an output is made by without --by, and what it takes besides. */
static const struct {
	const char *by;
	unsigned int fields;
	double limit;
	const char *alone;	/* why it is of one trace only; NULL: it is of several */
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
	[OUTPUT_SAMPLES] = { "comm,tid,cpu,symbol", PROFILE_EACH, 0 },
	[OUTPUT_DIFF] = { "comm,image,symbol", 0, 0,
			  "--diff compares two traces: name one, and the earlier one as its OTHER" },
	[OUTPUT_CHROME] = { NULL, 0, 0,
			    "--chrome shows one trace: make a file for each" },
	[OUTPUT_PERFETTO] = { NULL, 0, 0,
			      "--perfetto shows one trace: make a file for each" },
};

int report_wrong(const char *fmt, ...)
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
		return report_wrong("--%s wants a number: \"%s\"", option, s);
	return 0;
}

static int parse_limit(const char *s, double *limit)
{
	char *end;

	*limit = strtod(s, &end);
	if (end == s || *end || !(*limit >= 0 && *limit <= 100))
		return report_wrong("--limit wants a share, from 0 to 100 percent: \"%s\"",
				    s);
	return 0;
}

static int parse_by(const char *by, struct columns *columns)
{
	struct buf why = { 0 };
	int err = columns_parse(by, columns, &why);

	if (err)
		report_wrong("%s", why.s);
	free(why.s);
	return err;
}

static int parse_sort(const char *s, enum rows_sort *sort)
{
	static const char *const names[] = {
		[SORT_EVENTS] = "events",
		[SORT_SAMPLES] = "samples",
		[SORT_NAME] = "name",
		[SORT_CHANGE] = "change",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i], s)) {
			*sort = i;
			return 0;
		}
	}
	return report_wrong("--sort wants events, samples or name, or change with --diff: \"%s\"", s);
}

static int set_output(struct settings *s, enum output output)
{
	if (s->output != OUTPUT_TABLE && s->output != output)
		return report_wrong("one of --callees, --callers, --folded, --flamegraph, --pprof, --annotate, --branches, --samples, --diff, --timeline, --chrome and --perfetto is enough");
	s->output = output;
	return 0;
}

enum option_number {
	OPT_OUTPUT = 256,	/* and an enum output */
	OPT_BY = OPT_OUTPUT + OUTPUT_PERFETTO + 1,
	OPT_BETWEEN,
	OPT_COMM,
	OPT_CSV,
	OPT_FOLLOW,
	OPT_IDLE,
	OPT_IMAGE,
	OPT_INCLUSIVE,
	OPT_INLINE,
	OPT_JSON,
	OPT_KALLSYMS,
	OPT_LIMIT,
	OPT_NO_DEMANGLE,
	OPT_ROOT,
	OPT_SORT,
	OPT_SYMBOL,
	OPT_TIME,
	OPT_WALL,
};

static const struct option options[] = {
	{ "annotate", required_argument, NULL, OPT_OUTPUT + OUTPUT_ANNOTATE },
	{ "between", required_argument, NULL, OPT_BETWEEN },
	{ "branches", no_argument, NULL, OPT_OUTPUT + OUTPUT_BRANCHES },
	{ "by", required_argument, NULL, OPT_BY },
	{ "callees", no_argument, NULL, OPT_OUTPUT + OUTPUT_CALLEES },
	{ "callers", no_argument, NULL, OPT_OUTPUT + OUTPUT_CALLERS },
	{ "chrome", no_argument, NULL, OPT_OUTPUT + OUTPUT_CHROME },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "diff", required_argument, NULL, OPT_OUTPUT + OUTPUT_DIFF },
	{ "flamegraph", no_argument, NULL, OPT_OUTPUT + OUTPUT_FLAMEGRAPH },
	{ "folded", no_argument, NULL, OPT_OUTPUT + OUTPUT_FOLDED },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ "idle", no_argument, NULL, OPT_IDLE },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "inclusive", no_argument, NULL, OPT_INCLUSIVE },
	{ "inline", no_argument, NULL, OPT_INLINE },
	{ "input", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "no-demangle", no_argument, NULL, OPT_NO_DEMANGLE },
	{ "perfetto", no_argument, NULL, OPT_OUTPUT + OUTPUT_PERFETTO },
	{ "pprof", no_argument, NULL, OPT_OUTPUT + OUTPUT_PPROF },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "samples", no_argument, NULL, OPT_OUTPUT + OUTPUT_SAMPLES },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "symbol", required_argument, NULL, OPT_SYMBOL },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "timeline", no_argument, NULL, OPT_OUTPUT + OUTPUT_TIMELINE },
	{ "wall", no_argument, NULL, OPT_WALL },
	{ 0 },
};

static int parse_time(const char *s, struct span *span)
{
	if (span_parse_time(span, s))
		return report_wrong("--time wants seconds since the trace began, FROM-TO, FROM- or -TO: \"%s\"",
				    s);
	return 0;
}

static int parse_between(char *s, struct span *span)
{
	if (span_parse_marks(span, s))
		return report_wrong("--between wants two marks with a comma between them, BEGIN,END: \"%s\"",
				    s);
	return 0;
}

static int add_path(struct settings *s, const char *path)
{
	size_t i;

	if (s->nr_paths == ALIGN_TRACES)
		return report_wrong("%d traces are the most for one report: leave out \"%s\" and what follows it",
				    ALIGN_TRACES, path);
	for (i = 0; i < s->nr_paths; i++)
		if (!strcmp(path, "-") && !strcmp(s->paths[i], "-"))
			return report_wrong("stdin, which is -, is one trace: name it once");
	s->paths[s->nr_paths++] = path;
	return 0;
}

static int take_option(struct settings *s, int opt)
{
	switch (opt) {
	case OPT_OUTPUT + OUTPUT_ANNOTATE:
		s->view.symbol = optarg;
		return set_output(s, OUTPUT_ANNOTATE);
	case OPT_OUTPUT + OUTPUT_DIFF:
		s->other = optarg;
		return set_output(s, OUTPUT_DIFF);
	case OPT_BETWEEN:
		return parse_between(optarg, &s->filter.span);
	case OPT_BY:
		s->by = optarg;
		return 0;
	case OPT_COMM:
		s->filter.comm = optarg;
		return 0;
	case 'C':
		return parse_number("cpu", optarg, &s->filter.cpu);
	case OPT_CSV:
		s->csv = true;
		return 0;
	case 'e':
		s->filter.event = optarg;
		return 0;
	case 'i':
		return add_path(s, optarg);
	case 'o':
		s->file = optarg;
		return 0;
	case OPT_FOLLOW:
		s->follow = true;
		return 0;
	case OPT_IDLE:
		s->idle = true;
		return 0;
	case OPT_IMAGE:
		s->view.image = optarg;
		return 0;
	case OPT_INCLUSIVE:
		s->inclusive = true;
		return 0;
	case OPT_INLINE:
		s->from.inlined = true;
		return 0;
	case OPT_JSON:
		s->json = true;
		return 0;
	case OPT_KALLSYMS:
		s->from.kallsyms = optarg;
		return 0;
	case OPT_LIMIT:
		return parse_limit(optarg, &s->limit);
	case OPT_NO_DEMANGLE:
		s->from.mangled = true;
		return 0;
	case 'p':
		return parse_number("pid", optarg, &s->filter.pid);
	case OPT_ROOT:
		s->from.root = optarg;
		return 0;
	case OPT_SORT:
		s->sorted = true;
		return parse_sort(optarg, &s->sort);
	case OPT_SYMBOL:
		s->view.symbol = optarg;
		return 0;
	case 't':
		return parse_number("tid", optarg, &s->filter.tid);
	case OPT_TIME:
		return parse_time(optarg, &s->filter.span);
	case OPT_WALL:
		s->wall = true;
		return 0;
	case 'v':
		s->verbose = true;
		return 0;
	}
	return set_output(s, opt - OPT_OUTPUT);
}

static int check_branches(const struct columns *columns)
{
	size_t i;

	for (i = 0; i < columns->nr; i++)
		if (!branch_table_takes(columns->list[i]))
			return report_wrong("--branches has no %s to be made by",
					    columns->list[i]->name);
	return 0;
}

/* Who has called has a place, and no more than that of its own. */
static int check_inclusive(const struct settings *s)
{
	const unsigned int fields = s->columns.fields;

	if (s->output != OUTPUT_TABLE)
		return report_wrong("--inclusive is of tables");
	if (!(fields & PROFILE_IP) || fields & PROFILE_STACK)
		return report_wrong("--inclusive is by places: --by wants image, symbol, line, block or address, and no stack");
	return 0;
}

bool report_is_timeline(enum output output)
{
	return output >= OUTPUT_TIMELINE;
}

/* What means something else in each boot. */
int report_of_boots(const struct settings *s, const char *first,
		    const char *other)
{
	const bool slices = report_is_timeline(s->output);
	const struct {
		bool asked;
		const char *option, *instead;
	} of_one[] = {
		{ s->filter.pid >= 0, "--pid",
		  slices ? "leave it out, as --json shows the trace and process of each slice" :
			   "leave it out, and tell processes apart by --by trace,pid" },
		{ s->filter.tid >= 0, "--tid",
		  slices ? "leave it out, as each slice is shown with its trace" :
			   "leave it out, and tell threads apart by --by trace,tid" },
		{ s->from.kallsyms, "--kallsyms", "leave it out, or make a report for each" },
	};
	size_t i;

	for (i = 0; i < sizeof(of_one) / sizeof(*of_one); i++)
		if (of_one[i].asked)
			return report_wrong("%s is of one boot, and %s is of another one than %s: %s",
					    of_one[i].option, other, first,
					    of_one[i].instead);
	return 0;
}

/* Reports that are printed as text, again and again. */
static int check_follow(const struct settings *s)
{
	struct stat st;

	if (s->json || s->csv || s->wall ||
	    (s->output != OUTPUT_TABLE && s->output != OUTPUT_CALLEES &&
	     s->output != OUTPUT_CALLERS && s->output != OUTPUT_ANNOTATE))
		return report_wrong("--follow is of reports as text: of tables, --callees, --callers and --annotate, without --wall");
	if (s->nr_paths > 1)
		return report_wrong("--follow reads one trace that grows: name one, or leave out --follow when all have ended");
	if (s->file || !strcmp(*s->paths, "-"))
		return report_wrong("--follow reads a file that grows, and prints on stdout: leave out -o, and name the trace");
	if (stat(*s->paths, &st) || !S_ISREG(st.st_mode))
		return report_wrong("--follow: %s is no file; it must be there already",
				    *s->paths);
	return 0;
}

/* Nothing is asked for without an effect. */
static int check_sort(const struct settings *s)
{
	if (!s->sorted)
		return 0;
	switch (s->output) {
	case OUTPUT_DIFF:
		return 0;
	case OUTPUT_TABLE:
	case OUTPUT_CALLEES:
	case OUTPUT_CALLERS:
		break;
	case OUTPUT_BRANCHES:
		if (s->sort == SORT_SAMPLES)
			return report_wrong("--branches are sorted by events, which is how often they were taken, or name");
		break;
	default:
		return report_wrong("--sort is of tables, of --callees, --callers, --branches and --diff");
	}
	if (s->sort == SORT_CHANGE)
		return report_wrong("--sort change is of --diff; there are events, samples and name");
	return 0;
}

static int check_timeline(const struct settings *s)
{
	if (s->by || s->filter.event || s->view.image || s->view.symbol ||
	    s->limit >= 0 || s->sorted || s->from.root || s->from.kallsyms ||
	    s->from.inlined || s->from.mangled || s->inclusive || s->wall)
		return report_wrong("a timeline has no samples: it takes --between, --comm, --cpu, --pid, --tid and --time only");
	return 0;
}

/* What stapwatch record writes if it is told of no other file. */
#define USUAL_TRACE "stapwatch.trace"

static int take_paths(struct settings *s, int nr, char *const *paths)
{
	int i;

	for (i = 0; i < nr; i++)
		if (add_path(s, paths[i]))
			return -1;
	if (s->nr_paths > 1 && defaults[s->output].alone)
		return report_wrong("%s", defaults[s->output].alone);
	if (s->nr_paths)
		return 0;
	s->paths[s->nr_paths++] = USUAL_TRACE;
	return access(USUAL_TRACE, F_OK) ?
	       report_wrong("which trace? There is no " USUAL_TRACE " here: name a FILE, or - for stdin") :
	       0;
}

int report_options(int argc, char **argv, struct settings *s)
{
	struct cmd_line line = {
		.letters = ":C:e:i:o:p:t:v",
		.several = "i",
		.names = options,
		.argc = argc,
		.argv = argv,
	};
	const char *by;
	int opt;

	*s = (struct settings) {
		.filter = { .pid = -1, .tid = -1, .cpu = -1 },
		.limit = -1,
	};
	while ((opt = cmd_line_next(&line)) != CMD_LINE_END)
		if (opt == CMD_LINE_WRONG || take_option(s, opt))
			return -1;
	if (take_paths(s, argc - optind, argv + optind))
		return -1;
	if (s->idle && s->output != OUTPUT_FLAMEGRAPH)
		return report_wrong("--idle is for --flamegraph; the idle loop is in all else");
	if (s->json && s->output != OUTPUT_TABLE &&
	    s->output != OUTPUT_SAMPLES && s->output != OUTPUT_TIMELINE)
		return report_wrong("--json is of tables, of --samples and of --timeline");
	if (s->csv && (s->output != OUTPUT_TABLE || s->json))
		return report_wrong("--csv is of tables, and not with --json");
	if (s->follow && check_follow(s))
		return -1;
	if (report_is_timeline(s->output))
		return check_timeline(s);
	if (s->output == OUTPUT_SAMPLES && (s->sorted || s->limit >= 0))
		return report_wrong("--samples shows all that it is asked for, in the order of time: leave out --sort and --limit");
	if (check_sort(s))
		return -1;
	if (s->output == OUTPUT_DIFF && !s->sorted)
		s->sort = SORT_CHANGE;
	s->view.without_idle = s->output == OUTPUT_FLAMEGRAPH && !s->idle;
	if (s->limit < 0)
		s->limit = defaults[s->output].limit;
	by = s->by ?: defaults[s->output].by;
	if (by && parse_by(by, &s->columns))
		return -1;
	if (s->output == OUTPUT_DIFF && s->columns.fields & PROFILE_TRACE)
		return report_wrong("--diff compares two traces by what they have in common: leave trace out of --by");
	if (s->inclusive && check_inclusive(s))
		return -1;
	if (s->from.inlined && s->output == OUTPUT_ANNOTATE)
		return report_wrong("--inline is not for --annotate, which has the code of a function as it lies there");
	s->fields = s->columns.fields | defaults[s->output].fields;
	if (s->inclusive)
		s->fields |= PROFILE_STACK;
	if (s->view.image || s->view.symbol)
		s->fields |= PROFILE_IP;
	if (s->wall)
		s->fields |= PROFILE_WALL;
	return s->output == OUTPUT_BRANCHES ? check_branches(&s->columns) : 0;
}
