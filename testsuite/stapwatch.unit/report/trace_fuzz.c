/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace's records in the order of time: each is where it says, and what was no
 * record is counted.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE
#include "report/input/trace_order.h"
#include "input.h"
#include "trace_words.h"
#include "../cost.h"
#include "../executions.h"

/* A buffer, and a table of CPUs, whose numbers have 16 bits. */
#define FIRST (16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct trace *t, size_t size, FILE *null)
{
	const struct trace_skipped *skipped = trace_skipped(t);
	const struct sw_trace_record *r;
	uint64_t bytes = trace_head(t)->r.size, samples = 0;
	struct warnings warnings = { 0 };
	struct loss loss = { 0 };
	struct order *o;

	o = order_new(t, &loss);
	while ((r = order_next(o))) {
		ensure(r->type && r->type <= SW_TRACE_NOTE);
		ensure(r->cpu < trace_head(t)->nr_cpus);
		samples += r->type == SW_TRACE_SAMPLE;
		bytes += r->size;
	}
	/* what came too late is left out, and counted */
	ensure(samples <= loss_sum(&loss).read);
	ensure(bytes + skipped->bytes <= size);
	ensure(skipped->places <= skipped->bytes);
	loss_say(&loss, skipped, "fuzz", &warnings);
	warnings_print(&warnings, "fuzz", null);
	order_free(o);
	loss_free(&loss);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = input_path(data, size);
	struct buf why = { 0 };
	static FILE *null;
	struct trace *t;

	if (!null)
		null = fopen("/dev/null", "w");
	cost_begin();
	t = trace_open(path, &why);
	ensure(!t == !!why.len);
	if (t)
		read_all(t, size, null);
	if (t)
		trace_close(t);
	free(why.s);
	cost_end(size, FIRST);
	executions_add();
	return 0;
}
