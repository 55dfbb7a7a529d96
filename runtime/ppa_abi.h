/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise process accounting: the binary files, for the kernel side and for
 * readers (seed 002; ppa(5) is the text).
 *
 * Each begins with a ppa_header.  Times are in ticks of the processor's counter,
 * tick_hz of them a second.  All numbers are in the machine's own byte order: a
 * file is read where it was made.  A reader goes by the sizes and offsets in the
 * header, so that what later versions add does not matter to it; VERSION changes
 * when what is there already changes its meaning.
 */
#ifndef STAPWATCH_PPA_ABI_H
#define STAPWATCH_PPA_ABI_H

#include <linux/types.h>

#define PPA_MAGIC "stapPPA"	/* 8 bytes, with its NUL */
#define PPA_VERSION 1

enum ppa_file {
	PPA_FILE_THREAD = 1,	/* rawppa */
	PPA_FILE_SYSTEM,	/* rawsysppa */
	PPA_FILE_THREADS,	/* rawthreads */
};

struct ppa_header {
	char magic[8];
	__u32 version;
	__u32 size;		/* of this header */
	__u32 file;		/* enum ppa_file */
	__u32 nr_cpus;		/* that this machine may have */
	__u64 tick_hz;
	__u64 now;		/* when it was read, in ticks */
	__u32 offset;		/* of the arrays, or of the first record */
	__u32 nr_arrays;	/* 0 in rawthreads: up to the file's end */
	__u32 stride;		/* from an array, or record, to the next */
	__u32 nr_values;	/* 64 bits each, of an array or record */
	/* of rawppa: */
	__u32 scale;		/* CPUs to an array; the last may have fewer */
	__u32 tid;
	__u32 signals_offset;	/* 32 bits each, from signal 0 on */
	__u32 nr_signals;
	__u32 runq_offset;
	__u32 latency_offset;	/* 0: flag 1 is off */
	__u32 nr_buckets;
	__u32 flags;		/* PPA_ON, ...; of rawsysppa: the global ones */
};

/* The three flags of ppactl. */
#define PPA_ON 1
#define PPA_LATENCY 2
#define PPA_EXPIRE 4
#define PPA_FLAGS 7

/* An array's values in rawppa, and a record's in rawthreads. */
enum ppa_thread_value {
	PPA_SCHEDACCUM,		/* user and system time */
	PPA_SCACCUM,		/* system time */
	PPA_INTACCUM,		/* interrupts' time */
	PPA_RSCHEDCNT,		/* scheduler ran, and it went on */
	PPA_SCHEDOUTCNT,	/* blocked or yielded */
	PPA_PRMPTCTXTCNT,	/* its time slice was over */
	PPA_PRMPTPRICNT,	/* for one of higher priority */
	PPA_SCHLATACCUM,	/* from wake-ups to running */
	PPA_SYSCALLCNT,
	PPA_INTCNT,
	PPA_AVGCTXT,		/* time in switches to it */
	/* not in the seed: */
	PPA_SOFTACCUM,		/* softirqs' time */
	PPA_SOFTCNT,
	PPA_CTXTCNT,		/* switches that PPA_AVGCTXT is the sum of */
	PPA_SCHLATCNT,		/* wake-ups that PPA_SCHLATACCUM is the sum of */
	PPA_RUNQACCUM,		/* waits after preemption */
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
	/* not in the seed: */
	PPA_ELAPSED,		/* since accounting began, while online */
	PPA_UNTOLD,		/* busy while flag 0 was off */
	PPA_SYS_RSCHEDCNT,
	PPA_SYS_SCHEDOUTCNT,
	PPA_SYS_PRMPTCTXTCNT,
	PPA_SYS_PRMPTPRICNT,
	PPA_SYS_SCHLATACCUM,
	PPA_SYS_SCHLATCNT,
	PPA_SYS_RUNQACCUM,
	PPA_SYS_AVGCTXT,
	PPA_SYS_CTXTCNT,
	PPA_NR_SYSTEM_VALUES
};

/* Scheduling latency below 10 us, 100 us, ..., 10 s; the last takes all above. */
#define PPA_NR_BUCKETS 7

/* A record of rawthreads. */
struct ppa_thread {
	__u32 tid;
	__u32 tgid;
	__u32 flags;
	__s32 cpu;		/* where it runs; -1: nowhere */
	__s32 prio;		/* the kernel's: below 100 real-time */
	__u32 zero;
	char comm[16];
	__u64 values[PPA_NR_THREAD_VALUES];
	__u64 latency[PPA_NR_BUCKETS];
};

#endif
