/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several traces as one profile, and no output: all samples are there, in the order of
 * one clock.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "reading.h"
#include "several.h"
#include "trace_words.h"
#include "../cost.h"
#include "../executions.h"

/* Buffers, and tables of what has numbers of 16 bits: CPUs, events. */
#define FIRST (SEVERAL * (16 << 20))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct profile_filter everything = {
	.pid = -1, .tid = -1, .cpu = -1,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	struct profile *p;

	if (!null)
		null = fopen("/dev/null", "w");
	cost_begin();
	p = several_read(data, size, ~PROFILE_WALL, &everything);
	if (p) {
		check_reading(p, size, null);
		profile_free(p);
	}
	cost_end(SEVERAL * size, FIRST);
	executions_add();
	return 0;
}
