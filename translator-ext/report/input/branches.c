/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branches, aggregated; branches.h says what is wanted of it. */
#include "report/input/branches.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The kernel has the upper half of all addresses. */
static struct branch_end end_of(struct procs *procs,
				const struct sw_trace_sample *s, uint64_t addr)
{
	const bool kernel = addr >> 63;
	const uint32_t space = kernel ? procs_modules(procs) :
					procs_space(procs, s->pid, s->r.time);
	struct branch_end end = { 0 };

	end.image = procs_find(procs, space, kernel, addr, &end.offset);
	return end;
}

static void count(struct branch_counts *c, const struct sw_trace_branch *branch)
{
	struct perf_branch_entry e;

	_Static_assert(sizeof(e) == sizeof(*branch), "perf's own");
	memcpy(&e, branch, sizeof(e));
	c->taken++;
	if (e.mispred)
		c->mispredicted++;
	else if (e.predicted)
		c->predicted++;
	c->timed += !!e.cycles;
	c->cycles += e.cycles;
}

void branches_add(struct branches *b, struct procs *procs,
		  const struct sw_trace_sample *sample,
		  const struct branch_key *like, const void *list)
{
	struct branch_key key = *like;
	struct sw_trace_branch branch;
	struct branch_total *total;
	unsigned int i;
	uint32_t nr;

	b->totals = array_room(b->totals, &b->nr_totals, key.event + 1,
			       sizeof(*b->totals));
	total = &b->totals[key.event];
	total->samples += !!sample->nr_branches;
	total->without += !sample->nr_branches;
	total->branches += sample->nr_branches;
	for (i = 0; i < sample->nr_branches; i++) {
		memcpy(&branch, (const char *)list + i * sizeof(branch),
		       sizeof(branch));
		key.from = end_of(procs, sample, branch.from);
		key.to = end_of(procs, sample, branch.to);
		nr = intern(&b->keys, &key, sizeof(key));
		b->counts = array_room(b->counts, &b->size, nr + 1,
				       sizeof(*b->counts));
		count(&b->counts[nr], &branch);
	}
}

void branches_free(struct branches *b)
{
	intern_free(&b->keys);
	free(b->counts);
	free(b->totals);
}
