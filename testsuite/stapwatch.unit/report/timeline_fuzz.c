/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace as a timeline: its slices, and no output.  report_fuzz.c has those.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE
#include "input.h"
#include "reading.h"
#include "trace_words.h"
#include "../cost.h"
#include "../executions.h"

/* A buffer, and tables of CPUs, whose numbers have 16 bits. */
#define FIRST (16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = input_path(data, size);
	struct buf why = { 0 };
	struct timeline *t = NULL;
	struct trace *trace;

	cost_begin();
	trace = trace_open(path, &why);
	if (trace)
		t = timeline_read(trace, path, 0, &why);
	ensure(!t == !!why.len);
	if (t) {
		check_slices(t);
		timeline_free(t);
	}
	if (trace)
		trace_close(trace);
	free(why.s);
	cost_end(size, FIRST);
	executions_add();
	return 0;
}
