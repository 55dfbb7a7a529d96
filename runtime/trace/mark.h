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
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>

/**
 * sw_mark - name this moment in the trace
 * Context: any.
 * Return: is it there?  If not, it is counted; where there is no trace it is not.
 */
static bool __maybe_unused sw_mark(const char *name)
{
	const size_t len = strnlen(name, SW_TRACE_NOTE_NAME - 1);
	const u32 size = ALIGN(sizeof(struct sw_trace_note) + len + 1, 8);
	struct sw_trace_note *n;
	struct sw_trace_cpu *t;
	unsigned long flags;

	if (!raw_cpu_read(sw_trace_cpus.ring.bytes))
		return false;
	t = sw_trace_enter_other(&flags);
	if (!t)
		return false;
	n = sw_trace_reserve(t, SW_TRACE_NOTE, size);
	if (n) {
		n->pid = current->tgid;
		n->tid = current->pid;
		memset(n->name, 0, size - sizeof(*n));
		memcpy(n->name, name, len);
	}
	sw_trace_leave_other(t, n, flags);
	return n;
}

#endif
