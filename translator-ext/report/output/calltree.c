/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call trees; calltree.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "report/output/calltree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/progress.h"
#include "base/shown.h"
#include "report/output/own_time.h"
#include "report/output/table.h"

struct node_key {
	uint32_t parent;
	uint32_t name;
	uint32_t kind;
	uint32_t pad;
};

static uint32_t child(struct calltree *t, uint32_t parent, uint32_t name,
		      uint32_t kind)
{
	const struct node_key key = { parent, name, kind, 0 };
	const uint32_t before = t->keys.nr;
	const uint32_t nr = intern(&t->keys, &key, sizeof(key));

	if (nr != before)
		return nr;
	t->nodes = array_room(t->nodes, &t->size, nr + 1, sizeof(*t->nodes));
	t->nodes[nr] = (struct call_node) {
		.parent = parent,
		.name = name,
		.kind = kind,
	};
	return nr;
}


/* A node to begin with, and a stack that is known already how it goes on. */
struct making {
	struct calltree *tree;
	struct view *view;
	const struct columns *columns;
	bool inverted;
	struct intern walks;
	uint32_t *ends;
	size_t size;
};

/* With what is inlined there. */
static uint32_t child_place(struct making *m, uint32_t parent, uint32_t place)
{
	struct view *v = m->view;
	const struct place_frames f = place_frames(v->places, place);
	const struct place *p;
	uint32_t i;

	for (i = 0; i < f.nr; i++) {
		p = place_get(v->places,
			      f.places[m->inverted ? i : f.nr - 1 - i]);
		parent = child(m->tree, parent, p->symbol,
			       v->profile->images.all[p->image].kind);
	}
	return parent;
}

static uint32_t walk(struct making *m, uint32_t from,
		     const struct view_callers *c)
{
	const uint32_t key[] = { from, c->number };
	const uint32_t before = m->walks.nr;
	const uint32_t nr = intern(&m->walks, key, sizeof(key));
	uint32_t i, at = from;

	if (nr != before)
		return m->ends[nr];
	for (i = 0; i < c->nr; i++)
		at = child_place(m, at,
				 c->places[m->inverted ? i : c->nr - 1 - i]);
	m->ends = array_room(m->ends, &m->size, nr + 1, sizeof(*m->ends));
	m->ends[nr] = at;
	return at;
}

static void add_cell(struct making *m, uint32_t cell)
{
	struct view *v = m->view;
	const struct cell_key *key = profile_key(v->profile, cell);
	const struct cell *c = &v->profile->cells[cell];
	const uint32_t place = view_place(v, key);
	struct view_callers callers;
	struct call_node *n;
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < m->columns->nr; i++)
		at = child(m->tree, at, m->columns->list[i]->text(v, key),
			   IMAGE_MARK);
	if (m->inverted)
		at = child_place(m, at, place);
	callers = view_callers(v, key);
	at = walk(m, at, &callers);
	if (!m->inverted)
		at = child_place(m, at, place);
	n = &m->tree->nodes[at];
	n->self_samples += c->samples;
	n->self_events += c->events;
	places_missed(v->places, place_get(v->places, place), c->samples);
}

struct order {
	const struct calltree *tree;
	const struct intern *texts;
	enum rows_sort sort;
};

static uint64_t sort_key(const struct order *o, const struct call_node *n)
{
	switch (o->sort) {
	case SORT_NAME:
		return 0;
	case SORT_SAMPLES:
		return n->samples;
	default:
		return calltree_weight(o->tree, n);
	}
}

/* By parents, so that children stand together; the greatest of them first. */
static int by_parent(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct call_node *x = &o->tree->nodes[*(const uint32_t *)a];
	const struct call_node *y = &o->tree->nodes[*(const uint32_t *)b];
	const uint64_t p = sort_key(o, x), q = sort_key(o, y);

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (p != q)
		return p > q ? -1 : 1;
	if (x->name == y->name)
		return x->kind < y->kind ? -1 : 1;
	return rows_by_name(o->texts, &x->name, &y->name, 1);
}

/* A node's number is greater than its parent's. */
static void sum_up(struct calltree *t)
{
	struct call_node *n, *parent;
	uint32_t i;

	for (i = t->keys.nr; i--; ) {
		n = &t->nodes[i];
		n->samples += n->self_samples;
		n->events += n->self_events;
		if (!i)
			break;
		parent = &t->nodes[n->parent];
		parent->samples += n->samples;
		parent->events += n->events;
		parent->nr_children++;
	}
}

static void sort_children(struct calltree *t, const struct intern *texts,
			  enum rows_sort sort)
{
	struct order o = { t, texts, sort };
	struct call_node *parent;
	uint32_t i, nr = t->keys.nr - 1;

	t->children = xmalloc(nr * sizeof(*t->children));
	for (i = 0; i < nr; i++)
		t->children[i] = i + 1;
	if (nr)
		qsort_r(t->children, nr, sizeof(*t->children), by_parent, &o);
	for (i = nr; i--; ) {
		parent = &t->nodes[t->nodes[t->children[i]].parent];
		parent->children = &t->children[i];
	}
}

void calltree_make(struct calltree *t, struct view *v, uint32_t event,
		   const struct columns *columns, bool inverted,
		   enum rows_sort sort)
{
	const uint32_t name = intern_string(&v->profile->texts, "all");
	struct making m = {
		.tree = t,
		.view = v,
		.columns = columns,
		.inverted = inverted,
	};
	size_t i;

	*t = (struct calltree) { 0 };
	child(t, UINT32_MAX, name, IMAGE_MARK);
	for (i = 0; i < v->nr; i++) {
		progress("stacks", i * 1000 / v->nr);
		if (profile_key(v->profile, v->cells[i])->event == event)
			add_cell(&m, v->cells[i]);
	}
	progress_end();
	sum_up(t);
	sort_children(t, &v->profile->texts, sort);
	free(m.ends);
	intern_free(&m.walks);
}

void calltree_free(struct calltree *t)
{
	intern_free(&t->keys);
	free(t->nodes);
	free(t->children);
}

/* ---- as text */

struct printing {
	struct view *view;
	const struct calltree *tree;
	uint32_t event;
	bool inverted;
	double limit;
	size_t small;
	struct buf *out;
	FILE *to;
};

static void print_node(struct printing *pr, uint32_t node, unsigned int depth)
{
	const struct call_node *n = &pr->tree->nodes[node];
	struct view *v = pr->view;
	const double share = view_share(v, pr->event, n->events, n->samples);
	uint32_t i;

	if (share < pr->limit) {
		pr->small++;
		return;
	}
	buf_printf(pr->out, "%6.2f%%  ", share);
	/* what called others did not run itself: all ran in the first one */
	if (!pr->inverted)
		buf_printf(pr->out, "%6.2f%%  ",
			   view_share(v, pr->event, n->self_events,
				      n->self_samples));
	buf_printf(pr->out, "%7" PRIu64 "  %*s", n->samples, 2 * depth, "");
	shown_text(pr->out, intern_text(&v->profile->texts, n->name));
	buf_puts(pr->out, "\n");
	buf_drain(pr->out, pr->to);
	for (i = 0; i < n->nr_children; i++)
		print_node(pr, n->children[i], depth + 1);
}

/* Of time threads have had: a tree's shares are of the sum of all. */
static void print_threads(struct view *v, uint32_t event,
			  const struct columns *columns, double limit,
			  struct buf *out)
{
	struct own_time own;

	if (!profile_has_waits(v->profile, event))
		return;
	own_time_make(&own, v, event, columns);
	own_time_print(&own, v, event, limit, out);
	own_time_free(&own);
}

void calltree_print(struct view *v, const struct columns *columns,
		    bool inverted, enum rows_sort sort, double limit,
		    struct buf *out, FILE *to)
{
	struct calltree tree;
	struct printing pr = { v, &tree, 0, inverted, limit, 0, out, to };
	const struct call_node *all;
	bool first = true;
	uint32_t i;

	for (pr.event = 0; pr.event < v->nr_totals; pr.event++) {
		if (!v->totals[pr.event].samples)
			continue;
		if (!first)
			buf_puts(out, "\n");
		first = false;
		table_title(v, pr.event, out);
		print_threads(v, pr.event, columns, limit, out);
		buf_puts(out, inverted ?
			 "  TOTAL  SAMPLES  SYMBOL, AND BELOW IT ITS CALLERS\n" :
			 "  TOTAL     SELF  SAMPLES  SYMBOL, AND BELOW IT WHAT IT CALLS\n");
		calltree_make(&tree, v, pr.event, columns, inverted, sort);
		all = tree.nodes;
		pr.small = 0;
		for (i = 0; i < all->nr_children; i++)
			print_node(&pr, all->children[i], 0);
		if (pr.small)
			buf_printf(out, "# %zu branches with less than %g %% are not shown\n",
				   pr.small, limit);
		calltree_free(&tree);
	}
}
