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
 * places are only ever filled: with its name complete, an entry is put in its place
 * by one cmpxchg, whoever interrupts whom.  Who loses the race for a place to another
 * instance goes on to the next; who loses it to the same name takes that one.  An
 * entry gets its number in its place, from whoever finds it without: so who loses a
 * race has no number to give back, and nobody waits for a name or is refused one
 * that another context is about to make.
 *
 * A histogram that is for one thing after the other is found by its place instead, a
 * number that its maker chose.  Its name is a label, which the maker changes.
 *
 * Who may run what, against whom:
 *
 *   sw_map_add(), sw_map_add_at(), sw_map_del()	any context, NMI included
 *   sw_map_label()		the same, of a histogram one at a time, and not before a grace
 *				period has passed since the last one
 *   sw_map_adjust(), sw_hist_add()	any context, preemption off; what
 *				interrupts on the same CPU loses nothing and
 *				tears nothing
 *   sw_ctr_read(), sw_ctr_set()	any context; see statctr.h
 */
#ifndef STAPWATCH_STORE_MAP_H
#define STAPWATCH_STORE_MAP_H

#include "base/access.h"
#include "base/clock.h"
#include "store/abi.h"
#include "store/hist.h"
#include "store/numbers.h"
/* a CPU's words stand in its page of an extent, after the flag */
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
	u32 nth;		/* of its kind, or SW_CTR_NONE */
	u32 number;		/* by that: the instance's, or the first one's */
	u64 place;		/* what it is found by; 0: by its name */
	u32 hash;		/* of that */
	u8 kind;
	bool shown;		/* in the names file; where it has a place, by its label */
	char name[SW_CTR_NAME];
};

#define SW_CTR_NONE (~0U)

/* How many contexts of a CPU can be within sw_map_add(): a task, a softirq, an
 * interrupt and an NMI. */
#define SW_CTR_CONTEXTS 4

/* Entries that came second to a place, for who asks next on this CPU. */
struct sw_ctr_spares {
	struct sw_ctr *of[SW_CTR_CONTEXTS];
};

/* All CPUs' counts of a histogram's buckets, for one reader on a CPU at a time. */
struct sw_hist_sums {
	u32 busy;
	u64 max;
	u64 n[PERFMAP_HIST_BUCKETS];
};

/* What a histogram had when it was asked for an interval last, and what that has. */
struct sw_hist_interval {
	u32 asked;		/* nobody has: the histogram counts from its begin */
	u32 busy;
	u64 until_max, max;	/* 0: the interval's is not known */
	u64 until_negative, negative;
	u64 until[PERFMAP_HIST_BUCKETS];
	u64 n[PERFMAP_HIST_BUCKETS];
};

static struct {
	struct perfmap_header *header;	/* the map's first page */
	struct page **pages;		/* the others, as they are in the map */
	unsigned long nr_pages;
	unsigned int counters;		/* numbers that counters may have */
	unsigned int hists;		/* histograms that there may be */
	struct sw_ctr *ctrs;		/* of both kinds, and for who comes second */
	unsigned int nr_ctrs;
	atomic_t ctrs_taken;
	struct sw_ctr_spares __percpu *spares;
	struct sw_ctr **owners;		/* of numbers: counters', histograms' */
	u32 *labels;			/* by histogram: its label's hash; 0: none */
	bool has_labels;
	struct sw_ctr **places;
	unsigned int mask;
	struct sw_hist_sums __percpu *sums;
	struct sw_hist_interval *intervals;	/* by histogram; NULL: nobody asks */
	atomic_t taken[2];		/* numbers, by kind */
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

/* Where a histogram's words are: all in one extent, so one after the other. */
static __always_inline pcpu_ctr_t *sw_hist_at(u32 number)
{
	return sw_ctr_of(number).ctr;
}

/*
 * Who comes between the load and the exchange is an interrupt or an NMI, and has raised
 * it: there are no more turns than contexts.  Rare, and so no part of who calls it.
 */
static noinline void sw_hist_raise(local_t *max, long value)
{
	long was = local_read(max), is;

	while (value > was) {
		is = local_cmpxchg(max, was, value);
		if (is == was)
			break;
		was = is;
	}
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
	if (unlikely(value > local_read(word + PERFMAP_HIST_MAX)))
		sw_hist_raise(word + PERFMAP_HIST_MAX, value);
	local_inc(word + hist_bucket(value));
	local_add(value, word + PERFMAP_HIST_SUM);
}

/* The same by its number. */
static __always_inline void sw_hist_add(u32 number, s64 value)
{
	sw_hist_add_at(sw_hist_at(number), value);
}

/* ---- instances */

static u32 sw_ctr_hash(const char *name, size_t len)
{
	return jhash(name, len, 0);
}

static bool sw_ctr_has_name(const struct sw_ctr *c, const char *name, size_t len)
{
	return !strncmp(c->name, name, len) && !c->name[len];
}

/* What an instance is found by. */
struct sw_ctr_wanted {
	u64 place;		/* 0: the name */
	u32 hash;
	size_t len;
	const char *name;
};

static bool sw_ctr_is_wanted(const struct sw_ctr *c, const struct sw_ctr_wanted *w)
{
	return c->hash == w->hash && c->place == w->place &&
	       (w->place || sw_ctr_has_name(c, w->name, w->len));
}

static unsigned int sw_ctr_max(enum sw_ctr_kind kind)
{
	return kind == SW_CTR_HIST ? sw_store.hists : sw_store.counters;
}

/* An entry, and no number yet; NULL: these are all taken. */
static struct sw_ctr *sw_ctr_take(enum sw_ctr_kind kind)
{
	struct sw_ctr *c = NULL;
	unsigned int i, n;

	if (atomic_read(&sw_store.taken[kind]) >= sw_ctr_max(kind))
		return NULL;
	for (i = 0; !c && i < SW_CTR_CONTEXTS; i++)
		c = this_cpu_xchg(sw_store.spares->of[i], NULL);
	if (!c) {
		n = atomic_fetch_add_unless(&sw_store.ctrs_taken, 1,
					    sw_store.nr_ctrs);
		if (n >= sw_store.nr_ctrs)
			return NULL;
		c = &sw_store.ctrs[n];
	}
	c->kind = kind;
	c->nth = SW_CTR_NONE;
	return c;
}

/* One for a name that another context has put in its place first. */
static void sw_ctr_unused(struct sw_ctr *c)
{
	unsigned int i;

	for (i = 0; i < SW_CTR_CONTEXTS; i++)
		if (!this_cpu_cmpxchg(sw_store.spares->of[i], NULL, c))
			return;
}

/*
 * A number for an entry in its place, if it has none.  They are given one after the
 * other: who finds that the next one has an owner that does not know helps it first,
 * so that there are no more steps than there are numbers.
 *
 * Return: false: all are given.
 */
static bool sw_ctr_give_number(struct sw_ctr *c)
{
	const bool hist = c->kind == SW_CTR_HIST;
	struct sw_ctr **owners = sw_store.owners +
				 (hist ? sw_store.counters : 0), *owner;
	atomic_t *taken = &sw_store.taken[c->kind];
	u32 n;

	for (;;) {
		/* with atomic_cmpxchg(): the owners of the N that are given know */
		n = atomic_read_acquire(taken);
		if (READ_ONCE(c->nth) < n)
			return true;
		if (n >= sw_ctr_max(c->kind))
			return false;
		owner = cmpxchg(&owners[n], NULL, c) ?: c;
		WRITE_ONCE(owner->number,
			   hist ? store_hist_number(n, SW_CTR_PER_EXTENT,
						    sw_ctr_extents()) : n);
		WRITE_ONCE(owner->nth, n);
		atomic_cmpxchg(taken, n, n + 1);
	}
}

/* Around what changes the list of instances.  Atomic: an NMI may change it too,
 * in between.  A reader, which is another program, loads gen2, what it wants and
 * then gen1, by acquiring loads. */
static void sw_change_begin(void)
{
	atomic_inc((atomic_t *)&sw_store.header->gen1);
	/* with the reader's load of what it wants */
	smp_wmb();
}

static void sw_change_end(void)
{
	/* with its load of gen2 */
	smp_wmb();
	atomic_inc((atomic_t *)&sw_store.header->gen2);
}

/* The map has one more, which has its number. */
static void sw_ctr_publish(struct sw_ctr *c)
{
	u32 end = READ_ONCE(c->number) +
		  (c->kind == SW_CTR_HIST ? PERFMAP_HIST_COUNTERS : 1);
	u32 had = READ_ONCE(sw_store.header->nr_instances), now;

	sw_change_begin();
	/* with smp_load_acquire() in sw_names_show() and sw_map_add() */
	smp_store_release(&c->shown, true);
	/* others only make it larger, each once for an instance */
	while (had < end) {
		now = cmpxchg(&sw_store.header->nr_instances, had, end);
		if (now == had)
			break;
		had = now;
	}
	sw_change_end();
}

static s64 sw_ctr_add(const struct sw_ctr_wanted *w, enum sw_ctr_kind kind)
{
	struct sw_ctr *c, *new = NULL;
	unsigned int i;

	for (i = 0; i < SW_CTR_WINDOW; i++) {
		struct sw_ctr **place = &sw_store.places[(w->hash + i) &
							 sw_store.mask];

		/* with the cmpxchg() below, of others */
		c = smp_load_acquire(place);
		if (!c) {
			if (!new) {
				new = sw_ctr_take(kind);
				if (!new)
					break;
				new->hash = w->hash;
				new->place = w->place;
				memcpy(new->name, w->name, w->len + 1);
			}
			c = cmpxchg(place, NULL, new);
			if (!c) {
				c = new;
				new = NULL;
			}
		}
		if (!sw_ctr_is_wanted(c, w))
			continue;
		if (new)
			sw_ctr_unused(new);
		new = NULL;
		if (c->kind != kind)
			return -EEXIST;
		/* with smp_store_release() in sw_ctr_publish(): it has its number */
		if (unlikely(!smp_load_acquire(&c->shown))) {
			if (!sw_ctr_give_number(c))
				break;
			sw_ctr_publish(c);
		}
		return READ_ONCE(c->number);
	}
	if (new)
		sw_ctr_unused(new);
	atomic_long_inc(&sw_store.refused);
	return -ENOSPC;
}

/* A label's hash, which is not 0. */
static u32 sw_label_hash(const char *name, size_t len)
{
	return sw_ctr_hash(name, len) ?: 1;
}

/* The histogram that has this label now, or NULL.  There are few instances that have
 * labels, and they have them for a while: so their hashes are looked through. */
static const struct sw_ctr *sw_label_find(const char *name, size_t len)
{
	const u32 hash = sw_label_hash(name, len);
	const struct sw_ctr *c;
	unsigned int i, n;

	if (!READ_ONCE(sw_store.has_labels))
		return NULL;
	n = atomic_read(&sw_store.taken[SW_CTR_HIST]);
	for (i = 0; i < n; i++) {
		/* with smp_store_release() in sw_map_label(): the name is there */
		if (smp_load_acquire(&sw_store.labels[i]) != hash)
			continue;
		c = READ_ONCE(sw_store.owners[sw_store.counters + i]);
		if (data_race(sw_ctr_has_name(c, name, len)))
			return c;
	}
	return NULL;
}

/**
 * sw_map_add - the instance of this name, a new one if there is none
 *
 * perf_add() of the mapped counters' ABI of 2001.  A name's number never
 * changes, also when it was deleted, but for a label's.
 *
 * Context: any.
 * Return: its number; -ENOSPC when there is no room for another one, -EINVAL for
 * a name that is empty or too long, -EEXIST for one that is of the other kind.
 */
static s64 sw_map_add(const char *name, enum sw_ctr_kind kind)
{
	size_t len = strnlen(name, SW_CTR_NAME);
	const struct sw_ctr *c;

	if (!len || len == SW_CTR_NAME)
		return -EINVAL;
	c = kind == SW_CTR_HIST ? sw_label_find(name, len) : NULL;
	if (c)
		return READ_ONCE(c->number);
	return sw_ctr_add(&(struct sw_ctr_wanted) {
		.hash = sw_ctr_hash(name, len), .name = name, .len = len
	}, kind);
}

/**
 * sw_map_add_at - the histogram of this place, which is not 0; a new one if there is none
 *
 * It is in no list before sw_map_label() gives it a name.
 *
 * Context: any.
 * Return: its number, or -ENOSPC.
 */
static s64 sw_map_add_at(u64 place)
{
	return sw_ctr_add(&(struct sw_ctr_wanted) {
		.place = place, .hash = jhash(&place, sizeof(place), 0),
		.name = "",
	}, SW_CTR_HIST);
}

/**
 * sw_map_label - what the histogram of a place is called from now on
 * @number: of sw_map_add_at()
 * @name: no other histogram has it as a label
 *
 * Context: any; see above.
 */
static void sw_map_label(u32 number, const char *name)
{
	const size_t len = strnlen(name, SW_CTR_NAME - 1);
	const unsigned int nth = sw_hist_nth(number);
	struct sw_ctr *c = sw_store.owners[sw_store.counters + nth];
	size_t i;

	sw_change_begin();
	for (i = 0; i < len; i++)
		WRITE_ONCE(c->name[i], name[i]);
	WRITE_ONCE(c->name[len], '\0');
	WRITE_ONCE(sw_store.has_labels, true);
	/* with smp_load_acquire() in sw_label_find() and sw_names_show() */
	smp_store_release(&sw_store.labels[nth], sw_label_hash(name, len));
	sw_change_end();
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
	struct sw_ctr *c;

	if (number >= sw_ctr_extents() * SW_CTR_PER_EXTENT)
		at = sw_store.counters + sw_hist_nth(number);
	c = READ_ONCE(sw_store.owners[at]);
	if (!c)
		return;
	sw_change_begin();
	if (c->place)
		WRITE_ONCE(sw_store.labels[at - sw_store.counters], 0);
	else
		WRITE_ONCE(c->shown, false);
	sw_change_end();
}

#endif
