/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one clock of several traces, by their heads.
 *
 * Records have times of the kernel's monotonic clock, which begins anew at each boot and
 * stands still while a machine sleeps.  Traces of one boot have it in common as it is.
 * For others a head has the wall clock at the same moment, so that the difference of the
 * two is how far one clock is from the other.
 */
#ifndef STAPWATCH_ALIGN_H
#define STAPWATCH_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "trace/abi.h"

#define ALIGN_TRACES 16		/* at most; each may hold ORDER_HELD while it is read */

/* What is known of a trace, and what it gets. */
struct aligned {
	const char *name;
	const struct sw_trace_head *head;
	uint32_t boot;		/* the same for traces of one boot, from 0 */
	int64_t shift;		/* its times and this are those of the common clock */
};

/**
 * align - find one clock for traces
 * @all: up to ALIGN_TRACES, which are to be in one report
 * @first: gets which of them began first: the common clock is this one's
 * @nr_boots: gets how many boots they are of
 * @why: gets which of them cannot be had with the others, and why
 *
 * Return: 0, or -1
 */
int align(struct aligned *all, size_t nr, size_t *first, uint32_t *nr_boots,
	  struct buf *why);

/** align_time - a time of a trace's, by the common clock */
static inline uint64_t align_time(int64_t shift, uint64_t time)
{
	/* what a damaged record says may be at either end */
	if (shift < 0)
		return time > -(uint64_t)shift ? time + shift : 0;
	return time < UINT64_MAX - shift ? time + shift : UINT64_MAX;
}

#endif
