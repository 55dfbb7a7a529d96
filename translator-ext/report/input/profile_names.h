/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What traces name by numbers: events, counts and stacks.
 *
 * The numbers of one trace are the profile's, too.  Of several traces each has numbers of
 * its own, and what they call alike has one number in the profile.
 */
#ifndef STAPWATCH_PROFILE_NAMES_H
#define STAPWATCH_PROFILE_NAMES_H

#include "report/input/profile.h"

/* What several traces have in common; { 0 } is empty. */
struct profile_shared {
	struct intern events;	/* their numbers are the profile's */
	struct intern values;	/* theirs plus 1 are: 0 is the latency */
	bool full;		/* there are more values than a sample can have */
};

/* The numbers of one trace. */
struct profile_numbers {
	struct profile *p;
	struct profile_shared *shared;	/* NULL: there is no other trace */
	uint32_t trace;
	uint32_t *events;	/* the profile's numbers plus 1; 0: none yet */
	size_t size_events;
	const char *counts[UINT8_MAX];	/* as they are called */
};

/** profile_numbers_begin - before the first record of the trace */
void profile_numbers_begin(struct profile_numbers *n);
void profile_numbers_free(struct profile_numbers *n);
void profile_shared_free(struct profile_shared *s);

/** profile_event_number - the profile's number of a trace's event */
uint32_t profile_event_number(struct profile_numbers *n, uint32_t event);

/** profile_need_value - a count has a number of the profile's from here on */
void profile_need_value(struct profile_numbers *n, uint32_t count);

/** profile_event_of - an event by the profile's number, which may have no name yet */
struct profile_event *profile_event_of(struct profile *p, uint32_t number);

/** profile_is_on_cpu, profile_is_off_cpu - is an event time on CPUs, is it of waits? */
bool profile_is_on_cpu(const struct profile *p, uint32_t event);
bool profile_is_off_cpu(const struct profile *p, uint32_t event);

/** profile_keep_text - a text that stays where it is */
const char *profile_keep_text(struct profile *p, const char *s);

/** profile_names_of - what traces are called together */
const char *profile_names_of(struct profile *p, const char *const *paths,
			     size_t nr);

/* Records that name something. */
void profile_on_event(struct profile_numbers *n,
		      const struct sw_trace_event *r);
void profile_on_count(struct profile_numbers *n,
		      const struct sw_trace_count *r);
void profile_on_stack(struct profile *p, uint32_t trace,
		      const struct sw_trace_stack *r);

/** profile_tell_counts_apart - no two have one name from here on */
void profile_tell_counts_apart(struct profile *p);

#endif
