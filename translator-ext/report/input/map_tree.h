/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps by address, none over another, in trees that share what they have in common: a
 * copy costs nothing, a change of one of two copies the nodes on its way down.
 *
 * Treaps, which are as deep as the logarithm of their size whatever the order of what
 * comes, since nobody who writes a trace knows our random numbers.
 */
#ifndef STAPWATCH_MAP_TREE_H
#define STAPWATCH_MAP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	uint64_t addr;
	uint64_t end;
	uint64_t offset;	/* what the image calls addr */
	uint32_t image;
};

struct map_node;

/* The nodes of all trees; { 0 } is empty. */
struct map_nodes {
	struct map_node *at;
	size_t nr, size;
	uint32_t free;		/* the first of those that are free */
	uint64_t random;
};

/* A tree is its root's number; 0 is the empty one. */

/** map_tree_put - a map, in the place of whatever was there; returns the tree */
uint32_t map_tree_put(struct map_nodes *n, uint32_t tree, const struct map *m);

/** map_tree_copy - a tree of the same maps, which goes its own way from now on */
uint32_t map_tree_copy(struct map_nodes *n, uint32_t tree);

/** map_tree_drop - nobody asks that tree any more */
void map_tree_drop(struct map_nodes *n, uint32_t tree);

/**
 * map_tree_find - the map at an address, or the first one after it
 *
 * Return: it, until the next change of any tree; NULL: there is none
 */
const struct map *map_tree_find(const struct map_nodes *n, uint32_t tree,
				uint64_t addr);

void map_nodes_free(struct map_nodes *n);

#endif
