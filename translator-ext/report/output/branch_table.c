/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of branches; branch_table.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "report/output/branch_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/output/grid.h"
#include "report/output/table.h"

#define TEXTS_MAX (2 * COLUMNS_MAX)

struct branch_row {
	const uint32_t *texts;	/* of each column, numbers of the texts */
	uint32_t event;
	struct branch_counts counts;
};

struct branch_rows {
	struct view *view;
	const struct columns *columns;
	size_t nr_texts;
	enum rows_sort sort;
	struct intern keys;	/* an event's number, and texts */
	struct branch_row *all;
	size_t size;
};

bool branch_table_takes(const struct column *column)
{
	return !(column->fields & (PROFILE_STACK | PROFILE_ADDR |
				   PROFILE_DATA_SRC | PROFILE_WAIT));
}

static bool has_ends(const struct column *column)
{
	return column->fields & PROFILE_IP;
}

/* ---- rows */

/* An end of a branch as if there were a sample. */
static struct cell_key key_of(const struct branch_key *key,
			      const struct branch_end *end)
{
	return (struct cell_key) {
		.comm = key->comm,
		.pid = key->pid,
		.tid = key->tid,
		.cpu = key->cpu,
		.event = key->event,
		.trace = key->trace,
		.image = end->image,
		.offset = end->offset,
	};
}

static void add_counts(struct branch_counts *to, const struct branch_counts *c)
{
	to->taken += c->taken;
	to->predicted += c->predicted;
	to->mispredicted += c->mispredicted;
	to->timed += c->timed;
	to->cycles += c->cycles;
}

static void add_branch(struct branch_rows *rows, uint32_t branch)
{
	struct view *v = rows->view;
	const struct branches *b = &v->profile->branches;
	const struct branch_key *key = b->keys.keys[branch].key;
	const struct cell_key from = key_of(key, &key->from);
	const struct cell_key to = key_of(key, &key->to);
	uint32_t texts[TEXTS_MAX + 1], nr_texts = 0, nr;
	const struct column *c;
	struct branch_row *row;
	size_t i;

	if (!view_wants(v, &from) && !view_wants(v, &to))
		return;
	texts[nr_texts++] = key->event;
	for (i = 0; i < rows->columns->nr; i++) {
		c = rows->columns->list[i];
		texts[nr_texts++] = c->text(v, &from);
		if (has_ends(c))
			texts[nr_texts++] = c->text(v, &to);
	}
	rows->nr_texts = nr_texts - 1;
	nr = intern(&rows->keys, texts, nr_texts * sizeof(*texts));
	rows->all = array_room(rows->all, &rows->size, nr + 1,
			       sizeof(*rows->all));
	row = &rows->all[nr];
	row->event = key->event;
	row->texts = (const uint32_t *)rows->keys.keys[nr].key + 1;
	add_counts(&row->counts, &b->counts[branch]);
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct branch_row *x = a, *y = b;
	const struct branch_rows *rows = arg;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (rows->sort != SORT_NAME && x->counts.taken != y->counts.taken)
		return x->counts.taken > y->counts.taken ? -1 : 1;
	return rows_by_name(&rows->view->profile->texts, x->texts, y->texts,
			    rows->nr_texts);
}

/* ---- as text */

static void put_titles(struct grid *g, const struct branch_rows *rows,
		       bool timed)
{
	const struct column *c;
	size_t i;

	grid_text(g, "SHARE");
	grid_text(g, "BRANCHES");
	grid_text(g, "MISPREDICTED");
	if (timed)
		grid_text(g, "CYCLES AVG");
	g->numbers = g->nr;
	for (i = 0; i < rows->columns->nr; i++) {
		c = rows->columns->list[i];
		if (!has_ends(c)) {
			grid_text(g, c->title);
			continue;
		}
		grid_title(g, "FROM", c->title);
		grid_title(g, "TO", c->title);
	}
	g->columns = g->nr;
}

static void put_row(struct grid *g, const struct branch_rows *rows,
		    const struct branch_row *row, double share, bool timed)
{
	const struct branch_counts *c = &row->counts;
	const uint64_t known = c->predicted + c->mispredicted;
	size_t i;

	grid_number(g, "%.2f%%", share);
	grid_number(g, "%" PRIu64, c->taken);
	if (known)
		grid_number(g, "%.2f%%", 100.0 * c->mispredicted / known);
	else
		grid_text(g, "-");
	if (timed && c->timed)
		grid_number(g, "%.1f", (double)c->cycles / c->timed);
	else if (timed)
		grid_text(g, "-");
	for (i = 0; i < rows->nr_texts; i++)
		grid_text(g, intern_text(&rows->view->profile->texts,
					 row->texts[i]));
}

/* Rows of one event. */
static void print_rows(const struct branch_rows *rows,
		       const struct branch_row *list, size_t nr, double limit,
		       struct buf *out)
{
	struct view *v = rows->view;
	const struct branch_total *all =
		&v->profile->branches.totals[list->event];
	struct branch_counts sum = { 0 };
	struct grid g = { 0 };
	size_t i, small = 0;
	double share;

	for (i = 0; i < nr; i++)
		add_counts(&sum, &list[i].counts);
	table_event(v, list->event, out);
	buf_printf(out, ": %" PRIu64, sum.taken);
	/* which samples those are of that were chosen nobody knows */
	if (sum.taken != all->branches)
		buf_printf(out, " of %" PRIu64, all->branches);
	buf_printf(out, " branches of %" PRIu64 " samples\n", all->samples);
	put_titles(&g, rows, sum.timed);
	for (i = 0; i < nr; i++) {
		share = 100.0 * list[i].counts.taken / sum.taken;
		if (share < limit)
			small++;
		else
			put_row(&g, rows, &list[i], share, sum.timed);
	}
	grid_print(&g, out);
	table_small(small, limit, out);
}

uint64_t branch_table_print(struct view *v, const struct columns *columns,
			    enum rows_sort sort, double limit, struct buf *out)
{
	struct branch_rows rows = {
		.view = v,
		.columns = columns,
		.sort = sort,
	};
	uint64_t taken = 0;
	size_t i, end;
	uint32_t k;

	for (k = 0; k < v->profile->branches.keys.nr; k++)
		add_branch(&rows, k);
	if (rows.keys.nr)
		qsort_r(rows.all, rows.keys.nr, sizeof(*rows.all), by_order,
			&rows);
	for (i = 0; i < rows.keys.nr; i = end) {
		for (end = i; end < rows.keys.nr &&
		     rows.all[end].event == rows.all[i].event; end++)
			taken += rows.all[end].counts.taken;
		if (i)
			buf_puts(out, "\n");
		print_rows(&rows, rows.all + i, end - i, limit, out);
	}
	free(rows.all);
	intern_free(&rows.keys);
	return taken;
}
