/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of text; grid.h says what is wanted of it. */
#include "report/output/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/shown.h"

#define WIDEST 60		/* what is wider moves the others */

static void put(struct grid *g, struct buf *text)
{
	g->cells = array_room(g->cells, &g->size, g->nr + 1, sizeof(*g->cells));
	g->cells[g->nr++] = buf_take(text);
}

void grid_text(struct grid *g, const char *text)
{
	struct buf shown = { 0 };

	shown_text(&shown, text);
	put(g, &shown);
}

void grid_title(struct grid *g, const char *name, const char *part)
{
	struct buf title = { 0 };

	buf_printf(&title, "%s %s", name, part);
	grid_text(g, title.s);
	free(title.s);
}

void grid_number(struct grid *g, const char *fmt, ...)
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

/* Nothing has to end where the last column does. */
static int *find_widths(const struct grid *g)
{
	int *widths = xmalloc(g->columns * sizeof(*widths)), width;
	size_t i, k;

	memset(widths, 0, g->columns * sizeof(*widths));
	for (i = 0; i < g->nr; i++) {
		k = i % g->columns;
		if (k == g->columns - 1 && g->columns != g->numbers)
			continue;
		width = shown_width(g->cells[i]);
		if (width > WIDEST)
			width = WIDEST;
		if (width > widths[k])
			widths[k] = width;
	}
	return widths;
}

void grid_print(struct grid *g, struct buf *out)
{
	int *widths = find_widths(g);
	size_t i, k;

	for (i = 0; i < g->nr; i++) {
		k = i % g->columns;
		buf_puts(out, k ? "  " : "");
		shown_pad(out, g->cells[i],
			  k < g->numbers ? widths[k] : -widths[k]);
		buf_puts(out, k == g->columns - 1 ? "\n" : "");
		free(g->cells[i]);
	}
	free(g->cells);
	free(widths);
	*g = (struct grid) { 0 };
}
