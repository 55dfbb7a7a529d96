/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as JSON; rows_json.h says what is wanted of it. */
#include "report/output/rows_json.h"

#include "base/json.h"
#include "report/output/mark_json.h"
#include "report/output/samples.h"
#include "report/output/table.h"

static void put_event(struct view *v, uint32_t event, struct json *j)
{
	json_string(j, "event", profile_event_name(v->profile, event));
}

static void put_column(const struct column *c, const char *text,
		       struct json *j)
{
	if (c->is_number)
		json_text(j, c->name, text);
	else
		json_string(j, c->name, text);
}

static void put_values(struct profile *p, const struct row *row,
		       struct json *j)
{
	const struct stat_values *s;
	uint32_t i;

	json_object(j, "values");
	for (i = 0; i < row->nr_stats; i++) {
		s = &row->stats[i].values;
		json_object(j, profile_value_name(p, row->stats[i].value));
		json_uint(j, "samples", s->nr);
		json_uint(j, "min", s->min);
		json_fixed(j, "mean", s->mean, 3);
		json_uint(j, "max", s->max);
		json_fixed(j, "deviation", stat_deviation(s), 3);
		json_end_object(j);
	}
	json_end_object(j);
}

static void put_row(struct view *v, const struct columns *columns,
		    const struct rows *rows, const struct row *row,
		    struct buf *out)
{
	struct json j = { .out = out };
	size_t k;

	json_document(&j);
	put_event(v, row->event, &j);
	json_fixed(&j, "percent", view_share(v, row->event, row->events,
					   row->samples), 4);
	json_uint(&j, "samples", row->samples);
	json_uint(&j, "events", row->events);
	if (rows->inclusive) {
		json_fixed(&j, "total_percent", table_share(v, rows, row), 4);
		json_uint(&j, "total_samples", row->total_samples);
		json_uint(&j, "total_events", row->total_events);
	}
	for (k = 0; k < columns->nr; k++)
		put_column(columns->list[k],
			   intern_text(&v->profile->texts, row->texts[k]), &j);
	put_values(v->profile, row, &j);
	json_end_document(&j);
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
	struct json j = { .out = l->out };
	const struct column *c;
	uint32_t i;
	size_t k;

	json_document(&j);
	json_uint(&j, "time_ns", span_since(p->first->r.time, s->time));
	put_event(l->v, key->event, &j);
	json_uint(&j, "events", s->period);
	for (k = 0; k < l->columns->nr; k++) {
		c = l->columns->list[k];
		put_column(c, intern_text(&p->texts, c->text(l->v, key)), &j);
	}
	json_object(&j, "values");
	for (i = 0; i < s->nr_values; i++)
		if (p->values[s->values + i] != UINT64_MAX)
			json_uint(&j, profile_value_name(p, profile_value_of(p, s->cell, i)),
				  p->values[s->values + i]);
	json_end_object(&j);
	json_end_document(&j);
	buf_drain(l->out, l->to);
}

static void put_mark(void *arg, const struct mark *m)
{
	const struct listing *l = arg;
	const struct profile *p = l->v->profile;

	mark_json(l->out, m, p->first->r.time,
		  p->nr_traces > 1 ? p->traces[m->trace].name : NULL);
}

void samples_json(struct view *v, const struct columns *columns,
		  struct buf *out, FILE *to)
{
	static const struct samples_visit visit = { put_sample, put_mark };
	struct listing l = { v, columns, out, to };

	samples_visit(v, &visit, &l);
}
