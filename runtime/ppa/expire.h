/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise expiry (PPA's flag 2): ITIMER_VIRTUAL, ITIMER_PROF and the soft limit of
 * RLIMIT_CPU expire by precise time instead of the tick's.
 *
 * The kernel's own accounting and timers stay as they are; what is changed is when
 * they find a timer to have expired.  On each CPU a timer looks at the process that
 * runs.  When its precise time has come, it does there and then what the kernel
 * would do at a later tick: the signal, and the next interval.  When the kernel's
 * time is about to come and the precise one is not, it puts the kernel's expiry off.
 * What is armed keeps what remains of it when this ends: it is the kernel's again.
 *
 * Who may run what: ppa_expire_tick() in a hard interrupt, under siglock where it
 * changes something (siglock is always taken with interrupts off, so that its holder
 * is not on this CPU); the others sleepable.  It changes the programs, so only
 * stap -g has it.
 */
#ifndef STAPWATCH_PPA_EXPIRE_H
#define STAPWATCH_PPA_EXPIRE_H

#include "base/kernel.h"
#include "ppa/read.h"
#include <linux/hrtimer.h>
#include <linux/sched/cputime.h>
#include <linux/sched/signal.h>

#define PPA_EXPIRE_NS 250000	/* how often a CPU looks, at least */
#define PPA_EXPIRE_MIN_NS 5000
/* after an interrupt within a charge, which must get on, however long one takes */
#define PPA_EXPIRE_AGAIN_NS 20000
#define PPA_EXPIRE_THREADS 64	/* of a process; one with more is left alone */

static DEFINE_PER_CPU(struct hrtimer, ppa_timers);

/* A process's times in nanoseconds, as accounted here and by the kernel. */
struct ppa_group {
	u64 precise[2];		/* CPUCLOCK_PROF, CPUCLOCK_VIRT */
	u64 native[2];
};

static bool
ppa_group_times(struct task_struct *task, struct ppa_rec *lead,
		struct ppa_group *g)
{
	u64 user = READ_ONCE(lead->gone[0]), v;
	u64 system = READ_ONCE(lead->gone[1]);
	u64 utime = READ_ONCE(task->signal->utime);
	u64 stime = READ_ONCE(task->signal->stime);
	struct task_struct *t;
	struct ppa_rec *r;
	unsigned int n = 0;

	for_each_thread(task, t) {
		if (++n > PPA_EXPIRE_THREADS)
			return false;
		utime += READ_ONCE(t->utime);
		stime += READ_ONCE(t->stime);
		r = ppa_find(t);
		if (!r)
			return false;
		if (ppa_read_thread(r, r->tid, &v, PPA_V_USER, NULL))
			return false;
		user += v;
		if (ppa_read_thread(r, r->tid, &v, PPA_V_SYSTEM, NULL))
			return false;
		system += v;
	}
	g->precise[CPUCLOCK_VIRT] = sw_tsc_to_ns(user);
	g->precise[CPUCLOCK_PROF] = sw_tsc_to_ns(user + system);
	g->native[CPUCLOCK_VIRT] = utime;
	g->native[CPUCLOCK_PROF] = utime + stime;
	return true;
}

/* One of the two timers, siglock held; returns nanoseconds until there is something
 * to do, 0: its signal is due. */
static s64 ppa_expire_itimer(struct task_struct *task, struct ppa_expiry *e,
			     unsigned int clock, const struct ppa_group *g)
{
	struct cpu_itimer *it = &task->signal->it[clock];
	u64 now = g->precise[clock], native = g->native[clock];
	s64 left;

	if (!it->expires) {
		e->seen = 0;
		return PPA_EXPIRE_NS;
	}
	if (it->expires != e->seen) {
		/* armed since the last look */
		e->seen = it->expires;
		e->deadline = now + (it->expires - native);
	}
	left = e->deadline - now;
	if (left <= 0) {
		it->expires = it->incr ? native + it->incr : 0;
		e->seen = it->expires;
		e->deadline += it->incr;
		return 0;
	}
	if (native + 2 * TICK_NSEC >= it->expires) {
		it->expires = native + max_t(s64, left, 2 * TICK_NSEC + 1);
		e->seen = it->expires;
	}
	return left;
}

/* The limit's soft part, siglock held; the kernel looks after the hard one.
 * Returns whether its signal is due. */
static bool ppa_expire_limit(struct task_struct *task, struct ppa_rec *lead,
			     const struct ppa_group *g)
{
	struct rlimit *limit = &task->signal->rlim[RLIMIT_CPU];

	if (!lead->before && !lead->born)
		lead->before = g->native[CPUCLOCK_PROF] + 1 -
			       min(g->precise[CPUCLOCK_PROF],
				   g->native[CPUCLOCK_PROF]);
	if (limit->rlim_cur >= limit->rlim_max ||
	    g->precise[CPUCLOCK_PROF] + lead->before <
		    (u64)limit->rlim_cur * NSEC_PER_SEC)
		return false;
	limit->rlim_cur++;
	return true;
}

static s64 ppa_expire_look(struct task_struct *task)
{
	static const int signals[] = {
		[CPUCLOCK_PROF] = SIGPROF, [CPUCLOCK_VIRT] = SIGVTALRM
	};
	struct sighand_struct *hand = READ_ONCE(task->sighand);
	s64 left = PPA_EXPIRE_NS, first[2];
	struct ppa_rec *lead;
	struct ppa_group g;
	bool limit;
	int clock;

	rcu_read_lock();
	lead = ppa_find(task->group_leader);
	if (!hand || !lead || !ppa_group_times(task, lead, &g))
		goto out;
	spin_lock(&hand->siglock);
	/* as lock_task_sighand() does, which modules do not have */
	if (READ_ONCE(task->sighand) != hand) {
		spin_unlock(&hand->siglock);
		goto out;
	}
	for (clock = CPUCLOCK_PROF; clock <= CPUCLOCK_VIRT; clock++)
		first[clock] = ppa_expire_itimer(task, &lead->expiry[clock],
						 clock, &g);
	limit = ppa_expire_limit(task, lead, &g);
	spin_unlock(&hand->siglock);
	for (clock = CPUCLOCK_PROF; clock <= CPUCLOCK_VIRT; clock++) {
		if (!first[clock])
			kill_pid(task_tgid(task), signals[clock], 1);
		left = min(left, first[clock]);
	}
	if (limit)
		kill_pid(task_tgid(task), SIGXCPU, 1);
out:
	rcu_read_unlock();
	return max_t(s64, left, PPA_EXPIRE_MIN_NS);
}

static enum hrtimer_restart ppa_expire_tick(struct hrtimer *timer)
{
	struct ppa_rec *r = this_cpu_read(ppa_cpus.rec);
	s64 next = PPA_EXPIRE_NS;

	/* one that was moved from a CPU that went is not missed here */
	if (timer != this_cpu_ptr(&ppa_timers) || !READ_ONCE(ppa.expiring))
		return HRTIMER_NORESTART;
	if (this_cpu_read(ppa_cpus.seq) & PPA_UNDER_WAY)
		next = PPA_EXPIRE_AGAIN_NS;
	else if (r && READ_ONCE(r->task) == current &&
		 !(~READ_ONCE(r->flags) & (PPA_ON | PPA_EXPIRE)))
		next = ppa_expire_look(current);
	hrtimer_forward_now(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

static void ppa_expire_on(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&ppa_timers);

	if (!hrtimer_active(timer))
		hrtimer_start(timer, ns_to_ktime(PPA_EXPIRE_NS),
			      HRTIMER_MODE_REL_PINNED);
}

/* Let every CPU that is there look; a new one is found by a later call. */
static void ppa_expire_start(void)
{
	int cpu;

	if (!ppa.expiring) {
		for_each_possible_cpu(cpu)
			sw_hrtimer_setup(per_cpu_ptr(&ppa_timers, cpu),
					 ppa_expire_tick,
					 HRTIMER_MODE_REL_PINNED);
		WRITE_ONCE(ppa.expiring, true);
	}
	on_each_cpu(ppa_expire_on, NULL, 1);
}

static void ppa_expire_end(void)
{
	int cpu;

	if (!ppa.expiring)
		return;
	WRITE_ONCE(ppa.expiring, false);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&ppa_timers, cpu));
}

#endif
