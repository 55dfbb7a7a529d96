/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs; flame_svg.h says what is wanted of it. */
#include "flame_svg.h"

#include <inttypes.h>
#include <string.h>

#include "flame_js.h"
#include "utf8.h"

#define WIDTH 1200.0
#define FRAME 16		/* height */
#define ABOVE 60
#define BELOW 40
#define LETTER 7.0		/* width */
#define THINNEST 0.1		/* what is narrower is not drawn */

struct drawing {
	const struct calltree *tree;
	const struct intern *texts;
	double scale;		/* pixels for each event */
	unsigned int height;
	struct buf *out;
};

/* XML knows no control characters, nor bytes that are no UTF-8. */
static void put_xml(struct buf *out, const char *s, size_t most)
{
	size_t len;

	for (; *s && most; most--, s += len ? len : 1) {
		len = utf8_length(s);
		if (!len || (unsigned char)*s < ' ' || *s == 0x7f)
			buf_puts(out, "\xef\xbf\xbd");	/* U+FFFD */
		else if (*s == '<')
			buf_puts(out, "&lt;");
		else if (*s == '>')
			buf_puts(out, "&gt;");
		else if (*s == '&')
			buf_puts(out, "&amp;");
		else if (*s == '"')
			buf_puts(out, "&quot;");
		else
			buf_add(out, s, len);
	}
}

static unsigned int depth_of(const struct drawing *d, uint32_t node)
{
	const struct call_node *n = &d->tree->nodes[node];
	unsigned int deepest = 0, depth;
	uint32_t i;

	for (i = 0; i < n->nr_children; i++) {
		if (calltree_weight(d->tree, &d->tree->nodes[n->children[i]]) *
		    d->scale < THINNEST)
			continue;
		depth = depth_of(d, n->children[i]);
		if (depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
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
	const unsigned int y = d->height - BELOW - (depth + 1) * FRAME;
	const size_t letters = width > 6 ? (width - 6) / LETTER : 0;
	const size_t length = strlen(name);
	struct buf *out = d->out;

	buf_printf(out, "<g class=\"f\" data-depth=\"%u\" data-name=\"", depth);
	put_xml(out, name, SIZE_MAX);
	buf_puts(out, "\"><title>");
	put_xml(out, name, SIZE_MAX);
	buf_printf(out, " (%" PRIu64 " samples, %" PRIu64 " events, %.2f%%)</title>",
		   n->samples, n->events, 100.0 * weight / all);
	buf_printf(out, "<rect x=\"%.4f\" y=\"%u\" width=\"%.4f\" height=\"%u\" rx=\"1\" fill=\"",
		   x, y, width, FRAME - 1);
	put_colour(out, name, n->kind);
	buf_printf(out, "\"/><text x=\"%.4f\" y=\"%u\">", x + 3, y + 12);
	if (letters >= 3 && length <= letters)
		put_xml(out, name, length);
	else if (letters >= 3)
		put_xml(out, name, letters - 2);
	buf_printf(out, "%s</text></g>\n", letters >= 3 && length > letters ?
		   ".." : "");
}

static void draw(struct drawing *d, uint32_t node, double x, unsigned int depth)
{
	const struct call_node *n = &d->tree->nodes[node];
	double width;
	uint32_t i;

	put_frame(d, node, x, depth);
	for (i = 0; i < n->nr_children; i++) {
		width = calltree_weight(d->tree,
				&d->tree->nodes[n->children[i]]) * d->scale;
		/* the others are not wider */
		if (width < THINNEST)
			break;
		draw(d, n->children[i], x, depth + 1);
		x += width;
	}
}

void flame_svg_print(const struct calltree *t, const struct intern *texts,
		     const char *title, struct buf *out)
{
	const uint64_t all = calltree_weight(t, t->nodes);
	struct drawing d = {
		.tree = t,
		.texts = texts,
		.scale = all ? WIDTH / all : 0,
		.out = out,
	};

	d.height = ABOVE + depth_of(&d, 0) * FRAME + BELOW;
	buf_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%g\" height=\"%u\" viewBox=\"0 0 %g %u\" data-width=\"%g\">\n",
		   WIDTH, d.height, WIDTH, d.height, WIDTH);
	buf_puts(out, "<style>text { font: 12px monospace; } .f { cursor: pointer; } .f text { pointer-events: none; } .f:hover rect { stroke: black; stroke-width: 0.5; } #term, #reset { cursor: pointer; }</style>\n"
		 "<rect width=\"100%\" height=\"100%\" fill=\"rgb(250,250,245)\"/>\n");
	buf_printf(out, "<text x=\"%g\" y=\"24\" text-anchor=\"middle\" style=\"font-size: 17px\">",
		   WIDTH / 2);
	put_xml(out, title, SIZE_MAX);
	buf_printf(out, "</text>\n<text id=\"reset\" x=\"10\" y=\"44\" style=\"display: none\">Reset zoom</text>\n"
		   "<text id=\"term\" x=\"%g\" y=\"44\">Search: </text>\n"
		   "<text id=\"details\" x=\"10\" y=\"%u\"> </text>\n"
		   "<text id=\"found\" x=\"%g\" y=\"%u\" text-anchor=\"end\"> </text>\n",
		   WIDTH - 300, d.height - 14, WIDTH - 10, d.height - 14);
	draw(&d, 0, 0, 0);
	buf_puts(out, "<script><![CDATA[\n");
	buf_puts(out, flame_js);
	buf_puts(out, "]]></script>\n</svg>\n");
}
