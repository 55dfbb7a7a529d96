/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading: what a CPU and a thread stand at, whoever charges meanwhile.
 *
 * All of it: any context, NMI included; bounded.  A value that is asked for in
 * the middle of a change on this very CPU is not there; that is counted.
 */
#ifndef STAPWATCH_PPA_READ_H
#define STAPWATCH_PPA_READ_H

#include "base/clock.h"
#include "ppa/charge.h"
#include "ppa/threads.h"
#include <linux/pid.h>
#include <linux/pid_namespace.h>

struct ppa_view {
	u64 v[PPA_NR_VALUES];
	u64 base[PPA_NR_GATHERED];
	struct ppa_rec *rec;
	u32 sums_at;
	bool on;
	u64 elapsed;		/* since accounting began, online or not */
	u64 now;
};

/* What a record says beside its sums; the counts go on meanwhile, each a word. */
struct ppa_aside {
	s32 cpu;
	u8 flags;
	u32 scale;
	u32 signals[_NSIG + 2];
	u64 latency[PPA_NR_BUCKETS];
	u64 life;
	u64 parts[PPA_NR_PARTS];	/* but for those on CPUs */
	u64 waits[PPA_NR_PARTS];
	u64 longest[PPA_NR_PARTS];
};

/* How often a read is tried while another CPU charges. */
#define PPA_TRIES 1000

/*
 * What a CPU stands at; V is that of one value only, if WHICH names one.
 * Context: any.
 * Return: whether there is a value now.
 */
static bool ppa_read_cpu(int cpu, struct ppa_view *view, int which)
{
	struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);
	unsigned int state, i, tries;
	u64 seq, now, d;

	for (tries = 0; tries < PPA_TRIES; tries++) {
		seq = READ_ONCE(c->seq);
		if (seq & PPA_UNDER_WAY) {
			if (cpu == raw_smp_processor_id())
				break;
			cpu_relax();
			continue;
		}
		/* with ppa_done()'s smp_wmb() */
		smp_rmb();
		state = READ_ONCE(c->state);
		now = sw_tsc();
		/* LAST may be of a counter that is ahead */
		d = READ_ONCE(c->last);
		view->now = max(now, d);
		view->elapsed = view->now - READ_ONCE(c->since);
		d = view->now - d;
		if (which >= 0) {
			view->v[which] = READ_ONCE(*ppa_v(c, which));
			if (which < PPA_NR_GATHERED)
				view->base[which] = READ_ONCE(c->base[which]);
		} else {
			for (i = 0; i < PPA_NR_VALUES; i++)
				view->v[i] = READ_ONCE(*ppa_v(c, i));
			for (i = 0; i < PPA_NR_GATHERED; i++)
				view->base[i] = READ_ONCE(c->base[i]);
		}
		view->rec = READ_ONCE(c->rec);
		view->on = READ_ONCE(c->on);
		view->sums_at = c->sums_at;
		/* with ppa_begin()'s smp_wmb() */
		smp_rmb();
		if (READ_ONCE(c->seq) != seq)
			continue;
		if (state < PPA_NR_VALUES)
			view->v[state] += d;
		if (ppa_is_softirq(state))
			view->v[PPA_V_SOFT] += d;
		return true;
	}
	return false;
}

/* One value of a CPU, in ticks or as a count; -1: none. */
static s64 ppa_cpu_value(s64 cpu, unsigned int which)
{
	struct ppa_view view;
	s64 v = -1;

	if (!ppa.started || cpu < 0 || cpu >= nr_cpu_ids ||
	    !cpu_possible(cpu) || !READ_ONCE(per_cpu(ppa_cpus.since, cpu)))
		return -1;
	preempt_disable_notrace();
	if (ppa_read_cpu(cpu, &view, which))
		v = view.v[which];
	else
		atomic_long_inc(&ppa.unread);
	preempt_enable_notrace();
	return v;
}

/* How long a CPU has been accounted for, in ticks; -1: no value. */
static s64 ppa_cpu_elapsed(s64 cpu)
{
	struct ppa_view view;
	s64 v = -1;

	if (!ppa.started || cpu < 0 || cpu >= nr_cpu_ids ||
	    !cpu_possible(cpu) || !READ_ONCE(per_cpu(ppa_cpus.since, cpu)))
		return -1;
	preempt_disable_notrace();
	if (ppa_read_cpu(cpu, &view, PPA_V_OFFLINE))
		v = view.elapsed - view.v[PPA_V_OFFLINE];
	else
		atomic_long_inc(&ppa.unread);
	preempt_enable_notrace();
	return v;
}

/* The record of a thread by its number; the caller looks that it still is. */
static struct ppa_rec *ppa_find_tid(pid_t tid)
{
	struct task_struct *task = current;
	struct ppa_rec *r;

	rcu_read_lock();
	if (task->pid != tid)
		task = pid_task(find_pid_ns(tid, &init_pid_ns), PIDTYPE_PID);
	r = task ? ppa_find(task) : NULL;
	rcu_read_unlock();
	return r && READ_ONCE(r->tid) == tid ? r : NULL;
}

/* What goes on of a life, beyond what is charged. */
struct ppa_since {
	u8 part;		/* PPA_NR_PARTS: nothing */
	u64 in_part;
	u64 woken;		/* in PPA_PART_WOKEN, after that */
	u64 life;		/* all of it */
};

/*
 * Why a thread is ready; for ppa_read_since(), before NOW is read.  A wake-up changes it
 * and the stamp, and leaves SEQ alone: the reading is good if it is the same afterwards.
 */
static u8 ppa_read_wait(const struct ppa_rec *r)
{
	/* with smp_store_release() in ppa_woken(): the stamp is that of this wake-up */
	return smp_load_acquire(&r->wait);
}

/* A thread's life up to NOW, or to its end: VIEW is of the CPU that it runs on. */
static void ppa_read_since(const struct ppa_rec *r, const struct ppa_view *view,
			   u8 wait, u64 now, struct ppa_since *to)
{
	u64 at = READ_ONCE(r->at), until;

	to->part = READ_ONCE(r->part);
	to->in_part = 0;
	to->woken = 0;
	now = max(now, at);
	if (to->part >= PPA_NR_PARTS) {
		to->part = PPA_NR_PARTS;
		now = at;
	} else if (!view) {
		until = ppa_life_until(r, to->part, wait, at, now);
		to->in_part = until - at;
		to->woken = now - until;
	} else if (!view->on) {
		to->in_part = now - at;
	}
	to->life = now - READ_ONCE(r->alive);
}

static void ppa_read_life(const struct ppa_rec *r, struct ppa_aside *to,
			  const struct ppa_view *view, u8 wait, u64 now)
{
	struct ppa_since since;
	unsigned int i;

	for (i = 0; i < PPA_NR_PARTS; i++) {
		to->parts[i] = READ_ONCE(r->parts[i]);
		to->waits[i] = READ_ONCE(r->waits[i]);
		to->longest[i] = READ_ONCE(r->longest[i]);
	}
	ppa_read_since(r, view, wait, now, &since);
	if (since.part < PPA_NR_PARTS) {
		to->parts[since.part] += since.in_part;
		to->parts[PPA_PART_WOKEN] += since.woken;
	}
	to->life = since.life;
}

static void ppa_read_aside(const struct ppa_rec *r, struct ppa_aside *to)
{
	unsigned int i;

	to->cpu = READ_ONCE(r->cpu);
	to->flags = READ_ONCE(r->flags);
	to->scale = READ_ONCE(r->scale);
	for (i = 0; i < ARRAY_SIZE(r->signals); i++)
		to->signals[i] = READ_ONCE(r->signals[i]);
	for (i = 0; i < ARRAY_SIZE(r->latency); i++)
		to->latency[i] = READ_ONCE(r->latency[i]);
}

/* What a look at a thread's record comes to; the first two end the tries. */
enum ppa_look {
	PPA_LOOK_GONE,		/* it is no longer TID's, which may have ended */
	PPA_LOOK_NONE,		/* there is no value now */
	PPA_LOOK_AGAIN,
	PPA_LOOK_TAKE,		/* good if SEQ is the same afterwards */
};

/*
 * Where a thread's record stands, on CPU or on none (-1); of the CPU it is on, VIEW
 * has what WHICH wants.
 */
static enum ppa_look ppa_look_at(const struct ppa_rec *r, pid_t tid, int which,
				 u32 *seq, int *cpu, struct ppa_view *view)
{
	*seq = READ_ONCE(r->seq);
	/* with ppa_rec_changed()'s smp_wmb(), and ppa_remove()'s */
	smp_rmb();
	*cpu = READ_ONCE(r->cpu);
	if (*seq & 1) {
		if (*cpu == raw_smp_processor_id())
			return PPA_LOOK_NONE;
		cpu_relax();
		return PPA_LOOK_AGAIN;
	}
	if (!READ_ONCE(r->task) || READ_ONCE(r->tid) != tid)
		return PPA_LOOK_GONE;
	if (*cpu >= 0 && !ppa_read_cpu(*cpu, view, which))
		return PPA_LOOK_NONE;
	return *cpu >= 0 && view->rec != r ? PPA_LOOK_AGAIN : PPA_LOOK_TAKE;
}

/*
 * All sums of a thread's arrays, or one of one value in TO[0], over all arrays,
 * if WHICH names one; and what stands beside them, if ASIDE is not NULL.  Records
 * are used again: nothing of a record is this thread's that was not read in here.
 * Context: any.
 * Return: 0; -ESRCH: it is TID's no longer; -EAGAIN: there is no value now.
 */
static int
ppa_read_thread(struct ppa_rec *r, pid_t tid, u64 *to, int which,
		struct ppa_aside *aside)
{
	struct ppa_view view;
	unsigned int tries, i, a;
	enum ppa_look look;
	u32 seq;
	int cpu;
	u64 *at;
	u8 wait;

	for (tries = 0; tries < PPA_TRIES; tries++) {
		look = ppa_look_at(r, tid, which, &seq, &cpu, &view);
		if (look == PPA_LOOK_GONE)
			return -ESRCH;
		if (look == PPA_LOOK_NONE)
			break;
		if (look == PPA_LOOK_AGAIN)
			continue;
		wait = ppa_read_wait(r);
		if (which >= 0) {
			*to = 0;
			for (a = 0; a < ppa.arrays; a++)
				*to += READ_ONCE(r->sums[a * PPA_NR_SUMS +
							 which]);
			if (cpu >= 0 && view.on && which < PPA_NR_GATHERED)
				*to += view.v[which] - view.base[which];
		} else {
			for (i = 0; i < ppa.arrays * PPA_NR_SUMS; i++)
				to[i] = READ_ONCE(r->sums[i]);
			at = cpu >= 0 && view.on ? to + view.sums_at / sizeof(u64)
						 : NULL;
			for (i = 0; at && i < PPA_NR_GATHERED; i++)
				at[i] += view.v[i] - view.base[i];
		}
		if (aside) {
			ppa_read_aside(r, aside);
			ppa_read_life(r, aside, cpu >= 0 ? &view : NULL, wait,
				      cpu >= 0 ? view.now : sw_tsc());
		}
		/* with ppa_rec_change()'s smp_wmb() */
		smp_rmb();
		if (READ_ONCE(r->seq) == seq && READ_ONCE(r->wait) == wait)
			return 0;
	}
	return -EAGAIN;
}

/*
 * The same of a thread that has ended and whose record nobody has taken since:
 * TID, TGID, COMM and STARTED of T too.
 * Return: whether there is one.
 */
static bool ppa_read_ended(const struct ppa_rec *r, u64 *to,
			   struct ppa_aside *aside, struct ppa_thread *t)
{
	u32 seq = READ_ONCE(r->seq);
	unsigned int i;

	/* with ppa_rec_changed()'s smp_wmb() */
	smp_rmb();
	if (seq & 1 || READ_ONCE(r->task) || !READ_ONCE(r->ended))
		return false;
	t->tid = READ_ONCE(r->tid);
	t->tgid = r->tgid;
	t->born = r->started;
	memcpy(t->comm, r->comm, sizeof(t->comm));
	t->cgroup = r->cgroup;
	t->gone_nr = r->gone_nr;
	t->flags = r->counted ? PPA_COUNTED : 0;
	for (i = 0; i < ppa.arrays * PPA_NR_SUMS; i++)
		to[i] = READ_ONCE(r->sums[i]);
	ppa_read_aside(r, aside);
	ppa_read_life(r, aside, NULL, PPA_WAIT_NONE, r->at);
	/* with ppa_rec_change()'s */
	smp_rmb();
	return READ_ONCE(r->seq) == seq;
}

/* One value of a thread, in ticks or as a count; -1: none. */
static s64 ppa_thread_value(s64 tid, unsigned int which)
{
	struct ppa_rec *r;
	s64 v = -1;
	u64 sum;
	int err;

	if (!ppa.started || tid <= 0 || tid > INT_MAX)
		return -1;
	preempt_disable_notrace();
	r = ppa_find_tid(tid);
	err = r ? ppa_read_thread(r, tid, &sum, which, NULL) : -ESRCH;
	if (!err)
		v = sum;
	else if (err == -EAGAIN)
		atomic_long_inc(&ppa.unread);
	preempt_enable_notrace();
	return v;
}

/*
 * One of the counts that stand beside a thread's sums: of a signal by its number, or
 * of latencies by their bucket.
 * Return: the count; -1: none.
 */
static s64 ppa_thread_beside(s64 tid, bool signal, s64 which)
{
	struct ppa_rec *r;
	unsigned int tries;
	bool is_there;
	s64 v = -1;
	u32 seq;

	if (!ppa.started || tid <= 0 || tid > INT_MAX || which < signal ||
	    which >= (signal ? SIGRTMAX + 1 : PPA_NR_BUCKETS))
		return -1;
	preempt_disable_notrace();
	r = ppa_find_tid(tid);
	for (tries = 0; r && tries < PPA_TRIES; tries++) {
		seq = READ_ONCE(r->seq);
		/* with ppa_rec_changed()'s smp_wmb(), and ppa_remove()'s */
		smp_rmb();
		is_there = READ_ONCE(r->task) && READ_ONCE(r->tid) == tid;
		v = signal ? READ_ONCE(r->signals[which])
			   : READ_ONCE(r->latency[which]);
		/* with ppa_rec_change()'s */
		smp_rmb();
		if (!(seq & 1) && READ_ONCE(r->seq) == seq) {
			v = is_there ? v : -1;
			goto out;
		}
		cpu_relax();
	}
	if (r)
		atomic_long_inc(&ppa.unread);
	v = -1;
out:
	preempt_enable_notrace();
	return v;
}

static u64 ppa_us(u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, USEC_PER_SEC, ppa.hz);
}

static s64 ppa_us_or_none(s64 ticks)
{
	return ticks < 0 ? -1 : ppa_us(ticks);
}

#endif
