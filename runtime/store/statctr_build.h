/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What statctr.h is built on, in a kernel and in user space: CPUs' numbers, memory
 * and a lock.  What of it the build can choose stands at the top of statctr.h.
 */
#ifndef STAPWATCH_STORE_STATCTR_BUILD_H
#define STAPWATCH_STORE_STATCTR_BUILD_H

#include "base/compat.h"

#ifdef __KERNEL__

#include <asm/local.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>

#if !defined(CONFIG_SMP) && !defined(STATCTR_UP)
#define STATCTR_UP
#endif

#ifndef statctr_meta_alloc
#define statctr_meta_alloc(size, flag)					\
	kvzalloc(size, (__force gfp_t)(flag))
#define statctr_meta_free(p, size) kvfree(p)
#endif
#define STATCTR_FLAG ((__force int)GFP_KERNEL)

#else

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef statctr_meta_alloc
#define statctr_meta_alloc(size, flag) calloc(1, size)
#define statctr_meta_free(p, size) free(p)
#endif
#define STATCTR_FLAG 0

#endif

#ifndef STATCTR_UP

#ifdef __KERNEL__

#ifndef STATCTR_STRIDE
#define STATCTR_STRIDE SMP_CACHE_BYTES
#endif

/* the highest number there may ever be, plus 1; and where a bitmap ends */
#define statctr_nr_cpus() nr_cpu_ids
#define STATCTR_NR_CPUS NR_CPUS

#ifndef statctr_block_alloc
/* only a power of two comes aligned to itself */
#define statctr_block_alloc(size, flag)					\
	kvzalloc(roundup_pow_of_two(size), (__force gfp_t)(flag))
#define statctr_block_free(block, size) kvfree(block)
#endif

#ifndef statctr_lock
static DEFINE_MUTEX(statctr_mutex);
#define statctr_lock() mutex_lock(&statctr_mutex)
#define statctr_unlock() mutex_unlock(&statctr_mutex)
#endif

#else

#include <pthread.h>

#ifndef STATCTR_STRIDE
#define STATCTR_STRIDE 64
#endif
#ifndef STATCTR_MAX_THREADS
#define STATCTR_MAX_THREADS 128
#endif

#define statctr_nr_cpus() STATCTR_MAX_THREADS
#define STATCTR_NR_CPUS STATCTR_MAX_THREADS
/* whose word is anybody's, by atomic additions */
#define STATCTR_SHARED (STATCTR_MAX_THREADS - 1U)

_Static_assert(STATCTR_MAX_THREADS > 1, "one is the shared one");

#ifndef statctr_block_alloc
static inline void *statctr_aligned_zeroed(size_t size)
{
	void *p = aligned_alloc(STATCTR_STRIDE, size);

	return p ? memset(p, 0, size) : NULL;
}
#define statctr_block_alloc(size, flag) statctr_aligned_zeroed(size)
#define statctr_block_free(block, size) free(block)
#endif

#ifndef statctr_lock
static pthread_mutex_t statctr_mutex = PTHREAD_MUTEX_INITIALIZER;
#define statctr_lock() pthread_mutex_lock(&statctr_mutex)
#define statctr_unlock() pthread_mutex_unlock(&statctr_mutex)
#endif

#endif

#ifndef STATCTR_FIRST
#define STATCTR_FIRST 0
#endif

/* Counters whose words for one CPU stand together. */
#define STATCTR_PER_CHUNK						\
	((STATCTR_STRIDE - STATCTR_FIRST) / sizeof(unsigned long))

_Static_assert(!(STATCTR_STRIDE & (STATCTR_STRIDE - 1)), "power of two");
_Static_assert(STATCTR_FIRST % sizeof(unsigned long) == 0, "aligned");
_Static_assert(STATCTR_FIRST < STATCTR_STRIDE, "room for a counter");

#endif /* STATCTR_UP */

#endif
