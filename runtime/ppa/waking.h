/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who woke a thread last: its record's `waker', for who asks for it.
 *
 * A wake-up is told of before the thread is ready, and the next one of it after it has
 * blocked again; so what a thread finds when it comes to a CPU is of the wait that is over.
 *
 *   ppa_on_waking()	processes, interrupts and softirqs; the thread's pi_lock is held
 *   ppa_waking_on(), _off()	sleepable, alone
 */
#ifndef STAPWATCH_PPA_WAKING_H
#define STAPWATCH_PPA_WAKING_H

#include "base/hooks.h"
#include "base/nmi.h"
#include "ppa/abi.h"
#include "ppa/state.h"
#include "ppa/threads.h"
#include "trace/abi.h"
#include <linux/preempt.h>

/* Who asks for it. */
#define PPA_WAKING_LOCKS 1
#define PPA_WAKING_TIMELINE 2

static unsigned int ppa_waking;

static u32 ppa_waker(void)
{
	BUILD_BUG_ON(PPA_WAKER_IRQ != SW_SLICE_BY_IRQ ||
		     PPA_WAKER_SOFTIRQ != SW_SLICE_BY_SOFTIRQ ||
		     PPA_WAKER_IDLE != SW_SLICE_BY_IDLE);
	if (in_hardirq() || sw_in_nmi())
		return SW_SLICE_BY_IRQ;
	if (in_serving_softirq())
		return SW_SLICE_BY_SOFTIRQ;
	return current->pid ?: SW_SLICE_BY_IDLE;
}

static void ppa_on_waking(void *data, struct task_struct *task)
{
	struct ppa_rec *r = ppa_find(task);

	if (r)
		WRITE_ONCE(r->waker, ppa_waker());
}

static struct sw_hook ppa_waking_hooks[] = {
	{ "sched_waking", ppa_on_waking },
};

static void __maybe_unused ppa_waking_check_callbacks(void)
{
	check_trace_callback_type_sched_waking(ppa_on_waking);
}

/*
 * ppa_waking_on - keep wakers from here on
 * @who: PPA_WAKING_...
 * @what: what needs it, for the message
 *
 * Return: 0, or an errno after a message; ppa_waking_off() is called in any case.
 */
static int __maybe_unused ppa_waking_on(unsigned int who, const char *what)
{
	int rc;

	if (!ppa_waking) {
		sw_hooks_find(ppa_waking_hooks, ARRAY_SIZE(ppa_waking_hooks));
		rc = sw_hook_on(&ppa_waking_hooks[0]);
		if (rc) {
			_stp_error("stapwatch: this kernel has no usable tracepoint %s, which %s needs (%d)\n",
				   ppa_waking_hooks[0].name, what, rc);
			return rc;
		}
	}
	ppa_waking |= who;
	return 0;
}

/* ppa_waking_off - nobody who was told of before is in a callback after it, also of other hooks */
static void __maybe_unused ppa_waking_off(unsigned int who)
{
	ppa_waking &= ~who;
	if (ppa_waking)
		tracepoint_synchronize_unregister();
	else
		sw_hooks_off(ppa_waking_hooks, ARRAY_SIZE(ppa_waking_hooks));
}

#endif
