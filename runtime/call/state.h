/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What recorded calls are made of: functions, their histograms, the events that
 * calls count, and what calls are told apart by.
 *
 * Types and the session's one instance; who changes what, session.h has.
 */
#ifndef STAPWATCH_CALL_STATE_H
#define STAPWATCH_CALL_STATE_H

#include "base/kernel.h"
#include "store/map.h"
#include <linux/kprobes.h>
#include <linux/path.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/uprobes.h>

/* Events that calls count, besides the time. */
#define SW_CALL_EVENTS 16
#define SW_CALL_NAME 80
/* Places where a function of a program returns, if these are probed. */
#define SW_CALL_EXITS 32

/* The histograms' first words, of the time and of each event; NULL for one that
 * this machine lacks. */
struct sw_call_hists {
	u32 generation;		/* of a key's, how often they were given back */
	/* where a call goes that began before that: the function's own */
	const struct sw_call_hists *others;
	pcpu_ctr_t *at[1 + SW_CALL_EVENTS];
	u32 numbers[1 + SW_CALL_EVENTS];
};

/* Calls of a function that have a process, or an argument, in common: keys.h. */
struct sw_call_key {
	u64 word;		/* the key's, when there is a state */
	u32 state;
	u64 comm[TASK_COMM_LEN / sizeof(u64)];	/* the process's, as it was last */
	struct sw_call_hists hists;
};

/* Where a function of a program is, and what it is probed by: user.h. */
struct sw_call_user {
	const char *file;	/* NULL: the function is the kernel's */
	u64 offset;
	struct path path;	/* what holds the inode and its mount */
	struct inode *inode;	/* NULL: it is not probed */
	struct uprobe *uprobe;
	struct uprobe_consumer at_entry;
	struct uprobe *return_uprobe;
	struct uprobe_consumer at_return;
	atomic_long_t missed;	/* calls that had no place */
	/* where it returns, from OFFSET on; none: its return is probed itself */
	s32 exits_at[SW_CALL_EXITS];
	unsigned int nr_exits;
	struct sw_call_exit *exits;
};

/* A place where a function returns, and what it is probed by. */
struct sw_call_exit {
	const struct sw_call *call;
	struct uprobe *uprobe;
	struct uprobe_consumer consumer;
};

/* A function. */
struct sw_call {
	struct kretprobe rp;
	struct sw_call_user user;
	char name[SW_CALL_NAME];
	bool optional;		/* it may be one that cannot be probed */
	bool wraps;		/* a system call, whose argument is its registers */
	/* of all calls, or of those that have no key */
	struct sw_call_hists hists;
	/* whose each place is: apart, as they are looked through; NULL where calls have
	 * no keys, or the function cannot be probed */
	u64 *words;
	struct sw_call_key *keys;
	bool crowded;		/* a key found no place since the last sweep */
	unsigned long nested_before;	/* the kernel's count, when all was there */
	unsigned long missed_before;	/* before its module went and came back */
};

/* A call that is under way. */
struct sw_call_start {
	const struct sw_call_hists *hists;
	u32 generation;		/* of those */
	u64 tsc;
	u64 sum;		/* of the thread's tsc */
	u32 cpu;
	u32 has_sum;
	u64 stretch;		/* of the thread's entry */
	u64 counts[];		/* or SW_NONE */
};

/* What each CPU has seen. */
struct sw_call_cpu {
	unsigned long began;
	unsigned long ended;
};

static DEFINE_PER_CPU(struct sw_call_cpu, sw_call_cpus);

/* An event that calls count: where, and in which of a function's histograms. */
struct sw_call_event {
	unsigned int slot;
	unsigned int at;
};

enum sw_call_by {
	SW_CALL_BY_NONE,
	SW_CALL_BY_PROCESS,
	SW_CALL_BY_ARGUMENT,
};

/* A table is printed in parts, and rows are given back: never both at once. */
enum sw_call_rows_user {
	SW_CALL_ROWS_FREE,
	SW_CALL_ROWS_PRINTED,
	SW_CALL_ROWS_SWEPT,
};

/* Where printing has come to: a function, a row of its, a histogram of that. */
struct sw_calls_at {
	unsigned int call;
	unsigned int row;
	unsigned int hist;
};

/* How functions of programs are recorded; NULL: nobody has asked for one. */
struct sw_call_users {
	int (*begin)(void);
	int (*add)(struct sw_call *call);
	void (*end)(void);
};

static struct {
	const struct sw_call_users *users;
	struct sw_call *calls;
	struct kretprobe **on;	/* those that are registered */
	unsigned int max, nr, nr_on;
	unsigned int left_out;	/* functions that cannot be probed */
	bool follows;		/* we are told of modules that come */
	bool again;		/* and record their functions again */
	/* calls that can be under way at once */
	unsigned int given;	/* as the user gave it; 0: as many as fit */
	unsigned int instances;	/* of each function of the kernel */
	unsigned int places;	/* of all functions of programs together */
	/* the events' numbers, as they were declared */
	unsigned int nr_asked;
	unsigned int asked[SW_CALL_EVENTS];
	/* the thread's tsc, which needs no counter; at 0: nobody has asked */
	struct sw_call_event tsc;
	/* the others */
	unsigned int nr_events;
	struct sw_call_event events[SW_CALL_EVENTS];
	u64 over;		/* ticks: what takes less is not recorded */
	bool (*is_wanted)(void);	/* NULL: whoever calls */
	enum sw_call_by by;
	unsigned int argument;	/* which, from 0 on */
	bool argument_is_int;	/* of 32 bits */
	unsigned int max_keys;	/* of each function */
	bool sweeps;		/* keys of processes that have ended are given back */
	bool retired;		/* some are to be, as soon as no table is printed */
	u32 rows_user;		/* who reads all rows, or gives some back */
	struct sw_calls_at at;	/* where the next part begins */
	struct sw_calls_at last;	/* the same, of the table after the session */
} sw_calls;

#endif
