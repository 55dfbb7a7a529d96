/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all views of a timeline call things. */
#include "report/output/timeline_view.h"

const char *const timeline_value_names[4] = { "user", "system", "int",
					      "softirq" };

const char *timeline_state(const struct timeline_view *v,
			   const struct timeline_slice *s)
{
	if (s->part == TIMELINE_RUN)
		return "running";
	if (s->part == TIMELINE_IDLE)
		return "idle";
	return v->part_name(s->part) ?: "other";
}

const char *timeline_waker(const struct timeline_slice *s)
{
	switch (s->woken_by) {
	case 0:
		return NULL;
	case SW_SLICE_BY_IRQ:
		return "an interrupt";
	case SW_SLICE_BY_SOFTIRQ:
		return "a softirq";
	case SW_SLICE_BY_IDLE:
		return "an idle CPU";
	}
	return "something else";
}

void timeline_values(const struct timeline_slice *s, uint64_t values[4])
{
	values[0] = s->part == TIMELINE_RUN ? timeline_rest(s) : 0;
	values[1] = s->system;
	values[2] = s->irq;
	values[3] = s->soft;
}
