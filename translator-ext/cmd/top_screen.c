/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen of stapwatch top; top_screen.h says what is wanted of it. */
#include "cmd/top_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/top_table.h"

#define LEAST_NAME 8

/* Attributes; the one colour is readable on white and on black. */
#define HEAD "\033[1m"
#define SORTED "\033[1;4m"
#define FAINT "\033[2m"
#define CHANGED "\033[35m"
#define SAID "\033[7m"
#define PLAIN "\033[m"

struct layout {
	int widths[TOP_NR_COLUMNS];
	size_t nr;		/* columns for which there is room */
	int left;		/* room after them */
};

static int max(int a, int b)
{
	return a > b ? a : b;
}

/* Names are as wide as all of them want, and the rest as the rows on the screen. */
static void set_widths(const struct top_screen *s, const struct top_rows *r,
		       size_t last, struct layout *l)
{
	struct top_cells c;
	size_t i, k;
	int w;

	l->widths[TOP_NAME] = LEAST_NAME;
	for (k = TOP_VALUE; k < TOP_NR_COLUMNS; k++)
		l->widths[k] = strlen(top_titles[k]);
	l->widths[TOP_SHAPE] = TOP_SPARKS;
	for (i = 0; i < r->nr; i++) {
		w = shown_width(r->all[i].name);
		if (w < 200)
			l->widths[TOP_NAME] = max(l->widths[TOP_NAME], w);
	}
	for (i = s->first; i < last; i++) {
		top_cells(&r->all[i], &c);
		for (k = TOP_VALUE; k < TOP_NR_COLUMNS; k++)
			l->widths[k] = max(l->widths[k],
					   shown_width(c.text[k]));
	}
	/* a column between two, and two before the shape */
	l->widths[TOP_SHAPE]++;
}

/* The value and its rate are there in any case, and names give way to them. */
static void fit(struct layout *l, int room)
{
	const int w = room - l->widths[TOP_VALUE] - l->widths[TOP_RATE] - 2;
	int used;
	size_t k;

	if (l->widths[TOP_NAME] > w)
		l->widths[TOP_NAME] = max(LEAST_NAME, w);
	if (l->widths[TOP_NAME] > room)
		l->widths[TOP_NAME] = room;
	used = l->widths[TOP_NAME];
	for (k = TOP_VALUE; k < TOP_NR_COLUMNS; k++) {
		if (used + 1 + l->widths[k] > room)
			break;
		used += 1 + l->widths[k];
	}
	l->nr = k;
	l->left = max(0, room - used);
}

static void widen(struct layout *l, size_t column, int width)
{
	const int more = width - l->widths[column];

	if (more <= 0)
		return;
	l->widths[column] += more < l->left ? more : l->left;
	l->left -= more < l->left ? more : l->left;
}

/*
 * As many columns as fit.  The room that is left makes them wide, so that they stay where
 * they are as numbers grow.
 */
static void lay_out(const struct top_screen *s, const struct top_rows *r,
		    size_t last, struct layout *l)
{
	static const int wide[TOP_NR_COLUMNS] = { 0, 13, 11, 9, 9, 9, 9 };
	size_t k;

	set_widths(s, r, last, l);
	fit(l, s->columns);
	for (k = TOP_VALUE; k < l->nr; k++)
		widen(l, k, wide[k]);
	if (l->nr == TOP_NR_COLUMNS)
		l->widths[TOP_SHAPE] += l->left;
}

/* Emptied first: after a line that fills the screen's, some erase its last column. */
#define EMPTY "\033[K"

static void put_line(struct buf *out, const char *how, const char *text,
		     int width)
{
	buf_printf(out, EMPTY "%s", how);
	shown_cut(out, text, width);
	buf_puts(out, PLAIN "\n");
}

static void put_cell(struct buf *out, const struct layout *l, size_t column,
		     const char *text, const char *how)
{
	const int width = l->widths[column] - (column == TOP_SHAPE);
	const int spaces = max(0, width - shown_width(text));
	const bool right = column != TOP_NAME && column != TOP_SHAPE;
	struct buf cell = { 0 };

	shown_cut(&cell, text, width - spaces);
	buf_printf(out, "%*s%s%s%s%*s",
		   (column != TOP_NAME) + (column == TOP_SHAPE) +
		   (right ? spaces : 0), "", how, cell.s ?: "",
		   *how ? PLAIN : "", right ? 0 : spaces, "");
	free(cell.s);
}

static void put_titles(const struct top_screen *s, const struct layout *l,
		       struct buf *out)
{
	static const size_t sorted[] = {
		[TOP_BY_NAME] = TOP_NAME,
		[TOP_BY_VALUE] = TOP_VALUE,
		[TOP_BY_RATE] = TOP_RATE,
	};
	size_t k;

	buf_puts(out, EMPTY);
	for (k = 0; k < l->nr; k++)
		put_cell(out, l, k, top_titles[k],
			 k == sorted[s->sort] ? SORTED : HEAD);
}

/* What is nothing, or stays as it was, is faint. */
static const char *look_of(const struct top_screen *s, const struct top_row *r,
			   size_t column, const char *text)
{
	if (column == TOP_NAME)
		return "";
	if (column == TOP_RATE && r->has_rate && r->rate)
		return s->colors ? CHANGED : "";
	return !strcmp(text, "-") || !strcmp(text, "0") ||
	       (column == TOP_RATE && !r->rate) ? FAINT : "";
}

static void put_row(const struct top_screen *s, const struct layout *l,
		    const struct top_row *r, struct buf *out)
{
	struct top_cells c;
	size_t k;

	top_cells(r, &c);
	buf_puts(out, EMPTY);
	for (k = 0; k < l->nr; k++)
		put_cell(out, l, k, c.text[k], look_of(s, r, k, c.text[k]));
	buf_puts(out, "\n");
}

/* How much of a text the next line takes; it ends between two items, not in one. */
static size_t line_of(const char *text, size_t columns)
{
	size_t fits = 0, end;
	const char *gap;

	for (;;) {
		gap = strstr(text + fits + strspn(text + fits, " "), TOP_GAP);
		end = gap ? (size_t)(gap - text) : strlen(text);
		if (fits && end > columns)
			return fits;
		if (!gap)
			return end;
		fits = end;
	}
}

static const char *next_line(const char *text, size_t columns)
{
	text += line_of(text, columns);
	return text + strspn(text, " ");
}

static size_t nr_lines(const char *text, size_t columns)
{
	size_t nr = 0;

	for (; text && *text; text = next_line(text, columns))
		nr++;
	return nr;
}

static void put_below(const struct top_screen *s, size_t nr, struct buf *out)
{
	const char *at = s->below;
	struct buf line = { 0 };
	char *text;

	for (; nr; nr--) {
		text = xstrndup(at, line_of(at, s->columns));
		line.len = 0;
		/* what is typed need not be UTF-8 */
		shown_text(&line, text);
		put_line(out, SAID, line.s, s->columns);
		free(text);
		at = next_line(at, s->columns);
	}
	free(line.s);
}

/* What is not on the screen. */
static void put_more(const struct top_screen *s, const struct top_rows *r,
		     const struct layout *l, size_t last, struct buf *out)
{
	const size_t above = s->first, below = r->nr - last;
	const size_t hidden = stapwatch_nr(r->sw) - r->nr;
	struct buf line = { 0 };
	size_t k;

	if (above || below)
		buf_printf(&line, "%zu%s above, %zu below", above,
			   s->columns < 60 ? "" :
			   above == 1 ? " row more" : " rows more", below);
	if (r->pattern) {
		buf_printf(&line, "%s%zu name%s hidden by /",
			   above || below ? "; " : "", hidden,
			   hidden == 1 ? "" : "s");
		shown_text(&line, r->pattern);
	}
	if (l->nr < TOP_NR_COLUMNS)
		buf_puts(&line, line.len ? "; no room for" : "no room for");
	for (k = l->nr; k < TOP_NR_COLUMNS; k++)
		buf_printf(&line, " %s", top_titles[k]);
	put_line(out, HEAD, line.s, s->columns);
	free(line.s);
}

/* Makes the first row one that fits; returns the one after the last. */
static size_t choose_rows(struct top_screen *s, const struct top_rows *r,
			  size_t room)
{
	s->page = room < r->nr ? room : r->nr;
	if (s->first > r->nr - s->page)
		s->first = r->nr - s->page;
	return s->first + s->page;
}

void top_screen(struct top_screen *s, const struct top_rows *r, struct buf *out)
{
	/* the last line is the cursor's: more than that would scroll */
	size_t room = s->lines > 2 ? s->lines - 2 : 0;
	/* one is for the number of rows that are hidden */
	const size_t most = room > 1 ? room - 1 : room;
	size_t below = nr_lines(s->below, s->columns), last, i;
	struct layout l;
	bool more;

	if (below > most)
		below = most;
	room -= below;
	more = room && (r->pattern || r->nr > room);
	last = choose_rows(s, r, room - more);
	lay_out(s, r, last, &l);
	if (room && !more && l.nr < TOP_NR_COLUMNS) {
		more = true;
		last = choose_rows(s, r, room - more);
		lay_out(s, r, last, &l);
	}

	/* a long line ends at the edge, and does not wrap */
	buf_puts(out, "\033[?7l\033[H");
	put_titles(s, &l, out);
	buf_puts(out, s->lines > 1 ? "\n" : "");
	for (i = s->first; i < last; i++)
		put_row(s, &l, &r->all[i], out);
	if (more)
		put_more(s, r, &l, last, out);
	put_below(s, below, out);
	buf_puts(out, "\033[J\033[?7h");
}
