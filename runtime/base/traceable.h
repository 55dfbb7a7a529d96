/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose return may be probed: those that the kernel lets everybody trace.
 *
 * What the kernel itself runs to handle a return, preempt_schedule_notrace() for one,
 * is none of these.  A probe on the return of such a function would come to that
 * handling again, and again, until the stack is full.  The kernel keeps such code out
 * of ftrace's list of functions; perf, too, probes nothing that is not in the list.
 *
 *   sw_return_probe()		sleepable
 */
#ifndef STAPWATCH_BASE_TRACEABLE_H
#define STAPWATCH_BASE_TRACEABLE_H

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/string.h>

/* Whether a kernel without such a list runs the function when it handles a return:
 * what is left of that once the kernel's own refusals are taken off. */
static bool sw_handles_returns(const char *name)
{
	return !strcmp(name, "preempt_schedule") ||
	       !strcmp(name, "preempt_schedule_thunk") ||
	       !strcmp(name, "preempt_schedule_notrace") ||
	       !strcmp(name, "preempt_schedule_notrace_thunk");
}

/* ADDR is where the function begins. */
static noinline bool sw_is_traceable(unsigned long addr)
{
	static unsigned long (*first)(unsigned long from, unsigned long to);
	char text[KSYM_SYMBOL_LEN];
	unsigned long size, found;
	char *end;

	/* on older kernels the lookup goes through all symbols */
	if (!first)
		first = (void *)kallsyms_lookup_name("ftrace_location_range");

	/* "preempt_schedule+0x0/0x40"; a module's name may come next */
	scnprintf(text, sizeof(text), "%pS", (void *)addr);
	end = strrchr(text, '/');
	size = end ? simple_strtoul(end + 1, NULL, 16) : 0;
	text[strcspn(text, "+")] = '\0';
	if (!first || !size)
		return !sw_handles_returns(text);
	/* ibt_wrapper() changes a register of this CPU for the call */
	preempt_disable();
	found = ibt_wrapper(unsigned long, first(addr, addr + size - 1));
	preempt_enable();
	return found;
}

/**
 * sw_return_probe - register the probe of a function's return
 * @rp: has the function's name or address
 * Return: -EACCES where the kernel lets nobody trace the function, or another error.
 */
static int sw_return_probe(struct kretprobe *rp)
{
	unsigned long addr = (unsigned long)rp->kp.addr;

	if (!addr && rp->kp.symbol_name)
		addr = kallsyms_lookup_name(rp->kp.symbol_name);
	if (addr && !sw_is_traceable(addr))
		return -EACCES;
	/* not register_kretprobe(), in whose place stap/interpose.h has another */
	return register_kretprobes(&rp, 1);
}

#endif
