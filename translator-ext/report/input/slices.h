/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CPUs say in a timeline, in the order of time, and where they say nothing.
 *
 * A CPU's slices are in order, and those of all CPUs are not: they are kept as they
 * stand in the trace, on disk if they are many, and merged when all of them are there.
 *
 * The stream is hostile.  The only guarantee: a slice is never longer than the time
 * since the switch before it.
 */
#ifndef STAPWATCH_SLICES_H
#define STAPWATCH_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/spool.h"
#include "report/input/trace_read.h"

/* What a CPU said, at a time of its own. */
struct told {
	uint64_t time;
	uint64_t dt;
	uint64_t system, irq, soft, ready;
	uint64_t words[2]; /* of one that was born, or its name */
	uint32_t tid; /* who comes, or is meant */
	uint32_t prev; /* who goes */
	uint32_t waker;
	uint32_t cpu;
	uint16_t call;
	uint8_t part;
	uint8_t flags;
};

struct slices_stream;

/* Between these ticks a CPU does not say what it did. */
struct gap {
	uint64_t from, to;
	int32_t cpu; /* that lost slices, or was off; -1: records are
				 * missing */
};

/* slices_init() makes one. */
struct slices {
	/* by CPU; NULL: nothing of it was in the trace */
	struct slices_stream **cpus;
	size_t nr_cpus;
	struct spool spool; /* their records */
	uint32_t records; /* so far; wraps */
	struct gap *gaps;
	size_t nr_gaps, size_gaps;
	struct heap heap; /* CPUs, by what each tells next */
	struct told told; /* by slices_next() */
	uint64_t nr_told; /* there are so many */
	/* where the first of them began; UINT64_MAX: none is.  A CPU may have been idle for
	 * long before: of that as much as it was in interrupts. */
	uint64_t oldest;
	uint64_t damaged; /* records with what is no slice */
	uint64_t taken, lost; /* slices */
};

void slices_init(struct slices *s);
void slices_free(struct slices *s);

/** slices_record - take what a record tells, in the order of the stream */
void slices_record(struct slices *s, const struct sw_trace_slices *r);

/** slices_end - the end of a CPU */
void slices_end(struct slices *s, const struct sw_trace_slices_end *r);

/** slices_order - all has been taken: slices_next() and slices_have_gap() tell it */
void slices_order(struct slices *s);

/**
 * slices_next - what a CPU tells, in the order of time
 *
 * Valid until the next call.
 *
 * Return: NULL at the end, and after an error, which spool.error tells
 */
const struct told *slices_next(struct slices *s);

/** slices_have_gap - was something missed between two ticks, of any CPU? */
bool slices_have_gap(const struct slices *s, uint64_t from, uint64_t to);

#endif
