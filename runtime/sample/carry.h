/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which counts the samples of an event carry: profile_carry(), profile_carry_thread().
 *
 * Without these a sample carries what each counter of its CPU has counted since the event's
 * sample before there.  A counter that is not carried is not read, either.  Events are known
 * by their names, as the trace has them.  A thread's counts are as it has counted them so
 * far: who reads the trace subtracts, so no memory is needed for each thread's sample before.
 *
 * Who may run what, against whom:
 *
 *   sw_profile_carry(), sw_profile_carry_thread()	begin probes
 *   sw_sampler_carry()		sleepable, under sw_profile.lock
 *   sw_carried_slots()		within an overflow, on several CPUs at a time: each finds the
 *				same
 *   sw_carry_thread()		within an overflow
 *   sw_carries_end()		sleepable, when all of that has ended
 */
#ifndef STAPWATCH_SAMPLE_CARRY_H
#define STAPWATCH_SAMPLE_CARRY_H

#include "base/kernel.h"
#include "count/entry.h"
#include "count/named.h"
#include "count/pmu.h"
#include "count/vthread.h"
#include <linux/kernel.h>
#include <linux/string.h>

#define SW_MAX_CARRIES 16

struct sw_carry {
	char event[64];		/* that is sampled */
	char events[256];	/* that are carried */
	bool listed;		/* else all are carried */
	bool of_thread;
	bool sampled;		/* there is such a sampler */
	bool looked;
	unsigned int nr;	/* slots that have been looked at */
	u64 slots;		/* those of them that are carried */
	u64 found;		/* what they count, by place in `events' */
};

static struct sw_carry sw_carries[SW_MAX_CARRIES];
static unsigned int sw_nr_carries;

static struct sw_carry *sw_carry_of(const char *event)
{
	unsigned int i;

	for (i = 0; i < sw_nr_carries; i++)
		if (!strcmp(sw_carries[i].event, event))
			return &sw_carries[i];
	return NULL;
}

/* What a new sampler of EVENT carries; NULL: all. */
static struct sw_carry *sw_sampler_carry(const char *event)
{
	struct sw_carry *c = sw_carry_of(event);

	if (c)
		c->sampled = true;
	return c;
}

/* The slots that count that event, of the first NR. */
static u64 sw_carry_slots(const char *name, size_t len, unsigned int nr)
{
	unsigned int slot;
	u64 slots = 0;

	for (slot = 0; slot < nr; slot++)
		if (!sw_pmu.set[slot] &&
		    sw_event_is(sw_pmu.event[slot], name, len))
			slots |= SW_SLOT_BIT(slot);
	return slots;
}

/* A slot that is no set's is there for good, and counts what it did. */
static noinline void sw_carry_look(struct sw_carry *c, unsigned int nr)
{
	const char *text = c->events;
	u64 slots = 0, found = 0, these;
	unsigned int i;
	size_t len;

	for (i = 0; (len = sw_event_token(&text)); i++, text += len) {
		these = sw_carry_slots(text, len, nr);
		slots |= these;
		if (these && i < 64)
			found |= 1ULL << i;
	}
	WRITE_ONCE(c->slots, slots);
	WRITE_ONCE(c->found, found);
	WRITE_ONCE(c->nr, nr);
	/* with sw_carried_slots() */
	smp_store_release(&c->looked, true);
}

/**
 * sw_carried_slots - the counters that a sample carries, of the first NR
 * Context: an overflow.
 */
static __always_inline u64
sw_carried_slots(struct sw_carry *c, unsigned int nr)
{
	if (likely(!c || !c->listed))
		return SW_SLOT_BIT(nr) - 1;
	/* with sw_carry_look() */
	if (unlikely(!smp_load_acquire(&c->looked) || READ_ONCE(c->nr) != nr))
		sw_carry_look(c, nr);
	return READ_ONCE(c->slots);
}

/**
 * sw_carry_thread - what the thread that runs here has counted
 * @carried: which slots, a bit each; the others have no value
 * Context: an overflow.
 * Return: its entry's stretch: what two samples that can be subtracted share.
 */
static noinline u64 sw_carry_thread(u64 carried, u64 *to, unsigned int nr)
{
	const struct sw_thread *t;
	unsigned long flags;
	unsigned int i;
	struct sw_cpu *c;
	u64 stretch;
	s64 now;

	memset(to, 0xff, nr * sizeof(*to));
	if (!sw_enter(&c, &flags))
		return 0;
	for (i = 0; i < nr; i++) {
		if (sw_pmu.set[i] || !(carried & SW_SLOT_BIT(i)))
			continue;
		/* what a hole withholds from the script stays withheld */
		now = sw_thread_now_in_span(c, i);
		if (now != SW_NONE)
			to[i] = now;
	}
	t = sw_entry_here(c);
	stretch = t ? t->stretch : 0;
	sw_leave(c, flags);
	return stretch;
}

static struct sw_carry *sw_carry_get(const char *event)
{
	struct sw_carry *c = sw_carry_of(event);

	if (c || sw_nr_carries == SW_MAX_CARRIES ||
	    strlen(event) >= sizeof(c->event))
		return c;
	c = &sw_carries[sw_nr_carries++];
	strscpy(c->event, event, sizeof(c->event));
	return c;
}

/**
 * sw_profile_carry - samples of EVENT carry the counts of EVENTS alone
 * Context: begin probes.
 * Return: whether there is room.
 */
static bool __maybe_unused
sw_profile_carry(const char *event, const char *events)
{
	struct sw_carry *c = strlen(events) < sizeof(c->events) ?
			     sw_carry_get(event) : NULL;

	if (!c)
		return false;
	c->listed = true;
	strscpy(c->events, events, sizeof(c->events));
	return true;
}

/**
 * sw_profile_carry_thread - counts in samples of EVENT are the thread's
 * Context: begin probes.
 * Return: whether there is room.
 */
static bool __maybe_unused sw_profile_carry_thread(const char *event)
{
	struct sw_carry *c = sw_carry_get(event);

	if (c)
		c->of_thread = true;
	return c;
}

static void sw_carry_say(const struct sw_carry *c)
{
	const char *text = c->events;
	char name[sizeof(c->events)];
	unsigned int i;
	size_t len;

	if (!c->sampled)
		_stp_warn("stapwatch: no probe samples %s, whose counts profile_carry() or profile_carry_thread() was to choose\n",
			  c->event);
	for (i = 0; c->looked && (len = sw_event_token(&text)); i++, text += len) {
		if (i >= 64 || c->found >> i & 1)
			continue;
		strscpy(name, text, len + 1);
		_stp_warn("stapwatch: profile_carry(): %s is not counted; samples of %s carry nothing of it\n",
			  name, c->event);
	}
}

static void sw_carries_end(void)
{
	unsigned int i;

	for (i = 0; i < sw_nr_carries; i++)
		sw_carry_say(&sw_carries[i]);
	memset(sw_carries, 0, sizeof(sw_carries));
	sw_nr_carries = 0;
}

#endif
