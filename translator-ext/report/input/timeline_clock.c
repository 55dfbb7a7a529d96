/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the ticks of timelines were; timeline.h has it. */
#include "report/input/timeline.h"

/* So far apart must two anchors be: each is a tick and a time that are read one after the other. */
#define RATE_SECONDS 10

/* The kernel corrects its clock by 500 ppm at most; twice as much is another clock. */
#define FAR_PART 1000
#define FAR_NS 100000

static uint64_t ticks_ns(const struct timeline_rate *rate, uint64_t ticks)
{
	return (unsigned __int128)ticks * rate->ns / rate->ticks;
}

/* Are the ticks of both one counter's?  Those of a damaged trace are not. */
static bool is_one_counter(const struct timeline *x, const struct timeline *y)
{
	const bool before = y->tick < x->tick;
	const uint64_t ticks = before ? x->tick - y->tick : y->tick - x->tick;
	const uint64_t ns = before ? x->time - y->time : y->time - x->time;
	const uint64_t nominal = (unsigned __int128)ticks * 1000000000 / x->hz;

	return x->boot == y->boot && x->hz == y->hz &&
	       (nominal < ns ? ns - nominal : nominal - ns) <=
	       nominal / FAR_PART + FAR_NS;
}

static bool is_to_join(const struct timeline *as, const struct timeline *t)
{
	return !t->is_joined && is_one_counter(as, t);
}

/* The first and the last one that have their ticks from the same counter. */
static void find_ends(struct timeline *const *all, size_t nr,
		      const struct timeline *as, const struct timeline **first,
		      const struct timeline **last)
{
	size_t i;

	*first = as;
	*last = as;
	for (i = 0; i < nr; i++) {
		if (!is_to_join(as, all[i]))
			continue;
		if (all[i]->tick < (*first)->tick)
			*first = all[i];
		if (all[i]->tick > (*last)->tick)
			*last = all[i];
	}
}

static void join(struct timeline *const *all, size_t nr, struct timeline *as)
{
	const struct timeline *first, *last;
	struct timeline_rate rate = as->rate;
	uint64_t tick, time;
	size_t i;

	find_ends(all, nr, as, &first, &last);
	tick = first->tick;
	time = first->time;
	if ((last->tick - tick) / as->hz >= RATE_SECONDS && last->time > time)
		rate = (struct timeline_rate) {
			last->tick - tick, last->time - time
		};
	for (i = 0; i < nr; i++) {
		if (!is_to_join(as, all[i]))
			continue;
		all[i]->is_joined = true;
		all[i]->rate = rate;
		if (all[i] == as)
			continue;
		all[i]->tick = tick;
		all[i]->time = time;
	}
	/* the others were compared with its own */
	as->tick = tick;
	as->time = time;
}

void timeline_join_clocks(struct timeline *const *all, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!all[i]->is_joined)
			join(all, nr, all[i]);
}

uint64_t timeline_ns(const struct timeline *t, uint64_t tick)
{
	const bool before = tick < t->tick;
	const uint64_t ns = ticks_ns(&t->rate, before ? t->tick - tick :
							tick - t->tick);

	/* what a damaged trace says may be out of all bounds */
	if (before)
		return ns < t->time ? t->time - ns : 0;
	return t->time + ns;
}
