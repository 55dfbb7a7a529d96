/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of tables; rows.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r(), strverscmp() */
#include "report/output/rows.h"

#include <stdlib.h>
#include <string.h>

/* Where a value is among a row's, or belongs. */
static uint32_t stat_at(const struct row *row, uint32_t value)
{
	uint32_t low = 0, high = row->nr_stats, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (row->stats[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct stat_values *row_stat(const struct row *row, uint32_t value)
{
	const uint32_t at = stat_at(row, value);

	return at < row->nr_stats && row->stats[at].value == value ?
	       &row->stats[at].values : NULL;
}

/* Of all values of all traces one row has few. */
static struct stat_values *need_stat(struct row *row, uint32_t value)
{
	const uint32_t at = stat_at(row, value), nr = row->nr_stats;

	if (at < nr && row->stats[at].value == value)
		return &row->stats[at].values;
	/* at powers of two it is full */
	if (!(nr & (nr - 1)))
		row->stats = xrealloc(row->stats,
				      (nr ? 2 * nr : 1) * sizeof(*row->stats));
	memmove(row->stats + at + 1, row->stats + at,
		(nr - at) * sizeof(*row->stats));
	row->stats[at] = (struct row_stat) { .value = value };
	row->nr_stats++;
	return &row->stats[at].values;
}

static void merge_stats(struct row *row, const struct profile *p, uint32_t cell)
{
	const struct cell *c = &p->cells[cell];
	uint32_t i;

	for (i = 0; i < c->nr_stats; i++)
		if (c->stats[i].nr)
			stat_merge(need_stat(row, profile_value_of(p, cell, i)),
				   &c->stats[i]);
}

/* The row of what is alike with KEY. */
static struct row *row_of(struct rows *rows, struct view *v,
			  const struct columns *columns,
			  const struct cell_key *key)
{
	uint32_t texts[COLUMNS_MAX + 1];
	uint32_t nr;
	size_t i;

	texts[0] = key->event;
	for (i = 0; i < columns->nr; i++)
		texts[i + 1] = columns->list[i]->text(v, key);
	nr = intern(&rows->keys, texts, (columns->nr + 1) * sizeof(*texts));
	rows->all = array_room(rows->all, &rows->size, nr + 1,
			       sizeof(*rows->all));
	rows->all[nr].event = key->event;
	rows->all[nr].texts = (const uint32_t *)rows->keys.keys[nr].key + 1;
	return &rows->all[nr];
}

/* Those that PLACE stands for: a function that recurs has each sample once. */
static void add_total(struct rows *rows, struct view *v,
		      const struct columns *columns, uint32_t cell,
		      uint32_t place)
{
	const struct cell *c = &v->profile->cells[cell];
	struct cell_key key = *profile_key(v->profile, cell);
	/* which may add places, and so move them */
	const uint32_t nr = place_frames(v->places, place).nr;
	const struct place *p = place_get(v->places, place);
	struct row *row;

	key.image = p->image;
	key.offset = p->offset;
	for (key.frame = 0; key.frame < nr; key.frame++) {
		row = row_of(rows, v, columns, &key);
		if (row->seen == cell + 1)
			continue;
		row->seen = cell + 1;
		row->total_samples += c->samples;
		row->total_events += c->events;
	}
}

static void add_cell(struct rows *rows, struct view *v,
		     const struct columns *columns, uint32_t cell)
{
	const struct cell_key *key = profile_key(v->profile, cell);
	const struct cell *c = &v->profile->cells[cell];
	struct row *row = row_of(rows, v, columns, key);
	struct view_callers callers;
	uint32_t i;

	row->samples += c->samples;
	row->events += c->events;
	merge_stats(row, v->profile, cell);
	if (columns->fields & PROFILE_IP)
		places_missed(v->places, place_get(v->places,
				view_place(v, key)), c->samples);
	if (!rows->inclusive)
		return;
	add_total(rows, v, columns, cell, view_place(v, key));
	callers = view_callers(v, key);
	for (i = 0; i < callers.nr; i++)
		add_total(rows, v, columns, cell, callers.places[i]);
}

struct order {
	const struct intern *texts;
	size_t columns;
	enum rows_sort sort;
	bool inclusive;
};

int rows_by_name(const struct intern *texts, const uint32_t *x,
		 const uint32_t *y, size_t nr)
{
	size_t i;
	int n = 0;

	for (i = 0; i < nr && !n; i++)
		n = strverscmp(intern_text(texts, x[i]),
			       intern_text(texts, y[i]));
	return n;
}

static int compare(uint64_t x, uint64_t y)
{
	return (x < y) - (x > y);
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct row *x = a, *y = b;
	const struct order *o = arg;
	int n = -compare(x->event, y->event);

	if (!n && o->sort == SORT_EVENTS && o->inclusive)
		n = compare(x->total_events, y->total_events);
	if (!n && o->sort != SORT_NAME && o->inclusive)
		n = compare(x->total_samples, y->total_samples);
	if (!n && o->sort == SORT_EVENTS)
		n = compare(x->events, y->events);
	if (!n && o->sort != SORT_NAME)
		n = compare(x->samples, y->samples);
	return n ? n : rows_by_name(o->texts, x->texts, y->texts, o->columns);
}

void rows_make(struct rows *rows, struct view *v, const struct columns *columns,
	       enum rows_sort sort, bool inclusive)
{
	struct order o = { &v->profile->texts, columns->nr, sort, inclusive };
	size_t i;

	*rows = (struct rows) { .inclusive = inclusive };
	for (i = 0; i < v->nr; i++)
		add_cell(rows, v, columns, v->cells[i]);
	if (rows->keys.nr)
		qsort_r(rows->all, rows->keys.nr, sizeof(*rows->all),
			by_order, &o);
}

void rows_free(struct rows *rows)
{
	uint32_t i;

	for (i = 0; i < rows->keys.nr; i++)
		free(rows->all[i].stats);
	free(rows->all);
	intern_free(&rows->keys);
}

void rows_values(const struct row *rows, size_t nr, struct rows_values *vals)
{
	uint32_t i, value;
	size_t k;

	*vals = (struct rows_values) { 0 };
	for (k = 0; k < nr; k++)
		for (i = 0; i < rows[k].nr_stats; i++) {
			value = rows[k].stats[i].value;
			vals->has[value] = true;
			vals->nr = vals->nr > value + 1 ? vals->nr : value + 1;
		}
}
