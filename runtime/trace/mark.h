/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks: moments that a script names in its trace.
 *
 * Who may run what, against whom:
 *
 *   sw_mark()		any context, NMI included
 */
#ifndef STAPWATCH_TRACE_MARK_H
#define STAPWATCH_TRACE_MARK_H

#include "base/compat.h"
#include "trace/abi.h"
#include "trace/trace.h"
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>

static bool sw_mark_record(struct sw_trace_cpu *t, const char *name)
{
	const size_t len = strnlen(name, SW_TRACE_NOTE_NAME - 1);
	const u32 size = ALIGN(sizeof(struct sw_trace_note) + len + 1, 8);
	struct sw_trace_note *n = sw_trace_reserve(t, SW_TRACE_NOTE, size);

	if (!n)
		return false;
	n->pid = current->tgid;
	n->tid = current->pid;
	memset(n->name, 0, size - sizeof(*n));
	memcpy(n->name, name, len);
	sw_trace_commit(t);
	return true;
}

/**
 * sw_mark - name this moment in the trace
 * Context: any.
 * Return: is it there?  If not, it is counted; where there is no trace it is not.
 */
static bool __maybe_unused sw_mark(const char *name)
{
	unsigned long flags;
	bool is_there = false;
	struct sw_trace_cpu *t;

	local_irq_save(flags);
	t = this_cpu_ptr(&sw_trace_cpus);
	if (t->ring.bytes) {
		if (sw_trace_enter(t)) {
			is_there = sw_mark_record(t, name);
			sw_trace_leave(t);
		}
		if (!is_there)
			this_cpu_inc(sw_trace_cpus.other_lost);
	}
	local_irq_restore(flags);
	return is_there;
}

#endif
