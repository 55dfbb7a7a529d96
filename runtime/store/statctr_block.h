/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks: the words of STATCTR_PER_CHUNK counters, and which of them are taken.
 * All of it is under statctr_lock().
 */
#ifndef STAPWATCH_STORE_STATCTR_BLOCK_H
#define STAPWATCH_STORE_STATCTR_BLOCK_H

#include "store/statctr_build.h"

#ifndef STATCTR_UP

struct statctr_block;

#ifdef STATCTR_FLEXIBLE

typedef struct pcpu_ctr_s {
	struct statctr_block *blkp;
	unsigned int index;	/* of the word in each chunk */
	unsigned long *arr[];	/* by CPU; NULL: it has never been up */
} pcpu_ctr_t;

#define PCPU_CTR(ctr, cpu) ((ctr)->arr[cpu])

#else

/* Never complete: a pointer to one is where CPU 0's word is. */
typedef struct pcpu_ctr_s pcpu_ctr_t;

#define PCPU_CTR(ctr, cpu)						\
	((unsigned long *)((char *)(ctr) +				\
			   (size_t)STATCTR_STRIDE * (unsigned int)(cpu)))

#endif

typedef struct statctr {
	pcpu_ctr_t *ctr;
} statctr_t;

struct statctr_block {
	struct statctr_block *next;
	unsigned int nused;
	u64 used[(STATCTR_PER_CHUNK + 63) / 64];	/* bit per counter */
#ifdef STATCTR_FLEXIBLE
	pcpu_ctr_t *ctr[STATCTR_PER_CHUNK];
	char *chunk[];		/* by CPU; NULL: it has not been up */
#else
	char *chunks;
#endif
};

static struct statctr_block *statctr_blocks;	/* under statctr_lock() */

/* A counter of a block that has one, by its place. */
static inline unsigned int statctr_block_take(struct statctr_block *b)
{
	unsigned int i = 0;
	u64 bit;

	while (!~b->used[i])
		i++;
	bit = ~b->used[i] & -~b->used[i];
	b->used[i] |= bit;
	b->nused++;
	return i * 64 + ilog2(bit);
}

static inline void
statctr_block_give(struct statctr_block *b, unsigned int index)
{
	b->used[index / 64] &= ~(1ULL << index % 64);
	b->nused--;
}

/* where a counter's word is in a chunk */
static inline size_t statctr_offset(unsigned int index)
{
	return STATCTR_FIRST + index * sizeof(unsigned long);
}

#endif /* STATCTR_UP */

#endif
