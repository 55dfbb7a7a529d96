/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The beginning of a trace: what was there before it is known from its first record on.
 *
 * The kernel's side looks at processes while samples are taken already, so that their
 * names and maps come some milliseconds after the first of these.
 */
#ifndef STAPWATCH_OPENING_H
#define STAPWATCH_OPENING_H

#include <stddef.h>
#include <stdint.h>

#include "report/input/proc_maps.h"
#include "report/input/trace_order.h"

struct opening {
	struct order *order;
	/* the records of the beginning, one after the other, and where the next stands */
	uint64_t *words;
	size_t nr, size, at;
};

/**
 * opening_read - read as much of a trace as the look at processes may take
 * @o: opening_free() frees it
 * @order: is read from now on by opening_next() only
 * @began: the time of the trace's head
 * @procs: gets what was there before
 */
void opening_read(struct opening *o, struct order *order, uint64_t began,
		  struct procs *procs);
void opening_free(struct opening *o);

/** opening_next - order_next(), from the trace's beginning on */
const struct sw_trace_record *opening_next(struct opening *o);

#endif
