/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The handler of SystemTap's that runs on this CPU: there is one at a time.
 *
 * Who may run what: any context, NMI included, preemption off.
 */
#ifndef STAPWATCH_BASE_HANDLER_H
#define STAPWATCH_BASE_HANDLER_H

#include <linux/atomic.h>
#include <linux/compiler.h>

/* Struct context is not known here; stap/interpose.h tells. */
static struct {
	/* where it has these */
	size_t busy;
	size_t probe_type;
	/* what that is in a timer's handler */
	unsigned int hrtimer;
} sw_context;

/* Does one run, or has this CPU no context to run one? */
static __always_inline bool sw_handler_runs(void)
{
	const char *c = (const char *)_stp_runtime_get_context();

	return !c || atomic_read((const atomic_t *)(c + sw_context.busy));
}

/**
 * sw_handler_is_timers - is it a timer's, whose interrupt came where interrupts were on?
 */
static bool __maybe_unused sw_handler_is_timers(void)
{
	const char *c = (const char *)_stp_runtime_get_context();

	return c && atomic_read((const atomic_t *)(c + sw_context.busy)) &&
	       READ_ONCE(*(const unsigned int *)(c + sw_context.probe_type)) ==
	       sw_context.hrtimer;
}

#endif
