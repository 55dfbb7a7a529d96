/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters with memory that is counted, and that runs out when asked to.
 */
#ifndef STATCTR_TEST_HOOKS_H
#define STATCTR_TEST_HOOKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t hooks_mutex = PTHREAD_MUTEX_INITIALIZER;
static long hooks_calls;	/* so far */
static long hooks_fail;		/* the call that fails; 0: none, -1: all */
static long hooks_live, hooks_live_blocks, hooks_live_bytes;

static void *hooks_alloc(size_t align, size_t size, bool block)
{
	void *p = NULL;

	pthread_mutex_lock(&hooks_mutex);
	if (++hooks_calls != hooks_fail && hooks_fail != -1) {
		/* exactly so much, for ASan to see what is beyond */
		p = aligned_alloc(align, size);
		if (!p)
			abort();
		memset(p, 0, size);
		hooks_live++;
		hooks_live_blocks += block;
		hooks_live_bytes += size;
	}
	pthread_mutex_unlock(&hooks_mutex);
	return p;
}

static void hooks_free(void *p, size_t size, bool block)
{
	if (!p)
		return;
	pthread_mutex_lock(&hooks_mutex);
	hooks_live--;
	hooks_live_blocks -= block;
	hooks_live_bytes -= size;
	pthread_mutex_unlock(&hooks_mutex);
	free(p);
}

#define statctr_block_alloc(size, flag)					\
	hooks_alloc(STATCTR_STRIDE, size, true)
#define statctr_block_free(block, size) hooks_free(block, size, true)
#define statctr_meta_alloc(size, flag) hooks_alloc(8, size, false)
#define statctr_meta_free(p, size) hooks_free(p, size, false)

#include "store/statctr.h"

#endif
