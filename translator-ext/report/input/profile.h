/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces, aggregated as they are read: samples that are alike in what is wanted
 * of them are one cell.  Nothing is symbolised yet.  How much memory it takes
 * depends on how many cells there are, not on how many samples.
 *
 * Several traces are read as one, in the order of one clock (align.h).  Events and
 * counts of the same name are one then; processes, maps, stacks and losses are each
 * trace's own.
 */
#ifndef STAPWATCH_PROFILE_H
#define STAPWATCH_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/intern.h"
#include "report/input/branches.h"
#include "report/input/images.h"
#include "report/input/loss.h"
#include "report/input/marks.h"
#include "report/input/proc_maps.h"
#include "report/input/span.h"
#include "report/input/stat.h"

/* In what samples have to be alike; the event they always have. */
#define PROFILE_COMM 1
#define PROFILE_PID 2
#define PROFILE_TID 4
#define PROFILE_CPU 8
#define PROFILE_IP 16
#define PROFILE_STACK 32
#define PROFILE_ADDR 64
#define PROFILE_DATA_SRC 128
#define PROFILE_BRANCHES 256	/* those are wanted, too */
#define PROFILE_EACH 512	/* so is each sample, and each mark */
#define PROFILE_WALL 1024	/* of threads' time on CPUs and off them alone, which is
				 * one event then */
#define PROFILE_WAIT 2048	/* enum profile_wait, which cells differ in anyway */
#define PROFILE_TRACE 4096	/* whose it is, which cells differ in anyway */

/* Whether a sample is of a wait, and how that stood when the session ended. */
enum profile_wait {
	PROFILE_NO_WAIT,
	PROFILE_WAIT_ENDED,
	PROFILE_WAIT_OPEN,
	PROFILE_WAIT_THROUGHOUT,	/* nor had it begun in the session */
};

/* Which samples are wanted, and of what traces; NULL or -1: all. */
struct profile_filter {
	/* of the first trace and of one of another boot: may both be read? 0, or -1 after a
	 * message */
	int (*of_boots)(const void *arg, const char *first, const char *other);
	const void *of_boots_arg;
	const char *comm;	/* a pattern of fnmatch(3) */
	const char *event;	/* the same */
	int64_t pid;
	int64_t tid;
	int64_t cpu;
	struct span span;
};

/* The number of a stack that was not kept. */
#define PROFILE_STACK_LOST UINT32_MAX

struct cell_key {
	uint32_t comm;		/* a number of the texts */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t event;
	uint32_t image;		/* where it was, and what it calls that */
	uint64_t offset;
	uint32_t space;		/* what ustack's addresses mean */
	uint32_t kstack;
	uint32_t ustack;
	uint32_t in_user;	/* ustack, not kstack, begins there */
	uint16_t has;		/* which of these two: SW_TRACE_HAS_... */
	uint16_t trace;		/* its number */
	uint32_t modules;	/* what kstack's addresses mean */
	uint16_t idle;		/* the thread that a CPU has when it has none */
	uint8_t off;		/* the place is no place but a mark: it was on no CPU */
	uint8_t wait;		/* enum profile_wait */
	uint32_t frame;		/* of what is inlined there; in all cells 0, the innermost */
	uint64_t addr;
	uint64_t data_src;
};

struct cell {
	uint64_t samples;
	uint64_t events;	/* the sum of their periods */
	uint32_t nr_stats;	/* of its trace's values: the latency, and then counts */
	struct stat_values *stats;
};

/* One of them, of PROFILE_EACH. */
struct profile_sample {
	uint64_t time;		/* by the clock of all traces */
	uint64_t period;
	uint32_t cell;
	uint32_t nr_values;	/* its trace's, as a cell's; UINT64_MAX: none */
	size_t values;		/* where the first of them is in the profile's */
};

struct profile_event {
	const char *name;	/* NULL: no record named it */
	uint32_t flags;
	uint64_t every;		/* 0: not known, or traces differ in it */
	bool is_wall;		/* not one of the trace's, but both of PROFILE_WALL */
};

struct profile_stack {
	uint64_t *ip;		/* NULL: no record has it */
	uint32_t nr;
	uint32_t flags;
};

/* What each trace has of its own. */
struct profile_trace {
	const char *name;	/* what the trace is called */
	struct sw_trace_head *head;	/* with the kernel's release */
	uint32_t boot;		/* the same for traces of one boot, from 0 */
	/* the profile's numbers of its values, and the reverse; 0: the latency, or none */
	uint8_t values[UINT8_MAX + 1];
	uint8_t own_values[UINT8_MAX + 1];
	struct procs *procs;
	bool has_on_cpu, has_off_cpu; /* of time there, of PROFILE_WALL */
	uint64_t no_stack;	/* samples that have one that is not there */
	uint64_t no_period;	/* samples whose would have been too much */
	uint64_t with_branches, without_branches; /* samples, of PROFILE_BRANCHES */
	bool has_timeline;	/* besides samples, or in their place */
	uint64_t slices;	/* of it, that CPUs told of at their ends */
	uint64_t notes;		/* marks, also those that are not wanted */
	struct loss loss;
	struct trace_skipped skipped;
};

struct profile {
	const char *name;	/* what the traces are called, with commas */
	struct profile_trace *traces;	/* as they were named */
	size_t nr_traces;
	uint32_t nr_boots;	/* that they are of */
	const struct sw_trace_head *first;	/* of the one that began first */
	struct intern texts;
	struct images images;
	struct profile_event *events;
	size_t nr_events;
	const char **counts;	/* names, NULL without one */
	size_t nr_counts;
	struct intern stack_numbers;	/* a trace's, and its own */
	struct profile_stack *stacks;
	size_t size_stacks;
	struct intern keys;	/* struct cell_key */
	struct cell *cells;
	size_t size_cells;
	struct branches branches;
	struct spans spans;
	struct marks marks;	/* those that are wanted */
	struct profile_sample *each; /* in the order of time */
	size_t nr_each, size_each;
	uint64_t *values;
	size_t nr_values, size_values;	/* no more than traces have, whatever others have */
	uint64_t periods;	/* of all samples: no sum of theirs overflows */
};

/**
 * profile_read - read traces to their ends
 * @paths: files, of which one may be "-" for stdin
 * @nr: up to ALIGN_TRACES
 * @fields: PROFILE_..., in what cells differ
 * @why: what is wrong if one is no trace, or not to be had with the others: a line
 *	without its end; nothing after the filter's message
 *
 * Return: to be freed by profile_free(); NULL after something went wrong
 */
struct profile *profile_read(const char *const *paths, size_t nr,
			     unsigned int fields,
			     const struct profile_filter *filter,
			     struct buf *why);
void profile_free(struct profile *p);

static inline const struct cell_key *profile_key(const struct profile *p,
						 uint32_t cell)
{
	return p->keys.keys[cell].key;
}

/** profile_stack - a trace's stack by its number; NULL if the trace has it not */
const struct profile_stack *profile_stack(const struct profile *p,
					  uint32_t trace, uint32_t number);

/** profile_value_of - what a cell's trace calls one of its values, in the profile's numbers */
static inline uint8_t profile_value_of(const struct profile *p, uint32_t cell,
				       uint32_t own)
{
	return p->traces[profile_key(p, cell)->trace].values[own];
}

/** profile_sample_value - what a sample has of a value; UINT64_MAX: nothing */
uint64_t profile_sample_value(const struct profile *p,
			      const struct profile_sample *s, uint32_t value);

/** profile_samples - how many were read, of all traces */
uint64_t profile_samples(const struct profile *p);

/** profile_event_name - what an event is called */
const char *profile_event_name(struct profile *p, uint32_t event);

/** profile_is_time - are an event's periods nanoseconds? */
bool profile_is_time(const struct profile *p, uint32_t event);

/** profile_has_waits - are an event's samples waits, alone or with time on CPUs? */
bool profile_has_waits(const struct profile *p, uint32_t event);

/** profile_value_name - what samples carry is called; no two values have one name */
const char *profile_value_name(struct profile *p, uint32_t value);

#endif
