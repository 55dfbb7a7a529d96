/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sets have counted for others: a thread, a process, a tree, a cgroup.
 *
 * A thread that is watched has a sum of each slot, and one of a set's slot grows only
 * while the set is active.  So it is of the time when the set was active while the
 * thread ran, which has sums of its own (count/entry.h).
 *
 * All of it: any context, NMI included, end probes too.
 */
#ifndef STAPWATCH_STAP_SET_OF_H
#define STAPWATCH_STAP_SET_OF_H

#include "count/cpu.h"
#include "count/vthread.h"
#include "set/cpu.h"
#include "set/open.h"
#include "set/read.h"
#include "set/set.h"
#include <linux/string.h>

/* Of a set, beside the events that it has. */
static unsigned int sw_set_word_of(unsigned int set, const char *name)
{
	if (!strcmp(name, "active_ns"))
		return SW_WORD_ACTIVE(set);
	if (!strcmp(name, "runs"))
		return SW_WORD_RUNS(set);
	if (!strcmp(name, "ran_ns"))
		return SW_WORD_ACTIVE(0);
	return 0;
}

/* Was the event without a counter in some run of its set? */
static bool sw_set_has_missed(unsigned int slot)
{
	return atomic64_read(&sw_sets.lost) & SW_SLOT_BIT(slot);
}

/**
 * sw_set_value_of - what a set's event has counted for others
 * @word: the event's slot, or a word of sw_set_word_of(); SW_WORDS: it has none
 * @read: one of watch/read.h
 * @whose: its number: of a process, a thread, or in the list
 * Return: the count, SW_NONE or SW_MISSING.
 */
static s64 __maybe_unused
sw_set_value_of(unsigned int set, unsigned int word,
		s64 (*read)(unsigned int slot, s64 whose), s64 whose)
{
	s64 v;

	if (!set || !sw_set_cpus)
		return SW_NONE;
	if (word == SW_WORDS)
		return SW_MISSING;
	if (word < SW_MAX_SLOTS && sw_set_has_missed(word)) {
		sw_withheld(stopped);
		return SW_NONE;
	}
	v = read(word, whose);
	/* with sw_pmu_free(): it may be what a counter that went has left there */
	smp_rmb();
	if (word < SW_MAX_SLOTS && READ_ONCE(sw_pmu.set[word]) == SW_SET_FREE) {
		sw_withheld(inactive);
		return SW_NONE;
	}
	return v;
}

/* A macro, since `CONTEXT' is only known in the tapset's functions. */
#define SW_SET_OF(function, name, event, read, whose) ({		\
	unsigned int its_ = SW_SET_NAMED(function, name);		\
	unsigned int word_ = its_ ? sw_set_word_of(its_, event) : 0;	\
									\
	if (its_ && !word_) {						\
		word_ = sw_set_slot(its_, event);			\
		if (word_ == SW_MAX_SLOTS)				\
			word_ = SW_WORDS;				\
		if (!sw_set_has(its_, event))				\
			SW_SET_WRONG(function, "set %.32s has no event %.64s; beside its events there are active_ns, runs and ran_ns", \
				     name, event);			\
	}								\
	sw_set_value_of(its_, word_, read, whose); })

#endif
