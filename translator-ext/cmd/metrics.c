/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch metrics: the counters of maps, as OpenMetrics text, or in the older
 * format of Prometheus for what does not read that.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/line.h"
#include "cmd/metrics_collect.h"
#include "cmd/metrics_server.h"

static int print(enum metrics_format format, char *const *maps, int nr)
{
	struct metrics_log log = { 0 };
	struct buf out = { 0 };
	const int found = metrics_collect(&out, format, maps, nr, &log);
	const int status = found > 0 ? 0 : 1;

	metrics_log_free(&log);
	if (!found)
		shown_line(stderr, "stapwatch metrics: no module has a map");

	shown_out(stdout, out.s ?: "", out.len);
	free(out.s);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	shown_line(stderr, "stapwatch metrics: cannot write: %s",
		   strerror(errno));
	return 1;
}

int cmd_metrics(int argc, char **argv)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "prometheus", no_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	enum metrics_format format = METRICS_OPENMETRICS;
	const char *listen = NULL;
	struct cmd_line line = {
		.letters = ":",
		.names = options,
		.argc = argc,
		.argv = argv,
	};
	int c;

	while ((c = cmd_line_next(&line)) != CMD_LINE_END) {
		if (c == CMD_LINE_WRONG)
			return 1;
		if (c == 'l')
			listen = optarg;
		else
			format = METRICS_PROMETHEUS;
	}
	if (!listen)
		return print(format, argv + optind, argc - optind);
	if (format != METRICS_OPENMETRICS) {
		cmd_line_fail("metrics", "--listen and --prometheus exclude each other: an HTTP client asks for its format");
		return 1;
	}
	return metrics_serve(listen, argv + optind, argc - optind);
}
