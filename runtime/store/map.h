/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: counters per CPU that user space maps; session.h has its files, and
 * how it begins and ends.  After the mapped counters' ABI (SGI, 2001) and statctr
 * for Linux 2.6.
 *
 * What abi.h says of the map is laid out here in pages of their own, so
 * that a reader's mapping outlives the module: each page has a reference for
 * each mapping.  A CPU's areas lie on its node.  All extents are there from the
 * start, since a handler may create an instance and cannot wait for memory;
 * what grows is the number of instances.
 *
 * An instance is found by its name through a hash table of fixed size, in which
 * entries are only ever filled: with its name and number complete, an entry is
 * put in its place by one cmpxchg, whoever interrupts whom.  Who loses the race
 * for a place to another instance goes on to the next; who loses it to the same
 * name takes that one, and leaves the number it had taken to who comes next.
 *
 * Who may run what, against whom:
 *
 *   sw_map_add(), sw_map_del()	any context, NMI included
 *   sw_map_adjust(), sw_hist_add()	any context, preemption off; what
 *				interrupts on the same CPU loses nothing and
 *				tears nothing
 *   sw_ctr_read(), sw_ctr_set()	any context; see statctr.h
 */
#ifndef STAPWATCH_STORE_MAP_H
#define STAPWATCH_STORE_MAP_H

#include "base/access.h"
#include "store/abi.h"
#include "store/hist.h"
#include "store/numbers.h"
/* a CPU's words stand in its page of an extent, behind the flag */
#define STATCTR_STRIDE PAGE_SIZE
#define STATCTR_FIRST PERFMAP_COUNTERS_OFFSET
#include "store/statctr.h"
#include <linux/jhash.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>

#define SW_CTR_MAX_EXTENTS 4096
#define SW_CTR_NAME 128
#define SW_CTR_WINDOW 32	/* places that are looked at for a name */
#define SW_CTR_PER_EXTENT ((unsigned int)PERFMAP_COUNTERS(PAGE_SIZE))
#define SW_HIST_PER_EXTENT store_hists_per_extent(SW_CTR_PER_EXTENT)

enum sw_ctr_kind { SW_CTR_COUNTER, SW_CTR_HIST };

struct sw_ctr {
	u32 number;		/* the instance's, or the first one's */
	u32 hash;
	u8 kind;
	bool shown;		/* in the names file */
	struct sw_ctr *spare;	/* the next one, see sw_ctr_spare() */
	char name[SW_CTR_NAME];
};

/* All CPUs' counts of a histogram's buckets, for one reader on a CPU at a time. */
struct sw_hist_sums {
	u32 busy;
	u64 n[PERFMAP_HIST_BUCKETS];
};

static struct {
	struct perfmap_header *header;	/* the map's first page */
	struct page **pages;		/* the others, as they are in the map */
	unsigned long nr_pages;
	unsigned int counters;		/* numbers that counters may have */
	unsigned int hists;		/* histograms that there may be */
	struct sw_ctr *ctrs;		/* counters' first, then histograms' */
	struct sw_ctr **places;
	unsigned int mask;
	struct sw_hist_sums __percpu *sums;
	atomic_t taken[2];		/* by kind */
	struct sw_ctr *spares[2];	/* ... and not used */
	atomic_long_t refused;		/* instances */
	atomic_long_t lost;		/* updates of none */
	struct proc_dir_entry *dir;
	struct sw_access access;
} sw_store;

/* The extents, one CPU's page after the other. */
static char *sw_ctr_extent[SW_CTR_MAX_EXTENTS];

/* Is this a counter's number that somebody was given? */
static __always_inline bool sw_ctr_is(s64 number)
{
	return (u64)number <
	       (u64)atomic_read(&sw_store.taken[SW_CTR_COUNTER]);
}

static unsigned int sw_ctr_extents(void)
{
	return store_extents(sw_store.counters, SW_CTR_PER_EXTENT);
}

static __always_inline u64 sw_hist_nth(u64 number)
{
	return store_hist_nth(number, SW_CTR_PER_EXTENT, sw_ctr_extents());
}

/* Is this a histogram's?  What stands in it is no counter. */
static __always_inline bool sw_hist_is(s64 number)
{
	return sw_hist_nth(number) <
	       (u64)atomic_read(&sw_store.taken[SW_CTR_HIST]);
}

/* An instance as a counter of statctr.h's. */
static __always_inline statctr_t sw_ctr_of(u32 number)
{
	return (statctr_t) {
		(pcpu_ctr_t *)(sw_ctr_extent[number / SW_CTR_PER_EXTENT] +
			       statctr_offset(number % SW_CTR_PER_EXTENT))
	};
}

/**
 * sw_map_adjust - add to an instance's counter on this CPU
 *
 * perf_adjust() of the mapped counters' ABI of 2001.
 *
 * On 64-bit machines one instruction, or one that cannot be torn apart, so the
 * CPU's flag is not needed; the map's reader knows the machine.
 *
 * Context: any, preemption off.
 */
static __always_inline void sw_map_adjust(u32 number, s64 delta)
{
	statctr_t ctr = sw_ctr_of(number);

	__statctr_add(&ctr, delta);
}

/**
 * sw_ctr_read - an instance's value
 *
 * Context: any.
 * Return: the sum over all CPUs, also those that are gone.
 */
static s64 sw_ctr_read(u32 number)
{
	statctr_t ctr = sw_ctr_of(number);

	return statctr_read(&ctr);
}

/**
 * sw_ctr_set - let an instance's value be this; see statctr_set()
 * Context: any, preemption off.
 */
static void sw_ctr_set(u32 number, s64 value)
{
	statctr_t ctr = sw_ctr_of(number);

	__statctr_set(&ctr, value);
}

/* Where a histogram's words are: all in one extent, so one behind the other. */
static __always_inline pcpu_ctr_t *sw_hist_at(u32 number)
{
	return sw_ctr_of(number).ctr;
}

/**
 * sw_hist_add_at - count a value in a histogram
 * @at: sw_hist_at() of it
 * Context: any, preemption off.
 */
static __always_inline void sw_hist_add_at(pcpu_ctr_t *at, s64 value)
{
	local_t *word = (local_t *)PCPU_CTR(at, smp_processor_id());

	if (unlikely(value < 0)) {
		local_inc(word + PERFMAP_HIST_NEGATIVE);
		return;
	}
	local_inc(word + hist_bucket(value));
	local_add(value, word + PERFMAP_HIST_SUM);
}

/* The same by its number. */
static __always_inline void sw_hist_add(u32 number, s64 value)
{
	sw_hist_add_at(sw_hist_at(number), value);
}

#define SW_HIST_STEP 8

/*
 * Most are 0: a handler cannot go on for long, and there may be hundreds of CPUs.
 */
static __always_inline void
sw_hist_gather_some(u64 *n, const unsigned long *word)
{
	unsigned long any = 0;
	unsigned int i;

	BUILD_BUG_ON(PERFMAP_HIST_BUCKETS % SW_HIST_STEP);
#pragma GCC unroll 8
	for (i = 0; i < SW_HIST_STEP; i++)
		any |= READ_ONCE(word[i]);
	if (!any)
		return;
	for (i = 0; i < SW_HIST_STEP; i++)
		n[i] += READ_ONCE(word[i]);
}

/*
 * Add up a CPU's page after the other: bucket by bucket each of them would be in
 * other pages.  Preemption is off until sw_hist_let_go().
 * Return: NULL for who came in the middle of another reader on this CPU.
 */
static struct sw_hist_sums *sw_hist_gather(u32 number)
{
	struct sw_hist_sums *s;
	unsigned int cpu, i;

	preempt_disable_notrace();
	s = this_cpu_ptr(sw_store.sums);
	if (cmpxchg_local(&s->busy, 0, 1)) {
		preempt_enable_notrace();
		return NULL;
	}
	memset(s->n, 0, sizeof(s->n));
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		const unsigned long *word =
			PCPU_CTR(sw_hist_at(number), cpu);

		for (i = 0; i < PERFMAP_HIST_BUCKETS; i += SW_HIST_STEP)
			sw_hist_gather_some(s->n + i, word + i);
	}
	return s;
}

static void sw_hist_let_go(struct sw_hist_sums *s)
{
	if (!s)
		return;
	/* on this CPU alone */
	barrier();
	WRITE_ONCE(s->busy, 0);
	preempt_enable_notrace();
}

static u64
sw_hist_count(const struct sw_hist_sums *s, u32 number, unsigned int bucket)
{
	return s ? s->n[bucket] : sw_ctr_read(number + bucket);
}

/**
 * sw_hist_quantile - the value that PERMILLE of a histogram's are not above
 *
 * The middle of its bucket, so at most 6.25 % from it.
 *
 * Context: any.
 * Return: the value, or -1 if the histogram is empty.
 */
static s64 sw_hist_quantile(u32 number, unsigned int permille)
{
	struct sw_hist_sums *s = sw_hist_gather(number);
	u64 all = 0, below = 0, wanted;
	unsigned int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		all += sw_hist_count(s, number, i);
	wanted = hist_rank(all, permille);
	for (i = 0; i < PERFMAP_HIST_BUCKETS - 1; i++) {
		below += sw_hist_count(s, number, i);
		if (below >= wanted)
			break;
	}
	sw_hist_let_go(s);
	return all ? min_t(u64, hist_mid(i), S64_MAX) : -1;
}

/**
 * sw_hist_print - draw a histogram into the handler's output
 * Context: where a handler may print.
 */
static void sw_hist_print(u32 number)
{
	u64 rows[HIST_ROWS] = { sw_ctr_read(number + PERFMAP_HIST_NEGATIVE) };
	struct sw_hist_sums *s = sw_hist_gather(number);
	int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		rows[hist_row(i)] += sw_hist_count(s, number, i);
	sw_hist_let_go(s);
	hist_draw(NULL, rows);
}

/* ---- instances */

static u32 sw_ctr_hash(const char *name, size_t len)
{
	return jhash(name, len, 0);
}

static bool
sw_ctr_named(const struct sw_ctr *c, u32 hash, const char *name, size_t len)
{
	return c->hash == hash && !strncmp(c->name, name, len) && !c->name[len];
}

/* Numbers from FIRST to LAST for who comes next: a list that is only ever taken as
 * a whole, so that what an NMI does to it in between shows. */
static void sw_ctr_spare(struct sw_ctr *first, struct sw_ctr *last)
{
	struct sw_ctr **list = &sw_store.spares[first->kind], *had;

	do {
		had = READ_ONCE(*list);
		last->spare = had;
	} while (cmpxchg(list, had, first) != had);
}

static struct sw_ctr *sw_ctr_take_spare(enum sw_ctr_kind kind)
{
	struct sw_ctr *c = xchg(&sw_store.spares[kind], NULL), *last;

	if (!c || !c->spare)
		return c;
	for (last = c->spare; last->spare; last = last->spare)
		;
	sw_ctr_spare(c->spare, last);
	return c;
}

/* A number for an instance, and where to keep it; NULL: they are all taken. */
static struct sw_ctr *sw_ctr_take(enum sw_ctr_kind kind)
{
	unsigned int max = kind == SW_CTR_HIST ? sw_store.hists
					       : sw_store.counters;
	struct sw_ctr *c = NULL;
	int n;

	if (READ_ONCE(sw_store.spares[kind]))
		c = sw_ctr_take_spare(kind);
	if (c)
		return c;
	n = atomic_fetch_add_unless(&sw_store.taken[kind], 1, max);
	if (n >= max)
		return NULL;
	c = &sw_store.ctrs[n + (kind == SW_CTR_HIST ? sw_store.counters : 0)];
	c->kind = kind;
	c->number = n;
	if (kind == SW_CTR_HIST)
		c->number = store_hist_number(n, SW_CTR_PER_EXTENT,
					      sw_ctr_extents());
	return c;
}

/* A number that was taken, for a name that another context has put in first. */
static void sw_ctr_unused(struct sw_ctr *c)
{
	c->name[0] = '\0';
	sw_ctr_spare(c, c);
}

/* Around what changes the list of instances.  Atomic: an NMI may change it too,
 * in between.  A reader, which is another program, loads gen2, what it wants and
 * then gen1, by acquiring loads: the two barriers are with those. */
static void sw_change_begin(void)
{
	atomic_inc((atomic_t *)&sw_store.header->gen1);
	smp_wmb();
}

static void sw_change_end(void)
{
	smp_wmb();
	atomic_inc((atomic_t *)&sw_store.header->gen2);
}

/* Within the two generations: the map has one more. */
static void sw_ctr_publish(struct sw_ctr *c)
{
	u32 end = c->number + (c->kind == SW_CTR_HIST ? PERFMAP_HIST_COUNTERS
						      : 1);
	u32 had = READ_ONCE(sw_store.header->nr_instances), now;

	/* with smp_load_acquire() in sw_names_show(): the name is there */
	smp_store_release(&c->shown, true);
	/* others only make it larger, each once for an instance */
	while (had < end) {
		now = cmpxchg(&sw_store.header->nr_instances, had, end);
		if (now == had)
			break;
		had = now;
	}
}

/**
 * sw_map_add - the instance of this name, a new one if there is none
 *
 * perf_add() of the mapped counters' ABI of 2001.  A name's number never
 * changes, also when it was deleted.
 *
 * Context: any.
 * Return: its number; -ENOSPC when there is no room for another one, -EINVAL for
 * a name that is empty or too long, -EEXIST for one that is of the other kind.
 */
static s64 sw_map_add(const char *name, enum sw_ctr_kind kind)
{
	size_t len = strnlen(name, SW_CTR_NAME);
	struct sw_ctr *c, *new = NULL;
	unsigned int i;
	u32 hash;

	if (!len || len == SW_CTR_NAME)
		return -EINVAL;
	hash = sw_ctr_hash(name, len);
	for (i = 0; i < SW_CTR_WINDOW; i++) {
		struct sw_ctr **place = &sw_store.places[(hash + i) &
							 sw_store.mask];

		c = smp_load_acquire(place);
		if (!c) {
			if (!new) {
				new = sw_ctr_take(kind);
				if (!new)
					break;
				new->hash = hash;
				memcpy(new->name, name, len + 1);
			}
			sw_change_begin();
			/* with the smp_load_acquire() above, of others */
			c = cmpxchg(place, NULL, new);
			if (!c) {
				sw_ctr_publish(new);
				c = new;
			}
			sw_change_end();
		}
		if (!sw_ctr_named(c, hash, name, len))
			continue;
		if (new && c != new)
			sw_ctr_unused(new);
		if (c->kind != kind)
			return -EEXIST;
		if (unlikely(!READ_ONCE(c->shown))) {
			sw_change_begin();
			sw_ctr_publish(c);
			sw_change_end();
		}
		return c->number;
	}
	if (new)
		sw_ctr_unused(new);
	atomic_long_inc(&sw_store.refused);
	return -ENOSPC;
}

/**
 * sw_map_del - leave an instance out of the list of names
 *
 * perf_del() of the mapped counters' ABI of 2001.  Its number and its counts
 * stay, for when the name comes again.
 *
 * Context: any.
 */
static void sw_map_del(u32 number)
{
	unsigned int at = number;

	if (number >= sw_ctr_extents() * SW_CTR_PER_EXTENT)
		at = sw_store.counters + sw_hist_nth(number);
	if (!sw_store.ctrs[at].name[0])
		return;
	sw_change_begin();
	WRITE_ONCE(sw_store.ctrs[at].shown, false);
	sw_change_end();
}

#endif
