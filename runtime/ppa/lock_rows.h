/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of locks: locks.h says of what.
 *
 * A row is claimed by one cmpxchg and never given back; who comes upon one that is
 * just being filled takes another, so that nothing waits and a key may stand twice.
 * Where there is no room, the first row has it.
 *
 * All of it: any context, NMI included.
 */
#ifndef STAPWATCH_PPA_LOCK_ROWS_H
#define STAPWATCH_PPA_LOCK_ROWS_H

#include "base/sched_text.h"
#include "ppa/abi.h"
#include <linux/atomic.h>
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/string.h>

/* Places that are looked at. */
#define PPA_LOCK_WINDOW 32

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
	u32 state;		/* 0: free; the key's hash, and a bit: it is filled */
	char comm[TASK_COMM_LEN];	/* of who came first */
	struct ppa_lock_key key;
	atomic64_t counts[PPA_NR_LOCK_VALUES];
	atomic64_t woke[PPA_LOCK_WAKERS];	/* waits that these have ended: */
	u32 wakers[PPA_LOCK_WAKERS];	/* 0: free */
};

#define PPA_LOCK_FILLED 1
#define PPA_LOCK_CLAIMED 2

static struct {
	struct ppa_lock_row *rows;	/* NULL: they are not told apart */
	u32 mask;
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
			  const struct ppa_lock_key *key)
{
	row->key = *key;
	memcpy(row->comm, current->comm, sizeof(row->comm));
}

/* The row of a key; 0 where there is no room. */
static u32 ppa_lock_row(const struct ppa_lock_key *key)
{
	const u32 hash = ppa_lock_hash(key), filled = hash | PPA_LOCK_FILLED | PPA_LOCK_CLAIMED;
	struct ppa_lock_row *row;
	unsigned int i;
	u32 at, state;

	for (i = 0; i < PPA_LOCK_WINDOW; i++) {
		/* the first is not among them */
		at = 1 + ((hash + i) & ppa_locks.mask);
		row = &ppa_locks.rows[at];
		/* with smp_store_release() below */
		state = smp_load_acquire(&row->state);
		if (!state && !cmpxchg(&row->state, 0, PPA_LOCK_CLAIMED)) {
			ppa_lock_fill(row, key);
			/* with smp_load_acquire() above and in proc_locks.h */
			smp_store_release(&row->state, filled);
			return at;
		}
		if (state == filled && !memcmp(&row->key, key, sizeof(*key)))
			return at;
	}
	return 0;
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
static void ppa_lock_add(u32 row, enum ppa_lock_value first, u64 d)
{
	atomic64_t *counts = ppa_locks.rows[row].counts + first;

	atomic64_inc(&counts[0]);
	atomic64_add(d, &counts[1]);
	ppa_lock_max(&counts[2], d);
}

/* A wait was ended by WAKER; 0: not known.  Who comes when there is no place left is not
 * told. */
static void ppa_lock_woken(struct ppa_lock_row *row, u32 waker)
{
	unsigned int i;
	u32 by;

	for (i = 0; waker && i < PPA_LOCK_WAKERS; i++) {
		by = READ_ONCE(row->wakers[i]);
		if (!by)
			by = cmpxchg(&row->wakers[i], 0, waker) ?: waker;
		if (by == waker) {
			atomic64_inc(&row->woke[i]);
			return;
		}
	}
}

#endif
