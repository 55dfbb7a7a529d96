/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the runtime that a script may do without: sets, threads that are
 * watched because the script asks, samples, samples of waits, and sockets.
 *
 * The rest knows of them by these pointers alone.  Which ones a script needs is known
 * where SystemTap's code calls ours, after all of the runtime (interpose.h): a part
 * that is not pointed to there is named nowhere, and the compiler leaves it out.
 * That is half of the runtime, of what is compiled for each script and of what stands
 * in the kernel.
 *
 * Who may run what, against whom: the pointers are set before the first anchor is
 * opened, and what they point to is sleepable, as its own header says.
 */
#ifndef STAPWATCH_STAP_PARTS_H
#define STAPWATCH_STAP_PARTS_H

#include "base/compat.h"
#include <linux/perf_event.h>

struct sw_sets_part {
	void (*begin)(bool has_threads);
	int (*fit)(void);
	void (*ready)(void);
	void (*run)(void);
	void (*let_go)(void);
	void (*end)(void);
};

struct sw_watch_part {
	void *on_switch;	/* SW_SWITCH_CALLBACK() of it */
	int (*start)(unsigned int slots, int dead);
	void (*take)(void);
	void (*stop)(void);
	void (*end)(void);
};

struct sw_sockets_part {
	int (*open)(unsigned int n);
	void (*end)(void);
	void (*gone)(void);
};

struct sw_sampler;

struct sw_waits_part {
	struct perf_event *(*create)(struct sw_sampler *s, int cpu);
	void (*run)(void);
	void (*last)(void);
	void (*release)(const struct perf_event *e);
};

struct sw_samples_part {
	struct perf_event *(*create)(const struct perf_event_attr *given,
				     int cpu, struct task_struct *task,
				     perf_overflow_handler_t handler,
				     unsigned int uses);
	void (*last)(void);
	void (*release)(struct perf_event *e);
	void (*end)(void);
};

static struct {
	const struct sw_sets_part *sets;
	const struct sw_watch_part *watch;
	const struct sw_samples_part *samples;
	const struct sw_waits_part *waits;
	const struct sw_sockets_part *sockets;
} sw_parts;

#endif
