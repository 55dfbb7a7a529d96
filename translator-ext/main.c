/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch: stap, with scripts in the notation of 2005. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "list.h"
#include "lower.h"
#include "metrics.h"
#include "options.h"
#include "ppa.h"
#include "report/report.h"
#include "run.h"
#include "script.h"
#include "top.h"

static int finish_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	perror("stapwatch: stdout");
	return 1;
}

/* --lower and --explain */
static int show(const struct options *opts, const struct script_list *list,
		const char *point)
{
	if (point)
		puts(point);
	for (size_t i = 0; i < list->nr; i++) {
		const struct lowered *low = &list->scripts[i].lowered;

		if (opts->lower)
			fwrite(low->text, 1, low->len, stdout);
		else if (low->explain)
			fputs(low->explain, stdout);
	}
	return finish_stdout(0);
}

static int run(const struct options *opts)
{
	const struct lower_options how = { .pmu = opts->pmu };
	struct script_list list;
	char *point = NULL;
	int status;

	if (opts->point.arg) {
		point = lower_point(options_value(opts, &opts->point), &how,
				    stderr);
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

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "list", cmd_list },
	{ "top", cmd_top },
	{ "metrics", cmd_metrics },
	{ "report", cmd_report },
	{ "ppa", cmd_ppa },
};

int main(int argc, char **argv)
{
	struct options opts;
	int status;

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (argc > 1 && !strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (options_parse(argc, argv, &opts))
		return 1;
	if (opts.help) {
		options_help(stdout);
		status = finish_stdout(0);
	} else if (opts.version) {
		const struct script_list none = { 0 };

		printf("stapwatch %s\n", STAPWATCH_VERSION);
		status = run_stap(&opts, &none, NULL);
	} else {
		status = run(&opts);
	}
	options_free(&opts);
	return status;
}
