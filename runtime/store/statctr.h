/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scalable statistics counters: each CPU adds to a word of its own, and who
 * reads adds the words up.
 *
 * Who may run what, against whom:
 *
 *   statctr_inc/_dec/_add/_sub	any context, NMI included, on all CPUs at once
 *   statctr_set		the same, but one at a time for each counter
 *   __statctr_inc ... _set	the same, where preemption is off already: in
 *				probe handlers, interrupts, under spinlocks
 *   statctr_read		any context, against all of the above
 *   statctr_init/_ninit, statctr_cleanup/_ncleanup,
 *   pcpu_ctr_alloc/_free	sleepable, against everything done to other
 *				counters; this one is nobody else's, yet or any
 *				more
 *   statctr_cpu_up		sleepable, before that CPU's first update
 *   statctr_cpu_down		sleepable, after its last one
 *
 * No update takes a lock or is a locked instruction: a word has one CPU that
 * writes it.  What may come between on that CPU is an interrupt or an NMI, so
 * the addition is the architecture's local_t one, on x86 a single addq.
 *
 * In user space a "CPU" is a thread.  It gets a number at its first update, and
 * when it exits, the number and what was counted under it go to the next one.
 * Threads beyond STATCTR_MAX_THREADS - 1 share the last number, with atomic
 * additions.  The first update of a thread is not for signal handlers, and one
 * that comes in the middle of another by the same thread may undo it.  The
 * child of a fork() has the numbers of its parent's threads taken for good.
 * Include this in one file of a program: numbers and lists are that file's.
 *
 * What the build can choose, by defining it before this is included:
 *
 *   STATCTR_UP			user space has one thread: a counter is a plain
 *				unsigned long, as in a kernel without CONFIG_SMP
 *   STATCTR_FLEXIBLE		the flexible allocator; else the fixed one
 *   STATCTR_STRIDE		bytes from one CPU's words to the next one's, a
 *				power of two
 *   STATCTR_FIRST		bytes at the start of those that hold no counter
 *   STATCTR_MAX_THREADS	see above
 *   statctr_block_alloc(size, flag), statctr_block_free(block, size)
 *				zeroed memory for words, aligned to
 *				STATCTR_STRIDE: of all CPUs (fixed) or of one
 *				(flexible).  A block is freed with the last
 *				counter in it.
 *   statctr_meta_alloc(size, flag), statctr_meta_free(p, size)
 *				zeroed memory for what manages them
 *   statctr_lock(), statctr_unlock()
 *				around those four, which must not use counters
 */
#ifndef STAPWATCH_STORE_STATCTR_H
#define STAPWATCH_STORE_STATCTR_H

#include "base/compat.h"
#include "store/statctr_build.h"
#include "store/statctr_block.h"
#include "store/statctr_fixed.h"
#include "store/statctr_flexible.h"

#ifdef STATCTR_UP

typedef unsigned long statctr_t;
typedef unsigned long pcpu_ctr_t;

#define PCPU_CTR(ctr, cpu) ((void)(cpu), (ctr))

static inline pcpu_ctr_t *pcpu_ctr_alloc(int flag __maybe_unused)
{
	return statctr_meta_alloc(sizeof(pcpu_ctr_t), flag);
}

static inline pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr)
{
	statctr_meta_free(ctr, sizeof(*ctr));
	return NULL;
}

static inline int statctr_cpu_up(unsigned int cpu __maybe_unused)
{
	return 0;
}

static inline int statctr_cpu_down(unsigned int cpu __maybe_unused)
{
	return 0;
}

static inline int statctr_init(statctr_t *stctr, unsigned long value)
{
	*stctr = value;
	return 0;
}

static inline void statctr_cleanup(statctr_t *stctr __maybe_unused)
{
}

static __always_inline void
__statctr_add(statctr_t *stctr, unsigned long addend)
{
#ifdef __KERNEL__
	local_add((long)addend, (local_t *)stctr);
#else
	*stctr += addend;
#endif
}

static inline unsigned long statctr_read(const statctr_t *stctr)
{
	return READ_ONCE(*stctr);
}

static __always_inline void __statctr_set(statctr_t *stctr, unsigned long i)
{
	WRITE_ONCE(*stctr, i);
}

#else /* STATCTR_UP */

/**
 * pcpu_ctr_alloc - allocate a per-CPU counter
 * @flag: in a kernel, GFP flags that allow to sleep; nothing in user space
 *
 * It begins at 0.  Freed ones are used again before memory is asked for.
 *
 * Context: sleepable.
 * Return: the counter, or NULL.
 */
static inline pcpu_ctr_t *pcpu_ctr_alloc(int flag)
{
	struct statctr_block *b, *fresh = NULL;
	pcpu_ctr_t *ctr = NULL;

	statctr_lock();
	for (b = statctr_blocks; b; b = b->next)
		if (b->nused < STATCTR_PER_CHUNK)
			break;
	if (!b)
		b = fresh = statctr_block_create(flag);
	if (b)
		ctr = statctr_block_ctr(b, flag);
	if (fresh && ctr) {
		fresh->next = statctr_blocks;
		statctr_blocks = fresh;
	} else if (fresh) {
		statctr_block_destroy(fresh);
	}
	statctr_unlock();
	return ctr;
}

/**
 * pcpu_ctr_free - free a per-CPU counter
 * @ctr: what pcpu_ctr_alloc() returned, or NULL
 *
 * Context: sleepable; nobody uses the counter any more.
 * Return: NULL, for where the pointer was kept.
 */
static inline pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr)
{
	struct statctr_block **at, *b;

	if (!ctr)
		return NULL;
	statctr_lock();
	at = statctr_ctr_unblock(ctr);
	b = *at;
	if (!b->nused) {
		*at = b->next;
		statctr_block_destroy(b);
	}
	statctr_unlock();
	return NULL;
}

/* --- The thread's number, in user space */

#ifndef __KERNEL__

#define STATCTR_NOBODY (~0U)

static __thread unsigned int statctr_self = STATCTR_NOBODY;
static int statctr_taken[STATCTR_SHARED];
static pthread_once_t statctr_once = PTHREAD_ONCE_INIT;
static pthread_key_t statctr_key;
static bool statctr_key_made;

static inline void statctr_leave(void *unused __maybe_unused)
{
	unsigned int slot = statctr_self;

	/* destructors that run after this one may still count */
	statctr_self = STATCTR_SHARED;
	statctr_cpu_down(slot);
	/* with cmpxchg() in statctr_claim(): whoever is given the number next
	 * goes on from our counts */
	smp_store_release(&statctr_taken[slot], 0);
}

static inline void statctr_make_key(void)
{
	statctr_key_made = !pthread_key_create(&statctr_key, statctr_leave);
}

static inline unsigned int statctr_claim(void)
{
	unsigned int slot;

	for (slot = 0; slot < STATCTR_SHARED; slot++)
		if (!READ_ONCE(statctr_taken[slot]) &&
		    !cmpxchg(&statctr_taken[slot], 0, 1))
			break;
	return slot;
}

/* Give this thread its number, for which there is always the shared one. */
static inline unsigned int statctr_join(void)
{
	unsigned int slot = STATCTR_SHARED;

	pthread_once(&statctr_once, statctr_make_key);
	if (statctr_key_made)
		slot = statctr_claim();
	if (slot != STATCTR_SHARED &&
	    (statctr_cpu_up(slot) ||
	     pthread_setspecific(statctr_key, &statctr_self))) {
		/* as in statctr_leave() */
		smp_store_release(&statctr_taken[slot], 0);
		slot = STATCTR_SHARED;
	}
	statctr_self = slot;
	return slot;
}

static __attribute__((noinline)) __maybe_unused void
statctr_add_shared(statctr_t *stctr, unsigned long addend)
{
	unsigned int slot = statctr_self;

	if (slot == STATCTR_NOBODY)
		slot = statctr_join();
	__atomic_fetch_add(PCPU_CTR(stctr->ctr, slot), addend,
			   __ATOMIC_RELAXED);
}

#endif

/* --- The counters */

/**
 * statctr_init - make a counter
 * @stctr: the counter
 * @value: what it begins at
 *
 * Context: sleepable.
 * Return: 0, or -ENOMEM.
 */
static inline int statctr_init(statctr_t *stctr, unsigned long value)
{
	unsigned int cpu = 0;

	stctr->ctr = pcpu_ctr_alloc(STATCTR_FLAG);
	if (!stctr->ctr)
		return -ENOMEM;
#ifdef STATCTR_FLEXIBLE
	while (cpu < statctr_nr_cpus() && !stctr->ctr->arr[cpu])
		cpu++;
	if (cpu == statctr_nr_cpus()) {
		/* no statctr_cpu_up() at all: nobody could count either */
		stctr->ctr = pcpu_ctr_free(stctr->ctr);
		return -EINVAL;
	}
#endif
	WRITE_ONCE(*PCPU_CTR(stctr->ctr, cpu), value);
	return 0;
}

/**
 * statctr_cleanup - free what statctr_init() allocated
 * @stctr: the counter
 *
 * Context: sleepable; nobody uses the counter any more.
 */
static inline void statctr_cleanup(statctr_t *stctr)
{
	stctr->ctr = pcpu_ctr_free(stctr->ctr);
}

/*
 * Add to the word of the CPU that this runs on, which it must go on running on.
 */
static __always_inline void
__statctr_add(statctr_t *stctr, unsigned long addend)
{
#ifdef __KERNEL__
	local_add((long)addend,
		  (local_t *)PCPU_CTR(stctr->ctr, smp_processor_id()));
#else
	unsigned int slot = statctr_self;
	unsigned long *word;

	if (unlikely(slot >= STATCTR_SHARED)) {
		statctr_add_shared(stctr, addend);
		return;
	}
	word = PCPU_CTR(stctr->ctr, slot);
	WRITE_ONCE(*word, READ_ONCE(*word) + addend);
#endif
}

/**
 * statctr_read - the value of a counter
 * @stctr: the counter
 *
 * Updates that are over before the call are all in it, those that come during
 * it may be.
 *
 * Context: any, NMI included; preemption on or off.
 * Return: the sum over all CPUs, modulo ULONG_MAX + 1.
 */
static inline unsigned long statctr_read(const statctr_t *stctr)
{
	unsigned long sum = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < statctr_nr_cpus(); cpu++) {
#ifdef STATCTR_FLEXIBLE
		/* with smp_store_release() in statctr_cpu_up() */
		unsigned long *word = smp_load_acquire(&stctr->ctr->arr[cpu]);

		if (word)
			sum += READ_ONCE(*word);
#else
		sum += READ_ONCE(*PCPU_CTR(stctr->ctr, cpu));
#endif
	}
	return sum;
}

static __always_inline void __statctr_set(statctr_t *stctr, unsigned long i)
{
	__statctr_add(stctr, i - statctr_read(stctr));
}

#endif /* STATCTR_UP */

static __always_inline void __statctr_sub(statctr_t *stctr, unsigned long i)
{
	__statctr_add(stctr, -i);
}

static __always_inline void __statctr_inc(statctr_t *stctr)
{
	__statctr_add(stctr, 1);
}

static __always_inline void __statctr_dec(statctr_t *stctr)
{
	__statctr_add(stctr, -1UL);
}

#ifdef __KERNEL__
#define statctr_stay() preempt_disable_notrace()
#define statctr_move_on() preempt_enable_notrace()
#else
#define statctr_stay() ((void)0)
#define statctr_move_on() ((void)0)
#endif

/**
 * statctr_add - add to a counter
 * @stctr: the counter
 * @addend: how much; beyond ULONG_MAX the value wraps
 *
 * __statctr_add() is the same, cheaper, where preemption is off.
 *
 * Context: any, NMI included; preemption on or off.
 */
static __always_inline void
statctr_add(statctr_t *stctr, unsigned long addend)
{
	statctr_stay();
	__statctr_add(stctr, addend);
	statctr_move_on();
}

/**
 * statctr_sub - subtract from a counter
 * @stctr: the counter
 * @subtrahend: how much; below 0 the value wraps
 *
 * Context: any, NMI included; preemption on or off.
 */
static __always_inline void
statctr_sub(statctr_t *stctr, unsigned long subtrahend)
{
	statctr_add(stctr, -subtrahend);
}

/**
 * statctr_inc - add one to a counter
 * @stctr: the counter
 *
 * Context: any, NMI included; preemption on or off.
 */
static __always_inline void statctr_inc(statctr_t *stctr)
{
	statctr_add(stctr, 1);
}

/**
 * statctr_dec - subtract one from a counter
 * @stctr: the counter
 *
 * Context: any, NMI included; preemption on or off.
 */
static __always_inline void statctr_dec(statctr_t *stctr)
{
	statctr_add(stctr, -1UL);
}

/**
 * statctr_set - give a counter a value
 * @stctr: the counter
 * @i: the value
 *
 * A read that comes after it, with no update in between, returns @i.  Of the
 * updates that go on meanwhile each is wholly in one of two groups: those that
 * this call has seen are replaced by @i, and all others, in particular those
 * that begin after the call has returned, count on top of @i.  None is counted
 * in part.  Two sets of a counter at once would each add what it is short of
 * its own value, so the caller sees to it that there is one at a time.
 *
 * Context: any, NMI included; preemption on or off.
 */
static __always_inline void statctr_set(statctr_t *stctr, unsigned long i)
{
	statctr_stay();
	__statctr_set(stctr, i);
	statctr_move_on();
}

/**
 * statctr_ncleanup - free what statctr_ninit() allocated
 * @stctr: the array of counters
 * @count: how many
 *
 * Context: sleepable; nobody uses the counters any more.
 */
static inline void statctr_ncleanup(statctr_t *stctr, int count)
{
	while (count-- > 0)
		statctr_cleanup(&stctr[count]);
}

/**
 * statctr_ninit - make an array of counters
 * @stctr: the array
 * @count: how many
 * @value: what each begins at
 *
 * Context: sleepable.
 * Return: 0, or as statctr_init(), when none of them is allocated.
 */
static inline int
statctr_ninit(statctr_t *stctr, int count, unsigned long value)
{
	int i, rc;

	for (i = 0; i < count; i++) {
		rc = statctr_init(&stctr[i], value);
		if (rc) {
			statctr_ncleanup(stctr, i);
			return rc;
		}
	}
	return 0;
}

#endif
