/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fixed allocator: each block has memory for all CPUs that there may ever be,
 * at one distance, so that a counter is one pointer.  It is taken without
 * STATCTR_FLEXIBLE.
 *
 * Sleepable, under statctr_lock().
 */
#ifndef STAPWATCH_STORE_STATCTR_FIXED_H
#define STAPWATCH_STORE_STATCTR_FIXED_H

#include "store/statctr_block.h"

#if !defined(STATCTR_FLEXIBLE) && !defined(STATCTR_UP)

static inline size_t statctr_block_size(void)
{
	return (size_t)STATCTR_STRIDE * statctr_nr_cpus();
}

static inline void statctr_block_destroy(struct statctr_block *b)
{
	statctr_block_free(b->chunks, statctr_block_size());
	statctr_meta_free(b, sizeof(*b));
}

static inline struct statctr_block *
statctr_block_create(int flag __maybe_unused)
{
	struct statctr_block *b = statctr_meta_alloc(sizeof(*b), flag);

	if (!b)
		return NULL;
	b->chunks = statctr_block_alloc(statctr_block_size(), flag);
	if (!b->chunks) {
		statctr_meta_free(b, sizeof(*b));
		return NULL;
	}
	return b;
}

static inline pcpu_ctr_t *
statctr_block_ctr(struct statctr_block *b, int flag __maybe_unused)
{
	pcpu_ctr_t *ctr = (pcpu_ctr_t *)(b->chunks +
				statctr_offset(statctr_block_take(b)));
	unsigned int cpu;

	/* who had it before has left its count there */
	for (cpu = 0; cpu < statctr_nr_cpus(); cpu++)
		WRITE_ONCE(*PCPU_CTR(ctr, cpu), 0);
	return ctr;
}

static inline struct statctr_block **statctr_ctr_unblock(pcpu_ctr_t *ctr)
{
	struct statctr_block **at = &statctr_blocks;
	size_t offset;

	/* CPU 0's word is in the first of the block's chunks */
	while ((offset = (size_t)ctr - (size_t)(*at)->chunks) >= STATCTR_STRIDE)
		at = &(*at)->next;
	statctr_block_give(*at, (offset - STATCTR_FIRST) /
				sizeof(unsigned long));
	return at;
}

static inline int statctr_cpu_up(unsigned int cpu __maybe_unused)
{
	return 0;
}

static inline int statctr_cpu_down(unsigned int cpu __maybe_unused)
{
	return 0;
}

#endif

#endif
