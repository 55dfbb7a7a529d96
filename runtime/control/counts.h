/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs read: counts, by the word of an event.
 *
 * Who may run what, against whom: all of it processes, within an operation of the file.
 * What is done to sets, threads and counts is what a handler does, and stands between
 * sw_control_enter() and sw_control_leave().
 */
#ifndef STAPWATCH_CONTROL_COUNTS_H
#define STAPWATCH_CONTROL_COUNTS_H

#include "control/state.h"
#include "control/step.h"
#include "count/named.h"
#include "count/pmu.h"
#include "set/read.h"
#include "stap/anchor.h"
#include "stap/set_of.h"
#include "watch/read.h"
#include <linux/cpumask.h>
#include <linux/stddef.h>
#include <linux/string.h>

/* ---- words of events, which say where their counts are */

/* So that no word is 0, and all are offsets of a file. */
#define SW_CONTROL_WORD (1ULL << 62)

/* A word of struct sw_thread's, as sw_set_word_of(); its set, as that was found open. */
static u64 sw_control_word(unsigned int word, unsigned int set, u32 of_set)
{
	return SW_CONTROL_WORD | (u64)of_set << 16 | set << 8 | word;
}

/* Return: false: there is no such event any more, or never was. */
static bool sw_control_unpack(u64 event, unsigned int *word, unsigned int *set)
{
	const u32 of_set = event >> 16;

	*word = event & 0xff;
	*set = event >> 8 & 0xff;
	if (*set >= SW_MAX_SETS || *word >= SW_WORDS || event >> 48 != 1 << 14)
		return false;
	if (!*set)
		/* with sw_pmu_open(): a slot's set is there before the slot */
		return *word < smp_load_acquire(&sw_pmu.slots) &&
		       !READ_ONCE(sw_pmu.set[*word]) && !of_set;
	if (of_set != sw_set_word(*set) || of_set % SW_SET_STATES != SW_SET_OPEN)
		return false;
	if (likely(*word < SW_MAX_SLOTS))
		return READ_ONCE(sw_pmu.set[*word]) == *set;
	return *word == SW_WORD_ACTIVE(0) || *word == SW_WORD_ACTIVE(*set) ||
	       *word == SW_WORD_RUNS(*set);
}

static int sw_control_find_in_set(struct sw_control_run *r)
{
	unsigned int set = sw_set_find(r->name), word;
	const u32 of_set = sw_set_word(set);

	if (!set)
		return sw_control_say(r, -ENOENT, "there is no set %.31s",
				      r->name);
	if (of_set % SW_SET_STATES != SW_SET_OPEN)
		return sw_control_say(r, -EAGAIN, "set %.31s is not open yet",
				      r->name);
	word = sw_set_word_of(set, r->text);
	if (!word) {
		if (!sw_set_has(set, r->text))
			return sw_control_say(r, -ENOENT,
					      "set %.31s has no event %.64s; beside its events there are active_ns, runs and ran_ns",
					      r->name, r->text);
		word = sw_set_slot(set, r->text);
		if (word == SW_MAX_SLOTS)
			return sw_control_say(r, -ENODEV,
					      "%.64s of set %.31s is missing on this machine",
					      r->text, r->name);
	}
	r->step.event = sw_control_word(word, set, of_set);
	return 0;
}

static int sw_control_find_always(struct sw_control_run *r)
{
	const struct sw_event *ev = sw_event_named(r->text, strlen(r->text));
	unsigned int id, slot = SW_SLOT_UNUSED;

	for (id = 0; ev && id < SW_ALL_EVENTS; id++)
		if (sw_event_of(id) == ev)
			slot = sw_slot_of[id];
	if (slot == SW_SLOT_MISSING)
		return sw_control_say(r, -ENODEV, "%.64s is missing on this machine",
				      r->text);
	if (slot >= SW_MAX_SLOTS)
		return sw_control_say(r, -ENOENT,
				      "the script does not count %.64s; a set can",
				      r->text);
	r->step.event = sw_control_word(slot, 0, 0);
	return 0;
}

static int sw_control_find_event(struct sw_control_run *r)
{
	int rc;

	if (!sw_control_enter())
		return -ESHUTDOWN;
	rc = *r->name ? sw_control_find_in_set(r) : sw_control_find_always(r);
	sw_control_leave();
	return rc;
}

/* ---- counts */

/* What a CPU's clocks have of a set, beside its counts. */
static s64 sw_control_clock(unsigned int word, unsigned int set, int cpu)
{
	size_t at = word == SW_WORD_RUNS(set) ?
		    offsetof(struct sw_set_cpu, runs[set]) :
		    word == SW_WORD_ACTIVE(0) ?
		    offsetof(struct sw_set_cpu, session) :
		    offsetof(struct sw_set_cpu, active[set]);

	return cpu < 0 ? sw_sets_sum(at) : sw_set_sum(cpu, at);
}

static bool sw_control_is_cpu(s64 cpu)
{
	return cpu >= 0 && cpu < nr_cpu_ids && cpu_possible(cpu);
}

static int sw_control_no_cpu(struct sw_control_run *r)
{
	return sw_control_say(r, -ENODEV, "there is no CPU %lld", r->step.id);
}

/* CPU: -1: of all.  Preemption is off. */
static s64 sw_control_read_cpu(unsigned int word, unsigned int set, s64 cpu)
{
	if (cpu >= 0 && !sw_control_is_cpu(cpu))
		return SW_MISSING;
	/* as a script's reading: what is old is brought up to date */
	if (set) {
		this_cpu_write(sw_cpus.sets_seen, false);
		sw_sets_see(true);
	}
	if (word >= SW_MAX_SLOTS)
		return sw_control_clock(word, set, cpu);
	if (set)
		return cpu < 0 ? sw_sets_count(word) :
				 sw_sets_count_cpu(cpu, word);
	return cpu < 0 ? sw_count_of_cpus(word) : sw_count_of_cpu(word, cpu);
}

/* Return: 0; ENOENT: the word is no event's. */
static int sw_control_is_event(u64 event)
{
	unsigned int word, set;
	bool is;

	if (!sw_control_enter())
		return -ESHUTDOWN;
	is = sw_control_unpack(event, &word, &set);
	sw_control_leave();
	return is ? 0 : -ENOENT;
}

/* IS: there is such an event. */
static int sw_control_result(bool is, s64 v, s64 *value)
{
	*value = v;
	if (likely(is && v > SW_MISSING))
		return 0;
	return !is ? -ENOENT : v == SW_MISSING ? -ENODEV : -ENODATA;
}

/* One of watch/read.h, of a thread or a target. */
typedef s64 (*sw_control_reader)(unsigned int slot, s64 whose);

/*
 * sw_control_value - a count, by the event's word
 * @read: of WHOSE; NULL: of a CPU, or of all if that is -1
 * Return: 0; ENODATA: none just now; ENODEV: there is none; ENOENT: the word is no event's
 */
static __always_inline int
sw_control_value(u64 event, sw_control_reader read, s64 whose, s64 *value)
{
	unsigned int word, set;
	s64 v = SW_MISSING;
	bool is;

	if (!sw_control_enter())
		return -ESHUTDOWN;
	is = sw_control_unpack(event, &word, &set);
	if (is && !read)
		v = sw_control_read_cpu(word, set, whose);
	else if (is)
		v = set ? sw_set_value_of(set, word, read, whose) :
			  read(word, whose);
	sw_control_leave();
	return sw_control_result(is, v, value);
}

/* ... of the calling thread. */
static int sw_control_own_value(u64 event, s64 *value)
{
	return sw_control_value(event, sw_read_self, current->pid, value);
}

/* ... of whom a session is attached to. */
static int
sw_attached_value(const struct sw_attached *a, u64 event, s64 *value)
{
	if (a->who.task)
		return sw_control_value(event, sw_read_task, (long)a->who.task,
					value);
	if (a->order)
		return sw_control_value(event, sw_read_order, a->order, value);
	return sw_control_value(event, NULL, a->who.id, value);
}

#endif
