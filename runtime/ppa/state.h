/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise process accounting (PPA): where every tick of every CPU went.
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
 * This header has what CPUs and threads have, and the one state of it all; each
 * of those that follow has one part, and builds on those before:
 *
 *   syscalls.h	system calls by number, where that is asked for
 *   charge.h	what a CPU is in; system calls, interrupts, softirqs
 *   life.h	what a thread's life went to, on CPUs and off them
 *   slice.h	what a timeline is told of switches
 *   threads.h	threads' records: they come, go, and are found
 *   cause.h	what a thread that blocks waits for
 *   lock_rows.h	what is known of locks, where that is asked for
 *   locks.h	... for which lock it waits, there
 *   lock_age.h	... what of it is not kept for ever
 *   competitors.h	who ran on a CPU while a thread was ready
 *   ready.h	... for each record, where that is asked for
 *   sched.h	switches, wake-ups, and what the scheduler does with a thread
 *   read.h	what a CPU and a thread stand at
 *   expire.h	timers that expire by precise time
 *   control.h	what is accounted for, for whom
 *   proc.h	what the files say
 *   proc_syscalls.h	... of system calls
 *   proc_locks.h	... of locks
 *   proc_competitors.h	... of who ran while threads were ready
 *   dirs.h	their directories, which come and go with threads
 *   session.h	from module init to module exit
 *   slow.h	who ran on a CPU while a thread waited for it
 *   waking.h	who woke a thread last
 *   timeline.h	slices and what threads stand at, into the trace
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
 *
 * What other CPUs look at, or change, goes by READ_ONCE() and WRITE_ONCE().  Sums
 * are plain words that one CPU adds to, by one instruction where there is one;
 * their readers ask `seq' whether they stayed.
 */
#ifndef STAPWATCH_PPA_STATE_H
#define STAPWATCH_PPA_STATE_H

#include "base/compat.h"
#include "count/table.h"
#include "ppa/abi.h"
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/spinlock.h>

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
	PPA_V_EXPIRED,
	PPA_V_PREEMPTED,
	PPA_V_LATENCY,
	PPA_V_WAKEUPS,
	PPA_V_PREEMPTED_TIME,
	PPA_V_SWITCH,
	PPA_V_SWITCHES,
	PPA_NR_SUMS,
	PPA_V_KIND = PPA_NR_SUMS,	/* time of each softirq */
	PPA_V_IDLE = PPA_V_KIND + NR_SOFTIRQS,
	PPA_V_NOT_ACCOUNTED,	/* busy, with accounting off */
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
	bool looked;			/* dirs.h has seen it before */
	u32 scale;
	pid_t tid;
	pid_t tgid;
	struct ppa_rec *next;		/* not in use either */
	u64 started;			/* the thread's start_time */
	bool ended;			/* it was in use; what it says is the last */
	char comm[TASK_COMM_LEN];	/* of who has ended */
	/* of a process's first thread, see expire.h: */
	struct ppa_expiry expiry[2];
	bool born;			/* accounted for from its start */
	u64 before;			/* the process's time until then */
	u64 gone[2];			/* its other threads that ended */
	/* see life.h: */
	u64 alive;			/* since when its life is accounted for */
	u64 at;				/* ... and until when, but for PART */
	u8 part;			/* what it goes to since */
	u8 blocked_for;			/* what its last wait was */
	u64 blocked;			/* and how long, in ticks */
	const void *lock;		/* that it waits for */
	u32 lock_row;			/* of that; see locks.h */
	u32 waits_for;			/* one more than the row of its wait; 0: none */
	u64 waited;			/* for locks, before that */
	u32 waker;			/* of its last wake-up, as slices have it */
	u64 call;			/* that it is within; see syscalls.h */
	u64 called;			/* since when */
	u64 parts[PPA_NR_PARTS];
	u64 waits[PPA_NR_PARTS];
	u64 longest[PPA_NR_PARTS];
	u64 gone_life;			/* of those in `gone', under ppa.records */
	u64 gone_parts[PPA_NR_PARTS];
	u64 gone_nr;			/* how many; or which of them it is */
	struct ppa_rec *lead;		/* its process's first thread's, once */
	u64 cgroup;			/* of who has ended */
	bool counted;			/* it is one of those */
	u64 latency[PPA_NR_BUCKETS];
	u32 signals[_NSIG + 2];		/* from 0 on; even in number */
	u64 sums[];			/* PPA_NR_SUMS for each array */
};

/* Those that have ended and whose records were taken, under ppa.records. */
struct ppa_forgotten {
	u64 nr;
	u64 life;
	u64 parts[PPA_NR_PARTS];
	u64 waits[PPA_NR_PARTS];
	u64 longest[PPA_NR_PARTS];
	/* of processes instead, beyond the same of threads */
	u64 gone_life;
	u64 gone_parts[PPA_NR_PARTS];
	u64 latency[PPA_NR_BUCKETS];
	u64 sums[PPA_NR_SUMS];
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
	bool ipi_is_irq;	/* the IPI that is handled */
	bool unsynced;		/* ppa_sync_all() still asks for it */
	bool woken;		/* what made it reschedule was a wake-up */
	bool runnable;		/* at the scheduler's entry */
	/* of the last switch, for the probes that stand after it */
	u8 moment;		/* what the thread that came in had waited for */
	u8 left_for;		/* why the other went: a value's number */
	pid_t left_tid;
	u64 waited;
	u8 stack[PPA_DEPTH];
	/* see syscalls.h: */
	char *calls;		/* its table; NULL: they are not counted */
	u64 called;		/* when its thread called */
	u64 calls_lost;
	u64 call;		/* what: an offset in the table */
};

static DEFINE_PER_CPU_ALIGNED(struct ppa_cpu, ppa_cpus);

static struct {
	struct mutex lock;
	struct sw_table table;		/* from a thread to its record */
	raw_spinlock_t records;		/* who is in the table */
	struct ppa_forgotten forgotten;
	char *recs;
	struct ppa_rec *free;		/* the longest not in use comes first */
	struct ppa_rec *free_last;
	size_t stride;
	u32 competing_at;		/* in a record, see ready.h; 0: nobody asks */
	int max;
	unsigned int arrays;
	unsigned int grain;		/* CPUs to an array, as it is kept */
	unsigned int scale;		/* ... as it is shown by default */
	u8 flags;
	bool for_all;			/* FLAGS and SCALE become every thread's */
	bool started;
	bool guru;			/* flag 2 may be set */
	bool expiring;			/* it is */
	bool knows_switches;		/* sees the scheduler's ends */
	bool calls;			/* are counted by number */
	int hotplug;
	u64 hz;
	u64 bounds[PPA_NR_BUCKETS - 1];
	atomic_long_t unread;		/* reads that gave no value */
	atomic_long_t set_back;		/* times that a CPU's counter was */
	atomic_t changes;		/* threads that came or went */
} ppa = {
	.lock = __MUTEX_INITIALIZER(ppa.lock),
	.records = __RAW_SPIN_LOCK_UNLOCKED(ppa.records),
};

#endif
