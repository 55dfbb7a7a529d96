/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table as CSV; rows_csv.h says what is wanted of it. */
#include "report/output/rows_csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/csv.h"
#include "report/output/table.h"

static void put_titles(struct view *v, const struct columns *columns,
		       const struct rows *rows, const struct rows_values *vals,
		       struct buf *out)
{
	static const char *const parts[] = {
		"number", "min", "mean", "max", "deviation"
	};
	struct buf title = { 0 };
	const char *name;
	uint32_t i;
	size_t k;

	buf_puts(out, "event");
	for (k = 0; k < columns->nr; k++)
		buf_printf(out, ",%s", columns->list[k]->name);
	buf_puts(out, ",share,samples,events");
	if (rows->inclusive)
		buf_puts(out, ",total_share,total_samples,total_events");
	for (i = 0; i < vals->nr; i++) {
		name = profile_value_name(v->profile, i);
		for (k = 0; vals->has[i] && k < 5; k++) {
			title.len = 0;
			buf_printf(&title, "%s %s", name, parts[k]);
			buf_puts(out, ",");
			csv_text(out, title.s);
		}
	}
	buf_puts(out, "\r\n");
	free(title.s);
}

static void put_values(const struct row *row, const struct rows_values *vals,
		       struct buf *out)
{
	const struct stat_values *s;
	uint32_t i;

	for (i = 0; i < vals->nr; i++) {
		if (!vals->has[i])
			continue;
		s = row_stat(row, i);
		if (!s)
			buf_puts(out, ",0,,,,");
		else
			buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%.3f,%" PRIu64 ",%.3f",
				   s->nr, s->min, s->mean, s->max,
				   stat_deviation(s));
	}
}

static void put_row(struct view *v, const struct columns *columns,
		    const struct rows *rows, const struct row *row,
		    const struct rows_values *vals, struct buf *out)
{
	const struct intern *texts = &v->profile->texts;
	size_t k;

	csv_text(out, profile_event_name(v->profile, row->event));
	for (k = 0; k < columns->nr; k++) {
		buf_puts(out, ",");
		if (columns->list[k]->is_number)
			buf_puts(out, intern_text(texts, row->texts[k]));
		else
			csv_text(out, intern_text(texts, row->texts[k]));
	}
	buf_printf(out, ",%.4f,%" PRIu64 ",%" PRIu64,
		   view_share(v, row->event, row->events, row->samples),
		   row->samples, row->events);
	if (rows->inclusive)
		buf_printf(out, ",%.4f,%" PRIu64 ",%" PRIu64,
			   table_share(v, rows, row), row->total_samples,
			   row->total_events);
	put_values(row, vals, out);
	buf_puts(out, "\r\n");
}

void rows_csv(struct view *v, const struct columns *columns,
	      enum rows_sort sort, bool inclusive, double limit,
	      struct buf *out, FILE *to)
{
	struct rows_values vals;
	struct rows rows;
	uint32_t i;

	rows_make(&rows, v, columns, sort, inclusive);
	rows_values(rows.all, rows.keys.nr, &vals);
	put_titles(v, columns, &rows, &vals, out);
	for (i = 0; i < rows.keys.nr; i++) {
		if (table_share(v, &rows, &rows.all[i]) >= limit)
			put_row(v, columns, &rows, &rows.all[i], &vals, out);
		buf_drain(out, to);
	}
	rows_free(&rows);
}
