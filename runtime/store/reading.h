/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a script reads of a histogram of the store.
 *
 * Who may run what, against whom:
 *
 *   sw_hist_gather()		any context; not in the middle of another on its CPU, which
 *				is told so, and until sw_hist_let_go() with preemption off
 *   sw_hist_next()		any context; of two for one histogram the second is refused
 *   sw_hist_quantile()		any context
 *   sw_hist_print()		where a handler may print
 *
 * A script that prints a histogram every so often reads it some times for each print,
 * and each value is to be in one of the intervals.  So what is read is what had been
 * counted at one moment, less what had been at the one before.  Who reads in the middle
 * of sw_hist_next() on another CPU has buckets of two intervals.
 */
#ifndef STAPWATCH_STORE_READING_H
#define STAPWATCH_STORE_READING_H

#include "store/map.h"

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

/**
 * sw_hist_max - the highest value of a histogram
 * Context: any.
 * Return: the value; 0 if there is none
 */
static u64 sw_hist_max(u32 number)
{
	u64 max = 0, is;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		is = READ_ONCE(PCPU_CTR(sw_hist_at(number),
					cpu)[PERFMAP_HIST_MAX]);
		if (is > max)
			max = is;
	}
	return max;
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
	s->max = sw_hist_max(number);
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

/* What is read of a histogram, bucket by bucket. */
struct sw_hist_view {
	u32 number;
	u64 max;
	const u64 *n;			/* NULL: each bucket is to be added up */
	struct sw_hist_sums *sums;
};

static struct sw_hist_interval *sw_hist_interval_of(u32 number)
{
	struct sw_hist_interval *of = sw_store.intervals;

	return of ? of + sw_hist_nth(number) : NULL;
}

static struct sw_hist_view sw_hist_all(u32 number)
{
	struct sw_hist_view v = { number, 0, NULL, sw_hist_gather(number) };

	v.max = v.sums ? v.sums->max : sw_hist_max(number);
	v.n = v.sums ? v.sums->n : NULL;
	return v;
}

static struct sw_hist_view sw_hist_view(u32 number)
{
	const struct sw_hist_interval *of = sw_hist_interval_of(number);

	/* with smp_store_release() in sw_hist_next() */
	if (of && smp_load_acquire(&of->asked))
		return (struct sw_hist_view){ number, READ_ONCE(of->max), of->n, NULL };
	return sw_hist_all(number);
}

static u64 sw_hist_count(const struct sw_hist_view *v, unsigned int bucket)
{
	return v->n ? READ_ONCE(v->n[bucket]) : sw_ctr_read(v->number + bucket);
}

/**
 * sw_hist_next - from now on what is read is what came since the last call
 * Context: any.
 * Return: false for who comes while another does the same.
 */
static bool __maybe_unused sw_hist_next(u32 number)
{
	struct sw_hist_interval *of = sw_hist_interval_of(number);
	struct sw_hist_view v;
	unsigned int i;
	u64 n;

	if (!of || cmpxchg(&of->busy, 0, 1))
		return false;
	v = sw_hist_all(number);
	WRITE_ONCE(of->max, v.max > of->until_max ? v.max : 0);
	of->until_max = v.max;
	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++) {
		n = sw_hist_count(&v, i);
		WRITE_ONCE(of->n[i], n - of->until[i]);
		of->until[i] = n;
	}
	sw_hist_let_go(v.sums);
	n = sw_ctr_read(number + PERFMAP_HIST_NEGATIVE);
	WRITE_ONCE(of->negative, n - of->until_negative);
	of->until_negative = n;
	/* with smp_load_acquire() in sw_hist_view() */
	smp_store_release(&of->asked, 1);
	/* with cmpxchg() of who comes next */
	smp_store_release(&of->busy, 0);
	return true;
}

/**
 * sw_hist_quantile - the value that PERMILLE of a histogram's are not above
 *
 * The highest value itself, or the middle of a bucket, so at most 6.25 % from it.
 *
 * Context: any.
 * Return: the value, or -1 if the histogram is empty.
 */
static s64 sw_hist_quantile(u32 number, unsigned int permille)
{
	const struct sw_hist_view v = sw_hist_view(number);
	u64 all = 0, below = 0, wanted;
	unsigned int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		all += sw_hist_count(&v, i);
	wanted = hist_rank(all, permille, 1000);
	for (i = 0; i < PERFMAP_HIST_BUCKETS - 1; i++) {
		below += sw_hist_count(&v, i);
		if (below >= wanted)
			break;
	}
	sw_hist_let_go(v.sums);
	return all ? min_t(u64, hist_value(i, wanted == all, v.max), S64_MAX) :
		     -1;
}

static unsigned int sw_hist_row(unsigned int bucket, bool ticks)
{
	return hist_row(ticks ? hist_bucket(sw_tsc_to_ns(hist_mid(bucket))) :
				bucket);
}

static u64 sw_hist_negative(u32 number)
{
	const struct sw_hist_interval *of = sw_hist_interval_of(number);

	/* with smp_store_release() in sw_hist_next() */
	return of && smp_load_acquire(&of->asked) ?
		READ_ONCE(of->negative) :
		sw_ctr_read(number + PERFMAP_HIST_NEGATIVE);
}

/**
 * sw_hist_print - draw a histogram into the handler's output
 * @ticks: its values are ticks of sw_tsc(), which are drawn as nanoseconds
 * Context: where a handler may print.
 */
static void sw_hist_print(u32 number, bool ticks)
{
	u64 rows[HIST_ROWS] = { sw_hist_negative(number) };
	const struct sw_hist_view v = sw_hist_view(number);
	int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		rows[sw_hist_row(i, ticks)] += sw_hist_count(&v, i);
	sw_hist_let_go(v.sums);
	hist_draw(NULL, rows);
}

#endif
