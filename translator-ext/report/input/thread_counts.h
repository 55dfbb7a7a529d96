/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts that samples have of a thread as it had counted so far (SW_TRACE_HAS_THREAD): what
 * is between two of them, of one event.
 */
#ifndef STAPWATCH_THREAD_COUNTS_H
#define STAPWATCH_THREAD_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "trace/abi.h"

/* { 0 } is empty. */
struct thread_counts {
	struct intern keys;		/* an event's number, a thread's */
	struct thread_counts_last {
		uint32_t holes;		/* the lower half of the sample's word */
		uint32_t nr;
		uint64_t *counts;	/* UINT64_MAX: not known */
	} *last;
	size_t size;
	uint64_t since[UINT8_MAX];
};

/**
 * thread_counts_since - what a sample's thread has counted since the sample before
 * @stretch: the sample's word
 * @counts: as many as it has
 *
 * Return: as many, UINT64_MAX where there is none; up to the next call
 */
const uint64_t *thread_counts_since(struct thread_counts *t,
				    const struct sw_trace_sample *s,
				    uint64_t stretch, const uint64_t *counts);

void thread_counts_free(struct thread_counts *t);

#endif
