/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a thread's life went.  It is always in one part of it: on a CPU, ready, or
 * blocked for some cause; so the parts sum to the life, to the tick.
 *
 * What it does on a CPU is the difference of what the CPU has gathered, from switch
 * to switch; here is the rest.  `at' is the moment up to which all is charged, and
 * `part' what goes on since, unless the thread runs.  A switch charges by its own
 * reading of the counter, which is the CPU's too: nothing is between them.
 *
 * Who may run what, against whom:
 *
 *   ppa_life_in(), _out()	a switch, the record's owner
 *   ppa_life_sync()		as ppa_sync()
 *   ppa_life_gone(), ppa_life_forget()	ppa.records is taken
 */
#ifndef STAPWATCH_PPA_LIFE_H
#define STAPWATCH_PPA_LIFE_H

#include "base/clock.h"
#include "ppa/state.h"
#include "ppa/syscalls.h"

/* Its last switch is over. */
#define PPA_PART_OVER PPA_NR_PARTS

/* Until NOW it was in PART.  This CPU's counter may be behind another's: what would
 * be charged twice makes the life longer. */
static __always_inline u64 ppa_life_add(struct ppa_rec *r, u8 part, u64 now)
{
	u64 d = now - r->at;

	if (unlikely(now < r->at)) {
		r->alive -= r->at - now;
		d = 0;
	}
	r->at = now;
	if (part < PPA_NR_PARTS)
		r->parts[part] += d;
	if (unlikely(r->call != PPA_CALL_NONE) && part < PPA_NR_PARTS)
		ppa_call_add(r->call, part, d);
	return d;
}

/* The thread leaves a CPU on which it was accounted for if ON. */
static __always_inline void
ppa_life_out(struct ppa_rec *r, bool on, u8 part, u64 now)
{
	if (unlikely(!on)) {
		ppa_life_add(r, PPA_PART_NOT_ACCOUNTED, now);
		if (part != PPA_PART_OVER)
			part = PPA_PART_NOT_ACCOUNTED;
	}
	r->at = now;
	r->part = part;
}

/* Does a wake-up end PART?  Of a thread off CPUs, that has not ended. */
static __always_inline bool ppa_life_waits(u8 part)
{
	return part != PPA_PART_NOT_ACCOUNTED && part != PPA_PART_PREEMPTED;
}

/*
 * Until when, from AT to NOW, a thread off CPUs is in PART, after what WAIT says; from
 * there on it is woken.  A switch charges by this, and a reader splits by it what is not
 * charged yet: so no part is less than it was.
 */
static __always_inline u64
ppa_life_until(const struct ppa_rec *r, u8 part, u8 wait, u64 at, u64 now)
{
	if (!wait || !ppa_life_waits(part))
		return now;
	return min(max(READ_ONCE(r->stamp), at), now);
}

/* It comes to a CPU, after what WAIT says.  Return: for how long it was woken. */
static __always_inline u64 ppa_life_in(struct ppa_rec *r, u8 wait, u64 now)
{
	u8 part = r->part;
	u64 d, until;

	/* what it runs from here on, where the CPU does not tell */
	r->part = PPA_PART_NOT_ACCOUNTED;
	if (ppa_life_waits(part)) {
		until = ppa_life_until(r, part, wait, r->at, now);
		d = until > r->at ? ppa_life_add(r, part, until) : 0;
		r->blocked = d;
		r->blocked_for = part;
		if (d > r->longest[part])
			r->longest[part] = d;
		r->waits[part]++;
		return ppa_life_add(r, PPA_PART_WOKEN, now);
	}
	ppa_life_add(r, part, now);
	return 0;
}

/* Whether a thread that runs is accounted for is ON from NOW on, and was BEFORE. */
static void ppa_life_sync(struct ppa_rec *r, bool before, u64 now)
{
	if (before)
		r->at = now;
	else
		ppa_life_add(r,
			     r->part == PPA_PART_UNKNOWN ?
				     PPA_PART_UNKNOWN : PPA_PART_NOT_ACCOUNTED,
			     now);
	r->part = PPA_PART_NOT_ACCOUNTED;
}

/* Parts that are the sums of what its CPUs gathered. */
static const u8 ppa_life_from[] = {
	[PPA_PART_USER] = PPA_V_USER,
	[PPA_PART_SYSTEM] = PPA_V_SYSTEM,
	[PPA_PART_INT] = PPA_V_INT,
	[PPA_PART_SOFT] = PPA_V_SOFT,
};

/* What a thread's CPUs gathered, as parts. */
static void ppa_life_sums(const u64 *sums, u64 *parts)
{
	unsigned int a, i;

	for (a = 0; a < ppa.arrays; a++, sums += PPA_NR_SUMS)
		for (i = 0; i < ARRAY_SIZE(ppa_life_from); i++)
			parts[i] += READ_ONCE(sums[ppa_life_from[i]]);
}

/*
 * What has ended of a process stays with its first thread.  That was R, and is LEAD since
 * LEAD has called exec().
 */
static void ppa_life_lead(struct ppa_rec *r, struct ppa_rec *lead)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r->gone); i++)
		lead->gone[i] += r->gone[i];
	lead->born = r->born;
	lead->before = r->before;
	lead->gone_nr += r->gone_nr;
	lead->gone_life += r->gone_life;
	for (i = 0; i < PPA_NR_PARTS; i++)
		lead->gone_parts[i] += r->gone_parts[i];
}

/* R has ended: what it was stays with its process's first thread, LEAD. */
static void ppa_life_gone(struct ppa_rec *r, struct ppa_rec *lead)
{
	unsigned int i;

	if (r->tid == r->tgid)
		ppa_life_lead(r, lead);
	r->counted = true;
	r->gone_nr = ++lead->gone_nr;
	lead->gone_life += r->at - r->alive;
	for (i = 0; i < PPA_NR_PARTS; i++)
		lead->gone_parts[i] += r->parts[i];
	ppa_life_sums(r->sums, lead->gone_parts);
}

/*
 * R has ended, and another thread takes its record: its time goes to the sum of all
 * such threads.  If it is counted in the record of its process's first thread, the sums
 * of processes (gone_) have it subtracted, and can be negative until that record is
 * taken, too.
 */
static void ppa_life_forget(const struct ppa_rec *r)
{
	struct ppa_forgotten *f = &ppa.forgotten;
	u64 life = r->at - r->alive, parts[PPA_NR_PARTS];
	unsigned int i, a;

	memcpy(parts, r->parts, sizeof(parts));
	ppa_life_sums(r->sums, parts);
	f->nr++;
	f->life += life;
	f->gone_life += r->counted ? -life : r->gone_life;
	for (i = 0; i < PPA_NR_PARTS; i++) {
		f->parts[i] += parts[i];
		f->gone_parts[i] += r->counted ? -parts[i] : r->gone_parts[i];
		f->waits[i] += r->waits[i];
		f->longest[i] = max(f->longest[i], r->longest[i]);
	}
	for (i = 0; i < PPA_NR_BUCKETS; i++)
		f->latency[i] += r->latency[i];
	for (a = 0; a < ppa.arrays; a++)
		for (i = 0; i < PPA_NR_SUMS; i++)
			f->sums[i] += r->sums[a * PPA_NR_SUMS + i];
}

#endif
