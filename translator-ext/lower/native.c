/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that the event table lacks: the runtime knows them by numbers, which
 * begin probes in the tail declare to it.
 */
#include "lower/lowering.h"

#include "event/event_declare.h"

/* The runtime's SW_MAX_NATIVES. */
#define NATIVE_MAX 64
#define NATIVE_PER_SCRIPT 16

/* What takes such a number. */
#define SUCH "events that the event table lacks, or that are sampled by NMI, of a process, in one mode, or with random= or precise="

int native_number(struct lowering *l, size_t i, const char *name,
		  const struct native *want)
{
	const struct event_attr *attr = &want->attr;
	unsigned int number = l->opt->index * NATIVE_PER_SCRIPT, n;

	for (n = 0; n < l->nr_natives; n++, number++) {
		const struct native *have = &l->natives[n];

		if (event_same_attr(&have->attr, attr) &&
		    have->counted == want->counted &&
		    have->period == want->period &&
		    have->random == want->random)
			return number;
	}
	if (l->opt->index >= NATIVE_MAX / NATIVE_PER_SCRIPT) {
		lower_fail(l, i, "%s: the first %d scripts alone, with those of -E, can have " SUCH,
			   name, NATIVE_MAX / NATIVE_PER_SCRIPT);
		return -1;
	}
	if (n == NATIVE_PER_SCRIPT) {
		lower_fail(l, i, "%s: a script can have at most %d " SUCH "; a script of -E can have as many more",
			   name, NATIVE_PER_SCRIPT);
		return -1;
	}
	l->natives = xrealloc(l->natives, (n + 1) * sizeof(*l->natives));
	l->natives[n] = *want;
	l->nr_natives++;

	event_declare(&l->tail, number, name, attr, want->period,
		      want->random);
	edit_tail_line(l);
	if (want->counted) {
		event_anchor(&l->tail, number);
		edit_tail_line(l);
	}
	return number;
}
