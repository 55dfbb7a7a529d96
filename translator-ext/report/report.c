/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report: its options, and what they lead to. */
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "columns.h"
#include "profile.h"
#include "table.h"
#include "view.h"

struct settings {
	const char *path;
	const char *kallsyms;
	struct columns columns;
	struct profile_filter filter;
	struct view_filter view;
	double limit;
};

static int __attribute__((format(printf, 1, 2)))
wrong(const char *fmt, ...)
{
	va_list args;

	fputs("stapwatch report: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("; see 'man stapwatch'\n", stderr);
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

enum option_number {
	OPT_BY = 256,
	OPT_COMM,
	OPT_CPU,
	OPT_EVENT,
	OPT_IMAGE,
	OPT_KALLSYMS,
	OPT_LIMIT,
	OPT_PID,
	OPT_SYMBOL,
	OPT_TID,
};

static const struct option options[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "event", required_argument, NULL, OPT_EVENT },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "symbol", required_argument, NULL, OPT_SYMBOL },
	{ "tid", required_argument, NULL, OPT_TID },
	{ 0 },
};

static int take_option(struct settings *s, int opt)
{
	switch (opt) {
	case OPT_BY:
		return parse_by(optarg, &s->columns);
	case OPT_COMM:
		s->filter.comm = optarg;
		return 0;
	case OPT_CPU:
		return parse_number("cpu", optarg, &s->filter.cpu);
	case OPT_EVENT:
		s->filter.event = optarg;
		return 0;
	case OPT_IMAGE:
		s->view.image = optarg;
		return 0;
	case OPT_KALLSYMS:
		s->kallsyms = optarg;
		return 0;
	case OPT_LIMIT:
		return parse_limit(optarg, &s->limit);
	case OPT_PID:
		return parse_number("pid", optarg, &s->filter.pid);
	case OPT_SYMBOL:
		s->view.symbol = optarg;
		return 0;
	case OPT_TID:
		return parse_number("tid", optarg, &s->filter.tid);
	}
	return -1;
}

static int parse_options(int argc, char **argv, struct settings *s)
{
	int opt;

	*s = (struct settings) {
		.filter = { .pid = -1, .tid = -1, .cpu = -1 },
	};
	parse_by("comm,image,symbol", &s->columns);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (opt == ':')
			return wrong("option %s wants a value",
				     argv[optind - 1]);
		if (opt == '?')
			return wrong("option %s is not known",
				     argv[optind - 1]);
		if (take_option(s, opt))
			return -1;
	}
	if (argc - optind != 1)
		return wrong(argc == optind ? "which trace? Name a FILE, or - for stdin" :
					      "one trace is enough");
	s->path = argv[optind];
	return 0;
}

static struct profile *read_profile(const struct settings *s, const char *path,
				    unsigned int fields)
{
	struct buf why = { 0 };
	struct profile *p = profile_read(path, fields, &s->filter, &why);

	if (!p)
		fprintf(stderr, "stapwatch report: %s: %s\n", path, why.s);
	free(why.s);
	return p;
}

/* What is not in the report is told of, in lines of stderr. */
static void say_losses(const struct profile *p, struct view *v)
{
	const struct loss_sum sum = loss_sum(&p->loss);

	loss_say(&p->loss, &p->skipped, p->name, stderr);
	places_say(v->places, stderr);
	if (sum.lost || sum.missing)
		fprintf(stderr, "stapwatch report: %s: of %" PRIu64 " samples %" PRIu64 " are missing\n",
			p->name, sum.taken, sum.lost + sum.missing);
}

static int write_out(const struct buf *out)
{
	if (out->len)
		fwrite(out->s, 1, out->len, stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	perror("stapwatch report: stdout");
	return 1;
}

int cmd_report(int argc, char **argv)
{
	unsigned int fields = 0;
	struct buf out = { 0 };
	struct settings s;
	struct profile *p;
	struct view *v;
	int status;

	if (parse_options(argc, argv, &s))
		return 1;
	fields = s.columns.fields;
	if (s.view.image || s.view.symbol)
		fields |= PROFILE_IP;
	p = read_profile(&s, s.path, fields);
	if (!p)
		return 1;
	v = view_new(p, s.kallsyms, &s.view);
	table_print(v, &s.columns, s.limit, &out);
	say_losses(p, v);
	status = write_out(&out);
	free(out.s);
	view_free(v);
	profile_free(p);
	return status;
}
