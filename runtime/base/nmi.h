/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that may have interrupted anything of this CPU: where interrupts are off, too.
 *
 * in_nmi() is true in an NMI; and, since Linux 5.8, in the handler of each kprobe by a
 * breakpoint: one on an inlined function or a statement, and any until the kernel has
 * optimized it.  So it is no reason to refuse what a script asks for.  What protects our
 * data is c->busy, which whoever has sw_watch.lock holds, too (count/cpu.h): who finds it
 * held has interrupted its holder.  A lock that another CPU has is not waited for
 * without a limit.
 *
 * Who may run what: any context, NMI included.
 */
#ifndef STAPWATCH_BASE_NMI_H
#define STAPWATCH_BASE_NMI_H

#include "base/handler.h"
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/processor.h>
#include <linux/spinlock.h>

/* How often a lock is tried that another CPU has; who has one has interrupts off. */
#define SW_NMI_TRIES 1000

/**
 * sw_in_nmi - may code of this CPU that has interrupts off be interrupted here?
 */
static __always_inline bool sw_in_nmi(void)
{
	return in_nmi();
}

/**
 * sw_may_hold_locks - may what this has interrupted hold a driver's lock?
 * @flags: of interrupts, before they were turned off here
 *
 * A driver of a PMU is called in interrupts, too, so whatever lock it takes it holds
 * with interrupts off.  A timer's own interrupt has not come there.
 * Context: any, interrupts off.
 */
static __always_inline bool sw_may_hold_locks(unsigned long flags)
{
	return sw_in_nmi() ||
	       (irqs_disabled_flags(flags) && !sw_handler_is_timers());
}

/**
 * sw_lock - take a lock whose holders on this CPU are excluded already
 *
 * A checking kernel does not like to see a lock waited for in an NMI.
 *
 * Return: false where another CPU has it for too long, in an NMI only.
 */
static __always_inline bool __maybe_unused sw_lock(raw_spinlock_t *lock)
{
	unsigned int i;

	if (likely(!in_nmi())) {
		raw_spin_lock(lock);
		return true;
	}
	for (i = 0; i < SW_NMI_TRIES; i++) {
		if (raw_spin_trylock(lock))
			return true;
		cpu_relax();
	}
	return false;
}

#endif
