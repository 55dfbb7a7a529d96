/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace names by numbers: events, counts and stacks. */
#ifndef STAPWATCH_PROFILE_NAMES_H
#define STAPWATCH_PROFILE_NAMES_H

#include "report/input/profile.h"

/** profile_event_of - an event by its number, which may have no name yet */
struct profile_event *profile_event_of(struct profile *p, uint32_t number);

/** profile_keep_text - a text that stays where it is */
const char *profile_keep_text(struct profile *p, const char *s);

/* Records that name something. */
void profile_on_event(struct profile *p, const struct sw_trace_event *r);
void profile_on_count(struct profile *p, const struct sw_trace_count *r);
void profile_on_stack(struct profile *p, const struct sw_trace_stack *r);

/** profile_tell_counts_apart - no two have one name from here on */
void profile_tell_counts_apart(struct profile *p);

#endif
