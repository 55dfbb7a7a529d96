/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables; table.h says what is wanted of it. */
#include "report/output/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "report/output/grid.h"
#include "report/output/own_time.h"

void table_event(struct view *v, uint32_t event, struct buf *out)
{
	struct profile *p = v->profile;

	buf_puts(out, "# ");
	shown_text(out, profile_event_name(p, event));
	if (event < p->nr_events && p->events[event].every)
		buf_printf(out, p->events[event].flags & SW_TRACE_EVENT_WAIT ?
			   ", from %" PRIu64 " ns on" :
			   p->events[event].flags & SW_TRACE_EVENT_HZ ?
			   ", %" PRIu64 " times a second" :
			   ", each %" PRIu64, p->events[event].every);
}

void table_small(size_t nr, double limit, struct buf *out)
{
	if (nr)
		buf_printf(out, "# %zu rows with less than %g %% are not shown\n",
			   nr, limit);
}

static double ms(uint64_t ns)
{
	return ns / 1e6;
}

/* As many events, or so long. */
static void put_amount(struct view *v, uint32_t event, uint64_t amount,
		       struct buf *out)
{
	if (profile_has_waits(v->profile, event))
		buf_printf(out, "%.3f ms", ms(amount));
	else
		buf_printf(out, "%" PRIu64 " events", amount);
}

void table_title(struct view *v, uint32_t event, struct buf *out)
{
	const struct view_total *t = &v->totals[event];

	table_event(v, event, out);
	buf_printf(out, ": %" PRIu64 " samples, ", t->samples);
	put_amount(v, event, t->events, out);
	buf_puts(out, "\n");
	if (!t->open_samples)
		return;
	buf_printf(out, "# %" PRIu64 " waits had not ended, ",
		   t->open_samples);
	put_amount(v, event, t->open_events, out);
	buf_puts(out, ": --by wait has them apart\n");
}

/* What waits have as their latency is how long after its wake-up a thread ran. */
static void put_value_titles(struct grid *g, struct profile *p, bool waits,
			     const struct rows_values *vals)
{
	static const char *const parts[] = { "MIN", "AVG", "MAX", "SD" };
	const char *name;
	uint32_t i;
	size_t k;

	for (i = 0; i < vals->nr; i++) {
		if (!vals->has[i])
			continue;
		name = !i && waits ? "WOKEN-TO-RUN us" :
				     profile_value_name(p, i);
		for (k = 0; k < 4; k++)
			grid_title(g, name, parts[k]);
	}
}

static void put_us(struct grid *g, const struct stat_values *s)
{
	grid_number(g, "%.1f", s->min / 1e3);
	grid_number(g, "%.1f", s->mean / 1e3);
	grid_number(g, "%.1f", s->max / 1e3);
	grid_number(g, "%.1f", stat_deviation(s) / 1e3);
}

static void put_values(struct grid *g, const struct row *row, bool waits,
		       const struct rows_values *vals)
{
	const struct stat_values *s;
	uint32_t i, k;

	for (i = 0; i < vals->nr; i++) {
		if (!vals->has[i])
			continue;
		s = row_stat(row, i);
		if (!s) {
			for (k = 0; k < 4; k++)
				grid_text(g, "-");
			continue;
		}
		if (!i && waits) {
			put_us(g, s);
			continue;
		}
		grid_number(g, "%" PRIu64, s->min);
		grid_number(g, "%.1f", s->mean);
		grid_number(g, "%" PRIu64, s->max);
		grid_number(g, "%.1f", stat_deviation(s));
	}
}

double table_share(const struct view *v, const struct rows *rows,
		   const struct row *row)
{
	return rows->inclusive ?
	       view_share(v, row->event, row->total_events,
			  row->total_samples) :
	       view_share(v, row->event, row->events, row->samples);
}

/* NR rows of one event, from the FIRST on. */
static void print_rows(struct view *v, const struct columns *columns,
		       const struct rows *all, size_t first, size_t nr,
		       double limit, struct buf *out)
{
	const struct row *rows = all->all + first;
	const struct intern *texts = &v->profile->texts;
	const bool waits = profile_has_waits(v->profile, rows->event);
	struct grid g = { 0 };
	struct rows_values vals;
	struct own_time own = { 0 };
	size_t i, k, small = 0;
	double share;

	if (waits)
		own_time_make(&own, v, rows->event, columns);
	table_title(v, rows->event, out);
	rows_values(rows, nr, &vals);
	if (all->inclusive)
		grid_text(&g, "TOTAL");
	grid_text(&g, "SHARE");
	if (own.nr)
		grid_text(&g, "OWN");
	grid_text(&g, "SAMPLES");
	grid_text(&g, waits ? "TIMEms" : "EVENTS");
	put_value_titles(&g, v->profile, waits, &vals);
	g.numbers = g.nr;
	for (k = 0; k < columns->nr; k++)
		grid_text(&g, columns->list[k]->title);
	g.columns = g.nr;
	for (i = 0; i < nr; i++) {
		share = table_share(v, all, &rows[i]);
		if (share < limit) {
			small++;
			continue;
		}
		if (all->inclusive) {
			grid_number(&g, "%.2f%%", share);
			share = view_share(v, rows[i].event, rows[i].events,
					   rows[i].samples);
		}
		grid_number(&g, "%.2f%%", share);
		if (own.nr)
			grid_number(&g, "%.2f%%",
				    own_time_share(&own, rows[i].texts,
						   all->inclusive ?
						   rows[i].total_events :
						   rows[i].events));
		grid_number(&g, "%" PRIu64, rows[i].samples);
		if (waits)
			grid_number(&g, "%.3f", ms(rows[i].events));
		else
			grid_number(&g, "%" PRIu64, rows[i].events);
		put_values(&g, &rows[i], waits, &vals);
		for (k = 0; k < columns->nr; k++)
			grid_text(&g, intern_text(texts, rows[i].texts[k]));
	}
	own_time_free(&own);
	grid_print(&g, out);
	table_small(small, limit, out);
}

void table_print(struct view *v, const struct columns *columns,
		 enum rows_sort sort, bool inclusive, double limit,
		 struct buf *out)
{
	struct rows rows;
	size_t i, end;

	rows_make(&rows, v, columns, sort, inclusive);
	for (i = 0; i < rows.keys.nr; i = end) {
		for (end = i; end < rows.keys.nr &&
		     rows.all[end].event == rows.all[i].event; end++)
			;
		if (i)
			buf_puts(out, "\n");
		print_rows(v, columns, &rows, i, end - i, limit, out);
	}
	rows_free(&rows);
}
