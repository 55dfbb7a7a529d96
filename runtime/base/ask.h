/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking another CPU, which does something of its own when it takes interrupts.
 *
 *   sw_ask_cpu()	interrupts off, in an NMI too; on any CPUs at once, of the
 *			same CPU too: the first has claimed the call until it begins
 *   sw_ask_answer()	interrupts off, on the CPU that is asked: in a hard
 *			interrupt, in the idle task, or in who takes it offline
 *   sw_ask_on_work()	hard interrupt
 *   sw_ask_meanwhile()	any context, in who waits for other CPUs
 *   sw_ask_init(), sw_ask_end()	sleepable, before and after all who ask
 *
 * smp_call_function_single_async() wants callers that never send the same call at
 * once: its own flag is tested first, and set afterwards.  Where two do, the CPU goes
 * round in its list of calls for ever.
 *
 * A call cannot be sent in an NMI, and one to this CPU itself would not wait.  Both are put
 * into a list of this CPU, whose next interrupt sends them.
 */
#ifndef STAPWATCH_BASE_ASK_H
#define STAPWATCH_BASE_ASK_H

#include "base/compat.h"
#include "base/kernel.h"
#include "base/nmi.h"
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

/* What a CPU can be asked for, of which each has one. */
struct sw_ask {
	call_single_data_t call;
	void (*function)(void);
	void (*missed)(int cpu);
	u32 claimed;
	int cpu;
	struct llist_node later;
};

/* Of each CPU: what an NMI wanted to ask, of others or of itself. */
static DEFINE_PER_CPU(struct llist_head, sw_ask_later);
static DEFINE_PER_CPU(struct irq_work, sw_ask_work);

/* What CPUs may wait for each other with, of which each part has one. */
enum sw_ask_part { SW_ASK_SETS, SW_ASK_WATCH, SW_ASK_PARTS };

/* What a CPU does that is asked by a part, any context; from its begin on. */
static void (*sw_ask_looks[SW_ASK_PARTS])(void);

/**
 * sw_ask_meanwhile - do what this CPU may have been asked for
 *
 * For who waits for other CPUs.  Where interrupts are off the question itself waits, and
 * who has put it may be one of those: they would keep each other.
 */
static inline void sw_ask_meanwhile(void)
{
	void (*look)(void);
	unsigned int i;

	for (i = 0; i < SW_ASK_PARTS; i++) {
		look = READ_ONCE(sw_ask_looks[i]);
		if (look)
			look();
	}
}

static void sw_ask_answer(void *info)
{
	struct sw_ask *ask = info;

	/* first, since who asks from now on wants it again; the kernel's flag is
	 * clear already.  With sw_ask_cpu() */
	xchg(&ask->claimed, 0);
	ask->function();
}

/* Return: false where the CPU is offline. */
static inline bool sw_ask_send(struct sw_ask *ask)
{
	if (smp_call_function_single_async(ask->cpu, &ask->call) != -ENXIO)
		return true;
	/* with the next xchg() in sw_ask_cpu() */
	smp_store_release(&ask->claimed, 0);
	if (ask->missed)
		ask->missed(ask->cpu);
	return false;
}

static inline void sw_ask_on_work(struct irq_work *work)
{
	struct llist_node *first = llist_del_all(this_cpu_ptr(&sw_ask_later));
	struct sw_ask *ask, *next;

	/* which may be in another list as soon as it is sent */
	llist_for_each_entry_safe(ask, next, first, later)
		sw_ask_send(ask);
}

/**
 * sw_ask_init - nobody has asked yet
 * @asks: a CPU's own each
 * @function: called on the CPU that is asked, with interrupts off
 * @missed: called where the CPU is offline, interrupts off; or NULL
 */
static inline void
sw_ask_init(struct sw_ask __percpu *asks, void (*function)(void),
	    void (*missed)(int cpu))
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sw_ask *ask = per_cpu_ptr(asks, cpu);

		*ask = (struct sw_ask) {
			.call = { .func = sw_ask_answer, .info = ask },
			.function = function,
			.missed = missed,
			.cpu = cpu,
		};
		/* for all; no handler runs yet that might use it */
		if (!per_cpu(sw_ask_work, cpu).func)
			per_cpu(sw_ask_work, cpu) =
				IRQ_WORK_INIT_HARD(sw_ask_on_work);
	}
}

/**
 * sw_ask_cpu - let a CPU do what is its own
 * @ask: that CPU's
 *
 * What has not begun yet will do for who asks now: it sees what is written by
 * then.
 */
static inline void sw_ask_cpu(struct sw_ask *ask)
{
	/* with sw_ask_answer() and sw_ask_end() */
	if (xchg(&ask->claimed, 1))
		return;
	/* this CPU's own is a call at once, in the middle of what it does */
	if (!sw_in_nmi() && ask->cpu != smp_processor_id()) {
		sw_ask_send(ask);
		return;
	}
	llist_add(&ask->later, this_cpu_ptr(&sw_ask_later));
	irq_work_queue(this_cpu_ptr(&sw_ask_work));
}

/**
 * sw_ask_end - wait until no CPU is about to answer, nor does it
 *
 * Whoever may ask has done so, and left.  A CPU answers before it goes offline.
 */
static inline void sw_ask_end(struct sw_ask __percpu *asks)
{
	int cpu;

	/* with sw_ask_cpu(): an answer that asks in its turn has ended */
	smp_mb();
	for_each_possible_cpu(cpu)
		while (READ_ONCE(per_cpu_ptr(asks, cpu)->claimed))
			msleep(1);
	/* the last answer is under way with interrupts off */
	synchronize_rcu();
}

#endif
