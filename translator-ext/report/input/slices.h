/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CPUs say in a timeline, in the order of time, and where they say nothing.
 *
 * The stream is hostile: a told switch has run no longer than there was time, and
 * more than that it does not promise.
 */
#ifndef STAPWATCH_SLICES_H
#define STAPWATCH_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/input/trace_read.h"

/* What a CPU said, at a time of its own. */
struct told {
	uint64_t time;
	uint64_t dt;
	uint64_t system, irq, soft, ready;
	uint64_t words[2]; /* of one that was born, or its name */
	size_t order;
	uint32_t tid; /* who comes, or is meant */
	uint32_t prev; /* who goes */
	uint32_t waker;
	uint32_t cpu;
	uint16_t call;
	uint8_t part;
	uint8_t flags;
};

/* How far a CPU's stream is read. */
struct slices_cpu {
	bool known;
	uint64_t time;
	uint32_t tid;
	uint64_t taken, lost;
	bool ended;
};

/* Between these ticks a CPU does not say what it did. */
struct gap {
	uint64_t from, to;
	int32_t cpu; /* that lost slices, or was off; -1: records are
				 * missing */
};

/* { 0 } is empty. */
struct slices {
	struct slices_cpu *cpus;
	size_t nr_cpus;
	struct told *told;
	size_t nr_told, size_told;
	struct gap *gaps;
	size_t nr_gaps, size_gaps;
	uint64_t damaged; /* records with what is no slice */
};

/** slices_record - take what a record tells, in the order of the stream */
void slices_record(struct slices *s, const struct sw_trace_slices *r);

/** slices_end - the end of a CPU */
void slices_end(struct slices *s, const struct sw_trace_slices_end *r);

/** slices_order - all has been taken: put it in the order of time */
void slices_order(struct slices *s);

/** slices_have_gap - was something missed between two ticks, of any CPU? */
bool slices_have_gap(const struct slices *s, uint64_t from, uint64_t to);
void slices_free(struct slices *s);

#endif
