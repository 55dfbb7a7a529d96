/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trace lacks, by what its CPUs say of themselves: gaps in their
 * numbers, the counts of their ends, ends that are not there.
 */
#ifndef STAPWATCH_LOSS_H
#define STAPWATCH_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/warnings.h"
#include "report/input/trace_read.h"

struct loss_cpu {
	bool seen;
	bool ended;
	uint32_t next;		/* the number that its next record has */
	uint64_t samples;	/* that were read */
	uint64_t missing;	/* records between those that were read */
	struct sw_trace_end end;
};

/* { 0 } is one that knows nothing yet. */
struct loss {
	struct loss_cpu *cpus;
	size_t nr;
	uint64_t late;		/* records older than their round allows */
};

/** loss_record - a record that was read, in the order of the stream */
void loss_record(struct loss *l, const struct sw_trace_record *r);
void loss_free(struct loss *l);

struct loss_sum {
	uint64_t taken;		/* by all CPUs; 0 if one has no end */
	uint64_t read;		/* samples */
	uint64_t lost;		/* by the probe module: it says so itself */
	uint64_t missing;	/* samples written that were not read */
};

/** loss_sum - how many samples there were, and how many are here */
struct loss_sum loss_sum(const struct loss *l);

/** loss_ended - has each CPU that was seen an end? */
bool loss_ended(const struct loss *l);

/** loss_samples - how many samples there were, as far as anybody knows */
uint64_t loss_samples(const struct loss_sum *sum);

/**
 * loss_say - a warning for each way in which something is missing
 * @name: what the trace is called
 */
void loss_say(const struct loss *l, const struct trace_skipped *skipped,
	      const char *name, struct warnings *w);

#endif
