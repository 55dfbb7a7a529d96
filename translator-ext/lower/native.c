/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that the event table lacks: the runtime knows them by numbers, which
 * begin probes in the tail declare to it.
 */
#include "lower/lowering.h"

#include <string.h>

#include "event/event_declare.h"

/* The runtime's SW_MAX_NATIVES. */
#define NATIVE_MAX 64

/* What takes such a number. */
#define SUCH "events that the event table lacks, or that are sampled by NMI, of a process, in one mode, or with random=, long= or precise="

static bool same_name(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

int native_number(struct lowering *l, size_t i, const char *name,
		  const struct native *want)
{
	const struct event_attr *attr = &want->attr;
	unsigned int number = l->opt->first_native, n;

	for (n = 0; n < l->nr_natives; n++, number++) {
		const struct native *have = &l->natives[n];

		if (event_same_attr(&have->attr, attr) &&
		    have->counted == want->counted &&
		    have->period == want->period &&
		    have->random == want->random &&
		    have->long_period == want->long_period &&
		    same_name(have->of_set, want->of_set))
			return number;
	}
	if (number >= NATIVE_MAX) {
		lower_fail(l, i, "%s: a script, with those of -E, can have at most %d " SUCH,
			   name, NATIVE_MAX);
		return -1;
	}
	l->natives = xrealloc(l->natives, (n + 1) * sizeof(*l->natives));
	l->natives[n] = *want;
	if (want->of_set)
		l->natives[n].of_set = xstrdup(want->of_set);
	l->nr_natives++;

	event_declare(&l->tail, number, name, attr, want->period,
		      want->random, want->long_period);
	edit_tail_line(l);
	if (want->counted) {
		event_anchor(&l->tail, number);
		edit_tail_line(l);
	}
	return number;
}
