/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader with a fault, by which it is seen that one is found: an `x' costs it ten
 * thousand bytes.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../cost.h"
#include "../executions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char *const mutate_words[];
const char *const mutate_words[] = { "y", "yx", "", NULL };

static size_t nr_x(const uint8_t *data, size_t size)
{
	size_t i, nr = 0;

	for (i = 0; i < size; i++)
		nr += data[i] == 'x';
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *volatile room;

	cost_begin();
	/* one at a time costs no more than the largest of them */
	room = malloc(size * COST_EACH);
	free(room);
	room = malloc(nr_x(data, size) * 10000);
	free(room);
	cost_end(size, 0);
	executions_add();
	return 0;
}
