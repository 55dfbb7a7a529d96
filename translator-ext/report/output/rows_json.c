/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as JSON; rows_json.h says what is wanted of it. */
#include "report/output/rows_json.h"

#include <inttypes.h>

#include "base/json.h"
#include "report/output/mark_json.h"
#include "report/output/samples.h"
#include "report/output/table.h"

static void put_event(struct view *v, uint32_t event, struct buf *out)
{
	buf_puts(out, "\"event\":");
	json_quote(out, profile_event_name(v->profile, event));
}

static void put_column(const struct column *c, const char *text,
		       struct buf *out)
{
	buf_printf(out, ",\"%s\":", c->name);
	if (c->is_number)
		buf_puts(out, text);
	else
		json_quote(out, text);
}

static void put_value_name(struct profile *p, uint32_t i,
			   const char **comma, struct buf *out)
{
	buf_puts(out, *comma);
	*comma = ",";
	json_quote(out, profile_value_name(p, i));
	buf_puts(out, ":");
}

static void put_row(struct view *v, const struct columns *columns,
		    const struct rows *rows, const struct row *row,
		    struct buf *out)
{
	const struct stat_values *s;
	const char *comma = "";
	uint32_t i;
	size_t k;

	buf_puts(out, "{");
	put_event(v, row->event, out);
	buf_printf(out, ",\"share\":%.4f,\"samples\":%" PRIu64 ",\"events\":%" PRIu64,
		   view_share(v, row->event, row->events, row->samples),
		   row->samples, row->events);
	if (rows->inclusive)
		buf_printf(out, ",\"total_share\":%.4f,\"total_samples\":%" PRIu64 ",\"total_events\":%" PRIu64,
			   table_share(v, rows, row), row->total_samples,
			   row->total_events);
	for (k = 0; k < columns->nr; k++)
		put_column(columns->list[k],
			   intern_text(&v->profile->texts, row->texts[k]), out);
	buf_puts(out, ",\"values\":{");
	for (i = 0; i < row->nr_stats; i++) {
		s = &row->stats[i];
		if (!s->nr)
			continue;
		put_value_name(v->profile, i, &comma, out);
		buf_printf(out, "{\"nr\":%" PRIu64 ",\"min\":%" PRIu64 ",\"mean\":%.3f,\"max\":%" PRIu64 ",\"deviation\":%.3f}",
			   s->nr, s->min, s->mean, s->max, stat_deviation(s));
	}
	buf_puts(out, "}}\n");
}

void rows_json(struct view *v, const struct columns *columns,
	       enum rows_sort sort, bool inclusive, double limit,
	       struct buf *out, FILE *to)
{
	struct rows rows;
	uint32_t i;

	rows_make(&rows, v, columns, sort, inclusive);
	for (i = 0; i < rows.keys.nr; i++) {
		if (table_share(v, &rows, &rows.all[i]) >= limit)
			put_row(v, columns, &rows, &rows.all[i], out);
		buf_drain(out, to);
	}
	rows_free(&rows);
}

/* ---- samples */

struct listing {
	struct view *v;
	const struct columns *columns;
	struct buf *out;
	FILE *to;
};

static void put_sample(void *arg, const struct profile_sample *s)
{
	const struct listing *l = arg;
	struct profile *p = l->v->profile;
	const struct cell_key *key = profile_key(p, s->cell);
	const struct column *c;
	const char *comma = "";
	uint32_t i;
	size_t k;

	buf_printf(l->out, "{\"time_ns\":%" PRIu64 ",",
		   span_since(p->head->r.time, s->time));
	put_event(l->v, key->event, l->out);
	buf_printf(l->out, ",\"events\":%" PRIu64, s->period);
	for (k = 0; k < l->columns->nr; k++) {
		c = l->columns->list[k];
		put_column(c, intern_text(&p->texts, c->text(l->v, key)),
			   l->out);
	}
	buf_puts(l->out, ",\"values\":{");
	for (i = 0; i < s->nr_values; i++) {
		if (p->values[s->values + i] == UINT64_MAX)
			continue;
		put_value_name(p, i, &comma, l->out);
		buf_printf(l->out, "%" PRIu64, p->values[s->values + i]);
	}
	buf_puts(l->out, "}}\n");
	buf_drain(l->out, l->to);
}

static void put_mark(void *arg, const struct mark *m)
{
	const struct listing *l = arg;

	mark_json(l->out, m, l->v->profile->head->r.time);
}

void samples_json(struct view *v, const struct columns *columns,
		  struct buf *out, FILE *to)
{
	static const struct samples_visit visit = { put_sample, put_mark };
	struct listing l = { v, columns, out, to };

	samples_visit(v, &visit, &l);
}
