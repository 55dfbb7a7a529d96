/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics as text; metrics_text.h says what is wanted of it. */
#include "cmd/metrics_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/metrics_name.h"

/* `le' is another label after those that there are; NULL for none. */
static void put_sample(struct buf *out, const char *family, const char *suffix,
		       const char *labels, const char *le)
{
	buf_printf(out, "%s%s", family, suffix);
	if (*labels || le) {
		buf_printf(out, "{%s", labels);
		if (le)
			buf_printf(out, "%sle=\"%s\"", *labels ? "," : "", le);
		buf_puts(out, "}");
	}
	buf_puts(out, " ");
}

/*
 * The bounds are a value below the powers of two, as a bound is of its bucket
 * and the values are whole.  They are the same ones each time, so that rates
 * can be had of them.  What is negative is below them all; then there is no
 * sum, since it might go down.
 */
static void put_hist(struct buf *out, const char *family,
		     const struct metric *metric)
{
	const struct stapwatch_hist *h = metric->hist;
	uint64_t seen = h->negative;
	unsigned int power, i = 0;
	char le[32];

	for (power = 0; power < 64; power++) {
		const uint64_t bound = ((uint64_t)1 << power) - 1;

		for (; stapwatch_hist_high(i) <= bound; i++)
			seen += h->buckets[i];
		snprintf(le, sizeof(le), "%" PRIu64 ".0", bound);
		put_sample(out, family, "_bucket", metric->labels, le);
		buf_printf(out, "%" PRIu64 "\n", seen);
	}
	seen = h->count + h->negative;
	put_sample(out, family, "_bucket", metric->labels, "+Inf");
	buf_printf(out, "%" PRIu64 "\n", seen);
	if (h->negative || h->sum < 0)
		return;
	put_sample(out, family, "_sum", metric->labels, NULL);
	buf_printf(out, "%" PRId64 "\n", h->sum);
	put_sample(out, family, "_count", metric->labels, NULL);
	buf_printf(out, "%" PRIu64 "\n", seen);
}

/* OpenMetrics has a counter's name without the suffix of its samples. */
static void put_family(struct buf *out, const struct metrics_family *f,
		       enum metrics_format format)
{
	const bool counter = f->kind == STAPWATCH_COUNTER;
	const char *suffix = counter && format == METRICS_PROMETHEUS ? "_total" : "";
	const char *kind = counter ? "counter" : "histogram";

	buf_printf(out, "# HELP %s%s The %s ", f->name, suffix, kind);
	metrics_escape(out, f->shown,
		       format == METRICS_PROMETHEUS ? "\"" : "\\\"");
	buf_printf(out, " of a script.\n# TYPE %s%s %s\n", f->name, suffix,
		   kind);
}

static void put_maps(struct buf *out, const struct metrics *m)
{
	size_t i;

	if (!m->nr_maps)
		return;
	buf_puts(out, "# HELP " METRICS_MAP_UP " Whether a script's map could be read.\n"
		 "# TYPE " METRICS_MAP_UP " gauge\n");
	for (i = 0; i < m->nr_maps; i++) {
		buf_puts(out, METRICS_MAP_UP "{map=\"");
		metrics_escape(out, m->maps[i].path, "\\\"");
		buf_printf(out, "\"} %d\n", m->maps[i].up);
	}
}

void metrics_text(struct buf *out, const struct metrics *m,
		  enum metrics_format format)
{
	const struct metric *metric;
	const struct metrics_family *f;
	size_t i;

	for (i = 0; i < m->nr; i++) {
		metric = &m->metrics[i];
		f = &m->families[metric->family];
		if (!i || metric->family != metric[-1].family)
			put_family(out, f, format);
		if (metric->hist) {
			put_hist(out, f->name, metric);
		} else {
			put_sample(out, f->name, "_total", metric->labels,
				   NULL);
			buf_printf(out, "%" PRId64 "\n", metric->value);
		}
	}
	put_maps(out, m);
	if (format == METRICS_OPENMETRICS)
		buf_puts(out, "# EOF\n");
}
