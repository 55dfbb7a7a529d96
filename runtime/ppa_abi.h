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
	uint32_t runq_offset;
	uint32_t latency_offset;	/* 0: flag 1 is off */
	uint32_t nr_buckets;
	uint32_t flags;		/* PPA_ON, ...; of rawsysppa: the global ones */
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
	uint32_t tid;
	uint32_t tgid;
	uint32_t flags;
	int32_t cpu;		/* where it runs; -1: nowhere */
	int32_t prio;		/* the kernel's: below 100 real-time */
	uint32_t zero;
	char comm[16];
	uint64_t values[PPA_NR_THREAD_VALUES];
	uint64_t latency[PPA_NR_BUCKETS];
};

#endif
