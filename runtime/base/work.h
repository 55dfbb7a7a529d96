/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work items, which run on any CPU.
 *
 * A work item of one CPU waits for as long as a real-time thread keeps that CPU, and who
 * flushes or cancels it waits, too: a session might never end.  So all works of this tree
 * are in a queue of its own that is bound to no CPU.  What must be done on a CPU is done
 * by a call, in an interrupt.
 *
 * Who may run what, against whom:
 *
 *   sw_work_queue(), sw_work_delay()	any context but NMI, between sw_works_start()
 *				and sw_works_stop()
 *   sw_works_start(), sw_works_stop()	sleepable, module init and module exit: one
 *				at a time, and stop() under no lock that a work takes
 */
#ifndef STAPWATCH_BASE_WORK_H
#define STAPWATCH_BASE_WORK_H

#include "base/compat.h"
#include <linux/errno.h>
#include <linux/workqueue.h>

static struct workqueue_struct *sw_works;
static unsigned int sw_works_users;

/**
 * sw_works_start - works can be queued from now on
 * @uses: the caller's; sw_works_stop() takes it back, also if this fails
 *
 * Return: 0 or -ENOMEM, after a message.
 */
static int sw_works_start(bool *uses)
{
	*uses = true;
	if (sw_works_users++)
		return sw_works ? 0 : -ENOMEM;
	sw_works = alloc_workqueue("stapwatch", WQ_UNBOUND, 0);
	if (sw_works)
		return 0;
	_stp_error("stapwatch: no memory for a queue of works\n");
	return -ENOMEM;
}

/**
 * sw_works_stop - the caller has canceled its works
 */
static void sw_works_stop(bool *uses)
{
	if (!*uses)
		return;
	*uses = false;
	if (--sw_works_users)
		return;
	if (sw_works)
		destroy_workqueue(sw_works);
	sw_works = NULL;
}

static void sw_work_queue(struct work_struct *work)
{
	queue_work(sw_works, work);
}

static void __maybe_unused
sw_work_delay(struct delayed_work *work, unsigned long jiffies)
{
	queue_delayed_work(sw_works, work, jiffies);
}

#endif
