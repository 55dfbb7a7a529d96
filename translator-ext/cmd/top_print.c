/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows as JSON and as CSV; top_print.h says what is wanted of it. */
#include "cmd/top_print.h"

#include <inttypes.h>

#include "base/csv.h"
#include "base/json.h"

static void json_rate(const struct top_row *r, struct json *j)
{
	if (r->has_rate)
		json_fixed(j, "rate", r->rate, 1);
	else
		json_null(j, "rate");
}

static void json_counter(const struct top_row *r, struct json *j)
{
	json_object(j, NULL);
	json_string(j, "name", r->raw);
	json_int(j, "value", r->value);
	json_rate(r, j);
	json_int(j, "min_cpu", r->min);
	json_int(j, "max_cpu", r->max);
	json_end_object(j);
}

static void json_percentile(struct json *j, const char *key,
			    const struct top_row *r, uint64_t value)
{
	if (r->has_quantiles)
		json_uint(j, key, value);
	else
		json_null(j, key);
}

static void json_hist(const struct top_row *r, struct json *j)
{
	json_object(j, NULL);
	json_string(j, "name", r->raw);
	json_int(j, "count", r->value);
	json_rate(r, j);
	json_int(j, "min_cpu", r->min);
	json_int(j, "max_cpu", r->max);
	json_uint(j, "negative", r->negative);
	json_percentile(j, "p50", r, r->p50);
	json_percentile(j, "p99", r, r->p99);
	json_end_object(j);
}

void top_json(const struct top_rows *r, double seconds, bool ended,
	      struct buf *out)
{
	struct json j = { .out = out };
	size_t i;

	json_document(&j);
	json_uint(&j, "round", r->round);
	if (r->round > 1)
		json_fixed(&j, "seconds", seconds, 6);
	else
		json_null(&j, "seconds");
	json_bool(&j, "ended", ended);
	json_array(&j, "counters");
	for (i = 0; i < r->nr; i++)
		if (r->all[i].kind == STAPWATCH_COUNTER)
			json_counter(&r->all[i], &j);
	json_end_array(&j);
	json_array(&j, "histograms");
	for (i = 0; i < r->nr; i++)
		if (r->all[i].kind == STAPWATCH_HIST)
			json_hist(&r->all[i], &j);
	json_end_array(&j);
	json_end_document(&j);
}

/* A column without a value is empty. */
static void csv_row(uint64_t round, const struct top_row *r, struct buf *out)
{
	const bool hist = r->kind == STAPWATCH_HIST;

	buf_printf(out, "%" PRIu64 ",", round);
	csv_text(out, r->raw);
	buf_printf(out, ",%s,%" PRId64 ",", hist ? "histogram" : "counter",
		   r->value);
	if (r->has_rate)
		buf_printf(out, "%.1f", r->rate);
	buf_printf(out, ",%" PRId64 ",%" PRId64 ",", r->min, r->max);
	if (hist)
		buf_printf(out, "%" PRIu64, r->negative);
	if (r->has_quantiles)
		buf_printf(out, ",%" PRIu64 ",%" PRIu64 "\r\n", r->p50, r->p99);
	else
		buf_puts(out, ",,\r\n");
}

void top_csv(const struct top_rows *r, struct buf *out)
{
	size_t i;

	if (r->round == 1)
		buf_puts(out, "round,name,kind,value,rate,min_cpu,max_cpu,negative,p50,p99\r\n");
	for (i = 0; i < r->nr; i++)
		csv_row(r->round, &r->all[i], out);
}
