/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a module that goes and comes back: they are recorded again.
 *
 * The kernel gives up the probes of a module that goes, for good.  When a module comes,
 * those that were given up, and whose functions are there now, are registered anew.
 *
 *   sw_calls_follow(), sw_calls_leave()	sleepable, module init and exit, no lock held
 *   sw_calls_again()	sleepable, under sw_session_lock
 *   sw_calls_on_module()	who loads a module, one at a time; between the first two.  It
 *			takes sw_calls_again_lock, and no other lock of ours
 *
 * Who loads a module holds the kernel's list of notifiers, and waits there, in SystemTap's,
 * for its module_refresh_mutex.  SystemTap ends its probes, and so the session, with that
 * mutex held: nobody may want the list there.
 */
#ifndef STAPWATCH_CALL_AGAIN_H
#define STAPWATCH_CALL_AGAIN_H

#include "base/traceable.h"
#include "call/state.h"
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>

static DEFINE_MUTEX(sw_calls_again_lock);

/* The kernel counts from 0 again. */
static int sw_call_again(struct sw_call *call)
{
	struct kretprobe *rp = &call->rp;

	unregister_kretprobes(&rp, 1);
	call->missed_before += rp->nmissed;
	call->nested_before -= rp->kp.nmissed;
	rp->nmissed = 0;
	rp->kp.nmissed = 0;
	/* its name tells where it is now */
	rp->kp.addr = NULL;
	return sw_return_probe(rp);
}

static int
sw_calls_on_module(struct notifier_block *nb, unsigned long event, void *module)
{
	unsigned long addr;
	unsigned int i;

	if (event != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	mutex_lock(&sw_calls_again_lock);
	for (i = 0; sw_calls.again && i < sw_calls.nr_on; i++) {
		struct kretprobe *rp = sw_calls.on[i];
		struct sw_call *call = container_of(rp, struct sw_call, rp);

		if (!(rp->kp.flags & KPROBE_FLAG_GONE))
			continue;
		/* one that is just going has its functions, too */
		addr = kallsyms_lookup_name(call->name);
		if (!addr || !within_module(addr, module) ||
		    !sw_call_again(call))
			continue;
		_stp_warn("stapwatch: calls of %s are not recorded any more: its module came back, and the kernel does not let it be probed\n",
			  call->name);
		sw_calls.on[i--] = sw_calls.on[--sw_calls.nr_on];
	}
	mutex_unlock(&sw_calls_again_lock);
	return NOTIFY_DONE;
}

static struct notifier_block sw_calls_modules = {
	.notifier_call = sw_calls_on_module,
};

static int sw_calls_follow(void)
{
	int rc = register_module_notifier(&sw_calls_modules);

	sw_calls.follows = !rc;
	if (rc)
		_stp_error("stapwatch: cannot follow the kernel's modules (%d)\n",
			   rc);
	return rc;
}

static void sw_calls_leave(void)
{
	if (sw_calls.follows)
		unregister_module_notifier(&sw_calls_modules);
	sw_calls.follows = false;
}

/* From now on they are, or no more. */
static void sw_calls_again(bool again)
{
	mutex_lock(&sw_calls_again_lock);
	sw_calls.again = again;
	mutex_unlock(&sw_calls_again_lock);
}

#endif
