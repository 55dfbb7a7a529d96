/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of locks are given back: where most of a half are taken, those that nothing was
 * added to for a while make room for others.  What is in them goes to the row of all
 * else that their process waits for, and from there, when it has no other rows, to the
 * first one; so all rows together have what they had.
 *
 * Handlers know a row by its number: who waits, and a CPU that spins, has it until that
 * is over.  So a row goes in three steps.  It is retired, and found no more.  After a
 * grace period whoever has found it before is seen, as all of them find a row and note
 * it with preemption off: the row stays if somebody has.  After another grace period
 * whoever was just adding to it has done so.
 *
 * Who may run what, against whom:
 *
 *   ppa_locks_age()	sleepable, a work item: one at a time
 *   ppa_locks_look(), ppa_locks_looked()	sleepable; who reads rows does so between
 *			the two, and no row moves meanwhile
 */
#ifndef STAPWATCH_PPA_LOCK_AGE_H
#define STAPWATCH_PPA_LOCK_AGE_H

#include "ppa/locks.h"
#include "ppa/threads.h"
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

/* For so long nothing was added. */
#define PPA_LOCK_OLD (10 * HZ)

static struct {
	struct mutex lock;
	unsigned int readers;
} ppa_lock_age = { .lock = __MUTEX_INITIALIZER(ppa_lock_age.lock) };

static void ppa_locks_look(void)
{
	mutex_lock(&ppa_lock_age.lock);
	ppa_lock_age.readers++;
	mutex_unlock(&ppa_lock_age.lock);
}

static void ppa_locks_looked(void)
{
	mutex_lock(&ppa_lock_age.lock);
	ppa_lock_age.readers--;
	mutex_unlock(&ppa_lock_age.lock);
}

static bool ppa_lock_half_is_full(struct ppa_lock_half *half)
{
	return atomic_read(&half->taken) > half->places / 4 * 3;
}

/* The row of all else of a process stays as long as that has another. */
static bool ppa_lock_is_old(const struct ppa_lock_row *row)
{
	const struct ppa_lock_key *key = &row->key;

	return jiffies - READ_ONCE(row->used) > PPA_LOCK_OLD &&
	       (key->kind != PPA_LOCK_LOST ||
		!atomic_read(ppa_lock_held(key->space)));
}

static bool ppa_lock_is_retired(const struct ppa_lock_row *row)
{
	return READ_ONCE(row->state) & PPA_LOCK_RETIRED;
}

/* Return: how many rows are retired, a quarter of the half at most. */
static unsigned int ppa_lock_retire(struct ppa_lock_half *half)
{
	struct ppa_lock_row *row;
	unsigned int i, nr = 0;
	u32 state;

	if (!ppa_lock_half_is_full(half))
		return 0;
	/* from where it was last time: some stay, as somebody waits there for long */
	for (i = 0; i < half->places && nr < half->places / 4; i++, half->at++) {
		cond_resched();
		row = &ppa_locks.rows[half->first +
				      (half->at & (half->places - 1))];
		/* with smp_store_release() in ppa_lock_claim() */
		state = smp_load_acquire(&row->state);
		if (!(state & PPA_LOCK_FILLED) || !ppa_lock_is_old(row))
			continue;
		WRITE_ONCE(row->state, state | PPA_LOCK_RETIRED);
		nr++;
	}
	return nr;
}

/* Somebody waits for what the row is of, or may. */
static void ppa_lock_stays(u32 at)
{
	struct ppa_lock_row *row = &ppa_locks.rows[at];

	if (ppa_lock_is_retired(row))
		WRITE_ONCE(row->state, row->state & ~PPA_LOCK_RETIRED);
}

static void ppa_lock_look_at_threads(void)
{
	const struct ppa_rec *r;
	u32 waits_for;
	int i;

	for (i = 0; i < ppa.max; i++) {
		r = ppa_rec_at(i);
		cond_resched();
		/* as long as there is a lock, its row is here */
		if (READ_ONCE(r->lock))
			ppa_lock_stays(READ_ONCE(r->lock_row));
		waits_for = READ_ONCE(r->waits_for);
		if (waits_for)
			ppa_lock_stays(waits_for - 1);
	}
}

static void ppa_lock_look_at_cpus(void)
{
	const struct ppa_spin *s;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		s = per_cpu(ppa_spins, cpu).in;
		for (i = 0; i < ARRAY_SIZE(ppa_spins.in); i++)
			if (READ_ONCE(s[i].lock))
				ppa_lock_stays(READ_ONCE(s[i].row));
	}
}

/* What ROW has is that row's, too. */
static void ppa_lock_move(const struct ppa_lock_row *row, struct ppa_lock_row *to)
{
	const atomic64_t *from = row->counts;
	unsigned int i;

	for (i = 0; i < PPA_NR_LOCK_VALUES; i++)
		if (i == PPA_LOCK_LONGEST || i == PPA_LOCK_LONGEST_SPIN)
			ppa_lock_max(&to->counts[i], atomic64_read(&from[i]));
		else
			atomic64_add(atomic64_read(&from[i]), &to->counts[i]);
	for (i = 0; i < PPA_LOCK_WAKERS; i++)
		ppa_lock_woken(to, row->wakers[i], atomic64_read(&row->woke[i]));
}

/* No handler has the row's number any more. */
static void
ppa_lock_give_back(struct ppa_lock_half *half, struct ppa_lock_row *row)
{
	const bool is_lost = row->key.kind == PPA_LOCK_LOST;
	const u32 owner = ppa_lock_owner(&row->key);
	const u32 to = is_lost ? 0 : ppa_lock_lost(owner, row->comm);

	ppa_lock_move(row, &ppa_locks.rows[to]);
	if (!is_lost) {
		atomic64_add(atomic64_read(&row->counts[PPA_LOCK_WAITS]) +
			     atomic64_read(&row->counts[PPA_LOCK_SPUN]),
			     &ppa_locks.given_back);
		if (owner)
			atomic_dec(ppa_lock_held(owner));
	}
	/* ppa_lock_fill() writes the rest */
	memset(row->counts, 0, sizeof(row->counts));
	memset(row->woke, 0, sizeof(row->woke));
	memset(row->wakers, 0, sizeof(row->wakers));
	atomic_dec(&half->taken);
	/* with smp_load_acquire() in ppa_lock_find() */
	smp_store_release(&row->state, 0);
}

static void ppa_lock_give_all_back(struct ppa_lock_half *half)
{
	struct ppa_lock_row *row = &ppa_locks.rows[half->first];
	unsigned int i;

	for (i = 0; i < half->places; i++, row++) {
		cond_resched();
		if (ppa_lock_is_retired(row))
			ppa_lock_give_back(half, row);
	}
}

static void ppa_locks_age(void)
{
	struct ppa_lock_half *kernels = &ppa_locks.kernels;
	struct ppa_lock_half *programs = &ppa_locks.programs;

	if (!ppa_lock_half_is_full(kernels) && !ppa_lock_half_is_full(programs))
		return;
	mutex_lock(&ppa_lock_age.lock);
	if (!ppa_lock_age.readers &&
	    ppa_lock_retire(kernels) + ppa_lock_retire(programs)) {
		synchronize_rcu();
		ppa_lock_look_at_threads();
		ppa_lock_look_at_cpus();
		synchronize_rcu();
		ppa_lock_give_all_back(kernels);
		ppa_lock_give_all_back(programs);
	}
	mutex_unlock(&ppa_lock_age.lock);
}

#endif
