/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are watched because somebody asked: what there is of them.
 *
 * A script asks for a thread, for a process or for a cgroup.  Each thread that is
 * asked for has an entry in the table, as those have that read their own counts
 * (count/vthread.h), and beside it a record here, by the entry's place.  A process
 * and a cgroup are targets: what belongs to one has the target's bit.  Children
 * have their parent's bits from before their first instruction.
 *
 * The record has the thread's counts as of its last switch, for who asks on another
 * CPU.  When these are brought up to date, what has come is added to the sums of its
 * targets, of which each CPU has its own.  So a target's count is what its CPUs'
 * sums make, the dead included, and nobody has to go through its threads.
 *
 *   state.h	what there is
 *   fold.h	from the table to records and targets, at a switch or when asked for
 *   list.h	threads that have ended
 *   target.h	processes and cgroups: their places
 *   attach.h	who belongs to what: asked for, born, ended, left
 *   gate.h	what is stopped, or not sampled
 *   programs.h	what programs ask for beside the script
 *   cgroup.h	threads that come into a cgroup and leave it
 *   read.h	what scripts read
 *   wants.h	which samples are wanted
 *   session.h	from the first anchor to the last end probe
 *
 * Who may run what, against whom:
 *
 *   a record's counts	changed by the CPU that runs the thread, c->busy held; read
 *			anywhere, by `seq', which is odd while they change
 *   targets' sums, a CPU's counts	each word changed by one CPU, c->busy held; read
 *			anywhere
 *   sw_watch.lock	what threads belong to, entries that come and go, the list.
 *			Taken with interrupts off and c->busy held (sw_watch_enter()),
 *			so nothing on this CPU comes in between that takes it, too:
 *			an NMI finds c->busy
 *   the rest		the holder of that lock, or one at a time, before and after
 *			the session
 */
#ifndef STAPWATCH_WATCH_STATE_H
#define STAPWATCH_WATCH_STATE_H

#include "base/ask.h"
#include "base/compat.h"
#include "base/nmi.h"
#include "count/pmu.h"
#include "count/vthread.h"
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

struct cgroup;

/* A bit for each in a word */
#define SW_MAX_TARGETS 64
#define SW_MAX_DEAD (1 << 16)
/* With the byte that ends it; as cgroup_get_from_path() takes it */
#define SW_TARGET_PATH 256

enum sw_target_state {
	SW_TARGET_FREE,
	SW_TARGET_DECLARED,	/* by a begin probe; the session takes it up */
	SW_TARGET_ON,
	SW_TARGET_CLOSED,	/* it counts no more, and can still be read */
};

/* Who asks for a thread or a target, and who stops it: bits. */
enum sw_by { SW_BY_SCRIPT = 1, SW_BY_PROGRAMS = 2 };

enum sw_target_kind { SW_TARGET_PROCESS, SW_TARGET_THREAD, SW_TARGET_CGROUP };

struct sw_target {
	u8 state;
	u8 kind;		/* a thread is only ever declared */
	bool filled;		/* the threads that were there have its bit */
	bool had;		/* some of them do */
	bool rest;		/* the others are left to a work: no reading yet */
	bool no_room;		/* some of its threads have no entry: no reading */
	u8 by;			/* who has asked for it */
	pid_t pid;
	u64 order;		/* the smaller one was asked for before */
	u64 start;		/* of a process: when it began, by CLOCK_BOOTTIME; 0: not known */
	int members;		/* threads that have its bit */
	atomic64_t holed;	/* bit per slot: some of it was not counted */
	struct cgroup *cgroup;
	struct cgroup *gone;	/* the one before, which a work lets go */
	char path[SW_TARGET_PATH];
};

/* What a thread of the table has beside its sums. */
struct sw_watched {
	u32 seq;
	u32 holes;		/* the entry's stretch, as far as `holed' has it */
	u64 holed;		/* bit per slot */
	bool on;		/* it runs, and its counts are as of `since' */
	u8 kept;		/* who has asked for it, for itself: enum sw_by */
	bool self;		/* it reads its own counts */
	bool let_go;		/* nobody asks for it any more: it stands still */
	bool stop;		/* it counts nothing: let go, or stopped */
	u8 stops;		/* who has stopped it */
	bool unsampled;		/* the script takes no samples of it */
	u64 since;
	u64 targets;		/* that it counts for */
	u64 want;		/* that it shall: its CPU takes them over */
	u64 own;		/* those of TARGETS that are its own process */
	u64 last[];		/* per counter */
};

struct sw_watch_cpu {
	u64 active;		/* targets that threads have here */
	u64 counting;		/* those of them that nobody has stopped */
	u64 *sums;		/* [target][is its own process][counter]; after
				 * them what the counters stood at, or SW_NONE */
	int asked;		/* to look at what it runs */
	u32 rounds;		/* of that; odd: it does so now */
	unsigned long others;	/* samples of threads that nobody watches */
	struct sw_ask look;
};

static struct {
	raw_spinlock_t lock;
	bool on;		/* from the last anchor to the session's end */
	bool ended;		/* its end probes run */
	bool programs;		/* they may ask for cgroups while it runs */
	unsigned int slots;	/* for which there is room, the words of sets too */
	u64 active;		/* targets that are ON */
	u64 cgroups;		/* those of them that are cgroups */
	u64 of_programs;	/* those that the script does not ask for */
	u64 stopped;		/* a target's bit: somebody has stopped it */
	u64 stops[2];		/* ... the script; programs */
	u64 unsampled;		/* the script takes no samples of its threads */
	u64 orders;
	struct sw_target targets[SW_MAX_TARGETS];
	void *sums;
	char *records;
	unsigned int record;	/* bytes of each */
	unsigned long gone;	/* asked for, and not there */
	unsigned long crowded;	/* targets without room */
} sw_watch = { .lock = __RAW_SPIN_LOCK_UNLOCKED(sw_watch.lock) };

static DEFINE_PER_CPU(struct sw_watch_cpu, sw_watch_cpus);

/* Has a work do what a handler has left. */
static struct irq_work sw_watch_rest_kick;

static __always_inline struct sw_watched *
sw_watched_of(const struct sw_thread *e)
{
	return (struct sw_watched *)(sw_watch.records +
			(size_t)sw_table_index(&sw_threads, e) *
			sw_watch.record);
}

/* A target's sums on a CPU: its own process's, or those of all else. */
static __always_inline u64 *
sw_target_sums(const struct sw_watch_cpu *wc, unsigned int target, bool own)
{
	return wc->sums + (target * 2 + own) * (size_t)sw_watch.slots;
}

/* From here on a CPU counts for whom it shall. */
static __always_inline void sw_watch_see_targets(struct sw_watch_cpu *wc)
{
	wc->active = READ_ONCE(sw_watch.active);
	wc->counting = wc->active & ~READ_ONCE(sw_watch.stopped);
}

/* What a CPU's counters stood at when it looked. */
static __always_inline u64 *sw_cpu_counts(const struct sw_watch_cpu *wc)
{
	return sw_target_sums(wc, SW_MAX_TARGETS, false);
}

/**
 * sw_watch_enter - take this CPU's busy flag and the lock
 * Context: any.
 * Return: false where the flag is held already, or the lock in an NMI.
 */
static bool sw_watch_enter(struct sw_cpu **c, unsigned long *flags)
{
	if (!sw_enter(c, flags))
		return false;
	if (sw_lock(&sw_watch.lock))
		return true;
	sw_withheld(changing);
	sw_leave(*c, *flags);
	return false;
}

static void sw_watch_leave(struct sw_cpu *c, unsigned long flags)
{
	raw_spin_unlock(&sw_watch.lock);
	sw_leave(c, flags);
}

/* Around a change of a record's counts. */
static __always_inline void sw_watched_change(struct sw_watched *w)
{
	WRITE_ONCE(w->seq, w->seq + 1);
	/* with the second smp_rmb() of sw_watch_read_record() */
	smp_wmb();
}

static __always_inline void sw_watched_changed(struct sw_watched *w)
{
	/* with the first one */
	smp_wmb();
	WRITE_ONCE(w->seq, w->seq + 1);
}

#endif
