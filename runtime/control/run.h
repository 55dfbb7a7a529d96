/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of a program's call, by their numbers.
 *
 * Who may run what, against whom: all of it processes, within an operation of the file.
 * What a step needs of the caller's memory is copied before any lock is taken.
 */
#ifndef STAPWATCH_CONTROL_RUN_H
#define STAPWATCH_CONTROL_RUN_H

#include "base/reader.h"
#include "control/counters.h"
#include "control/counts.h"
#include "control/read.h"
#include "control/sets.h"
#include "control/state.h"
#include "control/step.h"
#include "control/targets.h"
#include <linux/bitops.h>
#include <linux/slab.h>

/* Which targets a step may have: a bit each. */
#define SW_CONTROL_THREADS (1U << SW_CONTROL_THREAD | 1U << SW_CONTROL_PROCESS)
#define SW_CONTROL_CPUS (1U << SW_CONTROL_ALL | 1U << SW_CONTROL_CPU)
#define SW_CONTROL_ATTACHES (SW_CONTROL_THREADS | 1U << SW_CONTROL_CPU | \
			     1U << SW_CONTROL_CGROUP)
#define SW_CONTROL_STARTS (SW_CONTROL_ATTACHES | 1U << SW_CONTROL_ALL | \
			   1U << SW_CONTROL_SET | 1U << SW_CONTROL_SESSION)

static const struct {
	int (*run)(struct sw_control_run *r);
	u32 targets;
	u32 flags;
	bool reads;		/* and changes nothing */
} sw_control_steps[] = {
	[SW_CONTROL_MAKE_SET] = { sw_control_make, 1 },
	[SW_CONTROL_DELETE_SET] = { sw_control_set, 1 },
	[SW_CONTROL_SET_EVERY] = { sw_control_set, 1 },
	[SW_CONTROL_SET_PLACE] = { sw_control_set, 1 },
	[SW_CONTROL_SWITCH] = { sw_control_set, 1 },
	[SW_CONTROL_FIND] = { sw_control_find_event, 1, 0, true },
	[SW_CONTROL_ATTACH] = { sw_control_attach, SW_CONTROL_ATTACHES,
				SW_CONTROL_STOPPED },
	[SW_CONTROL_DETACH] = { sw_control_let_go, SW_CONTROL_ATTACHES },
	[SW_CONTROL_START] = { sw_control_stop, SW_CONTROL_STARTS },
	[SW_CONTROL_STOP] = { sw_control_stop, SW_CONTROL_STARTS },
	[SW_CONTROL_READ] = { sw_control_read, SW_CONTROL_THREADS |
			      SW_CONTROL_CPUS | 1U << SW_CONTROL_TREE |
			      1U << SW_CONTROL_SESSION | 1U << SW_CONTROL_CGROUP,
			      0, true },
	[SW_CONTROL_REFRESH] = { sw_control_refresh, 1, 0, true },
	[SW_CONTROL_COUNT] = { sw_control_count, 1 },
	[SW_CONTROL_PRESET] = { sw_control_preset, 1 },
};

/* A name or a text of the caller's, which goes to AT of the words. */
static int sw_control_take(struct sw_control_run *r, const char **to, size_t at,
			   u64 from, u32 size)
{
	*to = "";
	if (likely(!size))
		return 0;
	if (size >= SW_CONTROL_TEXT)
		return sw_control_say(r, -ENAMETOOLONG,
				      "a name or text has at most %d bytes",
				      SW_CONTROL_TEXT - 1);
	if (!r->words)
		r->words = kmalloc(2 * SW_CONTROL_TEXT, GFP_KERNEL_ACCOUNT);
	if (!r->words)
		return -ENOMEM;
	r->words[at + size] = '\0';
	*to = r->words + at;
	return sw_writer_copy(r->words + at,
			      (const void __user *)(unsigned long)from, size);
}

/* R->step is what the caller wants; what it has of it then is what came of it. */
static int sw_control_do(struct sw_control_run *r)
{
	const struct sw_control_step *s = &r->step;
	int rc;

	if (s->what == SW_CONTROL_NOTHING)
		return 0;
	if (s->what >= ARRAY_SIZE(sw_control_steps) ||
	    s->target > SW_CONTROL_CGROUP || s->pad ||
	    s->flags & ~sw_control_steps[s->what].flags)
		return sw_control_say(r, -EOPNOTSUPP,
				      "a step, target or flag that this module does not know");
	if (!(sw_control_steps[s->what].targets >> s->target & 1))
		return sw_control_say(r, -EINVAL, "not of such a target");
	if (!r->writes && !sw_control_steps[s->what].reads)
		return sw_control_say(r, -EPERM,
				      "the file was not opened to write");
	rc = sw_control_take(r, &r->name, 0, s->name, s->name_size);
	rc = rc ?: sw_control_take(r, &r->text, SW_CONTROL_TEXT, s->text,
				   s->text_size);
	return rc ?: sw_control_steps[s->what].run(r);
}

#endif
