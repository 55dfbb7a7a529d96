/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph: one SVG file that needs nothing else, with a script that zooms
 * and searches (flame.js).  The outermost function is at the top, where a viewer
 * begins, however deep a stack is.
 */
#ifndef STAPWATCH_FLAME_SVG_H
#define STAPWATCH_FLAME_SVG_H

#include "report/output/calltree.h"

struct flame_svg {
	const char *title;	/* what stands above it */
	double limit;		/* frames with a smaller share, in percent,
				 * are counted, not drawn */
	uint64_t idle_samples;	/* of the idle loop, not in the tree */
	uint64_t idle_events;
};

/**
 * flame_svg_print - draw a tree
 * @out: gets it
 * @to: where it goes as it grows, or NULL
 */
void flame_svg_print(const struct flame_svg *f, const struct calltree *t,
		     const struct intern *texts, struct buf *out, FILE *to);

#endif
