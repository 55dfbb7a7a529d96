/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which number an instance of the store has: counters from 0 on, then the
 * histograms, as many in an extent as fit there whole.  Where pages have 4 KiB
 * that is one; where they have 64 KiB it is sixteen.
 *
 * Who may run what: everything in any context, NMI included; it is arithmetic.
 */
#ifndef STAPWATCH_STORE_NUMBERS_H
#define STAPWATCH_STORE_NUMBERS_H

#include "base/compat.h"
#include "store/abi.h"

/* What begins at a number is no histogram. */
#define STORE_NO_HIST (~0ULL)

/* How many extents N things take, of which PER are in one. */
static __always_inline unsigned int
store_extents(unsigned int n, unsigned int per)
{
	return (n + per - 1) / per;
}

static __always_inline unsigned int store_hists_per_extent(unsigned int per)
{
	return per / PERFMAP_HIST_COUNTERS;
}

/**
 * store_hist_number - the number of a histogram
 * @nth: which one, from 0 on
 * @per: how many counters there are in an extent, PERFMAP_HIST_COUNTERS or more
 * @before: how many extents come before those of histograms
 *
 * Context: any, NMI included.
 */
static __always_inline u32
store_hist_number(unsigned int nth, unsigned int per, unsigned int before)
{
	const unsigned int hists = store_hists_per_extent(per);

	return (before + nth / hists) * per +
	       nth % hists * PERFMAP_HIST_COUNTERS;
}

/**
 * store_hist_nth - which histogram has a number
 * @number: any 64 bits
 * @per: as for store_hist_number()
 * @before: as for store_hist_number()
 *
 * Context: any, NMI included.
 * Return: store_hist_number()'s @nth, however large, or STORE_NO_HIST.
 */
static __always_inline u64
store_hist_nth(u64 number, unsigned int per, unsigned int before)
{
	const unsigned int hists = store_hists_per_extent(per);
	const unsigned int at = number % per;
	const u64 extent = number / per;

	if (extent < before || at % PERFMAP_HIST_COUNTERS ||
	    at / PERFMAP_HIST_COUNTERS >= hists)
		return STORE_NO_HIST;
	return (extent - before) * hists + at / PERFMAP_HIST_COUNTERS;
}

#endif
