/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics as the text that is scraped: OpenMetrics, or the older format of
 * Prometheus for what does not read that.
 */
#ifndef STAPWATCH_METRICS_TEXT_H
#define STAPWATCH_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "lib/stapwatch.h"

enum metrics_format {
	METRICS_OPENMETRICS,
	METRICS_PROMETHEUS,	/* text format 0.0.4 */
	METRICS_HISTOGRAMS,	/* JSON; metrics_json.h */
};

struct metric {
	size_t family;
	char *labels;		/* name="value",..., escaped */
	int64_t value;
	struct stapwatch_hist *hist;
};

struct metrics_family {
	char *name;
	char *shown;		/* as the map has the first one's */
	enum stapwatch_kind kind;
};

/* Whether a map could be read. */
#define METRICS_MAP_UP "stapwatch_map_up"

struct metrics_map {
	char *path;
	bool up;
};

struct metrics {
	struct metrics_family *families;
	size_t nr_families;
	struct metric *metrics;
	size_t nr;
	void *claims;		/* a tree of struct claim */
	void *keys;		/* a tree of family and labels, strings */
	size_t skipped;
	struct metrics_map *maps;
	size_t nr_maps;
};

/**
 * metrics_text - all of them as text
 * @m: whose metrics are sorted, so that a family stands in one piece
 */
void metrics_text(struct buf *out, const struct metrics *m,
		  enum metrics_format format);

#endif
