/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of watched threads: from a thread to what it has counted so far.
 *
 * Who may run what, against whom:
 *
 *   sw_table_find(t, task)	any context, NMI included.  On the CPU that runs
 *				TASK, interrupts off, the entry stays while it is
 *				looked at; elsewhere only under the lock below, or
 *				the caller asks afterwards whether it still is TASK's
 *   sw_table_insert(t, task), sw_table_claim(), sw_table_publish()
 *				interrupts off, and not from within another insert
 *				or remove on this CPU (the caller's busy flag);
 *				who may, see below
 *   sw_table_remove(t, e)	the same
 *   sw_table_bytes(), sw_table_init()	sleepable, when nobody uses the table
 *
 * A key is a thread's task_struct.  At any time there is at most one who inserts
 * or removes a key.  Either that is the thread itself, while it runs: it inserts
 * its key, and removes it in its last switch.  Or, where threads are also watched
 * because somebody asked, it is the holder of a lock of the table's owner, which
 * the thread itself takes, too: watch/state.h.  Sums are changed by the CPU that
 * runs the thread, and by nobody else.
 *
 * So what CPUs share is the free slots, and those are claimed by one cmpxchg.
 * That is why nothing here takes a lock, and why a search may look at a fixed
 * window without minding what others do in it.  A claimed slot has no thread yet
 * that a search would find; that comes when its sums are there.
 *
 * A task_struct outlives its entry: the entry goes in the thread's last switch
 * away, or at the latest before the task_struct is freed, so an address never
 * stands for two threads, whatever becomes of pids.
 */
#ifndef STAPWATCH_COUNT_TABLE_H
#define STAPWATCH_COUNT_TABLE_H

#include "base/compat.h"

struct task_struct;

/* So many holes an entry may have before it comes to where another one begins. */
#define SW_TABLE_STRETCH (1ULL << 32)

/* Slots that a search looks at.  The table is at most a quarter full, so
 * that no free slot among so many is as good as a full table. */
#define SW_TABLE_WINDOW 16

struct sw_thread {
	struct task_struct *task;	/* NULL: this slot is free */
	atomic_t home;		/* threads whose window starts at this slot */
	u64 lost;		/* bit per counter: a hole nobody was told of */
	u64 stretch;		/* another one after each hole, and in each entry */
	u64 sum[];		/* per counter; see vthread.h */
};

struct sw_table {
	char *slots;
	u64 mask;		/* of a slot's byte offset, from the hash */
	unsigned int shift;	/* from the hash to a byte offset */
	unsigned int stride;
	size_t size;
	int max;
	atomic_t used;
	atomic_t refused;	/* threads not watched for want of room */
	atomic64_t stretches;	/* the last one that an entry began with */
};

static __always_inline struct sw_thread *
sw_table_home(const struct sw_table *t, const struct task_struct *task)
{
	u64 hash = (u64)(unsigned long)task * 0x9e3779b97f4a7c15ULL;

	/* `& 63` saves the check of a kernel with UBSAN */
	hash = (hash >> (t->shift & 63)) & t->mask;
	return (struct sw_thread *)(t->slots + hash);
}

static __always_inline struct sw_thread *
sw_table_next(const struct sw_table *t, struct sw_thread *e)
{
	return (struct sw_thread *)((char *)e + t->stride);
}

/**
 * sw_table_bytes - lay a table out
 * @t: the table, whose geometry is set
 * @max: threads that it shall hold
 * @counters: sums that each thread has
 *
 * Return: the bytes of zeroed memory that sw_table_init() wants.
 */
static inline size_t
sw_table_bytes(struct sw_table *t, int max, unsigned int counters)
{
	size_t need = sizeof(struct sw_thread) + counters * sizeof(u64);
	unsigned int stride_bits = ilog2(roundup_pow_of_two(
					need < 64 ? 64 : need));
	unsigned int slot_bits = ilog2(roundup_pow_of_two(4UL * max));

	t->stride = 1U << stride_bits;
	t->shift = 64 - slot_bits - stride_bits;
	t->mask = ((1ULL << slot_bits) - 1) << stride_bits;
	t->max = max;
	t->size = ((1UL << slot_bits) + SW_TABLE_WINDOW) << stride_bits;
	return t->size;
}

static inline void sw_table_init(struct sw_table *t, void *zeroed)
{
	t->slots = zeroed;
	t->used.counter = 0;
	t->refused.counter = 0;
	t->stretches.counter = 0;
}

/**
 * sw_table_find - the entry of a thread
 *
 * Return: its entry, or NULL when the thread is not watched, which costs one
 * test where no watched thread hashes alike.
 * Context: any; see the top of this file.
 */
static __always_inline struct sw_thread *
sw_table_find(const struct sw_table *t, const struct task_struct *task)
{
	struct sw_thread *e = sw_table_home(t, task);
	int i;

	/* with sw_table_publish() */
	if (smp_load_acquire(&e->task) == task)
		return e;
	if (likely(!atomic_read(&e->home)))
		return NULL;
	e = sw_table_next(t, e);
	for (i = 1; i < SW_TABLE_WINDOW; i++, e = sw_table_next(t, e))
		/* as above, with sw_table_publish() */
		if (smp_load_acquire(&e->task) == task)
			return e;
	return NULL;
}

/* Which of all slots an entry is: who keeps more of each thread goes by this. */
static __always_inline unsigned int
sw_table_index(const struct sw_table *t, const struct sw_thread *e)
{
	return ((const char *)e - t->slots) / t->stride;
}

static inline unsigned int sw_table_slots(const struct sw_table *t)
{
	return t->size / t->stride;
}

/* No thread's address, and so not found. */
#define SW_TABLE_CLAIMED ((struct task_struct *)1)

/**
 * sw_table_claim - an entry for a thread that is not in the table
 * @counters: how many sums to set to zero
 *
 * sw_table_publish() must follow; until then no search finds it.
 *
 * Return: the entry, or NULL (and one more in @t->refused) when the table is
 * full.
 * Context: any; see the top of this file.
 */
static inline struct sw_thread *
sw_table_claim(struct sw_table *t, struct task_struct *task,
	       unsigned int counters)
{
	struct sw_thread *home = sw_table_home(t, task), *e = home;
	unsigned int i;

	if (!atomic_add_unless(&t->used, 1, t->max))
		goto refused;
	for (i = 0; i < SW_TABLE_WINDOW; i++, e = sw_table_next(t, e)) {
		if (READ_ONCE(e->task) ||
		    cmpxchg(&e->task, NULL, SW_TABLE_CLAIMED))
			continue;
		e->lost = 0;
		e->stretch = atomic64_add_return(SW_TABLE_STRETCH,
						 &t->stretches);
		for (i = 0; i < counters; i++)
			e->sum[i] = 0;
		atomic_inc(&home->home);
		return e;
	}
	atomic_dec(&t->used);
refused:
	atomic_inc(&t->refused);
	return NULL;
}

static __always_inline void
sw_table_publish(struct sw_thread *e, struct task_struct *task)
{
	/* with who finds TASK, also on another CPU: the sums are there */
	smp_store_release(&e->task, task);
}

/**
 * sw_table_insert - begin to watch a thread that is not in the table
 * Context: any; see the top of this file.
 * Return: as sw_table_claim().
 */
static inline struct sw_thread *
sw_table_insert(struct sw_table *t, struct task_struct *task,
		unsigned int counters)
{
	struct sw_thread *e = sw_table_claim(t, task, counters);

	if (e)
		sw_table_publish(e, task);
	return e;
}

/**
 * sw_table_remove - stop watching a thread
 * Context: any; see the top of this file.
 */
static inline void sw_table_remove(struct sw_table *t, struct sw_thread *e)
{
	atomic_dec(&sw_table_home(t, READ_ONCE(e->task))->home);
	/* with sw_table_insert()'s cmpxchg(): whoever claims the slot next must
	 * not have its sums overwritten by ours */
	smp_store_release(&e->task, NULL);
	atomic_dec(&t->used);
}

#endif
