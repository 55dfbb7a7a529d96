/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of maps; map_tree.h says what is wanted of them. */
#include "report/input/map_tree.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/siphash.h"

struct map_node {
	struct map map;
	uint32_t weight;	/* no node below has more */
	uint32_t users;		/* trees and nodes above; 0: it is free */
	uint32_t left;		/* or the next one that is free */
	uint32_t right;
};

static uint32_t next_weight(struct map_nodes *n)
{
	/* xorshift64, which nothing but 0 leads to 0 */
	while (!n->random)
		n->random = siphash_random().k[0];
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return n->random >> 32;
}

static uint32_t new_node(struct map_nodes *n, const struct map_node *like)
{
	uint32_t t = n->free;

	if (t) {
		n->free = n->at[t].left;
	} else {
		/* 0 is none */
		t = n->nr ? n->nr : 1;
		n->nr = t + 1;
		n->at = array_room(n->at, &n->size, n->nr, sizeof(*n->at));
	}
	n->at[t] = *like;
	n->at[t].users = 1;
	return t;
}

static uint32_t new_leaf(struct map_nodes *n, const struct map *m)
{
	return new_node(n, &(struct map_node) {
		.map = *m,
		.weight = next_weight(n),
	});
}

uint32_t map_tree_copy(struct map_nodes *n, uint32_t tree)
{
	if (tree)
		n->at[tree].users++;
	return tree;
}

void map_tree_drop(struct map_nodes *n, uint32_t tree)
{
	uint32_t right;

	while (tree && !--n->at[tree].users) {
		right = n->at[tree].right;
		map_tree_drop(n, n->at[tree].left);
		n->at[tree].left = n->free;
		n->free = tree;
		tree = right;
	}
}

/* A node that one tree alone has, in the place of one that it had. */
static uint32_t own(struct map_nodes *n, uint32_t t)
{
	struct map_node copy = n->at[t];

	if (copy.users == 1)
		return t;
	n->at[t].users--;
	map_tree_copy(n, copy.left);
	map_tree_copy(n, copy.right);
	return new_node(n, &copy);
}

/* Maps that begin below an address, and the others. */
static void split(struct map_nodes *n, uint32_t t, uint64_t addr,
		  uint32_t *below, uint32_t *others)
{
	uint32_t middle;

	if (!t) {
		*below = *others = 0;
		return;
	}
	t = own(n, t);
	if (n->at[t].map.addr < addr) {
		split(n, n->at[t].right, addr, &middle, others);
		n->at[t].right = middle;
		*below = t;
	} else {
		split(n, n->at[t].left, addr, below, &middle);
		n->at[t].left = middle;
		*others = t;
	}
}

/* All of LOW is below all of HIGH. */
static uint32_t join(struct map_nodes *n, uint32_t low, uint32_t high)
{
	uint32_t t;

	if (!low || !high)
		return low ? low : high;
	if (n->at[low].weight >= n->at[high].weight) {
		low = own(n, low);
		t = join(n, n->at[low].right, high);
		n->at[low].right = t;
		return low;
	}
	high = own(n, high);
	t = join(n, low, n->at[high].left);
	n->at[high].left = t;
	return high;
}

static const struct map *last_map(const struct map_nodes *n, uint32_t t)
{
	while (t && n->at[t].right)
		t = n->at[t].right;
	return t ? &n->at[t].map : NULL;
}

/* The last map ends at an address at the latest. */
static uint32_t end_last_at(struct map_nodes *n, uint32_t t, uint64_t addr)
{
	const struct map *last = last_map(n, t);
	const uint32_t root = t;

	if (!last || last->end <= addr)
		return t;
	/* it is in no other tree: split() has owned the way to it */
	while (n->at[t].right)
		t = n->at[t].right;
	n->at[t].map.end = addr;
	return root;
}

/* What the last map has above an address; 0: nothing. */
static uint32_t rest_of_last(struct map_nodes *n, uint32_t t, uint64_t addr)
{
	const struct map *last = last_map(n, t);
	struct map rest;

	if (!last || last->end <= addr)
		return 0;
	rest = *last;
	rest.offset += addr - rest.addr;
	rest.addr = addr;
	return new_leaf(n, &rest);
}

uint32_t map_tree_put(struct map_nodes *n, uint32_t tree, const struct map *m)
{
	uint32_t below, replaced, above, rest;

	split(n, tree, m->addr, &below, &above);
	split(n, above, m->end, &replaced, &above);
	/* one map may reach over all of it, or the last one of those replaced out of it */
	rest = rest_of_last(n, replaced ? replaced : below, m->end);
	map_tree_drop(n, replaced);
	below = end_last_at(n, below, m->addr);
	return join(n, join(n, below, new_leaf(n, m)), join(n, rest, above));
}

const struct map *map_tree_find(const struct map_nodes *n, uint32_t tree,
				uint64_t addr)
{
	const struct map *after = NULL;

	while (tree) {
		const struct map_node *t = &n->at[tree];

		if (t->map.end <= addr) {
			tree = t->right;
			continue;
		}
		after = &t->map;
		tree = t->left;
	}
	return after;
}

void map_nodes_free(struct map_nodes *n)
{
	free(n->at);
	*n = (struct map_nodes) { 0 };
}
