/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch: stap, with scripts in the notation of 2005. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/cmd.h"
#include "cmd/elsewhere.h"
#include "cmd/line.h"
#include "config.h"
#include "lower/lower.h"
#include "options.h"
#include "stap/run.h"
#include "stap/scripts.h"

static int finish_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	shown_line(stderr, "stapwatch: stdout: %s", strerror(errno));
	return 1;
}

/* --lower and --explain */
static int show(const struct options *opts, const struct script_list *list,
		const char *point)
{
	if (point) {
		shown_out(stdout, point, strlen(point));
		shown_line(stdout, "%s", "");
	}
	for (size_t i = 0; i < list->nr; i++) {
		const struct lowered *low = &list->scripts[i].lowered;

		if (opts->lower)
			shown_out(stdout, low->text, low->len);
		else if (low->explain)
			shown_out(stdout, low->explain, strlen(low->explain));
	}
	return finish_stdout(0);
}

/* Is it a script that is named like none, and not there? */
static bool is_no_script(const struct options *opts)
{
	return opts->nr_scripts && opts->scripts[0].kind == SCRIPT_FILE &&
	       elsewhere_command(options_value(opts, &opts->scripts[0].at));
}

static int run(const struct options *opts)
{
	struct script_list list;
	char *point = NULL;
	int status;

	if (is_no_script(opts))
		return 1;
	if (opts->point.arg) {
		point = scripts_point(opts);
		if (!point)
			return 1;
	}
	if (scripts_load(opts, opts->lower || opts->explain, &list)) {
		free(point);
		return 1;
	}
	if (opts->lower || opts->explain)
		status = show(opts, &list, point);
	else
		status = run_stap(opts, &list, point);
	scripts_free(&list);
	free(point);
	return status;
}

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	bool starts;		/* a command, whose --help is its own */
};

static int run_command(const struct command *c, int argc, char **argv)
{
	int status;

	if (!c->starts && cmd_wants_help(argc, argv) && cmd_help(argv[0]))
		return finish_stdout(0);
	status = c->run(argc, argv);
	return cmd_line_helped() ? finish_stdout(0) : status;
}

static int help(int argc, char **argv)
{
	int status = 0;

	if (argc > 1)
		status = cmd_help_of(argc, argv);
	else
		options_help(stdout);
	return status ? status : finish_stdout(0);
}

static int json_schema(int argc, char **argv)
{
	return cmd_json_schema(argc, argv) ?: finish_stdout(0);
}

static const struct command commands[] = {
	{ .name = "list", .run = cmd_list },
	{ .name = "top", .run = cmd_top },
	{ .name = "metrics", .run = cmd_metrics },
	{ .name = "report", .run = cmd_report },
	{ .name = "ppa", .run = cmd_ppa, .starts = true },
	{ .name = "stat", .run = cmd_stat, .starts = true },
	{ .name = "latency", .run = cmd_latency, .starts = true },
	{ .name = "record", .run = cmd_record, .starts = true },
	{ .name = "help", .run = help },
	{ .name = "--json-schema", .run = json_schema, .starts = true },
};

int main(int argc, char **argv)
{
	struct options opts;
	int status;

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (argc > 1 && !strcmp(argv[1], commands[i].name))
			return run_command(&commands[i], argc - 1, argv + 1);
	if (options_parse(argc, argv, &opts))
		return 1;
	if (opts.help) {
		options_help(stdout);
		status = finish_stdout(0);
	} else if (opts.version) {
		const struct script_list none = { 0 };

		shown_line(stdout, "stapwatch %s", STAPWATCH_VERSION);
		/* stap may take this process */
		status = finish_stdout(0) ?: run_stap(&opts, &none, NULL);
	} else {
		status = run(&opts);
	}
	options_free(&opts);
	return status;
}
