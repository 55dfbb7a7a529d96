/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose samples are wanted: who watches threads says so.
 *
 * Who may run what, against whom: any context, NMI included.
 */
#ifndef STAPWATCH_SAMPLE_WANTED_H
#define STAPWATCH_SAMPLE_WANTED_H

#include <linux/compiler.h>
#include <linux/sched.h>

/* Is the thread to be sampled?  NULL if all threads are.  watch/ sets it,
 * and counts the samples that it rejects. */
static bool (*sw_sample_is_wanted)(const struct task_struct *task);
/* ... and has the script said that it is not, for now?  NULL: of no thread. */
static bool (*sw_sample_is_off)(const struct task_struct *task);

/* What one of them says; a handler may set it meanwhile. */
static __always_inline bool
sw_sample_asks(bool (**whom)(const struct task_struct *task),
	       const struct task_struct *task, bool otherwise)
{
	bool (*ask)(const struct task_struct *task) = READ_ONCE(*whom);

	return unlikely(ask) ? ask(task) : otherwise;
}

#endif
