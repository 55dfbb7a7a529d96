/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How programs ask a session of something, by its file `control': the one definition, for
 * the probe module and for who calls it.
 *
 * pread(fd, &count, 8, word) is the count of an event, by the word that a SW_CONTROL_FIND has
 * for it, of the calling thread: the cheapest of all calls.
 *
 * ioctl(fd, SW_CONTROL_RUN, &call) does the steps of a call in their order, up to the
 * first one that fails, and returns how many it has done.  Numbers are in the byte order of
 * the machine, and addresses have 64 bits for all.  A later module may know longer steps, by
 * members at the end, and more steps and targets; it takes those of today as they are.  What a
 * module does not know it refuses, by EOPNOTSUPP: a step, a target, a flag, a step's size.
 */
#ifndef STAPWATCH_CONTROL_ABI_H
#define STAPWATCH_CONTROL_ABI_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#include <linux/types.h>
#else
#include <stdint.h>
#include <sys/ioctl.h>
#endif

#define SW_CONTROL_VERSION 1
#define SW_CONTROL_RUN _IO('s', 0x57)
#define SW_CONTROL_STEPS 1024	/* of a call, at most */
#define SW_CONTROL_TEXT 512	/* bytes of a name or a text, with one more */

/* What a step does.  NAME, TEXT, ... are its members. */
enum sw_control_do {
	SW_CONTROL_NOTHING,
	/* a set NAME of the events TEXT, of this program's own; VALUE: its number */
	SW_CONTROL_MAKE_SET,
	SW_CONTROL_DELETE_SET,		/* NAME */
	SW_CONTROL_SET_EVERY,		/* NAME switches after TEXT */
	SW_CONTROL_SET_PLACE,		/* NAME comes VALUE-th in the round */
	SW_CONTROL_SWITCH,		/* to the set NAME, on the caller's CPU */
	/* of the set NAME, or of those that always count, the event TEXT; EVENT: its word */
	SW_CONTROL_FIND,
	SW_CONTROL_ATTACH,		/* to TARGET, ID; FLAGS */
	SW_CONTROL_DETACH,		/* from it */
	SW_CONTROL_START,		/* TARGET, ID or NAME */
	SW_CONTROL_STOP,
	SW_CONTROL_READ,		/* EVENT of TARGET, ID; VALUE: its count */
	SW_CONTROL_REFRESH,		/* other CPUs' counts; VALUE: how many are late */
	/* of the session, a counter of EVENT, from VALUE on; EVENT: the counter's word */
	SW_CONTROL_COUNT,
	SW_CONTROL_PRESET,		/* the counter EVENT, or 0: all, to VALUE */
};

enum sw_control_target {
	SW_CONTROL_ALL,			/* CPUs; to start and stop: all sets of its own */
	SW_CONTROL_CPU,			/* number ID */
	SW_CONTROL_SET,			/* NAME */
	SW_CONTROL_THREAD,		/* ID; 0: the caller's */
	SW_CONTROL_PROCESS,		/* ID; 0: the caller's */
	SW_CONTROL_TREE,		/* the process ID with what it makes; to read */
	/* all that this session is attached to; to read: EVENT is a counter's word */
	SW_CONTROL_SESSION,
	/* of version 2; ID: a descriptor of its directory.  To read it be attached to it. */
	SW_CONTROL_CGROUP,
};

/* to ATTACH: it counts nothing until it is started */
#define SW_CONTROL_STOPPED 1

struct sw_control_step {
	uint16_t what;		/* enum sw_control_do */
	uint16_t target;	/* enum sw_control_target */
	uint32_t flags;
	int32_t error;		/* of it: an errno, or 0; ENODATA ends no call */
	uint32_t pad;		/* 0 */
	int64_t id;
	int64_t value;
	uint64_t event;
	uint64_t name;		/* the address of NAME_SIZE bytes */
	uint64_t text;
	uint32_t name_size;
	uint32_t text_size;
};

struct sw_control_call {
	uint32_t version;
	uint32_t step_size;
	uint32_t nr;
	uint32_t why_size;
	uint64_t steps;		/* the address of the first one */
	uint64_t why;		/* where a line is put that says why a step failed */
};

#endif
