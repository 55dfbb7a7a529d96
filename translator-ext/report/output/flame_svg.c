/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs; flame_svg.h says what is wanted of it. */
#include "report/output/flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xml.h"
#include "flame_js.h"

#define WIDTH 1200.0
#define LINE 18			/* height, of what is written above */
#define FRAME 16		/* height */
#define BELOW 10
#define LETTER 7.0		/* width */

struct drawing {
	const struct flame_svg *flame;
	const struct calltree *tree;
	const struct intern *texts;
	double scale;		/* pixels for each event */
	unsigned int top;	/* of the first frame */
	unsigned int deepest;	/* frames above each other */
	size_t drawn;		/* frames */
	uint64_t hidden_samples;	/* whose frames are not all drawn */
	uint64_t hidden;	/* what these weigh */
	struct buf *out;
	FILE *to;
};

static bool is_small(const struct drawing *d, const struct call_node *n)
{
	const uint64_t weight = calltree_weight(d->tree, n);

	return !weight || 100.0 * weight <
	       d->flame->limit * calltree_weight(d->tree, d->tree->nodes);
}

/* How many children are drawn: the others are not greater. */
static uint32_t nr_drawn(const struct drawing *d, const struct call_node *n)
{
	uint32_t i;

	for (i = 0; i < n->nr_children; i++)
		if (is_small(d, &d->tree->nodes[n->children[i]]))
			break;
	return i;
}

static void measure(struct drawing *d, uint32_t node, unsigned int depth)
{
	const struct call_node *n = &d->tree->nodes[node], *child;
	const uint32_t nr = nr_drawn(d, n);
	uint32_t i;

	d->drawn++;
	if (depth >= d->deepest)
		d->deepest = depth + 1;
	for (i = 0; i < nr; i++)
		measure(d, n->children[i], depth + 1);
	for (; i < n->nr_children; i++) {
		child = &d->tree->nodes[n->children[i]];
		d->hidden_samples += child->samples;
		d->hidden += calltree_weight(d->tree, child);
	}
}

/* One name has one colour; the kernel's are blue, JIT's green. */
static void put_colour(struct buf *out, const char *name, uint32_t kind)
{
	unsigned int hash = 5381, a, b;

	while (*name)
		hash = hash * 33 + *(const unsigned char *)name++;
	a = hash % 56;
	b = hash / 56 % 56;
	if (kind == IMAGE_KERNEL || kind == IMAGE_MODULE)
		buf_printf(out, "rgb(%u,%u,230)", 110 + a, 150 + b);
	else if (kind == IMAGE_JIT)
		buf_printf(out, "rgb(%u,200,%u)", 90 + a, 90 + b);
	else if (kind == IMAGE_MARK)
		buf_printf(out, "rgb(%u,%u,%u)", 190 + a, 190 + a, 190 + a);
	else
		buf_printf(out, "rgb(%u,%u,%u)", 205 + a * 50 / 56,
			   80 + a + b, b);
}

static void put_frame(struct drawing *d, uint32_t node, double x,
		      unsigned int depth)
{
	const struct call_node *n = &d->tree->nodes[node];
	const uint64_t weight = calltree_weight(d->tree, n);
	const uint64_t all = calltree_weight(d->tree, d->tree->nodes);
	const char *name = intern_text(d->texts, n->name);
	const double width = weight * d->scale;
	const unsigned int y = d->top + depth * FRAME;
	const size_t letters = width > 6 ? (width - 6) / LETTER : 0;
	const size_t length = utf8_characters(name);
	struct buf *out = d->out;

	buf_printf(out, "<g class=\"f\" data-depth=\"%u\" data-name=\"", depth);
	xml_text(out, name, SIZE_MAX);
	buf_puts(out, "\"><title>");
	xml_text(out, name, SIZE_MAX);
	buf_printf(out, " (%" PRIu64 " samples, %" PRIu64 " events, %.2f%%)</title>",
		   n->samples, n->events, 100.0 * weight / all);
	buf_printf(out, "<rect x=\"%.4f\" y=\"%u\" width=\"%.4f\" height=\"%u\" rx=\"1\" fill=\"",
		   x, y, width, FRAME - 1);
	put_colour(out, name, n->kind);
	buf_printf(out, "\"/><text x=\"%.4f\" y=\"%u\">", x + 3, y + 12);
	if (letters >= 3 && length <= letters)
		xml_text(out, name, length);
	else if (letters >= 3)
		xml_text(out, name, letters - 2);
	buf_printf(out, "%s</text></g>\n", letters >= 3 && length > letters ?
		   ".." : "");
}

static void draw(struct drawing *d, uint32_t node, double x, unsigned int depth)
{
	const struct call_node *n = &d->tree->nodes[node];
	const uint32_t nr = nr_drawn(d, n);
	uint32_t i;

	put_frame(d, node, x, depth);
	buf_drain(d->out, d->to);
	for (i = 0; i < nr; i++) {
		draw(d, n->children[i], x, depth + 1);
		x += calltree_weight(d->tree,
				     &d->tree->nodes[n->children[i]]) *
		     d->scale;
	}
}

/* ---- what is written above */

static double share_of(uint64_t part, double all)
{
	return all ? 100.0 * part / all : 0;
}

static void note_begin(struct drawing *d)
{
	buf_printf(d->out, "<text class=\"note\" x=\"10\" y=\"%u\">", d->top);
	d->top += LINE;
}

/* What the graph lacks. */
static void put_notes(struct drawing *d)
{
	const struct call_node *all = d->tree->nodes;
	const struct flame_svg *f = d->flame;
	const uint64_t idle = all->events ? f->idle_events : f->idle_samples;
	const uint64_t drawn = calltree_weight(d->tree, all);
	const size_t small = d->tree->keys.nr - d->drawn;

	if (f->idle_samples) {
		note_begin(d);
		buf_printf(d->out, "The idle loop is left out: %" PRIu64 " samples, %.2f %% of all. --idle draws it.</text>\n",
			   f->idle_samples,
			   share_of(idle, (double)idle + drawn));
	}
	if (small) {
		note_begin(d);
		buf_printf(d->out, "%zu frames with less than %g %% are left out: %" PRIu64 " samples, %.2f %%. --limit 0 draws them.</text>\n",
			   small, f->limit, d->hidden_samples,
			   share_of(d->hidden, drawn));
	}
}

static void put_head(struct drawing *d)
{
	buf_printf(d->out, "<text x=\"%g\" y=\"24\" text-anchor=\"middle\" style=\"font-size: 17px\">",
		   WIDTH / 2);
	xml_text(d->out, d->flame->title, SIZE_MAX);
	buf_printf(d->out, "</text>\n<text id=\"reset\" x=\"10\" y=\"44\" style=\"display: none\">Reset zoom</text>\n"
		   "<text id=\"term\" x=\"%g\" y=\"44\">Search: </text>\n"
		   "<text id=\"found\" x=\"%g\" y=\"44\" text-anchor=\"end\"> </text>\n"
		   "<text id=\"details\" x=\"10\" y=\"%u\"> </text>\n",
		   WIDTH - 350, WIDTH - 10, 44 + LINE);
}

void flame_svg_print(const struct flame_svg *f, const struct calltree *t,
		     const struct intern *texts, struct buf *out, FILE *to)
{
	const uint64_t all = calltree_weight(t, t->nodes);
	struct buf notes = { 0 };
	struct drawing d = {
		.flame = f,
		.tree = t,
		.texts = texts,
		.scale = all ? WIDTH / all : 0,
		.top = 44 + 2 * LINE,
		.out = &notes,
	};
	unsigned int height;

	measure(&d, 0, 0);
	put_notes(&d);
	d.out = out;
	d.to = to;
	d.top -= LINE / 2;
	height = d.top + d.deepest * FRAME + BELOW;
	buf_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%g\" height=\"%u\" viewBox=\"0 0 %g %u\" data-width=\"%g\">\n",
		   WIDTH, height, WIDTH, height, WIDTH);
	buf_puts(out, "<style>text { font: 12px monospace; } .note { fill: rgb(90,90,90); } .f { cursor: pointer; } .f text { pointer-events: none; } .f:hover rect { stroke: black; stroke-width: 0.5; } #term, #reset { cursor: pointer; }</style>\n"
		 "<rect width=\"100%\" height=\"100%\" fill=\"rgb(250,250,245)\"/>\n");
	put_head(&d);
	buf_add(out, notes.s, notes.len);
	free(notes.s);
	draw(&d, 0, 0, 0);
	buf_puts(out, "<script><![CDATA[\n");
	buf_puts(out, flame_js);
	buf_puts(out, "]]></script>\n</svg>\n");
}
