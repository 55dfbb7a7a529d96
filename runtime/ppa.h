/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise process accounting (seed 002): where every tick of every CPU went.
 *
 * A CPU is always in one state: the user mode or the system mode of a thread,
 * interrupt, softirq of some kind, idle.  Whatever changes the state first
 * charges the time since the last change: that is all of the accounting, and why
 * each interval is charged exactly once and the states sum to the elapsed time.
 * Interrupts and softirqs nest: each keeps the state that it came in.
 *
 * A system call touches one cache line, of this CPU.  What a thread got is what
 * its CPU gathered while it ran: at a switch that is added to the thread's
 * record, so a running thread is its record and what its CPU has gathered since.
 * What the scheduler does with it is added there at once.
 *
 * Who may run what, against whom:
 *
 *   ppa_on_sys_*()		processes, preemption on or off
 *   ppa_on_irq_*(), ...	around interrupts and softirqs
 *   ppa_on_switch(), ppa_on_wakeup()	the run queue locked, interrupts off; of
 *				a thread that wakes itself without that lock
 *   ppa_on_signal(), ppa_on_fork(), ppa_on_exec()	processes
 *   ppa_read_*()		any context, NMI included; bounded
 *   ppa_start(), ppa_end()	module init and exit: sleepable, alone
 *   ppa_control()		sleepable, under ppa.lock
 *
 * Interrupts stay on.  What comes between two instructions of a charge:
 *
 *  - An interrupt or softirq charges too, and leaves `state' and `depth' as it
 *    found them.  A charge takes its interval, from `last' to now, by one
 *    cmpxchg, which fails where `last' has moved meanwhile, and is done anew;
 *    once it has it, what comes has the next interval.  Sums change by one
 *    instruction.
 *  - An NMI charges nothing: its time is that of what it came in.  It may read;
 *    `seq' tells it, as it tells other CPUs, that a charge is under way.  On
 *    another CPU the read is done anew, on this one it has no value.
 */
#ifndef STAPWATCH_PPA_H
#define STAPWATCH_PPA_H

#include "contexts.h"
#include "ppa_abi.h"
#include "clock.h"
#include "hooks.h"
#include "table.h"
#include <asm/syscall.h>
#include <linux/cpuhotplug.h>
#include <linux/interrupt.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/vmalloc.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/syscalls.h>

/* What a CPU counts.  The first ones are also its thread's: those that a system
 * call changes, those that an interrupt does, those of the scheduler. */
enum ppa_value {
	PPA_V_USER,
	PPA_V_SYSTEM,
	PPA_V_SYSCALLS,
	PPA_NR_CALLED,
	PPA_V_INT = PPA_NR_CALLED,
	PPA_V_SOFT,
	PPA_V_INTS,
	PPA_V_SOFTS,
	PPA_NR_GATHERED,
	PPA_V_RESCHEDS = PPA_NR_GATHERED,
	PPA_V_BLOCKED,
	PPA_V_SLICES,
	PPA_V_PREEMPTED,
	PPA_V_LATENCY,
	PPA_V_WAKEUPS,
	PPA_V_RUNQ,
	PPA_V_SWITCH,
	PPA_V_SWITCHES,
	PPA_NR_SUMS,
	PPA_V_KIND = PPA_NR_SUMS,	/* time of each softirq */
	PPA_V_IDLE = PPA_V_KIND + NR_SOFTIRQS,
	PPA_V_UNTOLD,		/* busy, with accounting off */
	PPA_V_OFFLINE,
	PPA_V_KINDS,		/* how many of each softirq */
	PPA_V_TASKLETS = PPA_V_KINDS + NR_SOFTIRQS,	/* high, regular */
	PPA_NR_VALUES = PPA_V_TASKLETS + 2
};

/* A thread that is ready waits for a CPU since a wake-up, or a preemption. */
enum ppa_wait { PPA_WAIT_NONE, PPA_WAIT_WOKEN, PPA_WAIT_NEW, PPA_WAIT_PREEMPTED };

/* One of a process's interval timers, of flag 2; times in nanoseconds. */
struct ppa_expiry {
	u64 seen;			/* the kernel's expiry at the last look */
	u64 deadline;			/* in precise time */
};

/* A thread's record.  Its owner is the CPU that switches from it or to it, or,
 * while it waits, the holder of its run queue's lock. */
struct ppa_rec {
	struct task_struct *task;	/* NULL: not in use */
	u32 seq;			/* odd: it changes */
	s32 cpu;			/* that it runs on; -1: none */
	u64 stamp;			/* since when it waits */
	u8 wait;
	u8 mode;			/* its state when it runs again */
	u8 flags;			/* PPA_ON, ... */
	bool looked;			/* ppa_proc.h has seen it before */
	u32 scale;
	pid_t tid;
	pid_t tgid;
	struct ppa_rec *next;		/* not in use either */
	/* of a process's first thread, see ppa_expire.h: */
	struct ppa_expiry expiry[2];
	bool born;			/* accounted for from its start */
	u64 before;			/* the process's time until then */
	u64 gone[2];			/* its other threads that ended */
	u64 latency[PPA_NR_BUCKETS];
	u32 signals[_NSIG + 2];		/* from 0 on; even in number */
	u64 sums[];			/* PPA_NR_SUMS for each array */
};

#define PPA_DEPTH 8

struct ppa_cpu {
	/* what a system call touches: one line */
	u64 seq;		/* charges under way, and how many there were */
	u64 last;		/* when was charged */
	u32 state;		/* what is charged next: a value's number */
	u32 depth;		/* of interrupts */
	u64 v[PPA_NR_VALUES];

	u64 base[PPA_NR_GATHERED];	/* when its thread came in */
	u64 since;		/* when accounting began */
	u64 entry;		/* of the scheduler */
	struct ppa_rec *rec;	/* of the thread that runs; NULL: none */
	struct task_struct *task;	/* that runs */
	u32 sums_at;		/* its array, in bytes from a record's */
	bool on;		/* REC is accounted for */
	bool interrupted;	/* since its thread came in */
	bool woken;		/* what made it reschedule was a wake-up */
	bool runnable;		/* at the scheduler's entry */
	/* of the last switch, for the probes that stand behind it */
	u8 moment;		/* what the thread that came in had waited for */
	u8 left_for;		/* why the other went: a value's number */
	pid_t left_tid;
	u64 waited;
	u8 stack[PPA_DEPTH];
};

static DEFINE_PER_CPU_ALIGNED(struct ppa_cpu, ppa_cpus);

static struct {
	struct mutex lock;
	struct sw_table table;		/* from a thread to its record */
	raw_spinlock_t records;		/* who is in the table */
	char *recs;
	struct ppa_rec *free;
	size_t stride;
	int max;
	unsigned int arrays;
	unsigned int grain;		/* CPUs to an array, as it is kept */
	unsigned int scale;		/* ... as it is shown by default */
	u8 flags;
	bool started;
	bool guru;			/* flag 2 may be set */
	bool expiring;			/* it is */
	bool knows_switches;		/* sees the scheduler's ends */
	int hotplug;
	u64 hz;
	u64 bounds[PPA_NR_BUCKETS - 1];
	atomic_long_t unread;		/* reads that gave no value */
	atomic_t changes;		/* threads that came or went */
} ppa = {
	.lock = __MUTEX_INITIALIZER(ppa.lock),
	.records = __RAW_SPIN_LOCK_UNLOCKED(ppa.records),
};

/* ---- charging */

/* Around a change, on this CPU.  The count of those under way is in the low bits,
 * so that one within another does not look like none. */
#define PPA_UNDER_WAY 0xffff

static __always_inline void ppa_begin(void)
{
	this_cpu_add(ppa_cpus.seq, 1);
	smp_wmb();
}

static __always_inline void ppa_done(void)
{
	smp_wmb();
	this_cpu_add(ppa_cpus.seq, PPA_UNDER_WAY);
}

/*
 * Take the time since the last charge.  It is missed where an interrupt comes in
 * between, which then has charged most of it; if that happens again and again
 * the rest is left to the next charge.
 */
static __always_inline u64 ppa_take(u64 *now)
{
	u64 last;
	int i;

	for (i = 0; i < 8; i++) {
		last = this_cpu_read(ppa_cpus.last);
		*now = sw_tsc();
		if (likely(this_cpu_cmpxchg(ppa_cpus.last, last, *now) == last))
			return *now - last;
	}
	return 0;
}

/* `c->v[i]' without a check that UBSAN would make of a constant bound. */
static __always_inline u64 *ppa_v(struct ppa_cpu *c, unsigned int i)
{
	return (u64 *)((char *)c + offsetof(struct ppa_cpu, v)) + i;
}

/* The same on this CPU, by one instruction. */
#define ppa_add(value, n) this_cpu_add(*(&ppa_cpus.v[0] + (value)), n)

static __always_inline bool ppa_is_softirq(unsigned int state)
{
	return state - PPA_V_KIND < NR_SOFTIRQS;
}

/* Charge whatever state it is. */
static __always_inline u64 ppa_charge(unsigned int state)
{
	u64 now, d = ppa_take(&now);

	ppa_add(state, d);
	if (ppa_is_softirq(state))
		ppa_add(PPA_V_SOFT, d);
	return now;
}

static void ppa_on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	u64 now;

	preempt_disable_notrace();
	if (likely(this_cpu_read(ppa_cpus.state) <= PPA_V_SYSTEM)) {
		ppa_begin();
		ppa_add(this_cpu_read(ppa_cpus.state), ppa_take(&now));
		this_cpu_write(ppa_cpus.state, PPA_V_SYSTEM);
		ppa_add(PPA_V_SYSCALLS, 1);
		ppa_done();
	}
	preempt_enable_notrace();
}

static void ppa_on_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	u64 now;

	preempt_disable_notrace();
	if (likely(this_cpu_read(ppa_cpus.state) == PPA_V_SYSTEM)) {
		ppa_begin();
		ppa_add(PPA_V_SYSTEM, ppa_take(&now));
		this_cpu_write(ppa_cpus.state, PPA_V_USER);
		ppa_done();
	}
	preempt_enable_notrace();
}

static void ppa_enter(unsigned int state, unsigned int count)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	u32 depth = c->depth;

	ppa_begin();
	ppa_charge(c->state);
	/* in this order: what comes in between uses the place above */
	WRITE_ONCE(c->depth, depth + 1);
	barrier();
	c->stack[depth % PPA_DEPTH] = c->state;
	barrier();
	WRITE_ONCE(c->state, state);
	c->interrupted = true;
	ppa_add(count, 1);
	ppa_done();
}

static void ppa_leave(void)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	u32 depth = c->depth - 1;

	/* accounting began within it */
	if (unlikely(!c->depth))
		return;
	ppa_begin();
	ppa_charge(c->state);
	WRITE_ONCE(c->state, c->stack[depth % PPA_DEPTH]);
	barrier();
	WRITE_ONCE(c->depth, depth);
	ppa_done();
}

static void ppa_on_irq_entry(void *data, int irq, struct irqaction *action)
{
	ppa_enter(PPA_V_INT, PPA_V_INTS);
}

static void
ppa_on_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	ppa_leave();
}

static void ppa_on_softirq_entry(void *data, unsigned int nr)
{
	if (nr >= NR_SOFTIRQS)
		return;
	ppa_enter(PPA_V_KIND + nr, PPA_V_KINDS + nr);
	ppa_add(PPA_V_SOFTS, 1);
}

static void ppa_on_softirq_exit(void *data, unsigned int nr)
{
	ppa_leave();
}

static void ppa_on_vector_entry(void *data, int vector)
{
	ppa_enter(PPA_V_INT, PPA_V_INTS);
}

static void ppa_on_vector_exit(void *data, int vector)
{
	ppa_leave();
}

static void __maybe_unused ppa_on_ipi_entry(void *data, const char *reason)
{
	ppa_enter(PPA_V_INT, PPA_V_INTS);
}

static void __maybe_unused ppa_on_ipi_exit(void *data, const char *reason)
{
	ppa_leave();
}

static void ppa_on_tasklet(void *data, struct tasklet_struct *t, void *func)
{
	u32 state = this_cpu_read(ppa_cpus.state);

	if (state == PPA_V_KIND + HI_SOFTIRQ)
		ppa_add(PPA_V_TASKLETS, 1);
	else if (state == PPA_V_KIND + TASKLET_SOFTIRQ)
		ppa_add(PPA_V_TASKLETS + 1, 1);
}

/* ---- threads */

static struct ppa_rec *ppa_rec_at(unsigned int i)
{
	return (struct ppa_rec *)(ppa.recs + i * ppa.stride);
}

static __always_inline struct ppa_rec *ppa_find(const struct task_struct *task)
{
	struct sw_thread *e = sw_table_find(&ppa.table, task);

	return e ? (struct ppa_rec *)READ_ONCE(e->sum[0]) : NULL;
}

/*
 * What a thread does that is not seen: by how it came into the kernel.  One that
 * is on its way out of a system call, behind the tracepoint, still looks as
 * though it were within.
 */
static u8 ppa_mode_of(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return PPA_V_SYSTEM;
	return syscall_get_nr(task, task_pt_regs(task)) >= 0 ? PPA_V_SYSTEM
							     : PPA_V_USER;
}

static void
ppa_rec_begin(struct ppa_rec *r, struct task_struct *task, u8 flags, u32 scale)
{
	memset((char *)r + offsetof(struct ppa_rec, stamp), 0,
	       ppa.stride - offsetof(struct ppa_rec, stamp));
	r->cpu = -1;
	r->mode = PPA_V_UNTOLD;
	r->flags = flags;
	r->scale = scale;
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->seq += 2;
	smp_wmb();
	WRITE_ONCE(r->task, task);
}

/* A thread that has no record gets one, if there is room. */
static struct ppa_rec *ppa_insert(struct task_struct *task, u8 flags, u32 scale)
{
	struct sw_thread *e = NULL;
	struct ppa_rec *r;
	unsigned long irq;

	raw_spin_lock_irqsave(&ppa.records, irq);
	r = ppa_find(task);
	if (!r) {
		/* there are as many records as the table takes threads */
		e = sw_table_insert(&ppa.table, task, 1);
		r = e ? ppa.free : NULL;
	}
	if (r && e) {
		ppa.free = r->next;
		ppa_rec_begin(r, task, flags, scale);
		smp_wmb();
		WRITE_ONCE(e->sum[0], (u64)(unsigned long)r);
		atomic_inc(&ppa.changes);
	}
	raw_spin_unlock_irqrestore(&ppa.records, irq);
	return r;
}

/* A thread that will not run any more. */
static void ppa_remove(struct task_struct *task)
{
	struct ppa_rec *r, *lead;
	struct sw_thread *e;
	unsigned long irq;
	unsigned int i;

	raw_spin_lock_irqsave(&ppa.records, irq);
	e = sw_table_find(&ppa.table, task);
	if (e) {
		r = (struct ppa_rec *)e->sum[0];
		lead = ppa_find(task->group_leader);
		if (lead == r || (lead && lead->tid != r->tgid))
			lead = NULL;
		for (i = 0; lead && i < ppa.arrays; i++) {
			lead->gone[0] += r->sums[i * PPA_NR_SUMS + PPA_V_USER];
			lead->gone[1] += r->sums[i * PPA_NR_SUMS +
						 PPA_V_SYSTEM];
		}
		WRITE_ONCE(e->sum[0], 0);
		WRITE_ONCE(r->task, NULL);
		smp_wmb();
		WRITE_ONCE(r->seq, r->seq + 2);
		sw_table_remove(&ppa.table, e);
		r->next = ppa.free;
		ppa.free = r;
		atomic_inc(&ppa.changes);
	}
	raw_spin_unlock_irqrestore(&ppa.records, irq);
}

static __always_inline u64 *ppa_sums(struct ppa_rec *r, u32 at)
{
	return (u64 *)((char *)r->sums + at);
}

/* A value of the scheduler's changes, the CPU's and that of the thread R. */
static __always_inline void ppa_count(struct ppa_cpu *c, struct ppa_rec *r,
				      enum ppa_value value, u64 n)
{
	*ppa_v(c, value) += n;
	if (r)
		ppa_sums(r, c->sums_at)[value] += n;
}

static __always_inline void
ppa_fold_some(struct ppa_cpu *c, u64 *to, unsigned int from, unsigned int end)
{
	const u64 *v = ppa_v(c, 0);
	u64 *base = c->base, now;
	unsigned int i;

#pragma GCC unroll 4
	for (i = from; i < end; i++) {
		now = v[i];
		to[i] += now - base[i];
		base[i] = now;
	}
}

/* What the CPU has gathered since the thread came in becomes the thread's, if
 * that is ON; from here on it gathers for the next one. */
static __always_inline void ppa_fold(struct ppa_cpu *c, bool on)
{
	u64 *to;

	if (!on) {
		memcpy(c->base, ppa_v(c, 0), sizeof(c->base));
	} else {
		to = ppa_sums(c->rec, c->sums_at);
		ppa_fold_some(c, to, 0, PPA_NR_CALLED);
		if (c->interrupted)
			ppa_fold_some(c, to, PPA_NR_CALLED, PPA_NR_GATHERED);
	}
	c->interrupted = false;
}

static bool ppa_yields(struct task_struct *task)
{
#ifdef __NR_sched_yield
	return !(task->flags & PF_KTHREAD) &&
	       syscall_get_nr(task, task_pt_regs(task)) == __NR_sched_yield;
#else
	return false;
#endif
}

/*
 * Why a thread goes.  Between threads of real-time priorities that is plain.
 * Among the others there is nothing like one above the other: one that has just
 * been woken takes the place of one that runs, because it is owed more; that is
 * what the seed's scheduler called a higher priority, too.  Otherwise the slice
 * has come to its end.
 */
static __always_inline enum ppa_value
ppa_why(struct ppa_cpu *c, bool preempt, struct task_struct *prev,
	struct task_struct *next, unsigned int prev_state,
	const struct ppa_rec *in)
{
	if (!preempt && prev_state)
		return PPA_V_BLOCKED;
	if (!preempt && c->state == PPA_V_SYSTEM && ppa_yields(prev))
		return PPA_V_BLOCKED;
	if (next->prio < prev->prio && next->prio < MAX_RT_PRIO)
		return PPA_V_PREEMPTED;
	if (next->prio == prev->prio && next->prio < MAX_RT_PRIO)
		return PPA_V_SLICES;
	/* a new thread is announced before the other is told to make room */
	if (c->woken || (in && in->wait == PPA_WAIT_NEW))
		return PPA_V_PREEMPTED;
	return PPA_V_SLICES;
}

static __always_inline unsigned int ppa_bucket(u64 ticks)
{
	const u64 *bound = ppa.bounds;
	unsigned int i;

	for (i = 0; i < PPA_NR_BUCKETS - 1; i++)
		if (ticks < *bound++)
			break;
	return i;
}

/* The thread has waited until now: the time is its own, and the CPU's. */
static __always_inline void
ppa_waited(struct ppa_cpu *c, struct ppa_rec *in, u64 now)
{
	/* by the counter of another CPU, which may be ahead */
	u64 d = now > in->stamp ? now - in->stamp : 0;

	c->moment = in->wait;
	c->waited = d;
	if (in->wait == PPA_WAIT_PREEMPTED) {
		ppa_count(c, in, PPA_V_RUNQ, d);
	} else {
		ppa_count(c, in, PPA_V_LATENCY, d);
		ppa_count(c, in, PPA_V_WAKEUPS, 1);
		if (in->flags & PPA_LATENCY)
			++*(in->latency + ppa_bucket(d));
	}
	in->wait = PPA_WAIT_NONE;
}

static void
ppa_on_switch(void *data, bool preempt, struct task_struct *prev,
	      struct task_struct *next, unsigned int prev_state)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	struct ppa_rec *out = c->rec, *in = NULL;
	enum ppa_value why;
	u64 now;

	if (!is_idle_task(next))
		in = ppa_find(next);
	ppa_begin();
	now = ppa_charge(c->state);
	if (unlikely(c->depth)) {
		/* an exit that no tracepoint told of */
		c->state = c->stack[0];
		c->depth = 0;
	}
	if (out) {
		WRITE_ONCE(out->seq, out->seq + 1);
		smp_wmb();
	}
	c->left_tid = prev->pid;
	c->left_for = PPA_V_IDLE;
	if (c->on) {
		why = ppa_why(c, preempt, prev, next, prev_state, in);
		ppa_count(c, out, why, 1);
		c->left_for = why;
	}
	if (out) {
		ppa_fold(c, c->on);
		out->mode = c->state;
		out->wait = PPA_WAIT_NONE;
		if (!prev_state || preempt) {
			out->wait = PPA_WAIT_PREEMPTED;
			out->stamp = now;
		}
		WRITE_ONCE(out->cpu, -1);
		smp_wmb();
		WRITE_ONCE(out->seq, out->seq + 1);
	} else {
		ppa_fold(c, false);
	}

	c->moment = PPA_WAIT_NONE;
	c->rec = in;
	c->task = next;
	c->woken = false;
	c->on = in ? in->flags & PPA_ON : ppa.flags & PPA_ON;
	if (is_idle_task(next)) {
		c->on = false;
		c->state = PPA_V_IDLE;
	} else if (!c->on) {
		c->state = PPA_V_UNTOLD;
	} else {
		c->state = in ? in->mode : PPA_V_UNTOLD;
		if (unlikely(c->state > PPA_V_SYSTEM))
			c->state = ppa_mode_of(next);
	}
	if (in) {
		WRITE_ONCE(in->seq, in->seq + 1);
		smp_wmb();
		if (c->on && in->wait)
			ppa_waited(c, in, now);
		WRITE_ONCE(in->cpu, smp_processor_id());
		smp_wmb();
		WRITE_ONCE(in->seq, in->seq + 1);
	}
	ppa_done();
	if (unlikely(prev_state & TASK_DEAD))
		ppa_remove(prev);
}

static bool ppa_must_go(struct task_struct *task)
{
#ifdef TIF_NEED_RESCHED_LAZY
	if (test_tsk_thread_flag(task, TIF_NEED_RESCHED_LAZY))
		return true;
#endif
	return test_tsk_need_resched(task);
}

static __always_inline void
ppa_woken(struct task_struct *task, enum ppa_wait wait)
{
	struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, task_cpu(task));
	struct ppa_rec *r = ppa_find(task);

	if (r && r->cpu < 0) {
		r->stamp = sw_tsc();
		r->wait = wait;
	}
	if (c->on && !c->woken && ppa_must_go(c->task))
		c->woken = true;
}

static void ppa_on_wakeup(void *data, struct task_struct *task)
{
	ppa_woken(task, PPA_WAIT_WOKEN);
}

static void ppa_on_wakeup_new(void *data, struct task_struct *task)
{
	ppa_woken(task, PPA_WAIT_NEW);
}

static void ppa_on_fork(void *data, struct task_struct *parent,
			struct task_struct *child)
{
	struct ppa_rec *r = ppa_find(parent), *new;

	new = ppa_insert(child, r ? r->flags : ppa.flags,
			 r ? r->scale : ppa.scale);
	/* it comes into being within fork(), and returns from there */
	if (!new)
		return;
	new->mode = PPA_V_SYSTEM;
	new->born = true;
}

/* A thread that calls exec() takes its process's number. */
static void ppa_on_exec(void *data, struct task_struct *task, pid_t old_pid,
			struct linux_binprm *bprm)
{
	struct ppa_rec *r = ppa_find(task);

	if (!r || r->tid == task->pid)
		return;
	WRITE_ONCE(r->tid, task->pid);
	atomic_inc(&ppa.changes);
}

static void ppa_on_signal(void *data, int sig, struct kernel_siginfo *info,
			  struct k_sigaction *ka)
{
	struct ppa_rec *r = ppa_find(current);

	if (r && (r->flags & PPA_ON) && sig > 0 && sig <= _NSIG)
		r->signals[sig]++;
}

/*
 * ---- the scheduler's two ends
 *
 * Tracepoints tell of them where there are any.  Else kprobes stand at the
 * function that every call of the scheduler begins with, and at the one that
 * ends a switch; that a thread went on is then known when it next comes by.
 */

static void ppa_schedule_begins(bool ends_are_seen)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);

	if (!ends_are_seen && c->entry && c->runnable && c->on) {
		ppa_begin();
		ppa_count(c, c->rec, PPA_V_RESCHEDS, 1);
		ppa_done();
	}
	c->entry = sw_tsc();
	c->runnable = !READ_ONCE(current->__state);
}

static void ppa_schedule_ends(bool switched)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	u64 entry = c->entry;

	c->entry = 0;
	if (!entry || !c->on)
		return;
	ppa_begin();
	if (switched) {
		ppa_count(c, c->rec, PPA_V_SWITCH, sw_tsc() - entry);
		ppa_count(c, c->rec, PPA_V_SWITCHES, 1);
	} else if (c->runnable) {
		c->woken = false;
		ppa_count(c, c->rec, PPA_V_RESCHEDS, 1);
	}
	ppa_done();
}

/* Current's own call of the scheduler is over, since it is here: processes only. */
static void ppa_settle(void)
{
	preempt_disable();
	if (this_cpu_read(ppa_cpus.entry))
		ppa_schedule_ends(false);
	preempt_enable();
}

static void ppa_on_sched_entry(void *data, bool preempt)
{
	ppa_schedule_begins(true);
}

static void ppa_on_sched_exit(void *data, bool is_switch)
{
	ppa_schedule_ends(is_switch);
}

static int ppa_at_schedule(struct kprobe *p, struct pt_regs *regs)
{
	ppa_schedule_begins(false);
	return 0;
}

static int ppa_at_switched(struct kprobe *p, struct pt_regs *regs)
{
	ppa_schedule_ends(true);
	return 0;
}

static struct kprobe ppa_kprobes[2];

static void ppa_kprobes_off(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ppa_kprobes); i++) {
		if (ppa_kprobes[i].addr)
			unregister_kprobe(&ppa_kprobes[i]);
		memset(&ppa_kprobes[i], 0, sizeof(ppa_kprobes[i]));
	}
}

static int
ppa_kprobe_on(struct kprobe *p, const char *symbol, kprobe_pre_handler_t at)
{
	int rc;

	*p = (struct kprobe) { .symbol_name = symbol, .pre_handler = at };
	rc = register_kprobe(p);
	if (rc)
		memset(p, 0, sizeof(*p));
	return rc;
}

static int ppa_kprobes_on(void)
{
	int rc;

	rc = ppa_kprobe_on(&ppa_kprobes[1], "finish_task_switch",
			   ppa_at_switched);
	if (rc)
		rc = ppa_kprobe_on(&ppa_kprobes[1], "finish_task_switch.isra.0",
				   ppa_at_switched);
	if (!rc)
		rc = ppa_kprobe_on(&ppa_kprobes[0], "rcu_note_context_switch",
				   ppa_at_schedule);
	if (rc)
		ppa_kprobes_off();
	return rc;
}

/* ---- hooks */

/* The sets of hooks: always; the same, where the kernel has them, for no
 * architecture has all interrupts; with accounting on; the same. */
enum { PPA_ALWAYS, PPA_ALWAYS_IF, PPA_FULL, PPA_FULL_IF };

static struct sw_hook ppa_hooks[] = {
	{ "sched_switch", ppa_on_switch, PPA_ALWAYS },
	{ "sched_process_fork", ppa_on_fork, PPA_ALWAYS },
	{ "sched_process_exec", ppa_on_exec, PPA_ALWAYS },
	SW_IRQ_HOOKS(ppa, PPA_ALWAYS_IF),
	{ "sys_exit", ppa_on_sys_exit, PPA_FULL },
	{ "sys_enter", ppa_on_sys_enter, PPA_FULL },
	{ "sched_wakeup", ppa_on_wakeup, PPA_FULL },
	{ "sched_wakeup_new", ppa_on_wakeup_new, PPA_FULL },
	{ "signal_deliver", ppa_on_signal, PPA_FULL },
	{ "tasklet_entry", ppa_on_tasklet, PPA_FULL_IF },
	{ "sched_exit_tp", ppa_on_sched_exit, PPA_FULL_IF },
	{ "sched_entry_tp", ppa_on_sched_entry, PPA_FULL_IF },
};

static void __maybe_unused ppa_check_callbacks(void)
{
	check_trace_callback_type_sched_switch(ppa_on_switch);
	check_trace_callback_type_sched_process_fork(ppa_on_fork);
	check_trace_callback_type_sched_process_exec(ppa_on_exec);
	check_trace_callback_type_sched_wakeup(ppa_on_wakeup);
	check_trace_callback_type_sched_wakeup_new(ppa_on_wakeup_new);
	check_trace_callback_type_irq_handler_entry(ppa_on_irq_entry);
	check_trace_callback_type_irq_handler_exit(ppa_on_irq_exit);
	check_trace_callback_type_softirq_entry(ppa_on_softirq_entry);
	check_trace_callback_type_softirq_exit(ppa_on_softirq_exit);
	check_trace_callback_type_sys_enter(ppa_on_sys_enter);
	check_trace_callback_type_sys_exit(ppa_on_sys_exit);
	check_trace_callback_type_signal_deliver(ppa_on_signal);
}

static bool ppa_has_hook(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ppa_hooks); i++)
		if (!strcmp(ppa_hooks[i].name, name))
			return ppa_hooks[i].tp;
	return false;
}

/* Hook what accounting wants, all or what idle time takes. */
static int ppa_hooks_set(bool full)
{
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(ppa_hooks); i++) {
		struct sw_hook *h = &ppa_hooks[i];

		if (h->set >= PPA_FULL && !full) {
			sw_hook_off(h);
			continue;
		}
		if (!h->tp && (h->set == PPA_ALWAYS_IF || h->set == PPA_FULL_IF))
			continue;
		rc = sw_hook_on(h);
		if (rc) {
			_stp_error("stapwatch: this kernel has no usable tracepoint %s, which ppa needs (%d)\n",
				   h->name, rc);
			return rc;
		}
	}
	if (ppa_has_hook("sched_exit_tp")) {
		ppa.knows_switches = true;
	} else if (!full) {
		ppa_kprobes_off();
	} else if (!ppa_kprobes[0].addr) {
		ppa.knows_switches = !ppa_kprobes_on();
		if (!ppa.knows_switches)
			_stp_warn("stapwatch: reschedules and context switch times cannot be seen on this kernel; they stay 0\n");
	}
	return 0;
}

/* ---- reading */

struct ppa_view {
	u64 v[PPA_NR_VALUES];
	u64 base[PPA_NR_GATHERED];
	struct ppa_rec *rec;
	u32 sums_at;
	bool on;
	u64 elapsed;		/* since accounting began, online or not */
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
		smp_rmb();
		state = READ_ONCE(c->state);
		now = sw_tsc();
		/* LAST may be of a counter that is ahead */
		d = READ_ONCE(c->last);
		view->elapsed = now - c->since;
		d = now > d ? now - d : 0;
		if (which >= 0) {
			view->v[which] = READ_ONCE(*ppa_v(c, which));
			if (which < PPA_NR_GATHERED)
				view->base[which] = c->base[which];
		} else {
			for (i = 0; i < PPA_NR_VALUES; i++)
				view->v[i] = READ_ONCE(*ppa_v(c, i));
			memcpy(view->base, c->base, sizeof(view->base));
		}
		view->rec = c->rec;
		view->on = c->on;
		view->sums_at = c->sums_at;
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
	    !cpu_possible(cpu))
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
	    !cpu_possible(cpu) || !per_cpu(ppa_cpus.since, cpu))
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

/*
 * All sums of a thread's arrays, or one of one value in TO[0], over all arrays,
 * if WHICH names one.
 * Context: any.
 * Return: whether there is a value now.
 */
static bool
ppa_read_thread(struct ppa_rec *r, pid_t tid, u64 *to, int which)
{
	struct ppa_view view;
	unsigned int tries, i, a;
	u32 seq;
	int cpu;
	u64 *at;

	for (tries = 0; tries < PPA_TRIES; tries++) {
		seq = READ_ONCE(r->seq);
		smp_rmb();
		cpu = READ_ONCE(r->cpu);
		if (seq & 1) {
			if (cpu == raw_smp_processor_id())
				break;
			cpu_relax();
			continue;
		}
		if (!READ_ONCE(r->task) || r->tid != tid)
			return false;
		if (cpu >= 0 && !ppa_read_cpu(cpu, &view, which))
			return false;
		if (cpu >= 0 && view.rec != r)
			continue;
		if (which >= 0) {
			*to = 0;
			for (a = 0; a < ppa.arrays; a++)
				*to += READ_ONCE(r->sums[a * PPA_NR_SUMS +
							 which]);
			if (cpu >= 0 && view.on && which < PPA_NR_GATHERED)
				*to += view.v[which] - view.base[which];
		} else {
			memcpy(to, r->sums,
			       ppa.arrays * PPA_NR_SUMS * sizeof(u64));
			at = cpu >= 0 && view.on ? to + view.sums_at / sizeof(u64)
						 : NULL;
			for (i = 0; at && i < PPA_NR_GATHERED; i++)
				at[i] += view.v[i] - view.base[i];
		}
		smp_rmb();
		if (READ_ONCE(r->seq) == seq)
			return true;
	}
	return false;
}

/* One value of a thread, in ticks or as a count; -1: none. */
static s64 ppa_thread_value(s64 tid, unsigned int which)
{
	struct ppa_rec *r;
	s64 v = -1;
	u64 sum;

	if (!ppa.started || tid <= 0 || tid > INT_MAX)
		return -1;
	preempt_disable_notrace();
	r = ppa_find_tid(tid);
	if (r && ppa_read_thread(r, tid, &sum, which))
		v = sum;
	else if (r)
		atomic_long_inc(&ppa.unread);
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

/* ---- control */

/* On a CPU: let its thread's accounting be as its record says, and its state as
 * the thread's is.  FIRST: begin. */
static void ppa_sync(void *first)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	struct ppa_rec *r = NULL;
	unsigned long irq;
	bool on = ppa.flags & PPA_ON;
	u32 state;

	local_irq_save(irq);
	ppa_begin();
	ppa_charge(c->state);
	if (first) {
		memset(c->v, 0, sizeof(c->v));
		c->since = c->last;
		c->on = false;
	}
	if (!is_idle_task(current))
		r = ppa_find(current);
	if (r)
		on = r->flags & PPA_ON;
	if (is_idle_task(current)) {
		on = false;
		state = PPA_V_IDLE;
	} else {
		state = on ? ppa_mode_of(current) : PPA_V_UNTOLD;
	}
	if (first || c->rec != r || c->on != on) {
		/* the record was made after the thread came in, or ON changed */
		if (c->rec)
			WRITE_ONCE(c->rec->seq, c->rec->seq + 1);
		smp_wmb();
		ppa_fold(c, c->rec && c->on);
		smp_wmb();
		if (c->rec)
			WRITE_ONCE(c->rec->seq, c->rec->seq + 1);
		c->rec = r;
		c->on = on;
		if (c->depth)
			c->stack[0] = state;
		else
			c->state = state;
	}
	c->task = current;
	if (r)
		WRITE_ONCE(r->cpu, smp_processor_id());
	ppa_done();
	local_irq_restore(irq);
}

/* Has any thread, or will a new one have, this flag? */
static bool ppa_any(u8 flag)
{
	int i;

	if (ppa.flags & flag)
		return true;
	for (i = 0; i < ppa.max; i++)
		if (READ_ONCE(ppa_rec_at(i)->task) &&
		    (ppa_rec_at(i)->flags & flag))
			return true;
	return false;
}

/* Defined in ppa_expire.h. */
static void ppa_expire_start(void);
static void ppa_expire_end(void);

static void ppa_expire_set(void)
{
	if (ppa_any(PPA_EXPIRE))
		ppa_expire_start();
	else
		ppa_expire_end();
}

/*
 * ppa_control - what is written to ppactl
 * @r: the thread's record, or NULL: everyone's, now and later
 * @flags: PPA_ON, ...
 * @scale: CPUs to an array, as it is shown
 *
 * Context: sleepable, ppa.lock is held.
 * Return: 0 or an errno.
 */
static int ppa_control(struct ppa_rec *r, u8 flags, u32 scale)
{
	int i, rc;

	if (scale < 1 || scale > nr_cpu_ids ||
	    (scale % ppa.grain && scale != nr_cpu_ids))
		return -EINVAL;
	if ((flags & PPA_EXPIRE) && !ppa.guru)
		return -EPERM;
	if (r) {
		r->flags = flags;
		r->scale = scale;
	} else {
		ppa.flags = flags;
		ppa.scale = scale;
		for (i = 0; i < ppa.max; i++) {
			ppa_rec_at(i)->flags = flags;
			ppa_rec_at(i)->scale = scale;
		}
	}
	rc = ppa_hooks_set(ppa_any(PPA_ON));
	if (rc)
		return rc;
	on_each_cpu(ppa_sync, NULL, 1);
	ppa_expire_set();
	return 0;
}

/* ---- CPUs come and go */

/* Charge a CPU that does not run. */
static void ppa_charge_for(struct ppa_cpu *c, unsigned int state, u32 next)
{
	u64 now = sw_tsc();

	WRITE_ONCE(c->seq, c->seq + 1);
	smp_wmb();
	if (!c->since)
		c->since = c->last = now;
	*ppa_v(c, state) += now - c->last;
	c->last = now;
	c->state = next;
	c->depth = 0;
	smp_wmb();
	WRITE_ONCE(c->seq, c->seq + PPA_UNDER_WAY);
}

/* It does not run yet. */
static int ppa_cpu_prepare(unsigned int cpu)
{
	ppa_charge_for(per_cpu_ptr(&ppa_cpus, cpu), PPA_V_OFFLINE, PPA_V_IDLE);
	return 0;
}

/* It does not run any more. */
static int ppa_cpu_dead(unsigned int cpu)
{
	ppa_charge_for(per_cpu_ptr(&ppa_cpus, cpu), PPA_V_IDLE, PPA_V_OFFLINE);
	return 0;
}

/* ---- from module init to module exit */

/* Defined in ppa_proc.h. */
static int ppa_files_start(void);
static void ppa_files_end(void);

static void ppa_end(void)
{
	long n;

	ppa.started = false;
	ppa_files_end();
	ppa_expire_end();
	ppa_kprobes_off();
	sw_hooks_off(ppa_hooks, ARRAY_SIZE(ppa_hooks));
	if (ppa.hotplug > 0)
		cpuhp_remove_state_nocalls(ppa.hotplug);
	ppa.hotplug = 0;
	/* no handler is in a read any more */
	n = atomic_read(&ppa.table.refused);
	if (n)
		_stp_warn("stapwatch: %ld threads had no room in the table, which holds %d; -G ppa_threads=N makes it larger\n",
			  n, ppa.max);
	n = atomic_long_read(&ppa.unread);
	if (n)
		_stp_warn("stapwatch: %ld values of ppa were asked for in the middle of a change and not given\n",
			  n);
	vfree(ppa.table.slots);
	ppa.table.slots = NULL;
	vfree(ppa.recs);
	ppa.recs = NULL;
	atomic_set(&ppa.table.refused, 0);
	atomic_long_set(&ppa.unread, 0);
}

static int ppa_alloc(int max)
{
	void *slots;
	int i, cpu;

	ppa.stride = roundup(sizeof(struct ppa_rec) +
			     ppa.arrays * PPA_NR_SUMS * sizeof(u64), 64);
	ppa.recs = vzalloc((size_t)max * ppa.stride);
	slots = vzalloc(sw_table_bytes(&ppa.table, max, 1));
	if (!ppa.recs || !slots) {
		vfree(slots);
		return -ENOMEM;
	}
	sw_table_init(&ppa.table, slots);
	ppa.max = max;
	ppa.free = NULL;
	for (i = max; i--; ) {
		ppa_rec_at(i)->next = ppa.free;
		ppa_rec_at(i)->cpu = -1;
		ppa.free = ppa_rec_at(i);
	}
	for_each_possible_cpu(cpu) {
		struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);

		memset(c, 0, sizeof(*c));
		c->sums_at = cpu / ppa.grain * PPA_NR_SUMS * sizeof(u64);
		c->state = PPA_V_OFFLINE;
		if (cpu_online(cpu)) {
			c->state = PPA_V_UNTOLD;
			c->since = c->last = sw_tsc();
		}
	}
	return 0;
}

/*
 * Records for the threads that are there.  One that exits meanwhile may have had
 * its last switch before it got its record, which nobody would take back.
 */
static void ppa_take_in(struct task_struct *task)
{
	int i;

	ppa_insert(task, ppa.flags, ppa.scale);
	smp_mb();
	if (READ_ONCE(task->__state) != TASK_DEAD)
		return;
	for (i = 0; i < 1000000 && READ_ONCE(task->on_cpu); i++)
		cpu_relax();
	ppa_remove(task);
}

static void ppa_take_in_all(void)
{
	struct task_struct *process, *task;

	rcu_read_lock();
	for_each_process_thread(process, task)
		if (!READ_ONCE(task->exit_state))
			ppa_take_in(task);
	rcu_read_unlock();
}

static int ppa_begin_all(int max)
{
	static const u64 bounds[PPA_NR_BUCKETS - 1] = {
		10, 100, 1000, 10000, 100000, 1000000
	};
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(bounds); i++)
		ppa.bounds[i] = mul_u64_u64_div_u64(bounds[i], ppa.hz,
						    USEC_PER_SEC);
	rc = ppa_alloc(max);
	if (rc) {
		_stp_error("stapwatch: no memory for %d threads; try a smaller -G ppa_threads=N, or a larger -G ppa_scale=N\n",
			   max);
		return rc;
	}
	rc = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "stapwatch:ppa",
				       ppa_cpu_prepare, ppa_cpu_dead);
	if (rc < 0) {
		_stp_error("stapwatch: cannot follow CPUs going on and off (%d)\n",
			   rc);
		return rc;
	}
	ppa.hotplug = rc;
	sw_hooks_find(ppa_hooks, ARRAY_SIZE(ppa_hooks));
	rc = ppa_hooks_set(ppa.flags & PPA_ON);
	if (rc)
		return rc;
	ppa_take_in_all();
	on_each_cpu(ppa_sync, &ppa, 1);
	ppa_expire_set();
	return ppa_files_start();
}

/**
 * ppa_start - begin to account
 * @threads: how many there may be at once
 * @scale: CPUs to an array, as it is kept; 0: as few as 32 arrays allow
 * @flags: PPA_ON, ...
 * @guru: programs may be changed
 *
 * Context: sleepable; see contexts.h.
 * Return: 0, or an errno after a message; ppa_end() is called in any case.
 */
static int ppa_start(s64 threads, s64 scale, s64 flags, bool guru)
{
	int rc;

	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		_stp_error("stapwatch: ppa does not work on a PREEMPT_RT kernel, where interrupts are threads\n");
		return -EOPNOTSUPP;
	}
	if (threads < 1 || threads > 1 << 20) {
		_stp_error("stapwatch: ppa_threads=%lld: it must be from 1 to %d\n",
			   threads, 1 << 20);
		return -EINVAL;
	}
	if (scale < 0 || scale > nr_cpu_ids) {
		_stp_error("stapwatch: ppa_scale=%lld: it must be from 1 to %u, the number of CPUs\n",
			   scale, nr_cpu_ids);
		return -EINVAL;
	}
	if (flags < 0 || flags > PPA_FLAGS || ((flags & PPA_EXPIRE) && !guru)) {
		_stp_error("stapwatch: ppa_flags=%lld: it is the sum of 1 and 2 and, with stap -g only, 4\n",
			   flags);
		return -EINVAL;
	}
	ppa.guru = guru;
	ppa.hz = sw_tsc_hz();
	if (!ppa.hz) {
		_stp_error("stapwatch: ppa: this kernel does not know the frequency of the processor's counter\n");
		return -EOPNOTSUPP;
	}
	if (!sw_tsc_is_global())
		_stp_warn("stapwatch: the counters of this machine's CPUs differ; times between two CPUs, as from a wake-up to running, may be wrong\n");
	ppa.grain = scale ?: DIV_ROUND_UP(nr_cpu_ids, 32);
	ppa.arrays = DIV_ROUND_UP(nr_cpu_ids, ppa.grain);
	ppa.scale = nr_cpu_ids;
	ppa.flags = flags;
	mutex_lock(&ppa.lock);
	rc = ppa_begin_all(threads);
	ppa.started = !rc;
	mutex_unlock(&ppa.lock);
	return rc;
}

#endif
