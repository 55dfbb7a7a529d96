/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A dump of a JIT compiler's code: what it says is in the order of time, and in each
 * state of it an address is that of code which lies there.
 *
 * An input is the file, whichever is asked for: foreign.c is not linked.  libFuzzer
 * calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "base/foreign.h"
#include "report/input/jit_dump.h"
#include "input.h"
#include "../cost.h"
#include "../executions.h"

#define FIRST (1 << 16)
#define NOBODY (UINT32_MAX - 1)	/* is no process's number */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"DTiJ", "\001", "\377\377\377\377", "\200", "\020", "\377\377\377\177",
	"name", "", NULL
};

static const char *input;

int foreign_open(const char *path, const struct foreign_rule *rule)
{
	(void)path;
	(void)rule;
	return open(input, O_RDONLY | O_CLOEXEC);
}

const char *foreign_error(int err)
{
	return strerror(err);
}

static void check_states(struct jit_dump *d)
{
	const struct jit_code *codes;
	uint32_t nr, i, state, last = 0;
	uint64_t place;

	codes = jit_dump_codes(d, &nr);
	for (i = 0; i < nr; i++) {
		ensure(codes[i].size && codes[i].place >= JIT_PLACES);
		ensure(codes[i].addr + codes[i].size <= JIT_PLACES);
		ensure(!i || codes[i - 1].time <= codes[i].time);
		state = jit_dump_state(d, codes[i].time);
		ensure(state >= last);
		/* it lies there, or what came at the same time */
		ensure(jit_dump_find(d, state, codes[i].addr, &place));
		ensure(place >= JIT_PLACES);
		last = state;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct intern texts = { 0 };
	struct jit_dump *d;

	input = input_path(data, size);
	cost_begin();
	d = jit_dump_read("jit-1.dump", NOBODY, &texts);
	check_states(d);
	jit_dump_free(d);
	intern_free(&texts);
	cost_end(size, FIRST);
	executions_add();
	return 0;
}
