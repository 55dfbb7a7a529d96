/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flexible allocator: a CPU has memory from when it first comes up, and a
 * counter has a pointer to the word of each.  It is taken with STATCTR_FLEXIBLE.
 *
 *   statctr_cpu_up, _down	sleepable, with that CPU stopped
 *   the others			sleepable, under statctr_lock()
 */
#ifndef STAPWATCH_STORE_STATCTR_FLEXIBLE_H
#define STAPWATCH_STORE_STATCTR_FLEXIBLE_H

#include "store/statctr_block.h"

#if defined(STATCTR_FLEXIBLE) && !defined(STATCTR_UP)

/* CPUs that new blocks have chunks for; under statctr_lock(). */
static u64 statctr_up[(STATCTR_NR_CPUS + 63) / 64];

static inline bool statctr_is_up(unsigned int cpu)
{
#ifndef __KERNEL__
	if (cpu == STATCTR_SHARED)
		return true;
#endif
	return statctr_up[cpu / 64] >> cpu % 64 & 1;
}

static inline size_t statctr_block_size(void)
{
	return offsetof(struct statctr_block, chunk) +
	       statctr_nr_cpus() * sizeof(char *);
}

static inline size_t statctr_ctr_size(void)
{
	return offsetof(pcpu_ctr_t, arr) +
	       statctr_nr_cpus() * sizeof(unsigned long *);
}

/* A block that is in no list, without what uses it. */
static inline void statctr_block_destroy(struct statctr_block *b)
{
	unsigned int cpu;

	for (cpu = 0; cpu < statctr_nr_cpus(); cpu++)
		if (b->chunk[cpu])
			statctr_block_free(b->chunk[cpu], STATCTR_STRIDE);
	statctr_meta_free(b, statctr_block_size());
}

static inline struct statctr_block *
statctr_block_create(int flag __maybe_unused)
{
	struct statctr_block *b = statctr_meta_alloc(statctr_block_size(),
						     flag);
	unsigned int cpu;

	if (!b)
		return NULL;
	for (cpu = 0; cpu < statctr_nr_cpus(); cpu++) {
		if (!statctr_is_up(cpu))
			continue;
		b->chunk[cpu] = statctr_block_alloc(STATCTR_STRIDE, flag);
		if (!b->chunk[cpu]) {
			statctr_block_destroy(b);
			return NULL;
		}
	}
	return b;
}

static inline pcpu_ctr_t *
statctr_block_ctr(struct statctr_block *b, int flag __maybe_unused)
{
	pcpu_ctr_t *ctr = statctr_meta_alloc(statctr_ctr_size(), flag);
	unsigned int cpu;

	if (!ctr)
		return NULL;
	ctr->blkp = b;
	ctr->index = statctr_block_take(b);
	b->ctr[ctr->index] = ctr;
	for (cpu = 0; cpu < statctr_nr_cpus(); cpu++) {
		if (!b->chunk[cpu])
			continue;
		ctr->arr[cpu] = (unsigned long *)(b->chunk[cpu] +
						  statctr_offset(ctr->index));
		/* who had it before has left its count there */
		WRITE_ONCE(*ctr->arr[cpu], 0);
	}
	return ctr;
}

/* The link to the block that a counter is in, which is then without it. */
static inline struct statctr_block **statctr_ctr_unblock(pcpu_ctr_t *ctr)
{
	struct statctr_block **at = &statctr_blocks;

	while (*at != ctr->blkp)
		at = &(*at)->next;
	(*at)->ctr[ctr->index] = NULL;
	statctr_block_give(*at, ctr->index);
	statctr_meta_free(ctr, statctr_ctr_size());
	return at;
}

/**
 * statctr_cpu_up - a CPU is about to run
 * @cpu: its number
 *
 * All counters get a word for it, unless they have one from an earlier time.
 * Only flexible counters need this call, for each CPU there is, before it
 * updates any: the callbacks of a PREPARE state of CPU hotplug are these two
 * functions.  User space calls them itself as threads come and go.
 *
 * Context: sleepable.
 * Return: 0; -ENOMEM or -EINVAL, when the CPU must not update counters.
 */
static inline int statctr_cpu_up(unsigned int cpu)
{
	struct statctr_block *b;
	unsigned int i;
	int rc = 0;

	if (cpu >= statctr_nr_cpus())
		return -EINVAL;
	statctr_lock();
	for (b = statctr_blocks; b; b = b->next) {
		if (b->chunk[cpu])
			continue;
		b->chunk[cpu] = statctr_block_alloc(STATCTR_STRIDE,
						    STATCTR_FLAG);
		if (!b->chunk[cpu]) {
			rc = -ENOMEM;
			break;
		}
		for (i = 0; i < STATCTR_PER_CHUNK; i++)
			/* with smp_load_acquire() in statctr_read(), which
			 * must find the new word zeroed */
			if (b->ctr[i])
				smp_store_release(&b->ctr[i]->arr[cpu],
					(unsigned long *)(b->chunk[cpu] +
							  statctr_offset(i)));
	}
	if (!rc)
		statctr_up[cpu / 64] |= 1ULL << cpu % 64;
	statctr_unlock();
	return rc;
}

/**
 * statctr_cpu_down - a CPU has stopped running
 * @cpu: its number
 *
 * What it has counted stays in the sum, and in its words, which it finds again
 * should it come back.  Counters in new blocks have none for it.
 *
 * Context: sleepable.
 * Return: 0
 */
static inline int statctr_cpu_down(unsigned int cpu)
{
	statctr_lock();
	statctr_up[cpu / 64] &= ~(1ULL << cpu % 64);
	statctr_unlock();
	return 0;
}

#endif

#endif
