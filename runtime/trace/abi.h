/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace of a profile: the one definition, for the probe module that writes
 * it and for who reads it.
 *
 * A trace is a stream of records, each a struct sw_trace_record and what its
 * type says, in the byte order of the machine that wrote it, at any place of the
 * stream: what a script prints besides may stand between records, and a reader
 * goes on at the next mark.  Sizes are multiples of eight; text is ended by a 0
 * and filled up with more.  SW_TRACE_HEAD comes first.  Each CPU numbers its
 * records one after the other, so a gap tells how many are missing.
 *
 * Records of several CPUs are not in the order of time; what follows a
 * SW_TRACE_ROUND is not older than that round's time.  A stack may come after
 * samples that name it.  At the end each CPU has a SW_TRACE_END, whose counts
 * add up: taken = written + lost, whatever the reason.  A stream without them was
 * cut off.
 */
#ifndef STAPWATCH_TRACE_ABI_H
#define STAPWATCH_TRACE_ABI_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define SW_TRACE_MARK 0xf7545753u	/* no text in UTF-8 */
#define SW_TRACE_VERSION 1
#define SW_TRACE_MAX_SIZE 65536		/* of a record */

enum sw_trace_type {
	SW_TRACE_HEAD = 1,
	SW_TRACE_EVENT,		/* before samples of it */
	SW_TRACE_COUNT,		/* the name of a count that samples carry */
	SW_TRACE_SAMPLE,
	SW_TRACE_STACK,
	SW_TRACE_COMM,
	SW_TRACE_FORK,
	SW_TRACE_EXIT,
	SW_TRACE_MMAP,
	SW_TRACE_MODULE,
	SW_TRACE_ROUND,
	SW_TRACE_END,
	SW_TRACE_TIMELINE,	/* what its ticks are */
	SW_TRACE_THREAD,	/* a thread's accounting, as it stood */
	SW_TRACE_SLICES,	/* what one CPU did */
	SW_TRACE_SLICES_END,
	SW_TRACE_NOTE,		/* a moment that the script named */
};

struct sw_trace_record {
	uint32_t mark;			/* SW_TRACE_MARK */
	uint16_t type;
	uint16_t cpu;			/* who wrote it */
	uint32_t size;			/* with this header */
	uint32_t seq;			/* from 0, for each CPU; wraps */
	uint64_t time;			/* ns, one clock for all CPUs */
};

#define SW_TRACE_BUILD_ID 20		/* shorter ones end in zeros */

struct sw_trace_head {
	struct sw_trace_record r;
	uint32_t version;		/* SW_TRACE_VERSION */
	uint32_t size;			/* of this structure, without release */
	uint32_t machine;		/* ELF's e_machine */
	uint32_t page_size;
	uint32_t nr_cpus;		/* the highest number, plus 1 */
	uint32_t pad;
	uint64_t session;		/* another one for each trace */
	uint64_t realtime;		/* ns since 1970, at r.time */
	uint64_t stext;			/* address of _stext; 0: not known */
	uint8_t build_id[SW_TRACE_BUILD_ID]; /* the kernel's; 0: not known */
	uint32_t made_by;		/* stapwatch's version: major << 16 |
					   minor << 8 | patch; 0: not known */
	char release[];			/* the kernel's */
};

#define SW_TRACE_EVENT_HZ 1		/* `every' is samples a second */
#define SW_TRACE_EVENT_WAIT 2		/* a sample is a thread's wait of at least
					 * `every', and its period how long */

struct sw_trace_event {
	struct sw_trace_record r;
	uint32_t event;			/* its number, from 0 */
	uint32_t flags;
	uint64_t every;			/* events or, by flag, a second */
	char name[];
};

struct sw_trace_count {
	struct sw_trace_record r;
	uint32_t count;			/* its number, from 0 */
	uint32_t pad;
	char name[];
};

/* Who was interrupted */
#define SW_TRACE_USER 1			/* else the kernel */
#define SW_TRACE_EXACT_IP 2		/* the PMU's own, without skid */
#define SW_TRACE_NMI 4
#define SW_TRACE_NO_KSTACK 8		/* asked for, but the table was full */
#define SW_TRACE_NO_USTACK 16
/* Of a wait: it had not ended when the session did, which r.time is; */
#define SW_TRACE_OPEN 32
/* nor did it begin within it: what was before is not in its period. */
#define SW_TRACE_THROUGHOUT 64

/*
 * What follows a sample, each 8 bytes, in this order; then its counts: what
 * that CPU counted since the sample before of the same event there, all ones
 * where there is no value; then its branches.  With SW_TRACE_HAS_THREAD counts are what the
 * interrupted thread had counted by then.  Two of them can be subtracted where that word is
 * the same: its upper 32 bits are the thread's, and no other thread's ever, the lower ones
 * how often it ran without being counted.
 */
#define SW_TRACE_HAS_ADDR 1
#define SW_TRACE_HAS_LATENCY 2		/* perf's weight */
#define SW_TRACE_HAS_DATA_SRC 4		/* union perf_mem_data_src */
#define SW_TRACE_HAS_THREAD 8

struct sw_trace_sample {
	struct sw_trace_record r;
	uint32_t pid;			/* thread group; 0: idle */
	uint32_t tid;
	uint64_t ip;
	uint64_t period;		/* events since the sample before */
	uint16_t event;
	uint16_t flags;			/* SW_TRACE_USER ... */
	uint16_t has;			/* SW_TRACE_HAS_... */
	uint8_t nr_counts;		/* then these, by number */
	uint8_t nr_branches;		/* then these, newest first */
	uint32_t kstack;		/* a stack's number; 0: none */
	uint32_t ustack;
	uint64_t more[];
};

struct sw_trace_branch {
	uint64_t from;
	uint64_t to;
	uint64_t flags;			/* as perf_branch_entry's */
};

#define SW_TRACE_STACK_USER 1
#define SW_TRACE_STACK_CUT 2		/* there were more callers */

struct sw_trace_stack {
	struct sw_trace_record r;
	uint32_t stack;			/* its number, from 1 */
	uint32_t flags;
	uint32_t nr;
	uint32_t pad;
	uint64_t ip[];			/* innermost first: where it is, and
					 * then return addresses */
};

#define SW_TRACE_COMM_EXEC 1		/* a new program: maps are gone */
#define SW_TRACE_COMM_START 2		/* its name when the trace began */

struct sw_trace_comm {
	struct sw_trace_record r;
	uint32_t pid;
	uint32_t tid;
	uint32_t flags;
	uint32_t pad;
	char comm[16];
};

/* A thread (pid == parent_pid), or a process, which has its parent's maps. */
struct sw_trace_fork {
	struct sw_trace_record r;
	uint32_t pid;
	uint32_t tid;
	uint32_t parent_pid;
	uint32_t parent_tid;
};

struct sw_trace_exit {
	struct sw_trace_record r;
	uint32_t pid;
	uint32_t tid;
};

#define SW_TRACE_MMAP_BUILD_ID 1
#define SW_TRACE_MMAP_DELETED 2		/* the file had no name any more */
#define SW_TRACE_MMAP_START 4		/* was there when the trace began */

/* Executable memory; without a file its path is empty, or [vdso] and such. */
struct sw_trace_mmap {
	struct sw_trace_record r;
	uint32_t pid;
	uint32_t tid;
	uint64_t addr;
	uint64_t len;
	uint64_t offset;		/* in the file, bytes */
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t mnt_ns;		/* the mount namespace's inode number */
	uint32_t flags;
	uint8_t build_id[SW_TRACE_BUILD_ID];
	uint32_t pad;
	char path[];
};

#define SW_TRACE_MODULE_BUILD_ID 1
#define SW_TRACE_MODULE_SECTIONS 2	/* it ends in them */
#define SW_TRACE_SECTIONS 8

/* Where a part of a module's file is loaded; without a name: there is none. */
struct sw_trace_section {
	uint64_t addr;
	char name[24];
};

struct sw_trace_module {
	struct sw_trace_record r;
	uint64_t addr;			/* of its text */
	uint64_t len;
	uint8_t build_id[SW_TRACE_BUILD_ID];
	uint32_t flags;
	char name[];			/* and then its sections */
};

struct sw_trace_round {
	struct sw_trace_record r;
	uint64_t oldest;		/* what follows is not older */
};

/* All since the trace began, of the CPU r.cpu. */
struct sw_trace_end {
	struct sw_trace_record r;
	uint64_t taken;			/* samples: taken = written + lost_* */
	uint64_t written;
	uint64_t lost_full;		/* the buffer was full */
	uint64_t lost_nested;		/* within the writing of another */
	uint64_t lost_skipped;		/* SystemTap ran no handler */
	uint64_t no_stack;		/* written without: table was full */
	uint64_t other_lost;		/* records that are not samples */
};

#define SW_TRACE_NOTE_NAME 128		/* with its end */

/* stapwatch_mark() */
struct sw_trace_note {
	struct sw_trace_record r;
	uint32_t pid;			/* who ran; 0: idle */
	uint32_t tid;
	char name[];
};

/*
 * A timeline: what CPUs and threads did, by precise accounting.  Times are ticks.
 *
 * A CPU's slices tell of each switch: how long the thread ran that goes, and on what,
 * what it goes to, and who comes.  A thread's slices are what its CPUs say of it,
 * from switch to switch; they sum to its accounting, which SW_TRACE_THREAD has.
 */
struct sw_trace_timeline {
	struct sw_trace_record r;
	uint64_t hz;			/* ticks a second */
	uint64_t tick;			/* at r.time */
};

#define SW_TRACE_THREAD_ENDED 1
#define SW_TRACE_THREAD_RUNS 2		/* since `at' */
#define SW_TRACE_THREAD_FIRST 4		/* what was before the timeline */
#define SW_TRACE_THREAD_KEPT 8		/* ... of which older slices were not kept: `at'
					 * may be long before the oldest */

/* At a thread's last switch, or the timeline's: at its beginning, and its end. */
struct sw_trace_thread {
	struct sw_trace_record r;
	uint32_t tid;
	uint32_t pid;
	uint32_t flags;
	uint32_t part;			/* since `at', unless it runs */
	char comm[16];
	uint64_t born;			/* what no other thread of this tid has */
	uint64_t begin;			/* its life is from here to `at' */
	uint64_t at;
	uint32_t nr_parts;
	uint32_t pad;
	uint64_t parts[];		/* enum ppa_part of ppa/abi.h */
};

/* Slices one after the other, of the CPU r.cpu. */
struct sw_trace_slices {
	struct sw_trace_record r;
	uint64_t from;			/* the first is since then */
	uint32_t tid;			/* who ran then; 0: none */
	uint32_t flags;			/* SW_TRACE_SLICES_... */
	uint64_t more[];		/* struct sw_slice */
};

#define SW_TRACE_SLICES_SINCE 1		/* `from' and `tid' are known */

/*
 * What follows a slice, each 8 bytes, in this order.  Without BEGIN, BORN and NAME
 * it is a switch.
 */
#define SW_SLICE_IRQ 1		/* ticks in interrupts, in softirqs: 32 bits each */
#define SW_SLICE_WOKEN 2	/* ticks that it was ready, its waker: the same */
#define SW_SLICE_WIDE 4		/* the upper 32 bits of dt, system, those in
				 * interrupts, in softirqs, ready, and none */
#define SW_SLICE_BEGIN 8	/* the tick: TID runs, what was is not known */
#define SW_SLICE_BORN 16	/* the tick, and `born': of a new thread TID, which
				 * is of process `system' */
#define SW_SLICE_NAME 32	/* 16 bytes: the name that TID ends with */
#define SW_SLICE 128		/* always: no slice begins with 0 */

#define SW_SLICE_NO_CALL 0xffff
#define SW_SLICE_NOT_ACCOUNTED 128 /* it was not while it ran */
#define SW_SLICE_OVER 127	/* it ended */

/* A waker that is no thread */
#define SW_SLICE_BY 0x80000000u
#define SW_SLICE_BY_IRQ (SW_SLICE_BY | 1)
#define SW_SLICE_BY_SOFTIRQ (SW_SLICE_BY | 2)
#define SW_SLICE_BY_IDLE (SW_SLICE_BY | 3)

struct sw_slice {
	uint8_t flags;
	uint8_t part;		/* what who ran goes to, | SW_SLICE_NOT_ACCOUNTED */
	uint16_t call;		/* it is in; SW_SLICE_NO_CALL: none */
	uint32_t tid;		/* who runs from here on; 0: none */
	uint32_t dt;		/* ticks since the slice before */
	uint32_t system;	/* of these in system mode; what is left is user's */
	uint64_t more[];
};

/* How many words of `more' a slice has. */
static inline unsigned int sw_slice_more(uint8_t flags)
{
	if (flags & (SW_SLICE_BORN | SW_SLICE_NAME))
		return 2;
	if (flags & SW_SLICE_BEGIN)
		return 1;
	return !!(flags & SW_SLICE_IRQ) + !!(flags & SW_SLICE_WOKEN) +
	       3 * !!(flags & SW_SLICE_WIDE);
}

/* Of the CPU r.cpu: taken = written + lost, but for those that were kept and are too
 * old. */
struct sw_trace_slices_end {
	struct sw_trace_record r;
	uint64_t taken;			/* slices */
	uint64_t lost;			/* the buffer was full */
};

#endif
