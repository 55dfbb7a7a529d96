/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of locks: locks.h says of what.
 *
 * A row is claimed by one cmpxchg; who comes upon one that is just being filled takes
 * another, so that nothing waits and a key may stand twice.  Where there is no room, the
 * first row has it.  lock_age.h gives rows back: one that is retired is found no more, and
 * who has found it before still adds to it.
 *
 * A program has as many futexes, and calls from as many places, as it likes.  So half of
 * the rows are for the kernel's locks alone; and a process has a share of a half at most.
 * What it waits for beyond that has a row of the process's, if there is room.
 *
 * All of it: any context, NMI included.
 */
#ifndef STAPWATCH_PPA_LOCK_ROWS_H
#define STAPWATCH_PPA_LOCK_ROWS_H

#include "base/clock.h"
#include "base/sched_text.h"
#include "ppa/abi.h"
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/string.h>

/* Places that are looked at, a step from each other that the key says: of rows one beside
 * the other there would soon be so many that have no free one among them. */
#define PPA_LOCK_TRIES 32

struct ppa_lock_key {
	u64 lock;
	u64 space;		/* what the address is of: see abi.h */
	u32 kind;
	u32 what;		/* enum ppa_lock_what, or a process */
	u32 holder;
	u32 nr;			/* of frames */
	u64 ip[PPA_LOCK_FRAMES];
};

struct ppa_lock_row {
	u32 state;		/* 0: free; the key's hash, and bits: it is filled */
	u64 born;		/* when it was claimed, in ticks */
	unsigned long used;	/* when something was added, to a second, in jiffies */
	char comm[TASK_COMM_LEN];	/* of who came first, or waited before that */
	struct ppa_lock_key key;
	atomic64_t counts[PPA_NR_LOCK_VALUES];
	atomic64_t woke[PPA_LOCK_WAKERS];	/* waits that these have ended: */
	u32 wakers[PPA_LOCK_WAKERS];	/* 0: free */
};

/* Of the rows, those of some kinds. */
struct ppa_lock_half {
	u32 first;
	u32 places;		/* a power of two; 0: there are none */
	u32 at;			/* where lock_age.h looks on */
	atomic_t taken;
};

/* One of so many parts of a half is a process's share. */
#define PPA_LOCK_SHARES 8

/* Processes whose numbers fall together have one share. */
#define PPA_LOCK_OWNER_BITS 10

#define PPA_LOCK_FILLED 1
#define PPA_LOCK_CLAIMED 2
#define PPA_LOCK_RETIRED 4

static struct {
	struct ppa_lock_row *rows;	/* NULL: they are not told apart */
	u32 nr;				/* with the first one */
	struct ppa_lock_half kernels;
	struct ppa_lock_half programs;
	atomic_t held[1 << PPA_LOCK_OWNER_BITS];	/* rows, of both halves */
	atomic64_t given_back;		/* waits that were in rows which others have now */
	struct sw_text text;		/* of locks that spin */
	/* the kernel's addresses; NULL: nobody may see them */
	__typeof__(&kallsyms_show_value) may_see;
} ppa_locks;

static u32 ppa_lock_hash(const struct ppa_lock_key *key)
{
	const u64 *words = (const u64 *)key;
	u64 hash = 0;
	unsigned int i;

	for (i = 0; i < sizeof(*key) / sizeof(u64); i++)
		hash = (hash ^ words[i] ^ hash >> 32) * 0x9e3779b97f4a7c15ULL;
	return hash >> 32;
}

static void ppa_lock_fill(struct ppa_lock_row *row,
			  const struct ppa_lock_key *key, const char *comm)
{
	row->key = *key;
	row->born = sw_tsc();
	row->used = jiffies;
	memcpy(row->comm, comm, sizeof(row->comm));
}

static bool ppa_lock_is_kernels(u32 kind)
{
	return kind != PPA_LOCK_LOST && kind != PPA_LOCK_FUTEX &&
	       kind != PPA_LOCK_FUTEXES && kind != PPA_LOCK_FILE;
}

/* The process whose lock it is, or that has chosen the place; 0: it is the kernel's. */
static u32 ppa_lock_owner(const struct ppa_lock_key *key)
{
	return key->kind == PPA_LOCK_FILE ? key->what : key->space;
}

/* How many rows a process has, and those whose numbers fall together with its. */
static atomic_t *ppa_lock_held(u32 owner)
{
	return &ppa_locks.held[hash_32(owner, PPA_LOCK_OWNER_BITS)];
}

/* One row more of those that have HELD so many; false: they have their share. */
static bool ppa_lock_hold(const struct ppa_lock_half *half, atomic_t *held)
{
	const int share = max(half->places / PPA_LOCK_SHARES, 1U);

	if (!held || atomic_inc_return(held) <= share)
		return true;
	atomic_dec(held);
	return false;
}

/* Claim the free row AT of that half.  Return: false where it is another's by now. */
static bool ppa_lock_claim(struct ppa_lock_half *half, u32 at, u32 filled,
			   const struct ppa_lock_key *key, const char *comm)
{
	struct ppa_lock_row *row = &ppa_locks.rows[at];

	if (cmpxchg(&row->state, 0, PPA_LOCK_CLAIMED))
		return false;
	atomic_inc(&half->taken);
	ppa_lock_fill(row, key, comm);
	/* with smp_load_acquire() in ppa_lock_find() and proc_locks.h */
	smp_store_release(&row->state, filled);
	return true;
}

/* The row of a key, or else a free one for it, with FREE set; 0: there is neither.  Where
 * a row was given back there is a free one before those that were taken later. */
static u32 ppa_lock_find(const struct ppa_lock_half *half, u32 hash, u32 filled,
			 const struct ppa_lock_key *key, bool *free)
{
	const u32 step = hash >> 16 | 1;
	const struct ppa_lock_row *row;
	u32 at, state, first = 0;
	unsigned int i;

	*free = false;
	for (i = 0; i < PPA_LOCK_TRIES && half->places; i++) {
		at = half->first + ((hash + i * step) & (half->places - 1));
		row = &ppa_locks.rows[at];
		/* with smp_store_release() in ppa_lock_claim(), and in
		 * ppa_lock_give_back() */
		state = smp_load_acquire(&row->state);
		if (state == filled && !memcmp(&row->key, key, sizeof(*key)))
			return at;
		if (!state && !first)
			first = at;
	}
	*free = first;
	return first;
}

/* How often another CPU may take the free row first. */
#define PPA_LOCK_RACES 4

/* The row of a key in that half, of an owner who has HELD so many rows; of COMM, if it is
 * new.  0 where there is no room. */
static u32
ppa_lock_place(struct ppa_lock_half *half, const struct ppa_lock_key *key,
	       atomic_t *held, const char *comm)
{
	const u32 hash = ppa_lock_hash(key) & ~PPA_LOCK_RETIRED;
	const u32 filled = hash | PPA_LOCK_FILLED | PPA_LOCK_CLAIMED;
	unsigned int tries;
	bool free;
	u32 at;

	for (tries = 0; tries < PPA_LOCK_RACES; tries++) {
		at = ppa_lock_find(half, hash, filled, key, &free);
		if (!free)
			return at;
		if (!ppa_lock_hold(half, held))
			return 0;
		if (ppa_lock_claim(half, at, filled, key, comm))
			return at;
		if (held)
			atomic_dec(held);
	}
	return 0;
}

/* The row of what else OWNER, called COMM, waits for; 0: that of all. */
static u32 ppa_lock_lost(u32 owner, const char *comm)
{
	const struct ppa_lock_key lost = { .space = owner };

	return owner ? ppa_lock_place(&ppa_locks.programs, &lost, NULL, comm) :
		       0;
}

/* The row of a key; 0 where there is no room. */
static u32 ppa_lock_row(const struct ppa_lock_key *key)
{
	const u32 owner = ppa_lock_owner(key);
	u32 at;

	at = ppa_lock_place(ppa_lock_is_kernels(key->kind) ?
			    &ppa_locks.kernels : &ppa_locks.programs, key,
			    owner ? ppa_lock_held(owner) : NULL, current->comm);
	return likely(at) ? at : ppa_lock_lost(owner, current->comm);
}

/* One of these is a longest. */
static void ppa_lock_max(atomic64_t *longest, u64 d)
{
	s64 old = atomic64_read(longest);
	unsigned int i;

	for (i = 0; i < 16 && (u64)old < d; i++)
		if (atomic64_try_cmpxchg(longest, &old, d))
			break;
}

/* So long for one, of the three values from FIRST on. */
static void ppa_lock_add(u32 at, enum ppa_lock_value first, u64 d)
{
	struct ppa_lock_row *row = &ppa_locks.rows[at];
	atomic64_t *counts = row->counts + first;
	const unsigned long now = jiffies;

	if (now - READ_ONCE(row->used) > HZ)
		WRITE_ONCE(row->used, now);
	atomic64_inc(&counts[0]);
	atomic64_add(d, &counts[1]);
	ppa_lock_max(&counts[2], d);
}

/* WAITS were ended by WAKER; 0: not known.  Who comes when there is no place left is not
 * told. */
static void ppa_lock_woken(struct ppa_lock_row *row, u32 waker, u64 waits)
{
	unsigned int i;
	u32 by;

	for (i = 0; waker && i < PPA_LOCK_WAKERS; i++) {
		by = READ_ONCE(row->wakers[i]);
		if (!by)
			by = cmpxchg(&row->wakers[i], 0, waker) ?: waker;
		if (by == waker) {
			atomic64_add(waits, &row->woke[i]);
			return;
		}
	}
}

#endif
