/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of an event as one tree: from the outermost function to who is
 * called, or from where samples were to who called.
 */
#ifndef STAPWATCH_CALLTREE_H
#define STAPWATCH_CALLTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/output/columns.h"
#include "report/output/rows.h"
#include "report/output/view.h"

struct call_node {
	uint32_t parent;
	uint32_t name;		/* a number of the texts */
	uint32_t kind;		/* its image's; IMAGE_MARK: no function */
	uint32_t nr_children;
	const uint32_t *children;	/* sorted */
	uint64_t samples;	/* with those below it */
	uint64_t events;
	uint64_t self_samples;
	uint64_t self_events;
};

struct calltree {
	struct intern keys;
	struct call_node *nodes;	/* the first is all of it */
	size_t size;
	uint32_t *children;
};

/**
 * calltree_make - the tree of an event
 * @columns: what stands above the stacks: a thread's name
 * @inverted: from the inside out
 * @sort: the order of children; by SORT_EVENTS the greatest calltree_weight() is first
 */
void calltree_make(struct calltree *t, struct view *v, uint32_t event,
		   const struct columns *columns, bool inverted,
		   enum rows_sort sort);
void calltree_free(struct calltree *t);

/**
 * calltree_print - a tree for each event, as text
 * @sort: as calltree_make() has it
 * @limit: branches with a smaller share, in percent, are counted, not shown
 * @out: gets it
 * @to: where it goes as it grows, or NULL
 */
void calltree_print(struct view *v, const struct columns *columns,
		    bool inverted, enum rows_sort sort, double limit,
		    struct buf *out, FILE *to);

/** calltree_weight - what a branch is drawn by: events, or samples without */
static inline uint64_t calltree_weight(const struct calltree *t,
				       const struct call_node *n)
{
	return t->nodes->events ? n->events : n->samples;
}

#endif
