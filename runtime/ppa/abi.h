/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise process accounting (PPA): the binary files, for the kernel side and for
 * readers; ppa(5) is the text.
 *
 * Each begins with a ppa_header.  Times are in ticks of the processor's counter,
 * tick_hz of them a second.  All numbers are in the machine's own byte order: a
 * file is read where it was made.  A reader goes by the sizes and offsets in the
 * header, so that what later versions add does not matter to it; VERSION changes
 * when what is there already changes its meaning.
 */
#ifndef STAPWATCH_PPA_ABI_H
#define STAPWATCH_PPA_ABI_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define PPA_MAGIC "stapPPA"	/* 8 bytes, with its NUL */
#define PPA_VERSION 1

enum ppa_file {
	PPA_FILE_THREAD = 1,	/* rawppa */
	PPA_FILE_SYSTEM,	/* rawsysppa */
	PPA_FILE_THREADS,	/* rawthreads */
	PPA_FILE_SYSCALLS,	/* rawsyscalls */
	PPA_FILE_LOCKS,		/* rawlocks */
	PPA_FILE_COMPETITORS,	/* rawcompetitors */
};

struct ppa_header {
	char magic[8];
	uint32_t version;
	uint32_t size;		/* of this header */
	uint32_t file;		/* enum ppa_file */
	uint32_t nr_cpus;		/* that this machine may have */
	uint64_t tick_hz;
	uint64_t now;		/* when it was read, in ticks */
	uint32_t offset;		/* of the arrays, or of the first record */
	uint32_t nr_arrays;	/* 0 in rawthreads: up to the file's end */
	uint32_t stride;		/* from an array, or record, to the next */
	uint32_t nr_values;	/* 64 bits each, of an array or record */
	/* of rawppa: */
	uint32_t scale;		/* CPUs to an array; the last may have fewer */
	uint32_t tid;
	uint32_t signals_offset;	/* 32 bits each, from signal 0 on */
	uint32_t nr_signals;
	uint32_t preempted_offset;
	uint32_t latency_offset;	/* 0: flag 1 is off */
	uint32_t nr_buckets;
	uint32_t flags;		/* PPA_ON, ...; of rawsysppa: the global ones */
	/* of rawthreads and rawsyscalls: */
	uint32_t parts_offset;	/* in a record; 0: it has none */
	uint32_t nr_parts;
	/* of rawthreads: threads that found no room for a record; of rawsyscalls:
	 * calls that are in none; of rawlocks: waits that are in the one of no kind */
	uint64_t lost;
};

/* The three flags of ppactl. */
#define PPA_ON 1
#define PPA_LATENCY 2
#define PPA_EXPIRE 4
#define PPA_FLAGS 7

/*
 * Of a record in rawthreads: the thread has ended, and its values are the last
 * ones.  Such a record may stay until its place is wanted; its number may be
 * that of another thread meanwhile.
 */
#define PPA_ENDED 8

/* What of it went to the `gone' of its process's first thread, as the GONE_NR'th. */
#define PPA_COUNTED 16

/*
 * One record, of no number, is the sum of all threads that have ended and whose
 * records are others' by now.  Its GONE is what to add for the same sum of processes:
 * theirs that ended before have gone to first threads that are still there.
 */
#define PPA_SUM 32

/* An array's values in rawppa, and a record's in rawthreads. */
enum ppa_thread_value {
	PPA_SCHEDACCUM,		/* user and system time */
	PPA_SCACCUM,		/* system time */
	PPA_INTACCUM,		/* interrupts' time */
	PPA_RSCHEDCNT,		/* scheduler ran, and it went on */
	PPA_SCHEDOUTCNT,	/* blocked or yielded */
	PPA_PRMPTCTXTCNT,	/* its timeslice expired */
	PPA_PRMPTPRICNT,	/* for one of higher priority */
	PPA_SCHLATACCUM,	/* from wake-ups to running */
	PPA_SYSCALLCNT,
	PPA_INTCNT,
	PPA_AVGCTXT,		/* time in switches to it */
	/* what PPA itself did not have: */
	PPA_SOFTACCUM,		/* softirqs' time */
	PPA_SOFTCNT,
	PPA_CTXTCNT,		/* switches that PPA_AVGCTXT is the sum of */
	PPA_SCHLATCNT,		/* wake-ups that PPA_SCHLATACCUM is the sum of */
	PPA_PREEMPTACCUM,	/* waits after preemption */
	PPA_NR_THREAD_VALUES
};

/* A CPU's values in rawsysppa. */
enum ppa_system_value {
	PPA_USRMODE,
	PPA_SYSMODE,
	PPA_INTERRUPTS,
	PPA_IDLE,
	PPA_SYS_SYSCALLCNT,
	PPA_INTERRUPTCNT,
	PPA_TOTALSOFTIRQTIME,
	PPA_SOFTIRQCNT,
	PPA_HIPRITSKLTTIME,
	PPA_HIPRITSKLTCNT,
	PPA_REGPRITSKLTTIME,
	PPA_REGPRITSKLTCNT,
	PPA_TMRTSKLTTIME,
	PPA_TMRTSKLTCNT,
	PPA_NTWKTXTIME,
	PPA_NTWKTXCNT,
	PPA_NTWKRXTIME,
	PPA_NTWKRXCNT,
	/* what PPA itself did not have: */
	PPA_ELAPSED,		/* since accounting began, while online */
	PPA_NOT_ACCOUNTED,	/* busy while flag 0 was off */
	PPA_SYS_RSCHEDCNT,
	PPA_SYS_SCHEDOUTCNT,
	PPA_SYS_PRMPTCTXTCNT,
	PPA_SYS_PRMPTPRICNT,
	PPA_SYS_SCHLATACCUM,
	PPA_SYS_SCHLATCNT,
	PPA_SYS_PREEMPTACCUM,
	PPA_SYS_AVGCTXT,
	PPA_SYS_CTXTCNT,
	PPA_NR_SYSTEM_VALUES
};

/* Scheduling latency below 10 us, 100 us, ..., 10 s; the last takes all above. */
#define PPA_NR_BUCKETS 7

/*
 * Where a thread's life went: it is always in one of these, so they sum to the life,
 * to the tick.  Those that are not known to an older reader have higher numbers.
 */
enum ppa_part {
	/* on a CPU */
	PPA_PART_USER,
	PPA_PART_SYSTEM,
	PPA_PART_INT,		/* interrupts that came meanwhile */
	PPA_PART_SOFT,		/* softirqs */
	/* ready, and waiting for one */
	PPA_PART_WOKEN,		/* since a wake-up */
	PPA_PART_PREEMPTED,
	/* blocked */
	PPA_PART_DISK,		/* files and block devices */
	PPA_PART_PAGE,		/* a page that was not there */
	PPA_PART_RECLAIM,	/* for memory to be freed */
	PPA_PART_LOCK,		/* the kernel's, and files' */
	PPA_PART_FUTEX,
	PPA_PART_PIPE,		/* and message queues */
	PPA_PART_SOCKET,
	PPA_PART_POLL,		/* for one of many, or an event */
	PPA_PART_SLEEP,		/* for a time, or a signal */
	PPA_PART_CHILD,
	PPA_PART_STOPPED,	/* by a signal, a debugger, a freezer */
	PPA_PART_DEVICE,	/* terminals and others that are no disks */
	PPA_PART_WORK,		/* a kernel thread, for something to do */
	PPA_PART_KERNEL,	/* in the kernel, for anything else */
	/* neither */
	PPA_PART_NOT_ACCOUNTED,	/* its accounting was off */
	PPA_PART_UNKNOWN,
	PPA_NR_PARTS
};

/* What they are called. */
#define PPA_PART_NAMES { \
	[PPA_PART_USER] = "user", \
	[PPA_PART_SYSTEM] = "system", \
	[PPA_PART_INT] = "interrupt", \
	[PPA_PART_SOFT] = "softirq", \
	[PPA_PART_WOKEN] = "woken", \
	[PPA_PART_PREEMPTED] = "preempted", \
	[PPA_PART_DISK] = "disk", \
	[PPA_PART_PAGE] = "page", \
	[PPA_PART_RECLAIM] = "reclaim", \
	[PPA_PART_LOCK] = "lock", \
	[PPA_PART_FUTEX] = "futex", \
	[PPA_PART_PIPE] = "pipe", \
	[PPA_PART_SOCKET] = "socket", \
	[PPA_PART_POLL] = "poll", \
	[PPA_PART_SLEEP] = "sleep", \
	[PPA_PART_CHILD] = "child", \
	[PPA_PART_STOPPED] = "stopped", \
	[PPA_PART_DEVICE] = "device", \
	[PPA_PART_WORK] = "work", \
	[PPA_PART_KERNEL] = "kernel", \
	[PPA_PART_NOT_ACCOUNTED] = "not_accounted", \
	[PPA_PART_UNKNOWN] = "unknown", \
}

/* A record of rawthreads. */
struct ppa_thread {
	uint32_t tid;
	uint32_t tgid;
	uint32_t flags;
	int32_t cpu;		/* where it runs; -1: nowhere */
	int32_t prio;		/* the kernel's: below 100 real-time */
	uint32_t zero;
	char comm[16];
	uint64_t values[PPA_NR_THREAD_VALUES];
	uint64_t latency[PPA_NR_BUCKETS];
	/* what no other thread of this number has; 0, or beyond the stride:
	 * not told */
	uint64_t born;
	/* 0 where the header's parts_offset is below: not told */
	uint64_t cgroup;	/* of version 2, its number */
	uint64_t gone_nr;	/* how many others of the process have ended */
	/* from here on where the header's parts_offset says; a later version may
	 * have more of each */
	uint64_t life;		/* that is accounted for */
	uint64_t parts[PPA_NR_PARTS];	/* of it */
	uint64_t waits[PPA_NR_PARTS];	/* how many times it blocked */
	uint64_t longest[PPA_NR_PARTS];
	/* of a process's first thread: of the others that have ended */
	uint64_t gone;
	uint64_t gone_parts[PPA_NR_PARTS];
};

/*
 * How long calls took: four buckets for each power of two, of the ticks and 2 to the
 * power of PPA_CALL_POWER, so that there is none below.  The last that is used has all
 * that are longer.
 */
#define PPA_CALL_POWER 6
#define PPA_NR_CALL_BUCKETS 148

/* Calls that have no number of this machine's: 32-bit programs', and what is none. */
#define PPA_CALL_OTHER 0xffffffff

/*
 * A record of rawsyscalls: one for each number that was called.  As many calls have
 * returned as there are in the buckets.  The header's latency_offset is that of the
 * buckets, nr_values that of the values before them.
 */
struct ppa_syscall {
	uint32_t nr;
	uint32_t zero;
	uint64_t unreturned;	/* the thread ended within it */
	uint64_t errors;	/* returned one */
	uint64_t longest;	/* from the call to its return, ticks */
	uint64_t buckets[PPA_NR_CALL_BUCKETS];
	/* what its time went to, up to the last change of a part */
	uint64_t parts[PPA_NR_PARTS];
};

#define PPA_NR_CALL_VALUES 3

/* Those of no kind are all that found no room, or have none any more. */
enum ppa_lock_kind {
	PPA_LOCK_LOST,
	PPA_LOCK_SPIN,
	PPA_LOCK_RWLOCK_READ,	/* which spin, too */
	PPA_LOCK_RWLOCK_WRITE,
	PPA_LOCK_MUTEX,
	PPA_LOCK_READ,		/* of a semaphore of readers and writers */
	PPA_LOCK_WRITE,
	PPA_LOCK_PERCPU_READ,
	PPA_LOCK_PERCPU_WRITE,
	PPA_LOCK_RT,
	PPA_LOCK_FUTEX,
	PPA_LOCK_FILE,		/* flock(), and fcntl() */
	PPA_LOCK_SEMAPHORE,	/* a counting one, which nobody holds */
	PPA_LOCK_FUTEXES,	/* any of several, told by the first */
	PPA_NR_LOCK_KINDS
};

/* Of the kernel's: what it is of the process that waits. */
enum ppa_lock_what { PPA_LOCK_IS_OTHER, PPA_LOCK_IS_MMAP, PPA_LOCK_IS_SIGNAL };

enum ppa_lock_value {
	PPA_LOCK_WAITS,		/* that blocked, and are over */
	PPA_LOCK_BLOCKED,	/* for so many ticks */
	PPA_LOCK_LONGEST,
	PPA_LOCK_SPUN,		/* the same of those that kept a CPU */
	PPA_LOCK_SPINNING,
	PPA_LOCK_LONGEST_SPIN,
	PPA_NR_LOCK_VALUES
};

#define PPA_LOCK_FRAMES 8
#define PPA_LOCK_TEXT 64

/* Wakers that are no threads. */
#define PPA_WAKER_IRQ 0x80000001u
#define PPA_WAKER_SOFTIRQ 0x80000002u
#define PPA_WAKER_IDLE 0x80000003u

/* Those that came first. */
#define PPA_LOCK_WAKERS 8

struct ppa_lock_waker {
	uint32_t tid;		/* a thread, or PPA_WAKER_...; 0: none */
	uint32_t zero;
	uint64_t waits;		/* that blocked, which it ended */
};

/*
 * A record of rawlocks: a lock, where it was wanted, and who had it.  The same may
 * stand twice.  Times are told apart from counts: one that is added meanwhile may be
 * in the one only.
 */
struct ppa_lock {
	uint32_t kind;
	uint32_t what;		/* enum ppa_lock_what; of a file: the process that waits */
	/* its address; 0: that of the futexes could not be read; a file's number */
	uint64_t lock;
	uint64_t space;		/* a futex's process; a file's device */
	uint32_t holder;	/* a thread, when it was wanted; 0: not known */
	uint32_t nr_frames;
	char comm[16];		/* of one who waited */
	uint64_t values[PPA_NR_LOCK_VALUES];
	uint64_t ip[PPA_LOCK_FRAMES];	/* innermost first; a futex's are the program's */
	/* as the kernel calls them; none: it has no name for it */
	char name[PPA_LOCK_TEXT];
	char places[PPA_LOCK_FRAMES][PPA_LOCK_TEXT];
	/* beyond the stride: not told */
	struct ppa_lock_waker wakers[PPA_LOCK_WAKERS];
	/*
	 * When the record was begun, in ticks; 0, or beyond the stride: not told.  A record
	 * that was not used for a while may end.  What it had goes to the record of no kind
	 * of its process, or to that of no process.
	 */
	uint64_t born;
};

/* What a thread that was ready waited for, beside the threads that are told. */
enum ppa_competed_value {
	PPA_COMPETED_OTHERS,	/* threads that have no place any more */
	PPA_COMPETED_IDLE,	/* its CPU was idle */
	PPA_COMPETED_MOVED,	/* it came to another CPU than it was ready on */
	PPA_COMPETED_UNKNOWN,	/* too much had run since */
	PPA_NR_COMPETED_VALUES
};

/* Those that ran for longest. */
#define PPA_COMPETITORS 8

struct ppa_competitor {
	uint32_t tid;		/* 0: none */
	uint32_t zero;
	uint64_t ticks;		/* that it ran, of the waits */
};

/*
 * A record of rawcompetitors: a thread that was ready, and who ran on its CPU
 * meanwhile.  Values and ticks sum to its waits that are over, to the tick: those are
 * PPA_SCHLATACCUM and PPA_PREEMPTACCUM.
 */
struct ppa_competitors {
	uint32_t tid;
	uint32_t zero;
	uint64_t born;		/* as rawthreads has it */
	uint64_t values[PPA_NR_COMPETED_VALUES];
	struct ppa_competitor threads[PPA_COMPETITORS];
};

#endif
