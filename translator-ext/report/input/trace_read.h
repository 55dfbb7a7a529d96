/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a trace, in the order in which they stand in the stream.
 *
 * The stream is hostile until it is looked at: what trace_next() returns has a
 * size that its type can have, text that ends, arrays that fit, a CPU that the
 * head knows.  What is in between is skipped, and counted.
 */
#ifndef STAPWATCH_TRACE_READ_H
#define STAPWATCH_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "trace/abi.h"

struct trace;

struct trace_skipped {
	uint64_t read;		/* bytes, of which: */
	uint64_t bytes;		/* of no record */
	uint64_t places;	/* how often something stood in between */
	uint64_t damaged;	/* of these: a mark, but no record after it */
	uint64_t unknown;	/* records of a type that is not known here */
	bool cut;		/* the stream ended within a record */
	bool second;		/* another trace began, which was not read */
	int error;		/* reading ended with this errno */
};

/**
 * trace_open - begin to read a trace, up to its head
 * @path: a file, or "-" for stdin
 * @why: what is wrong if this is none: a line without its end
 *
 * Return: NULL if it cannot be read or is no trace
 */
struct trace *trace_open(const char *path, struct buf *why);
void trace_close(struct trace *t);

/** trace_head - what the trace began with, the kernel's release too */
const struct sw_trace_head *trace_head(const struct trace *t);

/**
 * trace_next - the next record, valid until the one after it is asked for
 *
 * Return: NULL at the end
 */
const struct sw_trace_record *trace_next(struct trace *t);

/** trace_skipped - what was no record, so far */
const struct trace_skipped *trace_skipped(const struct trace *t);

/** trace_permille - how much has been read; -1 if nobody knows of how much */
int trace_permille(const struct trace *t);

#endif
