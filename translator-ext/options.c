/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line; options.h says what is wanted of it. */
#include "options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/shown.h"

enum {
	OPT_OTHER = 256,	/* only to be stepped over */
	OPT_NO_SCRIPT,		/* with it an operand is no script's path */
	OPT_DUMP,		/* the same; operands are arguments */
	OPT_BUILD_AS,
	OPT_BPF,
	OPT_COLOR,
	OPT_COMPATIBLE,
	OPT_DYNINST,
	OPT_ELSEWHERE,		/* facts of this system are not the script's */
	OPT_PRIVILEGE,
	OPT_RUNTIME,
	OPT_SERVER,		/* another stap may compile it */
	OPT_UNPRIVILEGED,
	OPT_HELP,
	OPT_VERSION,
	OPT_LOWER,
	OPT_EXPLAIN,
	OPT_PMU,
	OPT_JSON_SCHEMA,
};

/* Ours, with what --help says of them. */
static const struct {
	const char *name;
	const char *shown;
	const char *text;
} own_options[] = {
	{ "lower", "--lower", "print the script that stap would get, and end" },
	{ "explain", "--explain",
	  "print what each probe point becomes, and end" },
	{ "pmu", "--pmu NAME",
	  "resolve events for that processor, not for this one" },
	{ "json-schema", "--json-schema",
	  "print a JSON Schema of what commands print as JSON" },
	{ "help", "-h, --help", "print this" },
	{ "version", "-V, --version", "print stapwatch's version and stap's" },
};

#define FLAG(name, val) { name, no_argument, NULL, val }
#define VALUE(name, val) { name, required_argument, NULL, val }
#define MAYBE(name, val) { name, optional_argument, NULL, val }

static const struct option long_options[] = {
	FLAG("lower", OPT_LOWER),
	FLAG("explain", OPT_EXPLAIN),
	VALUE("pmu", OPT_PMU),
	FLAG("json-schema", OPT_JSON_SCHEMA),
	FLAG("help", OPT_HELP),
	FLAG("version", OPT_VERSION),

	/* stap's */
	FLAG("all-modules", OPT_OTHER),
	FLAG("benchmark-sdt", OPT_NO_SCRIPT),
	VALUE("benchmark-sdt-loops", OPT_NO_SCRIPT),
	VALUE("benchmark-sdt-threads", OPT_NO_SCRIPT),
	FLAG("bpf", OPT_BPF),
	MAYBE("build-as", OPT_BUILD_AS),
	FLAG("check-version", OPT_OTHER),
	FLAG("clean-cache", OPT_NO_SCRIPT),
	FLAG("client-options", OPT_OTHER),
	MAYBE("color", OPT_COLOR),
	MAYBE("colour", OPT_COLOR),
	VALUE("compatible", OPT_COMPATIBLE),
	FLAG("debug", OPT_OTHER),
	FLAG("disable-cache", OPT_OTHER),
	MAYBE("download-debuginfo", OPT_OTHER),
	FLAG("dump-functions", OPT_DUMP),
	FLAG("dump-probe-aliases", OPT_DUMP),
	FLAG("dump-probe-types", OPT_DUMP),
	FLAG("dyninst", OPT_DYNINST),
	FLAG("example", OPT_NO_SCRIPT),
	FLAG("interactive", OPT_OTHER),
	FLAG("language-server", OPT_NO_SCRIPT),
	FLAG("ldd", OPT_OTHER),
	MAYBE("list-servers", OPT_OTHER),
	VALUE("modinfo", OPT_OTHER),
	MAYBE("monitor", OPT_OTHER),
	FLAG("no-global-var-display", OPT_OTHER),
	FLAG("poison-cache", OPT_OTHER),
	VALUE("privilege", OPT_PRIVILEGE),
	MAYBE("prologue-searching", OPT_OTHER),
	VALUE("remote", OPT_ELSEWHERE),
	FLAG("remote-prefix", OPT_OTHER),
	VALUE("rlimit-as", OPT_OTHER),
	VALUE("rlimit-cpu", OPT_OTHER),
	VALUE("rlimit-fsize", OPT_OTHER),
	VALUE("rlimit-nproc", OPT_OTHER),
	VALUE("rlimit-stack", OPT_OTHER),
	VALUE("runtime", OPT_RUNTIME),
	FLAG("save-uprobes", OPT_OTHER),
	FLAG("semantic-keep-going", OPT_OTHER),
	MAYBE("sign-module", OPT_OTHER),
	FLAG("skip-badvars", OPT_OTHER),
	FLAG("suppress-handler-errors", OPT_OTHER),
	FLAG("suppress-time-limits", OPT_OTHER),
	VALUE("sysenv", OPT_OTHER),
	VALUE("sysroot", OPT_ELSEWHERE),
	VALUE("target-namespaces", OPT_OTHER),
	VALUE("tmpdir", OPT_OTHER),
	MAYBE("trust-servers", OPT_OTHER),
	FLAG("unprivileged", OPT_UNPRIVILEGED),
	VALUE("use-http-server", OPT_SERVER),
	MAYBE("use-server", OPT_SERVER),
	MAYBE("use-server-on-error", OPT_SERVER),
	VALUE("vp", OPT_OTHER),
	{ NULL, 0, NULL, 0 },
};

/* No `+': as for stap, options and operands may come in any order. */
static const char short_options[] =
	"B:D:E:FG:I:J:L:PR:S:T:VWa:bc:d:e:ghijkl:m:o:p:qr:s:tuvwx:";

/* What is gathered on the way, in terms of the argv that came. */
struct parse {
	int argc;
	char **argv;
	bool *ours;		/* of each argument: it is not stap's */
	struct script_ref *extra;
	size_t nr_extra;
	struct arg_ref script;	/* of -e */
	unsigned int nr_script;
	unsigned int nr_pmu;
	bool json_schema;
	bool dump;
	bool no_script;
};

/* getopt sorts its array, but never moves a string. */
static struct arg_ref find_arg(const struct parse *p, const char *s)
{
	uintptr_t at = (uintptr_t)s;

	for (int i = 1; i < p->argc; i++) {
		uintptr_t start = (uintptr_t)p->argv[i];

		if (at >= start && at <= start + strlen(p->argv[i]))
			return (struct arg_ref) { i, at - start };
	}
	return (struct arg_ref) { 0, 0 };
}

static void add_script(struct script_ref **list, size_t *nr,
		       enum script_kind kind, struct arg_ref at)
{
	*list = xrealloc(*list, (*nr + 1) * sizeof(**list));
	(*list)[(*nr)++] = (struct script_ref) { kind, at };
}

static void take_color(struct parse *p, struct options *opts)
{
	bool is_auto = optarg && !strcmp(optarg, "auto");

	opts->color = is_auto ? find_arg(p, optarg) :
				(struct arg_ref) { 0, 0 };
	opts->color_fixed = !is_auto;
}

/* @last: the argument that getopt has come to the end of */
static void take_own(struct parse *p, struct options *opts, int opt,
		     const char *last)
{
	struct arg_ref at = find_arg(p, last);

	p->ours[at.arg] = true;
	if (opt == OPT_LOWER) {
		opts->lower = true;
	} else if (opt == OPT_EXPLAIN) {
		opts->explain = true;
	} else {
		opts->pmu = optarg;
		p->nr_pmu++;
		if (optarg == p->argv[at.arg])
			p->ours[at.arg - 1] = true;
	}
}

/* What is compared with in a script's conditions. */
static bool take_fact(struct options *opts, int opt)
{
	switch (opt) {
	case 'a':
		opts->arch = optarg;
		return true;
	case 'g':
		opts->guru = true;
		return true;
	case 'r':
		opts->release = optarg;
		return true;
	case OPT_BPF:
		opts->runtime = "bpf";
		return true;
	case OPT_COMPATIBLE:
		opts->compatible = optarg;
		return true;
	case OPT_DYNINST:
		opts->runtime = "dyninst";
		return true;
	case OPT_ELSEWHERE:
		opts->elsewhere = true;
		return true;
	case OPT_PRIVILEGE:
		opts->privilege = optarg;
		return true;
	case OPT_RUNTIME:
		opts->runtime = optarg;
		return true;
	case OPT_UNPRIVILEGED:
		opts->privilege = "stapusr";
		return true;
	default:
		return false;
	}
}

static void take_option(struct parse *p, struct options *opts, int opt,
			const char *last)
{
	if (take_fact(opts, opt))
		return;
	switch (opt) {
	case 'e':
		p->script = find_arg(p, optarg);
		p->nr_script++;
		break;
	case 'E':
		add_script(&p->extra, &p->nr_extra, SCRIPT_EXTRA,
			   find_arg(p, optarg));
		break;
	case 'l':
	case 'L':
		opts->point = find_arg(p, optarg);
		p->dump = true;
		break;
	case 'p':
		opts->last_pass = strtol(optarg, NULL, 10);
		break;
	case 'h':
	case OPT_HELP:
		opts->help = true;
		break;
	case 'V':
	case OPT_VERSION:
		opts->version = true;
		break;
	case 'R':
	case OPT_SERVER:
		opts->other_runtime = true;
		break;
	case OPT_DUMP:
		p->dump = true;
		break;
	case OPT_NO_SCRIPT:
		p->no_script = true;
		break;
	case OPT_BUILD_AS:
		opts->build_as = optarg;
		break;
	case OPT_COLOR:
		take_color(p, opts);
		break;
	case OPT_JSON_SCHEMA:
		p->json_schema = true;
		break;
	case OPT_LOWER:
	case OPT_EXPLAIN:
	case OPT_PMU:
		take_own(p, opts, opt, last);
		break;
	}
}

/* Moves a reference to where its argument stands once ours are gone. */
static void renumber(const struct parse *p, int *arg)
{
	int gone = 0;

	for (int i = 1; i < *arg; i++)
		gone += p->ours[i];
	*arg -= gone;
}

static void take_scripts(struct parse *p, struct options *opts)
{
	/* stap ends before it reads a script, or refuses the command line */
	if (p->no_script || p->nr_script > 1 || (p->dump && p->nr_script))
		return;
	if (p->nr_script)
		add_script(&opts->scripts, &opts->nr_scripts, SCRIPT_TEXT,
			   p->script);
	else if (!p->dump && opts->operand < p->argc)
		add_script(&opts->scripts, &opts->nr_scripts,
			   strcmp(p->argv[opts->operand], "-") ? SCRIPT_FILE :
								 SCRIPT_STDIN,
			   (struct arg_ref) { opts->operand, 0 });
	for (size_t i = 0; i < p->nr_extra; i++)
		add_script(&opts->scripts, &opts->nr_scripts, SCRIPT_EXTRA,
			   p->extra[i].at);
}

static void take_args(const struct parse *p, struct options *opts,
		      char **operands, size_t nr)
{
	/* the first one is the script, if there is no other */
	if (nr && !p->dump && !p->nr_script) {
		operands++;
		nr--;
	}
	opts->args = xmalloc(nr * sizeof(*opts->args));
	opts->nr_args = nr;
	for (size_t i = 0; i < nr; i++)
		opts->args[i] = operands[i];
}

static void take_rest(const struct parse *p, struct options *opts)
{
	opts->argv = xmalloc((p->argc + 1) * sizeof(*opts->argv));
	for (int i = 0; i < p->argc; i++)
		if (!p->ours[i])
			opts->argv[opts->argc++] = p->argv[i];
	opts->argv[opts->argc] = NULL;
	renumber(p, &opts->operand);
	renumber(p, &opts->point.arg);
	renumber(p, &opts->color.arg);
	for (size_t i = 0; i < opts->nr_scripts; i++)
		renumber(p, &opts->scripts[i].at.arg);
}

static int check_own(const struct parse *p, const struct options *opts)
{
	if (p->json_schema) {
		shown_line(stderr, "stapwatch: --json-schema must come first, before a command if one is given: stapwatch --json-schema stat");
		return -1;
	}
	if (opts->lower && opts->explain) {
		shown_line(stderr, "stapwatch: --lower and --explain: both print in place of running; give one of them");
		return -1;
	}
	if (p->nr_pmu > 1) {
		shown_line(stderr, "stapwatch: --pmu: it stands there twice; events are resolved for one processor");
		return -1;
	}
	if (opts->pmu && !*opts->pmu) {
		shown_line(stderr, "stapwatch: --pmu: the name is empty; 'stapwatch list --pmu skx' lists a Skylake server's events");
		return -1;
	}
	if ((opts->lower || opts->explain) &&
	    (p->nr_script > 1 || (p->nr_script && opts->point.arg))) {
		shown_line(stderr, "stapwatch: --%s: %s; give one, and what is to be added by -E",
			   opts->lower ? "lower" : "explain", p->nr_script > 1 ?
			   "-e twice" : "-e with -l or -L");
		return -1;
	}
	if ((opts->lower || opts->explain) && !opts->nr_scripts &&
	    !opts->point.arg && !opts->help && !opts->version) {
		shown_line(stderr, "stapwatch: --%s: there is no script; give FILE, - or -e SCRIPT",
			   opts->lower ? "lower" : "explain");
		return -1;
	}
	return 0;
}

/* What stap knows nothing of has to be right. */
static int wrong_own(const char *last)
{
	if (strcmp(last, "--pmu"))
		return 0;
	shown_line(stderr, "stapwatch: --pmu: the name is missing; 'stapwatch list --pmu skx' lists a Skylake server's events");
	return -1;
}

int options_parse(int argc, char **argv, struct options *opts)
{
	struct parse p = { .argc = argc, .argv = argv };
	char **sorted = xmalloc((argc + 1) * sizeof(*sorted));
	int opt, err = 0;

	*opts = (struct options) { .last_pass = 5 };
	memcpy(sorted, argv, (argc + 1) * sizeof(*sorted));
	p.ours = xmalloc((argc + 1) * sizeof(*p.ours));
	memset(p.ours, 0, (argc + 1) * sizeof(*p.ours));

	/* what is no option of stap's is for stap to say */
	opterr = 0;
	/* a subcommand has read its own options before */
	optind = 0;
	while ((opt = getopt_long(argc, sorted, short_options, long_options,
				  NULL)) != -1) {
		if (opt == '?')
			err = wrong_own(sorted[optind - 1]) ?: err;
		else
			take_option(&p, opts, opt, sorted[optind - 1]);
	}
	opts->operand = optind < argc ? find_arg(&p, sorted[optind]).arg : argc;
	take_scripts(&p, opts);
	take_args(&p, opts, sorted + optind, argc - optind);
	take_rest(&p, opts);
	free(sorted);
	free(p.ours);
	free(p.extra);
	if (!err)
		err = check_own(&p, opts);
	if (err)
		options_free(opts);
	return err;
}

void options_free(struct options *opts)
{
	free(opts->argv);
	free(opts->scripts);
	free(opts->args);
	*opts = (struct options) { 0 };
}

const char *options_value(const struct options *opts, const struct arg_ref *at)
{
	return opts->argv[at->arg] + at->offset;
}

void options_help(FILE *out)
{
	fputs("Where to begin:\n"
	      "  why is a program slow?         stapwatch ppa --why\n"
	      "  which lock does it wait for?   stapwatch ppa --locks\n"
	      "  how long do calls take?        stapwatch latency FUNCTION\n"
	      "  where does CPU time go?        stapwatch record COMMAND\n"
	      "                                 stapwatch report\n"
	      "More such questions: man stapwatch-symptoms.\n"
	      "\n"
	      "Usage: stapwatch [options] FILE [args]           run the script in FILE\n"
	      "   or: stapwatch [options] - [args]              run the script on stdin\n"
	      "   or: stapwatch [options] -e SCRIPT [args]      run the given script\n"
	      "   or: stapwatch [options] -l|-L PROBE           list matching probe points\n"
	      "   or: stapwatch list [options] [PATTERN]        list events\n"
	      "   or: stapwatch top [options] [PATTERN] [MAP]   watch a map of counters\n"
	      "   or: stapwatch metrics [options] [MAP...]      print maps as OpenMetrics\n"
	      "   or: stapwatch ppa [options]                   watch where the time goes\n"
	      "   or: stapwatch stat [options] [COMMAND]        count events\n"
	      "   or: stapwatch latency [options] FUNCTION... [-- COMMAND]\n"
	      "                                                 time calls of functions\n"
	      "   or: stapwatch record [options] [COMMAND]      sample into a trace\n"
	      "   or: stapwatch report [options] [FILE|-]       report a profile's trace\n"
	      "   or: stapwatch help COMMAND                    print one of these's options\n"
	      "\n"
	      "stap, with scripts that may also say startwatch(\"EVENT\"), elapsed(\"EVENT\"),\n"
	      "pmu_profile(\"EVENT:PERIOD\"), $pmu[N], $timestamp and $thread->NAME.\n"
	      "\n"
	      "Options:\n",
	      out);
	for (size_t i = 0; i < sizeof(own_options) / sizeof(*own_options); i++)
		shown_line(out, "  %-16s %s", own_options[i].shown,
			   own_options[i].text);
	fputs("\n"
	      "All other options are stap's and go to it as they are: see 'stap --help'.\n"
	      "The notation: man stapwatchprobes.  This command: man stapwatch.\n",
	      out);
}
