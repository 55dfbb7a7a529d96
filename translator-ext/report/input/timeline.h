/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace's timeline: what each CPU did, and what each thread did, as slices without
 * holes between them.
 *
 * A thread's slices sum to what precise accounting says of it, to the tick.  Both
 * are in the trace, so this is looked at here; where slices were lost a thread's time
 * is unknown, and its sums are not compared.
 *
 * Slices are known when they end and are told by their beginnings: those that memory
 * has no room for are on disk meanwhile.
 */
#ifndef STAPWATCH_TIMELINE_H
#define STAPWATCH_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sorter.h"
#include "ppa/abi.h"
#include "report/input/loss.h"
#include "report/input/marks.h"
#include "report/input/span.h"
#include "report/input/trace_read.h"

/* What a slice is of, beside a part of those that are not on a CPU. */
#define TIMELINE_RUN 254
#define TIMELINE_IDLE 255

#define TIMELINE_NONE UINT32_MAX

/* From one tick to another; `from' is what they are sorted by. */
struct timeline_slice {
	uint64_t from, to;
	uint32_t thread; /* its number; TIMELINE_NONE: a CPU's idle time */
	int32_t cpu; /* -1: on none */
	uint8_t part; /* enum ppa_part, or TIMELINE_... */
	uint16_t call; /* that the thread was in when it went */
	uint32_t waker; /* of one that was woken: a thread's number */
	uint32_t woken_by; /* ... or SW_SLICE_BY_...; 0: not known */
	/* of one on a CPU; the rest is user mode's, or idle */
	uint64_t system, irq, soft;
};

/* What a slice that is on a CPU is neither in the kernel nor in interrupts. */
static inline uint64_t timeline_rest(const struct timeline_slice *s)
{
	return s->to - s->from - s->system - s->irq - s->soft;
}

struct timeline_thread {
	uint32_t tid, pid;
	char name[16];
	uint64_t born;
	bool checked; /* its sums could be compared */
};

/* Which slices are wanted; NULL or -1: all. */
struct timeline_filter {
	const char *comm; /* a pattern of fnmatch(3) */
	int64_t pid;
	int64_t tid;
	int64_t cpu;
	struct span span; /* they are partly in it */
	uint64_t zero; /* of which it is told: the first slice of all timelines */
	struct spans spans; /* timeline_filter_marks() fills it */
};

/* So many ticks are so many nanoseconds. */
struct timeline_rate {
	uint64_t ticks, ns;
};

struct timeline {
	const char *name; /* what the trace is called */
	int64_t shift; /* see align_time() */
	uint32_t boot; /* the same for timelines of one boot */
	uint32_t machine; /* ELF's e_machine */
	uint64_t hz;
	uint64_t tick, time; /* a moment in ticks, and in ns of the clock of all traces */
	struct timeline_rate rate; /* from then on, and before */
	bool is_joined; /* timeline_join_clocks() has been here */
	uint64_t begin; /* the first tick that is told of */
	struct timeline_thread *threads;
	size_t nr_threads, size_threads;
	struct sorter slices; /* what timeline_next() tells */
	uint64_t checked; /* threads whose slices are their accounting */
	uint64_t differ; /* ... and are not */
	uint64_t unchecked; /* those of which slices were lost */
	uint64_t taken, lost; /* slices */
	uint64_t damaged; /* records with what is no slice */
	struct marks marks; /* in the order of time */
	struct loss loss;
	struct trace_skipped skipped;
};

/**
 * timeline_read - read a trace's timeline
 * @trace: is read to its end, and stays open
 * @name: what it is called
 * @shift: its times and this are those of the clock of all traces
 * @why: what is wrong if there is none: a line without its end
 *
 * Return: to be freed by timeline_free(); NULL if there is none
 */
struct timeline *timeline_read(struct trace *trace, const char *name,
			       int64_t shift, struct buf *why);
void timeline_free(struct timeline *t);

/**
 * timeline_next - the next slice, in the order of their beginnings
 *
 * Valid until the next call.
 *
 * Return: NULL at the end, and after an error, which slices.spool tells
 */
const struct timeline_slice *timeline_next(struct timeline *t);

/**
 * timeline_join_clocks - have timelines of one boot told by one clock
 *
 * The kernel finds the length of a tick when it boots.  Its clock is corrected later, for
 * example by 50 ppm, which is 180 ms in an hour.  If each timeline were told from its own
 * beginning, ticks of one counter would not stay in their order.
 */
void timeline_join_clocks(struct timeline *const *all, size_t nr);

/**
 * timeline_filter_marks - where the marks of the filter's span are
 * @all: the timelines that are shown together; the filter's zero is of these, too
 *
 * spans_free() lets go of that.
 */
void timeline_filter_marks(struct timeline *const *all, size_t nr,
			   struct timeline_filter *filter);

/** timeline_wants_mark - is a mark what the filter asks for? */
bool timeline_wants_mark(const struct timeline_filter *filter,
			 const struct mark *m);

/** timeline_wants - is a slice what the filter asks for? */
bool timeline_wants(const struct timeline *t,
		    const struct timeline_filter *filter,
		    const struct timeline_slice *s);

/** timeline_ns - a tick as nanoseconds of the clock of all traces */
uint64_t timeline_ns(const struct timeline *t, uint64_t tick);

#endif
