/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch metrics: the counters of maps, as OpenMetrics text, or in the older
 * format of Prometheus for what does not read that.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
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
	struct cmd_seen seen = { 0 };
	const char *twice;
	char letter[3];
	int c;

	optind = 0;	/* the command line's own options were read before */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= 0) {
		twice = cmd_twice(&seen, c, argv);
		if (twice) {
			shown_line(stderr, "stapwatch metrics: option %s stands there twice; one ADDR:PORT is enough",
				   twice);
			return 1;
		}
		if (c == 'l') {
			listen = optarg;
		} else if (c == 'p') {
			format = METRICS_PROMETHEUS;
		} else {
			shown_line(stderr, "stapwatch metrics: option %s %s; there are --listen ADDR:PORT and --prometheus",
				   cmd_refused(c, argv, letter), c == ':' ?
				   "wants a value" : "is not known");
			return 1;
		}
	}
	if (!listen)
		return print(format, argv + optind, argc - optind);
	if (format != METRICS_OPENMETRICS) {
		shown_line(stderr, "stapwatch metrics: --listen and --prometheus exclude each other: who asks over HTTP says which format");
		return 1;
	}
	return metrics_serve(listen, argv + optind, argc - optind);
}
