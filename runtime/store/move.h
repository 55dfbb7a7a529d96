/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a histogram has goes to another one, and it begins again at 0.
 *
 * Who may run what, against whom:
 *
 *   sw_hist_move()	any context but NMI, of a histogram one at a time; nobody counts in
 *			the one that it empties, others may in the one that it adds to
 */
#ifndef STAPWATCH_STORE_MOVE_H
#define STAPWATCH_STORE_MOVE_H

#include "store/map.h"
#include <linux/cpumask.h>

/* A script's next interval of an emptied histogram begins at 0, too. */
static void sw_hist_forget_interval(u32 number)
{
	struct sw_hist_interval *of = sw_store.intervals;

	if (!of)
		return;
	of += sw_hist_nth(number);
	/* who has it has preemption off, and ends soon */
	while (cmpxchg(&of->busy, 0, 1))
		cpu_relax();
	memset(of->until, 0, sizeof(of->until));
	of->until_max = 0;
	of->until_negative = 0;
	WRITE_ONCE(of->asked, 0);
	/* with cmpxchg() of who comes next */
	smp_store_release(&of->busy, 0);
}

/* A word of another CPU's, which nobody changes.  Most are 0. */
static __always_inline unsigned long sw_hist_take(unsigned long *word)
{
	const unsigned long n = READ_ONCE(*word);

	if (n)
		WRITE_ONCE(*word, 0);
	return n;
}

/**
 * sw_hist_move - add a histogram to another one, and empty it
 *
 * It is done with preemption off, as sw_hist_gather() is: who copies the map meanwhile
 * waits for that, and sees each value once.
 *
 * Context: any but NMI; see above.
 */
static void sw_hist_move(u32 from, u32 into)
{
	unsigned long n, *word;
	unsigned int cpu, i;
	local_t *to;

	preempt_disable();
	sw_change_begin();
	to = (local_t *)PCPU_CTR(sw_hist_at(into), smp_processor_id());
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		word = (unsigned long *)PCPU_CTR(sw_hist_at(from), cpu);
		for (i = 0; i < PERFMAP_HIST_MAX; i++) {
			n = sw_hist_take(word + i);
			if (n)
				local_add(n, to + i);
		}
		n = sw_hist_take(word + PERFMAP_HIST_MAX);
		sw_hist_raise(to + PERFMAP_HIST_MAX, n);
	}
	sw_hist_forget_interval(from);
	sw_change_end();
	preempt_enable();
}

#endif
