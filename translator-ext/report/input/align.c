/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of several traces; align.h says what is wanted of it. */
#include "report/input/align.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* September 2001: a wall clock that is before has never been set. */
#define WALL_FIRST 1000000000000000000u

/*
 * A head's two clocks are read one after the other, so within one boot their difference
 * varies by the time between.  Guests of one image may have one kernel at one address, but
 * hardly boot within so little time.
 */
#define SAME_BOOT_NS 10000000

/* When the trace's machine booted, by its wall clock. */
static uint64_t booted(const struct sw_trace_head *h)
{
	return h->realtime - h->r.time;
}

static bool are_near(uint64_t x, uint64_t y)
{
	return (x > y ? x - y : y - x) <= SAME_BOOT_NS;
}

/* The address of the kernel tells boots apart; without it nothing proves that two are one. */
static bool is_same_kernel(const struct sw_trace_head *x,
			   const struct sw_trace_head *y)
{
	return x->stext && x->stext == y->stext && x->machine == y->machine &&
	       x->page_size == y->page_size && x->nr_cpus == y->nr_cpus &&
	       !memcmp(x->build_id, y->build_id, sizeof(x->build_id)) &&
	       !strcmp(x->release, y->release);
}

static bool is_same_boot(const struct sw_trace_head *x,
			 const struct sw_trace_head *y)
{
	return is_same_kernel(x, y) && are_near(booted(x), booted(y));
}

static bool is_same_trace(const struct sw_trace_head *x,
			  const struct sw_trace_head *y)
{
	return x->session == y->session && x->realtime == y->realtime &&
	       x->r.time == y->r.time && x->stext == y->stext;
}

/*
 * Boots, in the order of their first traces.  Two traces that are not near each other may
 * both be near a third one: then all are of one boot, however they are named.
 */
static uint32_t find_boots(struct aligned *all, size_t nr)
{
	uint32_t nr_boots = 0, x, y;
	size_t i, j, k;

	for (i = 0; i < nr; i++) {
		all[i].boot = i;
		for (j = 0; j < i; j++) {
			if (!is_same_boot(all[i].head, all[j].head))
				continue;
			x = all[i].boot;
			y = all[j].boot;
			for (k = 0; k <= i; k++)
				if (all[k].boot == x || all[k].boot == y)
					all[k].boot = x < y ? x : y;
		}
	}
	/* now each has the number of its boot's first trace */
	for (i = 0; i < nr; i++)
		all[i].boot = all[i].boot == i ? nr_boots++ :
						 all[all[i].boot].boot;
	return nr_boots;
}

/* When each booted, by the trace that began first in it. */
static void find_booted(const struct aligned *all, size_t nr, uint64_t *boots)
{
	const struct sw_trace_head *first[ALIGN_TRACES] = { 0 }, *h;
	size_t i;

	for (i = 0; i < nr; i++) {
		h = first[all[i].boot];
		if (h && h->r.time <= all[i].head->r.time)
			continue;
		first[all[i].boot] = all[i].head;
		boots[all[i].boot] = booted(all[i].head);
	}
}

static int refuse_twice(const struct aligned *all, size_t nr, struct buf *why)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!is_same_trace(all[i].head, all[nr].head))
			continue;
		buf_printf(why, "%s: is the same trace as %s: name each once",
			   all[nr].name, all[i].name);
		return -1;
	}
	return 0;
}

/* What a wall clock has to be when it is the only thing that two traces have in common. */
static int check_wall(const struct aligned *all, const struct aligned *a,
		      struct buf *why)
{
	const struct sw_trace_head *h = a->head;
	const char *what = NULL;

	if (!h->realtime)
		what = "has no time of the wall clock in its head";
	else if (h->realtime < WALL_FIRST)
		what = "was made before its machine's wall clock was set";
	else if (h->realtime > INT64_MAX || h->r.time > h->realtime)
		what = "has a time of the wall clock in its head that cannot be";
	if (!what)
		return 0;
	/* one that has been taken for another boot's, which it may not be */
	while (all->boot == a->boot)
		all++;
	buf_printf(why, "%s: %s, so nothing aligns it with %s: make a report for each",
		   a->name, what, all->name);
	return -1;
}

int align(struct aligned *all, size_t nr, size_t *first, uint32_t *nr_boots,
	  struct buf *why)
{
	uint64_t boots[ALIGN_TRACES];
	int64_t began, earliest = 0;
	size_t i;

	*first = 0;
	for (i = 0; i < nr; i++)
		if (refuse_twice(all, i, why))
			return -1;
	*nr_boots = find_boots(all, nr);
	for (i = 0; i < nr && *nr_boots > 1; i++)
		if (check_wall(all, &all[i], why))
			return -1;
	find_booted(all, nr, boots);
	for (i = 0; i < nr; i++) {
		began = boots[all[i].boot] - boots[0] + all[i].head->r.time;
		if (i && began >= earliest)
			continue;
		*first = i;
		earliest = began;
	}
	for (i = 0; i < nr; i++)
		all[i].shift = boots[all[i].boot] - boots[all[*first].boot];
	return 0;
}
