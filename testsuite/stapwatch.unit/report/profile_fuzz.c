/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace as a profile: its cells, its processes' maps, its stacks and branches, and
 * no output.  report_fuzz.c has those, and takes a hundred times as long.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE
#include "input.h"
#include "reading.h"
#include "trace_words.h"
#include "../cost.h"
#include "../executions.h"

/* A buffer, and tables of what has numbers of 16 bits: CPUs, events. */
#define FIRST (16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct profile_filter everything = {
	.pid = -1, .tid = -1, .cpu = -1,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = input_path(data, size);
	struct buf why = { 0 };
	static FILE *null;
	struct profile *p;

	if (!null)
		null = fopen("/dev/null", "w");
	cost_begin();
	p = profile_read(&path, 1, ~PROFILE_WALL, &everything, &why);
	ensure(!p == !!why.len);
	if (p) {
		check_reading(p, size, null);
		profile_free(p);
	}
	free(why.s);
	cost_end(size, FIRST);
	executions_add();
	return 0;
}
