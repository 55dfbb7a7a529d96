/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is printed of recorded calls: how many were missed, and the histograms of all
 * functions, or a part of them at a time.
 *
 * Who may run what, against whom:
 *
 *   sw_calls_missed(), _missed_of(), sw_calls_nested(), sw_calls_under_way()	any context
 *   sw_calls_print()		where a handler may print, after the session, one at a time
 *   sw_calls_print_part()	where a handler may print, one at a time
 */
#ifndef STAPWATCH_CALL_PRINT_H
#define STAPWATCH_CALL_PRINT_H

#include "base/kernel.h"
#include "call/keys.h"
#include "call/state.h"
#include "store/abi.h"
#include "store/map.h"
#include "store/reading.h"
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/string.h>

#define SW_CALL_SUM(what) ({						\
	unsigned long n_ = 0;						\
	int cpu_;							\
									\
	for_each_possible_cpu(cpu_)					\
		n_ += READ_ONCE(per_cpu(sw_call_cpus, cpu_).what);	\
	n_; })

/* Calls that had no place. */
static unsigned long sw_call_missed(const struct sw_call *call)
{
	if (call->user.file)
		return atomic_long_read(&call->user.missed);
	return READ_ONCE(call->rp.nmissed) + call->missed_before;
}

/*
 * Calls that came while a probe was handled on their CPU, as those of an interrupt do.
 * The kernel calls no handler then, so whose they are nobody knows.
 */
static unsigned long sw_call_nested(const struct sw_call *call)
{
	if (call->user.file)
		return 0;
	return READ_ONCE(call->rp.kp.nmissed) - call->nested_before;
}

static unsigned long sw_calls_nested(void)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < sw_calls.nr; i++)
		n += sw_call_nested(&sw_calls.calls[i]);
	return n;
}

/* Those of programs' functions alone, or of the kernel's. */
static unsigned long sw_calls_missed_of(bool programs)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < sw_calls.nr; i++)
		if (!!sw_calls.calls[i].user.file == programs)
			n += sw_call_missed(&sw_calls.calls[i]);
	return n;
}

/**
 * sw_calls_missed - how many calls of all functions were not seen
 * Context: any.
 */
static unsigned long sw_calls_missed(void)
{
	return sw_calls_missed_of(false) + sw_calls_missed_of(true) +
	       sw_calls_nested();
}

/**
 * sw_calls_under_way - how many calls have begun and not returned
 * Context: any.
 */
static unsigned long sw_calls_under_way(void)
{
	return SW_CALL_SUM(began) - SW_CALL_SUM(ended);
}

static void
sw_call_print_words(unsigned int i, const u64 *n, u64 sum, u64 negative,
		    u64 max)
{
	unsigned int b;

	_stp_printf("hist %u %llu %llu", i, sum, negative);
	for (b = 0; b < PERFMAP_HIST_BUCKETS; b++)
		if (READ_ONCE(n[b]))
			_stp_printf(" %u:%llu", b, READ_ONCE(n[b]));
	_stp_printf(" max %llu\n", max);
}

static void
sw_call_print_cpu(const struct sw_call_hists *h, unsigned int i, int cpu)
{
	const u64 *n = (const u64 *)PCPU_CTR(h->at[i], cpu);

	sw_call_print_words(i, n, READ_ONCE(n[PERFMAP_HIST_SUM]),
			    READ_ONCE(n[PERFMAP_HIST_NEGATIVE]),
			    READ_ONCE(n[PERFMAP_HIST_MAX]));
}

static void
sw_call_print_all(const struct sw_call_hists *h, unsigned int i,
		  const struct sw_hist_sums *s)
{
	const u32 number = h->numbers[i];

	sw_call_print_words(i, s->n, sw_ctr_read(number + PERFMAP_HIST_SUM),
			    sw_ctr_read(number + PERFMAP_HIST_NEGATIVE),
			    s->max);
}

/* A process's name is anything; here it ends no line. */
static void sw_call_print_key(const struct sw_call_key *k)
{
	const s64 key = sw_call_key_value(k);
	char comm[sizeof(k->comm) + 1] = "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(k->comm); i++)
		((u64 *)comm)[i] = READ_ONCE(k->comm[i]);
	strreplace(comm, '\n', '?');
	if (sw_calls.by == SW_CALL_BY_PROCESS)
		_stp_printf("key %d:%llu %s\n", sw_call_key_tgid(key),
			    sw_call_key_start(key), comm);
	else
		_stp_printf("key %lld \n", key);
}

/* How many rows a function has at most: a CPU's each, or its own and its keys'. */
static unsigned int sw_call_rows(const struct sw_call *call, bool by_cpu)
{
	if (!call->hists.at[0])
		return 0;
	if (by_cpu)
		return nr_cpu_ids;
	return 1 + (call->keys ? sw_calls.max_keys : 0);
}

/* The histograms of a row, or NULL: nobody has it.  Who has it keeps it while the table is
 * printed. */
static const struct sw_call_hists *
sw_call_row(const struct sw_call *call, bool by_cpu, unsigned int row)
{
	const struct sw_call_key *k;

	if (by_cpu)
		return cpu_possible(row) ? &call->hists : NULL;
	if (!row)
		return &call->hists;
	k = &call->keys[row - 1];
	/* with cmpxchg() in sw_call_key_begin() */
	return smp_load_acquire(&k->state) == SW_CALL_KEY_READY ? &k->hists
								: NULL;
}

static void
sw_call_print_head(const struct sw_call *call, bool by_cpu, unsigned int row)
{
	const bool is_first = row == (by_cpu ?
				      cpumask_first(cpu_possible_mask) : 0);
	const unsigned long missed = is_first ? sw_call_missed(call) : 0;
	const unsigned long nested = is_first ? sw_call_nested(call) : 0;

	if (by_cpu)
		_stp_printf("cpu %u %lu %s\n", row, missed, call->name);
	else if (is_first)
		_stp_printf("function %lu %s\n", missed, call->name);
	else
		sw_call_print_key(&call->keys[row - 1]);
	if (nested)
		_stp_printf("nested %lu\n", nested);
}

/*
 * How much a part is, which a handler gives out with interrupts off.  All is measured by
 * words of histograms: a line to print, and a place for a key that nobody has, take as
 * long as so many.
 */
#define SW_CALLS_PART (1UL << 17)
#define SW_CALLS_LINE 4096
#define SW_CALLS_PLACE 32

/* What is at AT goes out.  Return: how much that was; 0: the histogram was being read
 * already. */
static unsigned long
sw_calls_print_at(const struct sw_calls_at *at, bool by_cpu)
{
	const struct sw_call *call = &sw_calls.calls[at->call];
	const struct sw_call_hists *h = sw_call_row(call, by_cpu, at->row);
	struct sw_hist_sums *sums = NULL;

	if (!h)
		return SW_CALLS_PLACE;
	/* first of all: who comes again for it has printed nothing of it */
	if (!by_cpu && h->at[at->hist]) {
		sums = sw_hist_gather(h->numbers[at->hist]);
		if (!sums)
			return 0;
	}
	if (!at->hist)
		sw_call_print_head(call, by_cpu, at->row);
	if (!h->at[at->hist])
		return SW_CALLS_PLACE;
	if (by_cpu)
		sw_call_print_cpu(h, at->hist, at->row);
	else
		sw_call_print_all(h, at->hist, sums);
	sw_hist_let_go(sums);
	return SW_CALLS_LINE +
	       PERFMAP_HIST_BUCKETS * (by_cpu ? 1UL : nr_cpu_ids);
}

/* To the next histogram, of the next row, of the next function. */
static void sw_calls_go_on(struct sw_calls_at *at, bool by_cpu)
{
	const struct sw_call *call = &sw_calls.calls[at->call];

	if (sw_call_row(call, by_cpu, at->row) &&
	    ++at->hist <= sw_calls.nr_asked)
		return;
	at->hist = 0;
	at->row++;
}

/* Before function END.  Return: 1: there is more; 0: that was all; -EAGAIN. */
static int
sw_calls_print_some(struct sw_calls_at *at, bool by_cpu, unsigned int end,
		    unsigned long max)
{
	unsigned long much = 0, n;

	while (at->call < end) {
		if (at->row >= sw_call_rows(&sw_calls.calls[at->call],
					    by_cpu)) {
			at->row = 0;
			at->call++;
			continue;
		}
		if (much >= max)
			return 1;
		n = sw_calls_print_at(at, by_cpu);
		if (!n)
			return -EAGAIN;
		much += n;
		sw_calls_go_on(at, by_cpu);
	}
	return 0;
}

/**
 * sw_calls_print - what was recorded, as text
 * @by_cpu: for each CPU that calls returned on, and not for all together
 * @shares: how many times it will be called, with this one: each time it prints that share
 *	of the functions that are left
 *
 * For each function a line "function MISSED NAME", or for each CPU a line
 * "cpu CPU MISSED NAME" of which the first has what was missed; maybe a line
 * "nested N"; after it for the time
 * (0) and each event (from 1 on) a line "hist I SUM NEGATIVE BUCKET:COUNT ...".
 * Where calls are told apart, these are the calls without a key, and for each key
 * a line "key VALUE " follows with its own, or "key PID:START NAME" of a process.
 *
 * Context: end probes, when rows are not given back any more.  A handler has preemption
 * off; of many functions and CPUs all would be too much for one.
 * Return: 0, or -EAGAIN where a histogram was being read already, on this CPU.
 */
static int sw_calls_print(bool by_cpu, unsigned int shares)
{
	struct sw_calls_at *at = &sw_calls.last;
	const unsigned int left = sw_calls.nr - at->call;

	return sw_calls_print_some(at, by_cpu, at->call +
				   DIV_ROUND_UP(left, max(shares, 1U)),
				   ULONG_MAX);
}

/**
 * sw_calls_print_part - the next part of the same, as much as a handler has time for
 * Context: where a handler may print; one handler that never meets itself.
 * Return: whether there is more, also where a histogram was being read already, on this
 * CPU, or rows are being given back; after the last part the next one is the first again.
 */
static bool sw_calls_print_part(bool by_cpu)
{
	/* with smp_store_release() in sw_call_keys_free_retired() */
	if (READ_ONCE(sw_calls.rows_user) != SW_CALL_ROWS_PRINTED &&
	    cmpxchg(&sw_calls.rows_user, SW_CALL_ROWS_FREE, SW_CALL_ROWS_PRINTED))
		return true;
	if (sw_calls_print_some(&sw_calls.at, by_cpu, sw_calls.nr,
				SW_CALLS_PART))
		return true;
	memset(&sw_calls.at, 0, sizeof(sw_calls.at));
	/* with cmpxchg() in sw_call_keys_free_retired() */
	smp_store_release(&sw_calls.rows_user, SW_CALL_ROWS_FREE);
	return false;
}

#endif
