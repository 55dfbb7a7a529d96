/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph: one SVG file that needs nothing else, with a script that zooms
 * and searches (flame.js).
 */
#ifndef STAPWATCH_FLAME_SVG_H
#define STAPWATCH_FLAME_SVG_H

#include "calltree.h"

/**
 * flame_svg_print - draw a tree
 * @title: what stands above it
 */
void flame_svg_print(const struct calltree *t, const struct intern *texts,
		     const char *title, struct buf *out);

#endif
