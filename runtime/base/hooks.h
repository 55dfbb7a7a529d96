/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw tracepoint callbacks.
 *
 * A list of hooks stands in the order in which they are to be hooked, and is
 * unhooked the other way round.  All of this is sleepable, under a lock of the
 * list's owner.
 */
#ifndef STAPWATCH_BASE_HOOKS_H
#define STAPWATCH_BASE_HOOKS_H

#include "base/compat.h"
#include <linux/string.h>
#include <linux/tracepoint.h>

struct sw_hook {
	const char *name;
	void *callback;
	unsigned int set;	/* its owner's: when it is wanted */
	struct tracepoint *tp;	/* NULL: this kernel has none of that name */
	bool on;
};

#define SW_VECTOR(prefix, set, name)					\
	{ #name "_exit", prefix##_on_vector_exit, set },		\
	{ #name "_entry", prefix##_on_vector_entry, set }

#ifdef CONFIG_X86
/* interrupts that do not go through a handler of irq_desc */
#define SW_VECTORS(prefix, set)						\
	SW_VECTOR(prefix, set, local_timer),				\
	SW_VECTOR(prefix, set, reschedule),				\
	SW_VECTOR(prefix, set, call_function),				\
	SW_VECTOR(prefix, set, call_function_single),			\
	SW_VECTOR(prefix, set, irq_work),				\
	SW_VECTOR(prefix, set, x86_platform_ipi),			\
	SW_VECTOR(prefix, set, error_apic),				\
	SW_VECTOR(prefix, set, spurious_apic),				\
	SW_VECTOR(prefix, set, thermal_apic),				\
	SW_VECTOR(prefix, set, threshold_apic),				\
	SW_VECTOR(prefix, set, deferred_error_apic)
#else
#define SW_VECTORS(prefix, set)						\
	{ "ipi_exit", prefix##_on_ipi_exit, set },			\
	{ "ipi_entry", prefix##_on_ipi_entry, set }
#endif

/*
 * Interrupts and softirqs, by callbacks PREFIX_on_*.  Exits come first: an exit
 * is seen of whatever was seen to be entered, or that CPU would stay within an
 * interrupt for good.  An exit without an entry is nothing.
 */
#define SW_IRQ_HOOKS(prefix, set)					\
	{ "irq_handler_exit", prefix##_on_irq_exit, set },		\
	{ "irq_handler_entry", prefix##_on_irq_entry, set },		\
	{ "softirq_exit", prefix##_on_softirq_exit, set },		\
	{ "softirq_entry", prefix##_on_softirq_entry, set },		\
	SW_VECTORS(prefix, set)

struct sw_hook_list {
	struct sw_hook *hooks;
	unsigned int nr;
};

static void sw_hook_match(struct tracepoint *tp, void *list)
{
	const struct sw_hook_list *l = list;
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(tp->name, l->hooks[i].name))
			l->hooks[i].tp = tp;
}

static void sw_hooks_find(struct sw_hook *hooks, unsigned int nr)
{
	struct sw_hook_list list = { hooks, nr };

	for_each_kernel_tracepoint(sw_hook_match, &list);
}

static int sw_hook_on(struct sw_hook *h)
{
	int rc;

	if (h->on)
		return 0;
	if (!h->tp)
		return -ENOENT;
	rc = tracepoint_probe_register(h->tp, h->callback, NULL);
	h->on = !rc;
	return rc;
}

static void sw_hook_off(struct sw_hook *h)
{
	if (h->on)
		tracepoint_probe_unregister(h->tp, h->callback, NULL);
	h->on = false;
}

/* When this returns none of these callbacks runs any more.  It waits for callbacks only:
 * for others that have preemption off there is synchronize_rcu(). */
static void sw_hooks_off(struct sw_hook *hooks, unsigned int nr)
{
	while (nr--)
		sw_hook_off(&hooks[nr]);
	tracepoint_synchronize_unregister();
}

#endif
