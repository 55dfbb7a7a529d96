/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who ran on a CPU while a thread was ready: of each CPU who came when, and of each
 * thread a small table of those that it waited for.
 *
 * A wait is looked at when it is over: back over those that came to the CPU meanwhile,
 * PPA_CAME of them at most, so that it takes less than the switch itself.  What
 * is further back is not known.  All parts of a table sum to the waits, to the tick.
 *
 * Where the table is full the least gives way, as in the sketch known as space-saving:
 * who comes in its place is worth as much as both, and so stays if it goes on to run;
 * but what is told of it is only its own.
 *
 *   ppa_competitor_came(), ppa_competed()	a switch: on this CPU, interrupts off
 *
 * No kernel is needed.
 */
#ifndef STAPWATCH_PPA_COMPETITORS_H
#define STAPWATCH_PPA_COMPETITORS_H

#include "base/compat.h"
#include "ppa/abi.h"

/* Switches of a CPU that are kept: a power of two. */
#define PPA_CAME 64

/* Who came to a CPU, and when; each ran until the next one did. */
struct ppa_came {
	u64 nr;			/* of all switches */
	struct {
		u64 at;
		u32 tid;	/* 0: nobody */
	} last[PPA_CAME];
};

/* A thread's table. */
struct ppa_competing {
	u32 cpu;		/* one more than where it became ready; 0: not known */
	u64 values[PPA_NR_COMPETED_VALUES];
	struct {
		u32 tid;	/* 0: free */
		u64 ticks;
		u64 worth;	/* and those that gave way to it */
	} threads[PPA_COMPETITORS];
};

static void ppa_competitor_came(struct ppa_came *came, u32 tid, u64 now)
{
	const unsigned int i = came->nr++ % PPA_CAME;

	came->last[i].at = now;
	came->last[i].tid = tid;
}

static void ppa_competitor_ran(struct ppa_competing *to, u32 tid, u64 d)
{
	unsigned int i, least = 0;

	if (!tid) {
		to->values[PPA_COMPETED_IDLE] += d;
		return;
	}
	for (i = 0; i < PPA_COMPETITORS; i++) {
		if (to->threads[i].tid == tid) {
			to->threads[i].ticks += d;
			to->threads[i].worth += d;
			return;
		}
		if (to->threads[i].worth < to->threads[least].worth)
			least = i;
	}
	to->values[PPA_COMPETED_OTHERS] += to->threads[least].ticks;
	to->threads[least].tid = tid;
	to->threads[least].ticks = d;
	to->threads[least].worth += d;
}

/*
 * ppa_competed - a thread has waited for D ticks until NOW, and comes
 * @to: its table
 * @came: who came to this CPU before it
 */
static void ppa_competed(struct ppa_competing *to, const struct ppa_came *came,
			 u64 d, u64 now)
{
	const u64 begin = now - d;
	u64 end = now, from;
	unsigned int n;

	for (n = 1; n <= PPA_CAME && n <= came->nr && end > begin; n++) {
		const unsigned int i = (came->nr - n) % PPA_CAME;

		from = came->last[i].at > begin ? came->last[i].at : begin;
		/* the counter may have gone back meanwhile */
		if (from >= end)
			continue;
		ppa_competitor_ran(to, came->last[i].tid, end - from);
		end = from;
	}
	to->values[PPA_COMPETED_UNKNOWN] += end - begin;
}

#endif
