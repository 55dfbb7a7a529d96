/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of stapwatch top; top_table.h says what is wanted of it. */
#include "cmd/top_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"

static const char *const titles[] = {
	"NAME", "VALUE", "RATE/S", "MIN/CPU", "MAX/CPU", "P50", "P99",
	"HISTOGRAM",
};

#define NR_COLUMNS (sizeof(titles) / sizeof(*titles))

struct cells {
	const char *text[NR_COLUMNS];
	char numbers[6][32];
	char shape[TOP_SPARKS * 4 + 48];
};

/* What is below 0 has no part in quantiles and shape; a short line still tells. */
static void fill_shape(const struct top_row *r, struct cells *c)
{
	const char *shape = *r->spark ? r->spark : "-";

	if (r->negative)
		snprintf(c->shape, sizeof(c->shape), "%" PRIu64 " below 0, %s",
			 r->negative, shape);
	else
		snprintf(c->shape, sizeof(c->shape), "%s", shape);
}

static void fill_cells(const struct top_row *r, struct cells *c)
{
	size_t i;

	snprintf(c->numbers[0], sizeof(c->numbers[0]), "%" PRId64, r->value);
	strcpy(c->numbers[1], "-");
	if (r->has_rate)
		snprintf(c->numbers[1], sizeof(c->numbers[1]), "%.1f", r->rate);
	snprintf(c->numbers[2], sizeof(c->numbers[2]), "%" PRId64, r->min);
	snprintf(c->numbers[3], sizeof(c->numbers[3]), "%" PRId64, r->max);
	strcpy(c->numbers[4], "-");
	strcpy(c->numbers[5], "-");
	if (r->has_quantiles) {
		snprintf(c->numbers[4], sizeof(c->numbers[4]), "%" PRIu64,
			 r->p50);
		snprintf(c->numbers[5], sizeof(c->numbers[5]), "%" PRIu64,
			 r->p99);
	}
	c->text[0] = r->name;
	for (i = 0; i < 6; i++)
		c->text[i + 1] = c->numbers[i];
	fill_shape(r, c);
	c->text[7] = c->shape;
}

static void plain_line(struct buf *out, const char *const *text)
{
	size_t i;

	for (i = 0; i < NR_COLUMNS; i++)
		buf_printf(out, "%s%s", i ? "\t" : "", text[i]);
	buf_puts(out, "\n");
}

void top_table_plain(const struct top_rows *r, struct buf *out)
{
	struct cells c;
	size_t i;

	plain_line(out, titles);
	for (i = 0; i < r->nr; i++) {
		fill_cells(&r->all[i], &c);
		plain_line(out, c.text);
	}
}

/* Of a terminal's columns; a number that is wider moves the others. */
static const int widths[NR_COLUMNS - 1] = { 0, 13, 11, 9, 9, 9, 9 };

static void terminal_line(struct buf *out, const char *const *text, int name,
			  size_t columns)
{
	size_t i;

	shown_cut(out, text[0], name);
	for (i = 1; i < columns && i < NR_COLUMNS - 1; i++)
		buf_printf(out, " %*s", widths[i], text[i]);
	if (columns == NR_COLUMNS)
		buf_printf(out, "  %s", text[i]);
	buf_puts(out, "\033[K\n");
}

/* How many columns there is room for beside the names, two at least. */
static size_t fitting(int room, int *name)
{
	int used = *name;
	size_t i;

	for (i = 1; i < NR_COLUMNS; i++) {
		used += i < NR_COLUMNS - 1 ? widths[i] + 1 : TOP_SPARKS + 2;
		if (used > room && i > 2)
			return i;
		if (used > room && i == 2)
			*name -= used - room;
	}
	return i;
}

void top_table_terminal(const struct top_rows *r, unsigned int lines,
			unsigned int width, const char *below, struct buf *out)
{
	const size_t around = below ? 3 : 2;
	struct cells c;
	size_t i, columns;
	int name = 8, w;

	for (i = 0; i < r->nr; i++) {
		w = shown_width(r->all[i].name);
		if (w < 200 && w > name)
			name = w;
	}
	columns = fitting(width, &name);
	if (name < 8)
		name = 8;

	/* a long line ends at the edge, and does not wrap */
	buf_puts(out, "\033[?7l\033[H\033[1m");
	terminal_line(out, titles, name, columns);
	buf_puts(out, "\033[m");
	for (i = 0; i < r->nr && i + around < lines; i++) {
		fill_cells(&r->all[i], &c);
		terminal_line(out, c.text, name, columns);
	}
	if (below)
		buf_printf(out, "\033[7m%s\033[m\033[K\n", below);
	buf_puts(out, "\033[J\033[?7h");
}
