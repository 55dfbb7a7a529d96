/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables; table.h says what is wanted of it. */
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

void table_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		const unsigned char c = *text;

		if (c < ' ' || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_add(out, text, 1);
	}
}

void table_title(struct view *v, uint32_t event, struct buf *out)
{
	const struct view_total *t = &v->totals[event];
	struct profile *p = v->profile;

	buf_puts(out, "# ");
	table_text(out, profile_event_name(p, event));
	if (event < p->nr_events && p->events[event].every)
		buf_printf(out, p->events[event].flags & TRACE_EVENT_HZ ?
			   ", %" PRIu64 " times a second" :
			   ", each %" PRIu64, p->events[event].every);
	buf_printf(out, ": %" PRIu64 " samples, %" PRIu64 " events\n",
		   t->samples, t->events);
}

/* What is to be padded is made first, a cell of text each. */
struct grid {
	char **cells;
	size_t nr, size;
	size_t columns;
	size_t numbers;		/* of the columns, right-aligned ones */
};

static void put(struct grid *g, struct buf *text)
{
	g->cells = array_room(g->cells, &g->size, g->nr + 1, sizeof(*g->cells));
	g->cells[g->nr++] = buf_take(text);
}

static void put_text(struct grid *g, const char *s)
{
	struct buf text = { 0 };

	table_text(&text, s);
	put(g, &text);
}

static void __attribute__((format(printf, 2, 3)))
put_number(struct grid *g, const char *fmt, ...)
{
	struct buf text = { 0 };
	char number[64];
	va_list args;

	va_start(args, fmt);
	vsnprintf(number, sizeof(number), fmt, args);
	va_end(args);
	buf_puts(&text, number);
	put(g, &text);
}

static void grid_print(struct grid *g, struct buf *out)
{
	int *widths = xmalloc(g->columns * sizeof(*widths));
	size_t i, k, len;

	memset(widths, 0, g->columns * sizeof(*widths));
	for (i = 0; i < g->nr; i++) {
		len = strlen(g->cells[i]);
		/* the last column takes what it takes */
		if ((int)len > widths[i % g->columns] &&
		    (i % g->columns != g->columns - 1 ||
		     g->columns == g->numbers))
			widths[i % g->columns] = len > 60 ? 60 : len;
	}
	for (i = 0; i < g->nr; i++) {
		k = i % g->columns;
		buf_printf(out, "%s%*s%s", k ? "  " : "",
			   k < g->numbers ? widths[k] : -widths[k],
			   g->cells[i], k == g->columns - 1 ? "\n" : "");
		free(g->cells[i]);
	}
	free(g->cells);
	free(widths);
}

/* What the samples of an event carry: which of the columns of values it has. */
struct values {
	bool has[UINT8_MAX + 1];
	uint32_t nr;
};

static void find_values(const struct row *rows, size_t nr, struct values *vals)
{
	uint32_t i;
	size_t k;

	*vals = (struct values) { 0 };
	for (k = 0; k < nr; k++)
		for (i = 0; i < rows[k].nr_stats; i++)
			if (rows[k].stats[i].nr) {
				vals->has[i] = true;
				vals->nr = vals->nr > i + 1 ? vals->nr : i + 1;
			}
}

static void put_value_titles(struct grid *g, const struct profile *p,
			     const struct values *vals)
{
	static const char *const parts[] = { "MIN", "AVG", "MAX", "SD" };
	struct buf title = { 0 };
	const char *name;
	uint32_t i;
	size_t k;

	for (i = 0; i < vals->nr; i++) {
		if (!vals->has[i])
			continue;
		name = !i ? "latency" : i <= p->nr_counts && p->counts[i - 1] ?
			p->counts[i - 1] : "count";
		for (k = 0; k < 4; k++) {
			table_text(&title, name);
			buf_printf(&title, " %s", parts[k]);
			put(g, &title);
		}
	}
}

static void put_values(struct grid *g, const struct row *row,
		       const struct values *vals)
{
	const struct stat_values *s;
	uint32_t i, k;

	for (i = 0; i < vals->nr; i++) {
		if (!vals->has[i])
			continue;
		if (i >= row->nr_stats || !row->stats[i].nr) {
			for (k = 0; k < 4; k++)
				put_text(g, "-");
			continue;
		}
		s = &row->stats[i];
		put_number(g, "%" PRIu64, s->min);
		put_number(g, "%.1f", s->mean);
		put_number(g, "%" PRIu64, s->max);
		put_number(g, "%.1f", stat_deviation(s));
	}
}

/* Rows of one event. */
static void print_rows(struct view *v, const struct columns *columns,
		       const struct row *rows, size_t nr, double limit,
		       struct buf *out)
{
	const struct intern *texts = &v->profile->texts;
	struct grid g = { 0 };
	struct values vals;
	size_t i, k, small = 0;
	double share;

	table_title(v, rows->event, out);
	find_values(rows, nr, &vals);
	put_text(&g, "SHARE");
	put_text(&g, "SAMPLES");
	put_text(&g, "EVENTS");
	put_value_titles(&g, v->profile, &vals);
	g.numbers = g.nr;
	for (k = 0; k < columns->nr; k++)
		put_text(&g, columns->list[k]->title);
	g.columns = g.nr;
	for (i = 0; i < nr; i++) {
		share = view_share(v, rows[i].event, rows[i].events,
				   rows[i].samples);
		if (share < limit) {
			small++;
			continue;
		}
		put_number(&g, "%.2f%%", share);
		put_number(&g, "%" PRIu64, rows[i].samples);
		put_number(&g, "%" PRIu64, rows[i].events);
		put_values(&g, &rows[i], &vals);
		for (k = 0; k < columns->nr; k++)
			put_text(&g, intern_text(texts, rows[i].texts[k]));
	}
	grid_print(&g, out);
	if (small)
		buf_printf(out, "# %zu rows with less than %g %% are not shown\n",
			   small, limit);
}

void table_print(struct view *v, const struct columns *columns, double limit,
		 struct buf *out)
{
	struct rows rows;
	size_t i, end;

	rows_make(&rows, v, columns);
	for (i = 0; i < rows.keys.nr; i = end) {
		for (end = i; end < rows.keys.nr &&
		     rows.all[end].event == rows.all[i].event; end++)
			;
		if (i)
			buf_puts(out, "\n");
		print_rows(v, columns, rows.all + i, end - i, limit, out);
	}
	rows_free(&rows);
}
