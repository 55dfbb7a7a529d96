/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must hold of what was read of a trace, whatever bytes it had. */
#ifndef READING_H
#define READING_H

#include "report/input/profile.h"
#include "report/input/timeline.h"
#include "../ensure.h"

/* It was read with PROFILE_EACH. */
static inline void check_reading(const struct profile *p, size_t size,
				 FILE *null)
{
	struct warnings warnings = { 0 };
	const struct profile_trace *t;
	uint64_t samples = 0;
	uint32_t i;

	for (i = 0; i < p->keys.nr; i++) {
		ensure(p->cells[i].samples);
		samples += p->cells[i].samples;
	}
	ensure(samples == profile_samples(p));
	ensure(p->nr_each == samples);
	for (t = p->traces; t < p->traces + p->nr_traces; t++) {
		ensure(t->skipped.bytes <= size);
		ensure(t->skipped.places <= t->skipped.bytes);
		loss_say(&t->loss, &t->skipped, "fuzz", &warnings);
	}
	warnings_print(&warnings, "fuzz", null);
}

static inline void check_slices(struct timeline *t)
{
	const struct timeline_slice *s;
	uint64_t before = t->begin;

	while ((s = timeline_next(t))) {
		ensure(s->from <= s->to);
		ensure(before <= s->from);
		before = s->from;
		ensure(s->thread == TIMELINE_NONE || s->thread < t->nr_threads);
		ensure(s->waker == TIMELINE_NONE || s->waker < t->nr_threads);
		/* what it is made of is not more than it */
		ensure(s->system <= s->to - s->from);
		ensure(timeline_rest(s) <= s->to - s->from);
	}
	ensure(!t->slices.spool.error);
}

#endif
