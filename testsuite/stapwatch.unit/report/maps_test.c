/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps that take each other's places, in trees that are copied, changed and dropped:
 * each tree has at each address what a plain table of addresses has, and nodes that
 * nobody asks any more are used again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/input/map_tree.h"
#include "test.h"

#define TREES 8
#define SPACE 512
#define ROUNDS 200000

struct page {
	uint32_t image;		/* 0: nothing is there */
	uint64_t offset;
};

static struct page model[TREES][SPACE];
static uint32_t trees[TREES];
static struct map_nodes nodes;
static uint64_t state = 88172645463325252u;

static unsigned int draw(unsigned int below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % below;
}

static void put(unsigned int t, uint32_t image)
{
	const uint64_t addr = draw(SPACE - 1);
	const uint64_t most = SPACE - addr, len = draw(4) ? 9 : most;
	const struct map m = {
		.addr = addr,
		.end = addr + 1 + draw(len < most ? len : most),
		.offset = 1000 * draw(1000),
		.image = image,
	};
	uint64_t i;

	trees[t] = map_tree_put(&nodes, trees[t], &m);
	for (i = m.addr; i < m.end; i++)
		model[t][i] = (struct page) { image, m.offset + i - m.addr };
}

static void copy(unsigned int from, unsigned int to)
{
	map_tree_drop(&nodes, trees[to]);
	trees[to] = map_tree_copy(&nodes, trees[from]);
	memcpy(model[to], model[from], sizeof(model[to]));
}

static bool is_right(unsigned int t, uint64_t addr)
{
	const struct map *m = map_tree_find(&nodes, trees[t], addr);
	const struct page *is = &model[t][addr];
	uint64_t next = addr;

	while (next < SPACE && !model[t][next].image)
		next++;
	if (!m)
		return next == SPACE;
	if (!is->image)
		return m->addr == next;
	return m->addr <= addr && addr < m->end && m->image == is->image &&
	       m->offset + (addr - m->addr) == is->offset;
}

int main(void)
{
	unsigned int wrong = 0, t, i, from;
	size_t most = 0;

	for (i = 1; i <= ROUNDS; i++) {
		t = draw(TREES);
		from = draw(TREES);
		if (draw(16))
			put(t, i);
		else if (t != from)
			copy(from, t);
		wrong += !is_right(draw(TREES), draw(SPACE));
		most = nodes.nr > most ? nodes.nr : most;
	}
	for (t = 0; t < TREES; t++)
		for (i = 0; i < SPACE; i++)
			wrong += !is_right(t, i);
	TEST_EQUAL("each tree has what a table has", wrong, 0);
	/* one more path while a tree is changed */
	TEST("nodes that no tree has are used again",
	     most > SPACE / 8 && most <= TREES * SPACE + SPACE);

	for (t = 0; t < TREES; t++)
		map_tree_drop(&nodes, trees[t]);
	memset(trees, 0, sizeof(trees));
	for (i = 0; i < SPACE; i++)
		trees[0] = map_tree_put(&nodes, trees[0], &(struct map) {
			.addr = i, .end = i + 1, .image = 1 });
	/* and 0, which is none */
	TEST_EQUAL("all of them, when all trees are dropped", nodes.nr,
		   most > SPACE + 1 ? most : SPACE + 1);
	map_nodes_free(&nodes);
	return test_failures != 0;
}
