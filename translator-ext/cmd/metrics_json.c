/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms as JSON; metrics_json.h says what is wanted of it. */
#include "cmd/metrics_json.h"

#include <stdlib.h>

#include "base/json.h"

#define MOST (4U << 20)		/* bytes of histograms */

static void put_percentile(struct json *j, const char *key,
			   const struct stapwatch_hist *h, double share)
{
	if (h->count)
		json_uint(j, key, stapwatch_hist_quantile(h, share));
	else
		json_null(j, key);
}

static void put_buckets(struct json *j, const struct stapwatch_hist *h)
{
	unsigned int i;

	json_array(j, "buckets");
	for (i = 0; i < STAPWATCH_HIST_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		json_array(j, NULL);
		json_uint(j, NULL, stapwatch_hist_low(i));
		json_uint(j, NULL, stapwatch_hist_high(i));
		json_uint(j, NULL, h->buckets[i]);
		json_end_array(j);
	}
	json_end_array(j);
}

/* The name is what the text has before each value, so that both are found by it. */
static void put_hist(struct json *j, const struct metrics *m,
		     const struct metric *metric)
{
	const struct stapwatch_hist *h = metric->hist;
	struct buf name = { 0 };

	buf_puts(&name, m->families[metric->family].name);
	if (*metric->labels)
		buf_printf(&name, "{%s}", metric->labels);
	json_object(j, NULL);
	json_string(j, "name", name.s);
	json_uint(j, "count", h->count);
	json_uint(j, "negative", h->negative);
	if (h->max)
		json_uint(j, "max", h->max);
	else
		json_null(j, "max");
	put_percentile(j, "p50", h, 0.5);
	put_percentile(j, "p99", h, 0.99);
	put_percentile(j, "p999", h, 0.999);
	put_buckets(j, h);
	json_end_object(j);
	free(name.s);
}

void metrics_json(struct buf *out, const struct metrics *m)
{
	struct json j = { .out = out };
	struct buf one = { 0 };
	uint64_t left_out = 0;
	size_t i, len = 0;

	json_document(&j);
	json_array(&j, "histograms");
	for (i = 0; i < m->nr; i++) {
		if (!m->metrics[i].hist)
			continue;
		one.len = 0;
		put_hist(&(struct json){ .out = &one }, m, &m->metrics[i]);
		if (len + one.len > MOST) {
			left_out++;
			continue;
		}
		len += one.len;
		json_text(&j, NULL, one.s);
	}
	json_end_array(&j);
	json_uint(&j, "left_out", left_out);
	json_end_document(&j);
	free(one.s);
}
