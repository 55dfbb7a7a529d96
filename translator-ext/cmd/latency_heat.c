/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls over time as a picture: an interval is a column, how long calls took goes
 * upwards in quarters of powers of two of nanoseconds, and a cell is the darker, the
 * more calls it has; latency.h.
 *
 * A column is a pixel wide at least.  When there is no room for another one, each two
 * become one, and from then on a column has twice as many intervals: what is kept does not
 * grow with the time.
 */
#include "cmd/latency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "base/xml.h"
#include "store/hist.h"

#define PER_OCTAVE 4
#define ROWS (64 * PER_OCTAVE)
#define ROW 5			/* heights and widths, pixels */
#define LEFT 70
#define ABOVE 40
#define BELOW 30
#define WIDTH 1100
#define COLUMNS WIDTH		/* an even number */

struct latency_column {
	int64_t end;		/* ns since the begin */
	uint64_t calls[ROWS];
};

/* As dark as that, from few calls to many. */
static const char *const shades[] = {
	"#fde7a9", "#fdc66b", "#f99d4a", "#ed6b36", "#cf3c2c", "#9b1b30",
	"#5a0f2e",
};

#define NR_SHADES (sizeof(shades) / sizeof(*shades))

static unsigned int row_of(uint64_t ns)
{
	unsigned int octave;

	if (ns < PER_OCTAVE)
		return ns;
	octave = 63 - __builtin_clzll(ns);
	return octave * PER_OCTAVE +
	       (ns >> (octave - 2) & (PER_OCTAVE - 1));
}

/* Where a row begins. */
static uint64_t ns_of(unsigned int row)
{
	const unsigned int octave = row / PER_OCTAVE;

	if (octave < 2)
		return row;
	return (1ULL << octave) +
	       ((uint64_t)(row % PER_OCTAVE) << (octave - 2));
}

static void halve(struct latency_heat *h)
{
	struct latency_column *c = h->columns;
	size_t i, row;

	for (i = 0; i < COLUMNS / 2; i++) {
		c[i] = c[2 * i];
		c[i].end = c[2 * i + 1].end;
		for (row = 0; row < ROWS; row++)
			c[i].calls[row] += c[2 * i + 1].calls[row];
	}
	h->nr_columns = COLUMNS / 2;
	h->per *= 2;
	h->in_last = h->per;
}

/* The column that the next interval goes to. */
static struct latency_column *next_column(struct latency_heat *h)
{
	if (!h->per) {
		h->columns = xmalloc(COLUMNS * sizeof(*h->columns));
		h->per = 1;
	} else if (h->in_last < h->per) {
		h->in_last++;
		return &h->columns[h->nr_columns - 1];
	} else if (h->nr_columns == COLUMNS) {
		halve(h);
	}
	h->in_last = 1;
	h->columns[h->nr_columns] = (struct latency_column) { 0 };
	return &h->columns[h->nr_columns++];
}

void latency_heat_add(struct latency_heat *h, const struct latency_block *b)
{
	struct latency_column *c = next_column(h);
	size_t i, k;

	c->end = b->ns;
	for (i = 0; i < b->nr_functions; i++) {
		const uint64_t *n = b->functions[i].hists[LATENCY_TIME].n;

		for (k = 0; k < PERFMAP_HIST_BUCKETS; k++)
			if (n[k])
				c->calls[row_of(hist_mid(k) * b->tick_ns)] += n[k];
	}
}

/* "640 ns", "10 us", three digits of it. */
static void put_ns(struct buf *out, uint64_t ns)
{
	if (ns < 1000)
		buf_printf(out, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		buf_printf(out, "%.3g us", ns / 1e3);
	else if (ns < 1000000000)
		buf_printf(out, "%.3g ms", ns / 1e6);
	else
		buf_printf(out, "%.3g s", ns / 1e9);
}

struct frame {
	unsigned int low, high;	/* rows that have calls */
	uint64_t most;		/* calls of a cell */
	double column;		/* width */
	double height;		/* of the whole */
};

static struct frame frame_of(const struct latency_heat *h)
{
	struct frame f = { .low = ROWS };
	unsigned int i, row;

	for (i = 0; i < h->nr_columns; i++)
		for (row = 0; row < ROWS; row++) {
			const uint64_t calls = h->columns[i].calls[row];

			if (!calls)
				continue;
			f.low = row < f.low ? row : f.low;
			f.high = row > f.high ? row : f.high;
			f.most = calls > f.most ? calls : f.most;
		}
	if (f.low > f.high)
		f.low = f.high;
	f.column = h->nr_columns < WIDTH / 24 ? 24 :
		   (double)WIDTH / h->nr_columns;
	f.height = ABOVE + (f.high - f.low + 1) * ROW + BELOW;
	return f;
}

static double y_of(const struct frame *f, unsigned int row)
{
	return f->height - BELOW - (row - f->low + 1.0) * ROW;
}

/* By powers of two: counts of calls are of any size. */
static const char *shade_of(const struct frame *f, uint64_t calls)
{
	const unsigned int bits = 64 - __builtin_clzll(calls);
	const unsigned int most = 64 - __builtin_clzll(f->most);

	return shades[most > 1 ? (bits - 1) * (NR_SHADES - 1) / (most - 1) :
				 NR_SHADES - 1];
}

static void put_column(const struct latency_heat *h, const struct frame *f,
		       unsigned int column, struct buf *out)
{
	const struct latency_column *c = &h->columns[column];
	const double from = column ? c[-1].end : 0;
	unsigned int row;

	for (row = f->low; row <= f->high; row++) {
		if (!c->calls[row])
			continue;
		buf_printf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>",
			   LEFT + column * f->column, y_of(f, row), f->column,
			   ROW, shade_of(f, c->calls[row]));
		buf_printf(out, "%.3f to %.3f s, ", from / 1e9, c->end / 1e9);
		put_ns(out, ns_of(row));
		buf_puts(out, " to ");
		put_ns(out, ns_of(row + 1));
		buf_printf(out, ": %" PRIu64 " calls</title></rect>\n",
			   c->calls[row]);
	}
}

static void put_scales(const struct latency_heat *h, const struct frame *f,
		       struct buf *out)
{
	const double right = LEFT + h->nr_columns * f->column;
	unsigned int row;
	uint64_t ns;

	for (ns = 1; ns < 1000000000000ULL; ns *= 10) {
		row = row_of(ns);
		if (row < f->low || row > f->high)
			continue;
		buf_printf(out, "<line x1=\"%d\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#bbb\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
			   LEFT - 4, right, y_of(f, row) + ROW,
			   y_of(f, row) + ROW, LEFT - 8,
			   y_of(f, row) + ROW + 4);
		put_ns(out, ns);
		buf_puts(out, "</text>\n");
	}
	buf_printf(out, "<text x=\"%d\" y=\"%.1f\">0 s</text><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.1f s</text>\n",
		   LEFT, f->height - 10, right, f->height - 10,
		   h->nr_columns ? h->columns[h->nr_columns - 1].end / 1e9 : 0);
}

static void put_title(const struct latency_heat *h,
		      const struct latency_request *req, struct buf *out)
{
	buf_printf(out, "<text x=\"%d\" y=\"24\" font-size=\"15\">Calls of ",
		   LEFT);
	if (req->nr_functions == 1)
		xml_text(out, req->functions[0].asked ?:
			      req->functions[0].name, 100);
	else
		buf_printf(out, "%zu functions", req->nr_functions);
	buf_puts(out, ", how long they took");
	if (h->per > 1)
		buf_printf(out, "; %u intervals a column", h->per);
	buf_puts(out, "</text>\n");
}

static void draw(const struct latency_heat *h,
		 const struct latency_request *req, struct buf *out)
{
	const struct frame f = frame_of(h);
	double width = LEFT + h->nr_columns * f.column + 20;
	unsigned int i;

	width = width < 400 ? 400 : width;
	buf_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
		   "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		   width, f.height);
	put_title(h, req, out);
	put_scales(h, &f, out);
	for (i = 0; i < h->nr_columns; i++)
		put_column(h, &f, i, out);
	buf_puts(out, "</svg>\n");
}

int latency_heat_write(const struct latency_heat *h,
		       const struct latency_request *req)
{
	const int fd = open(req->svg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			    0666);
	struct buf out = { 0 };
	int rc = -1;

	if (fd >= 0) {
		draw(h, req, &out);
		rc = buf_flush(&out, fd);
		if (close(fd))
			rc = -1;
	}
	if (rc)
		shown_line(stderr, "stapwatch latency: cannot write %s: %s",
			   req->svg, strerror(errno));
	free(out.s);
	return rc ? -1 : 0;
}

void latency_heat_free(struct latency_heat *h)
{
	free(h->columns);
}
