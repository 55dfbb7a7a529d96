/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread's life by parts, for handlers: of all of it, and of the wait that has just
 * ended.
 *
 * All of it: any context, NMI included; bounded.  ppa_blocked() only where a switch has
 * just brought current to this CPU, interrupts off.
 */
#ifndef STAPWATCH_PPA_WHY_H
#define STAPWATCH_PPA_WHY_H

#include "ppa/life.h"
#include "ppa/read.h"
#include "ppa/state.h"
#include <linux/string.h>

/* What is asked of a part. */
enum ppa_ask {
	PPA_ASK_TIME,		/* ticks */
	PPA_ASK_WAITS,		/* how many, of a part that is a cause to block */
	PPA_ASK_LONGEST,	/* of those, ticks */
};

static const char *const ppa_part_names[] = PPA_PART_NAMES;

/* Return: the part of that name; PPA_NR_PARTS: there is none. */
static unsigned int ppa_part_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < PPA_NR_PARTS; i++)
		if (!strcmp(ppa_part_names[i], name))
			break;
	return i;
}

static bool ppa_part_blocks(unsigned int part)
{
	return part >= PPA_PART_DISK && part <= PPA_PART_KERNEL;
}

/* What R says of a part; SINCE: what goes on of its life. */
static s64 ppa_rec_part(const struct ppa_rec *r, const struct ppa_since *since,
			unsigned int part, enum ppa_ask ask)
{
	u64 v;

	if (part == PPA_NR_PARTS)
		return since->life;
	if (ask == PPA_ASK_WAITS)
		return READ_ONCE(r->waits[part]);
	if (ask == PPA_ASK_LONGEST)
		return READ_ONCE(r->longest[part]);
	v = READ_ONCE(r->parts[part]);
	if (part == since->part)
		v += since->in_part;
	if (part == PPA_PART_WOKEN)
		v += since->woken;
	return v;
}

/*
 * ppa_thread_part - what a thread's life says of a part
 * @tid: its number
 * @part: the part, or PPA_NR_PARTS for the whole life
 * @ask: what of it; of parts that are no cause to block, time alone
 *
 * Return: ticks or a count; -1: none.
 */
static s64 ppa_thread_part(s64 tid, unsigned int part, enum ppa_ask ask)
{
	enum ppa_look look = PPA_LOOK_GONE;
	struct ppa_since since;
	struct ppa_view view;
	struct ppa_rec *r;
	unsigned int tries;
	s64 v = -1;
	u8 wait;
	u32 seq;
	int cpu;

	if (!ppa.started || tid <= 0 || tid > INT_MAX ||
	    (ask != PPA_ASK_TIME && !ppa_part_blocks(part)))
		return -1;
	if (part < ARRAY_SIZE(ppa_life_from))
		return ppa_thread_value(tid, ppa_life_from[part]);
	preempt_disable_notrace();
	r = ppa_find_tid(tid);
	for (tries = 0; r && tries < PPA_TRIES; tries++) {
		look = ppa_look_at(r, tid, PPA_V_OFFLINE, &seq, &cpu, &view);
		if (look < PPA_LOOK_AGAIN)
			break;
		if (look == PPA_LOOK_AGAIN)
			continue;
		wait = ppa_read_wait(r);
		ppa_read_since(r, cpu >= 0 ? &view : NULL, wait,
			       cpu >= 0 ? view.now : sw_tsc(), &since);
		v = ppa_rec_part(r, &since, part, ask);
		/* with ppa_rec_change()'s smp_wmb() */
		smp_rmb();
		if (READ_ONCE(r->seq) == seq && READ_ONCE(r->wait) == wait)
			goto out;
	}
	v = -1;
	if (look != PPA_LOOK_GONE)
		atomic_long_inc(&ppa.unread);
out:
	preempt_enable_notrace();
	return v;
}

/*
 * ppa_blocked - the wait that has just ended of the thread that came to this CPU
 * @part: what it waited for
 *
 * Return: for how long, until it was woken, in ticks; -1: it did not block.
 */
static s64 ppa_blocked(unsigned int *part)
{
	const struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	const struct ppa_rec *r = READ_ONCE(c->rec);

	if (!r || c->moment != PPA_WAIT_WOKEN ||
	    !ppa_part_blocks(r->blocked_for))
		return -1;
	*part = r->blocked_for;
	return r->blocked;
}

#endif
