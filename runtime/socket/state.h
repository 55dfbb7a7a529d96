/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sockets count: counters that several CPUs have together, of energy, of memory.
 *
 * Such a counter is read on one CPU of its socket, which may change when CPUs go on
 * and off: perf then moves the event.  So there is no slot for it, and nothing of it
 * at a switch; but each event has a list of counters, one for each of its PMUs and
 * sockets, with the newest reading.
 *
 * Who may run what, against whom: a list comes whole, when its event is opened, and
 * goes when the end probes have run.  Each of its events is there from begin to end.
 */
#ifndef STAPWATCH_SOCKET_STATE_H
#define STAPWATCH_SOCKET_STATE_H

#include "base/ask.h"
#include "base/compat.h"
#include "socket/events.h"
#include <linux/percpu.h>
#include <linux/perf_event.h>

struct sw_socket_counter {
	struct sw_socket_counter *next;
	struct perf_event *event;	/* NULL: the session has ended */
	int socket;
	bool lost;			/* it was off its PMU for a while */
	/* the newest reading, and when it was begun; the count is written first, so
	 * it is never older than it is said to be */
	u64 count;
	u64 stamp;
};

/* What one CPU reads for all others, as in watch/fold.h */
struct sw_socket_cpu {
	struct sw_ask look;
	u32 asked;
	u32 rounds;		/* odd: it looks */
};

static struct {
	struct sw_socket_counter *of[SW_NR_SOCKET_EVENTS];
	bool missing[SW_NR_SOCKET_EVENTS];
	bool on;		/* there are perf events */
} sw_socket;

static DEFINE_PER_CPU(struct sw_socket_cpu, sw_socket_cpus);

#endif
