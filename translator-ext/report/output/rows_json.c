/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as JSON; rows_json.h says what is wanted of it. */
#include "report/output/rows_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/output/mark_json.h"
#include "report/output/table.h"

static void put_event(struct view *v, uint32_t event, struct buf *out)
{
	buf_puts(out, "\"event\":");
	json_string(out, profile_event_name(v->profile, event));
}

static void put_column(const struct column *c, const char *text,
		       struct buf *out)
{
	buf_printf(out, ",\"%s\":", c->name);
	if (c->is_number)
		buf_puts(out, text);
	else
		json_string(out, text);
}

/* The latency is the first; what has no name is told by its number. */
static void put_value_name(const struct profile *p, uint32_t i,
			   const char **comma, struct buf *out)
{
	char number[32];

	buf_puts(out, *comma);
	*comma = ",";
	snprintf(number, sizeof(number), "count %u", i);
	json_string(out, !i ? "latency" : i <= p->nr_counts && p->counts[i - 1] ?
		    p->counts[i - 1] : number);
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

static uint64_t since(const struct profile *p, uint64_t time)
{
	return time > p->head->r.time ? time - p->head->r.time : 0;
}

static void put_sample(struct view *v, const struct columns *columns,
		       const struct profile_sample *s, struct buf *out)
{
	const struct profile *p = v->profile;
	const struct cell_key *key = profile_key(p, s->cell);
	const char *comma = "";
	uint32_t i;
	size_t k;

	buf_printf(out, "{\"time_ns\":%" PRIu64 ",", since(p, s->time));
	put_event(v, key->event, out);
	buf_printf(out, ",\"events\":%" PRIu64, s->period);
	for (k = 0; k < columns->nr; k++)
		put_column(columns->list[k],
			   intern_text(&p->texts, columns->list[k]->text(v, key)),
			   out);
	buf_puts(out, ",\"values\":{");
	for (i = 0; i < s->nr_values; i++) {
		if (p->values[s->values + i] == UINT64_MAX)
			continue;
		put_value_name(p, i, &comma, out);
		buf_printf(out, "%" PRIu64, p->values[s->values + i]);
	}
	buf_puts(out, "}}\n");
}

void samples_json(struct view *v, const struct columns *columns,
		  struct buf *out, FILE *to)
{
	const struct profile *p = v->profile;
	bool *wanted = xmalloc(p->keys.nr + 1);
	size_t i, mark = 0;

	memset(wanted, 0, p->keys.nr + 1);
	for (i = 0; i < v->nr; i++)
		wanted[v->cells[i]] = true;
	for (i = 0; i < p->nr_each; i++) {
		for (; mark < p->marks.nr &&
		     p->marks.list[mark].ns <= p->each[i].time; mark++)
			mark_json(out, &p->marks.list[mark], p->head->r.time);
		if (wanted[p->each[i].cell])
			put_sample(v, columns, &p->each[i], out);
		buf_drain(out, to);
	}
	for (; mark < p->marks.nr; mark++)
		mark_json(out, &p->marks.list[mark], p->head->r.time);
	free(wanted);
}
