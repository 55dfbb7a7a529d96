/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a trace in the order of time, as far as rounds allow.
 *
 * What does not depend on time (events, counts, stacks) comes at once.  How
 * much is held at a time is bounded: where rounds are too far apart, the older
 * half goes, and what comes later than that is counted.
 */
#ifndef STAPWATCH_TRACE_ORDER_H
#define STAPWATCH_TRACE_ORDER_H

#include <stdbool.h>

#include "report/input/loss.h"
#include "report/input/trace_read.h"

/* Bytes of records, at most about as many; with those that have gone, four times as many. */
#define ORDER_HELD (64u * 1024 * 1024)

struct order;

/**
 * order_new - put a trace in order
 * @trace: is read from now on by order_next() only
 * @loss: is told of every record
 */
struct order *order_new(struct trace *trace, struct loss *loss);
void order_free(struct order *o);

/** order_is_timeless - does a record come at once, whatever its time? */
bool order_is_timeless(const struct sw_trace_record *r);

/** order_next - the next record, valid until the next call; NULL at the end */
const struct sw_trace_record *order_next(struct order *o);

#endif
