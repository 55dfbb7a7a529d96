/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The branches that samples carry, aggregated as they are read: those that are
 * alike in where they led from and to, and in what else is wanted of them, are
 * one.
 */
#ifndef STAPWATCH_BRANCHES_H
#define STAPWATCH_BRANCHES_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "report/input/proc_maps.h"
#include "trace/abi.h"

struct branch_end {
	uint32_t image;
	uint32_t pad;
	uint64_t offset;
};

/* The first five are 0 where they are not wanted. */
struct branch_key {
	uint32_t comm;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t event;
	uint32_t trace;		/* its number, in any case */
	struct branch_end from;
	struct branch_end to;
};

struct branch_counts {
	uint64_t taken;
	uint64_t predicted;	/* these two only where the PMU tells */
	uint64_t mispredicted;
	uint64_t timed;		/* of so many it told the cycles */
	uint64_t cycles;	/* since the branch before, their sum */
};

/* Of an event. */
struct branch_total {
	uint64_t samples;	/* that have branches */
	uint64_t without;
	uint64_t branches;
};

/* { 0 } is empty. */
struct branches {
	struct intern keys;	/* struct branch_key */
	struct branch_counts *counts;
	size_t size;
	struct branch_total *totals;	/* by event */
	size_t nr_totals;
};

/**
 * branches_add - those of a sample
 * @like: what they have in common
 * @list: the sample's; need not be aligned
 */
void branches_add(struct branches *b, struct procs *procs,
		  const struct sw_trace_sample *sample,
		  const struct branch_key *like, const void *list);
void branches_free(struct branches *b);

#endif
