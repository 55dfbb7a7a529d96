/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a script declares to the runtime an event that the event table lacks. */
#ifndef STAPWATCH_EVENT_DECLARE_H
#define STAPWATCH_EVENT_DECLARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/event.h"

/** event_same_attr - do both count the same? */
bool event_same_attr(const struct event_attr *a, const struct event_attr *b);

/**
 * event_declare - add the probe that declares an event
 * @number: by which the runtime knows it
 * @period: what it is sampled by; 0: it is counted
 * @random: mask of what is added to the period; 0: nothing
 * @long_period: the period after a sample that was lost; 0: the script's
 */
void event_declare(struct buf *out, unsigned int number, const char *name,
		   const struct event_attr *attr, int64_t period,
		   uint64_t random, uint64_t long_period);

/** event_anchor - add the probe that has a declared event counted */
void event_anchor(struct buf *out, unsigned int number);

#endif
