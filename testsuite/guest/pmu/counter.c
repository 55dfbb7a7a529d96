// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters, as perf's core puts events on them. */
#include "simpmu.h"

u64 sim_value(struct sim_cpu *c, const struct sim_counter *k)
{
	if (!READ_ONCE(k->running))
		return k->value;
	return (sim_source(c, k->event) + k->offset) & sim_mask();
}

/*
 * What the event's counter has counted is added to the event.  An NMI may come in
 * between, and do the same.
 */
void sim_update(struct sim_cpu *c, struct perf_event *e)
{
	const struct sim_counter *k = &c->counter[e->hw.idx];
	struct hw_perf_event *hw = &e->hw;
	s64 before, now;
	u64 delta;

	before = local64_read(&hw->prev_count);
	do {
		now = sim_value(c, k);
	} while (!local64_try_cmpxchg(&hw->prev_count, &before, now));
	delta = (now - before) & sim_mask();
	local64_add(delta, &e->count);
	local64_sub(delta, &hw->period_left);
}

static void sim_program(struct sim_cpu *c, struct sim_counter *k)
{
	u64 value = local64_read(&k->event->hw.prev_count);

	k->value = value & sim_mask();
	k->offset = value - sim_source(c, k->event);
}

/*
 * The counter shall wrap when what is left of the period has been counted, but
 * half its range at most is counted at once.  Return: has the period ended?
 */
bool sim_set_period(struct sim_cpu *c, struct sim_counter *k)
{
	struct hw_perf_event *hw = &k->event->hw;
	s64 left = local64_read(&hw->period_left);
	s64 period = hw->sample_period, most = sim_mask() >> 1;
	bool ended = left <= 0;

	if (left <= -period)
		left = period;
	else if (left <= 0)
		left += period;
	if (ended) {
		local64_set(&hw->period_left, left);
		hw->last_period = period;
	}
	left = min(left, most);
	local64_set(&hw->prev_count, (u64)-left & sim_mask());
	sim_program(c, k);
	return ended;
}

static struct sim_counter *
sim_counter_of(struct sim_cpu *c, const struct perf_event *e)
{
	return &c->counter[e->hw.idx];
}

void sim_start(struct perf_event *e, int flags)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);
	struct sim_counter *k = sim_counter_of(c, e);

	if (!(e->hw.state & PERF_HES_STOPPED) ||
	    READ_ONCE(sim_fail_start) == sim_event(e))
		return;
	WRITE_ONCE(c->masked, true);
	if (flags & PERF_EF_RELOAD)
		sim_set_period(c, k);
	else
		sim_program(c, k);
	e->hw.state = 0;
	WRITE_ONCE(k->running, true);
	WRITE_ONCE(c->masked, false);
	sim_timer_start(c, k);
}

/* An NMI may have read it later than we did. */
static void sim_freeze(struct sim_cpu *c, struct sim_counter *k)
{
	u64 seen;

	k->value = sim_value(c, k);
	WRITE_ONCE(k->running, false);
	seen = local64_read(&k->event->hw.prev_count);
	if ((k->value - seen) >> (sim_has.width - 1) & 1)
		k->value = seen & sim_mask();
}

void sim_stop(struct perf_event *e, int flags)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);
	struct sim_counter *k = sim_counter_of(c, e);

	if (k->running) {
		WRITE_ONCE(c->masked, true);
		sim_freeze(c, k);
		WRITE_ONCE(c->masked, false);
		e->hw.state |= PERF_HES_STOPPED;
		/* of what runs on, the function does not start it again */
		if (!in_nmi())
			hrtimer_try_to_cancel(&k->timer);
	}
	if ((flags & PERF_EF_UPDATE) && !(e->hw.state & PERF_HES_UPTODATE)) {
		sim_update(c, e);
		e->hw.state |= PERF_HES_UPTODATE;
	}
}

void sim_read(struct perf_event *e)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);

	/* a counter that cannot be read is good for nothing more */
	if (unlikely(READ_ONCE(sim_fail_read) == sim_event(e)))
		sim_stop(e, PERF_EF_UPDATE);
	else
		sim_update(c, e);
}

/* Counter 2 is the last to be given to who could have another one. */
static int sim_find(struct sim_cpu *c, unsigned int event)
{
	unsigned int i, n = sim_has.counters;

	if (event == SIM_SECOND)
		return n > 2 && !c->counter[2].event ? 2 : -EAGAIN;
	for (i = 0; i < n; i++)
		if (i != 2 && !c->counter[i].event)
			return i;
	return n > 2 && !c->counter[2].event ? 2 : -EAGAIN;
}

int sim_add(struct perf_event *e, int flags)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);
	int i = sim_find(c, sim_event(e));

	if (i < 0 || READ_ONCE(sim_fail_add) == sim_event(e))
		return -EAGAIN;
	c->counter[i].event = e;
	e->hw.idx = i;
	e->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		sim_start(e, PERF_EF_RELOAD);
	perf_event_update_userpage(e);
	return 0;
}

void sim_del(struct perf_event *e, int flags)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);

	sim_stop(e, PERF_EF_UPDATE);
	sim_counter_of(c, e)->event = NULL;
	perf_event_update_userpage(e);
}

/* One that is moved: it counts, and is no sampler's, whose interrupt is to find it. */
static int sim_next_moved(const struct sim_cpu *c, int i)
{
	const struct perf_event *e;

	for (i++; i < (int)sim_has.counters; i++) {
		e = c->counter[i].event;
		if (e && !e->hw.state && sim_event(e) != SIM_SECOND &&
		    !is_sampling_event(e))
			break;
	}
	return i;
}

/*
 * What a processor's driver does when the events change: two of them change
 * places, and for a while one has the number of a counter that counts for the other
 * already.  Who reads it then, in an NMI, gets what is not its own.
 */
void sim_move(struct pmu *pmu)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);
	int i = sim_next_moved(c, -1), j = sim_next_moved(c, i);
	struct perf_event *one, *other;

	if (j >= (int)sim_has.counters)
		return;
	one = c->counter[i].event;
	other = c->counter[j].event;
	sim_stop(one, PERF_EF_UPDATE);
	sim_stop(other, PERF_EF_UPDATE);
	c->counter[i].event = other;
	other->hw.idx = i;
	sim_start(other, PERF_EF_RELOAD);
	sim_raise(c, NULL);
	c->counter[j].event = one;
	one->hw.idx = j;
	sim_start(one, PERF_EF_RELOAD);
}
