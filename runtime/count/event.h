/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the runtime knows of an event, and those that a script brings.
 *
 * Who may run what, against whom:
 *
 *   sw_native_declare()	begin probes, before the session
 */
#ifndef STAPWATCH_COUNT_EVENT_H
#define STAPWATCH_COUNT_EVENT_H

#include "base/compat.h"
#include <linux/string.h>

/* struct sw_event's flags; the `stapwatch' command knows them too */
#define SW_EXCLUDE_USER 1
#define SW_EXCLUDE_KERNEL 2
#define SW_EXCLUDE_HV 4
#define SW_EXCLUDE_IDLE 8
#define SW_EXCLUDE_HOST 16
#define SW_EXCLUDE_GUEST 32
#define SW_PRECISE_SHIFT 6	/* two bits */
#define SW_PRECISE_MASK (3 << SW_PRECISE_SHIFT)
#define SW_WANTS_NMI 256
#define SW_IS_LOADS 512	/* of the runtime's own: see loads.h */
/* a user's count is not the guest's or the hypervisor's */
#define SW_USER_ONLY (SW_EXCLUDE_KERNEL | SW_EXCLUDE_HV)
#define SW_KERNEL_ONLY SW_EXCLUDE_USER

struct sw_event {
	const char *name;
	u32 type;
	u32 flags;
	u64 config;
	u64 config1;
	u64 config2;
	u64 config3;
	u64 config4;
	/* where it is sampled */
	u64 sample_type;
	s64 period;		/* samples a second, if negative */
	u64 random;		/* the mask of what is added; 0: not given */
	u64 long_period;	/* after a sample that was lost; 0: not given */
};

/* What perf is to be told is TYPE, and CONFIG: config, and config1 to config4. */
static void __maybe_unused
sw_event_take(struct sw_event *ev, u32 type, const u64 *config)
{
	ev->type = type;
	ev->config = config[0];
	ev->config1 = config[1];
	ev->config2 = config[2];
	ev->config3 = config[3];
	ev->config4 = config[4];
}

/*
 * Events that a script brings, which the table lacks.  `stapwatch' writes the
 * calls that declare them.
 */
#define SW_MAX_NATIVES 64
#define SW_NATIVE_NAME 64
static struct sw_event sw_natives[SW_MAX_NATIVES];
static char sw_native_names[SW_MAX_NATIVES][SW_NATIVE_NAME];

static void __maybe_unused
sw_native_declare(unsigned int n, const char *name, const struct sw_event *ev)
{
	strscpy(sw_native_names[n], name, SW_NATIVE_NAME);
	sw_natives[n] = *ev;
	sw_natives[n].name = sw_native_names[n];
}

#endif
