/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two runs beside each other; diff.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "report/output/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/shown.h"
#include "report/output/grid.h"
#include "report/output/rows.h"

enum { BEFORE, NOW, RUNS };

struct pair {
	double share[RUNS];
	uint64_t samples[RUNS];
};

/* Rows of two runs are the same if their texts are: these are numbered anew. */
struct diff {
	struct intern texts;
	struct intern keys;	/* an event's name, and the columns' texts */
	struct pair *pairs;
	size_t size;
	size_t columns;
	enum rows_sort sort;
};

static void take_run(struct diff *d, int run, struct view *v,
		     const struct columns *columns)
{
	uint32_t key[COLUMNS_MAX + 1], i, nr;
	const struct row *row;
	struct rows rows;
	size_t k;

	rows_make(&rows, v, columns, SORT_NAME, false);
	for (i = 0; i < rows.keys.nr; i++) {
		row = &rows.all[i];
		key[0] = intern_string(&d->texts,
				profile_event_name(v->profile, row->event));
		for (k = 0; k < d->columns; k++)
			key[k + 1] = intern_string(&d->texts,
				intern_text(&v->profile->texts, row->texts[k]));
		nr = intern(&d->keys, key, (d->columns + 1) * sizeof(*key));
		d->pairs = array_room(d->pairs, &d->size, nr + 1,
				      sizeof(*d->pairs));
		d->pairs[nr].share[run] += view_share(
			v, row->event, row->events, row->samples);
		d->pairs[nr].samples[run] += row->samples;
	}
	rows_free(&rows);
}

static const uint32_t *key_of(const struct diff *d, uint32_t nr)
{
	return d->keys.keys[nr].key;
}

static double change(const struct pair *p)
{
	return p->share[NOW] - p->share[BEFORE];
}

static double sort_key(const struct diff *d, uint32_t nr)
{
	const struct pair *p = &d->pairs[nr];

	switch (d->sort) {
	case SORT_NAME:
		return 0;
	case SORT_SAMPLES:
		return p->samples[NOW];
	case SORT_EVENTS:
		return p->share[NOW];
	default:
		return fabs(change(p));
	}
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct diff *d = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const double p = sort_key(d, x), q = sort_key(d, y);
	const uint32_t *k = key_of(d, x), *l = key_of(d, y);

	if (k[0] != l[0])
		return k[0] < l[0] ? -1 : 1;
	if (p != q)
		return p > q ? -1 : 1;
	return rows_by_name(&d->texts, k + 1, l + 1, d->columns);
}

static void begin(struct diff *d, struct grid *g, uint32_t event,
		  const struct columns *columns, struct buf *out)
{
	static const char *const titles[] = { "BEFORE", "NOW", "CHANGE",
					      "SAMPLES BEFORE", "SAMPLES NOW" };
	size_t i;

	buf_puts(out, out->len ? "\n# " : "# ");
	shown_text(out, intern_text(&d->texts, event));
	buf_puts(out, "\n");
	for (i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		grid_text(g, titles[i]);
	g->numbers = g->nr;
	for (i = 0; i < columns->nr; i++)
		grid_text(g, columns->list[i]->title);
	g->columns = g->nr;
}

static void put_pair(struct diff *d, struct grid *g, uint32_t nr)
{
	const struct pair *p = &d->pairs[nr];
	const uint32_t *key = key_of(d, nr);
	size_t i;

	grid_number(g, "%.2f%%", p->share[BEFORE]);
	grid_number(g, "%.2f%%", p->share[NOW]);
	grid_number(g, "%+.2f%%", change(p));
	grid_number(g, "%" PRIu64, p->samples[BEFORE]);
	grid_number(g, "%" PRIu64, p->samples[NOW]);
	for (i = 1; i <= d->columns; i++)
		grid_text(g, intern_text(&d->texts, key[i]));
}

static void print_pairs(struct diff *d, const struct columns *columns,
			double limit, struct buf *out)
{
	uint32_t *order = xmalloc(d->keys.nr * sizeof(*order));
	uint32_t i, event = UINT32_MAX;
	struct grid g = { 0 };
	size_t small = 0;

	for (i = 0; i < d->keys.nr; i++)
		order[i] = i;
	if (d->keys.nr)
		qsort_r(order, d->keys.nr, sizeof(*order), by_order, d);
	for (i = 0; i < d->keys.nr; i++) {
		if (fabs(change(&d->pairs[order[i]])) < limit) {
			small++;
			continue;
		}
		if (*key_of(d, order[i]) != event) {
			if (g.nr)
				grid_print(&g, out);
			event = *key_of(d, order[i]);
			begin(d, &g, event, columns, out);
		}
		put_pair(d, &g, order[i]);
	}
	if (g.nr)
		grid_print(&g, out);
	if (small)
		buf_printf(out, "# %zu rows that changed by less than %g %% are not shown\n",
			   small, limit);
	free(order);
}

void diff_print(struct view *before, struct view *now,
		const struct columns *columns, enum rows_sort sort,
		double limit, struct buf *out)
{
	struct diff d = { .columns = columns->nr, .sort = sort };

	take_run(&d, BEFORE, before, columns);
	take_run(&d, NOW, now, columns);
	print_pairs(&d, columns, limit, out);
	free(d.pairs);
	intern_free(&d.keys);
	intern_free(&d.texts);
}
