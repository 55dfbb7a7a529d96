/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module whose stapio was killed: nobody reads what its script says, and nobody ends it.
 *
 * SystemTap leaves such a module as it is.  Here it ends by itself, within a second: its end
 * probes run, and counters, samplers, files and memory go; what is left is its code, until
 * `staprun -d' takes that away.  A stapio that goes by itself, as that of `staprun -L', and
 * one that is told to by SIGQUIT, leaves the script on purpose, and that goes on; so it does
 * where another stapio has attached to it meanwhile.
 *
 * Who may run what, against whom:
 *
 *   sw_alone_start(), sw_alone_stop()	sleepable, module init and module exit, alone
 *   sw_alone_look()		a work
 *   sw_alone_end()		a thread of its own: the end waits for works
 */
#ifndef STAPWATCH_BASE_ALONE_H
#define STAPWATCH_BASE_ALONE_H

#include "base/work.h"
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

/* SystemTap's; the second is the number of the stapio that is attached. */
static void _stp_cleanup_and_exit(int send_exit);
static int _stp_pid;

static struct {
	struct task_struct *stapio;	/* its first thread; NULL: nobody looks */
	struct delayed_work look;
	bool works;
} sw_alone;

static int sw_alone_end(void *unused)
{
	printk(KERN_NOTICE "stapwatch: stapio of %s was killed: the script ends, and staprun -d %s unloads it\n",
	       module_name(THIS_MODULE), module_name(THIS_MODULE));
	_stp_cleanup_and_exit(0);
	/* the code stays until this thread has left it */
#ifdef module_put_and_kthread_exit
	module_put_and_kthread_exit(0);
#else
	module_put_and_exit(0);
#endif
	return 0;
}

/* By `staprun -A' there may be another one. */
static void sw_alone_follow(void)
{
	const pid_t pid = READ_ONCE(_stp_pid);
	struct task_struct *task;

	if (!pid || pid == sw_alone.stapio->pid)
		return;
	rcu_read_lock();
	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	if (task) {
		put_task_struct(sw_alone.stapio);
		sw_alone.stapio = task->group_leader;
		get_task_struct(sw_alone.stapio);
	}
	rcu_read_unlock();
}

/* Return: whether a signal has killed it. */
static bool sw_alone_is(void)
{
	/* with do_exit(), which has the code before the state */
	return smp_load_acquire(&sw_alone.stapio->exit_state) &&
	       sw_alone.stapio->exit_code & 0x7f;
}

static void sw_alone_look(struct work_struct *work)
{
	sw_alone_follow();
	if (sw_alone_is()) {
		/* or it is about to go anyway */
		if (!try_module_get(THIS_MODULE))
			return;
		if (!IS_ERR(kthread_run(sw_alone_end, NULL, "stapwatch_alone")))
			return;
		module_put(THIS_MODULE);
	}
	sw_work_delay(&sw_alone.look, HZ);
}

static void __maybe_unused sw_alone_stop(void)
{
	if (sw_alone.stapio) {
		cancel_delayed_work_sync(&sw_alone.look);
		put_task_struct(sw_alone.stapio);
	}
	sw_alone.stapio = NULL;
	sw_works_stop(&sw_alone.works);
}

/**
 * sw_alone_start - end the script if who has begun it is killed
 * Context: sleepable; current is stapio's.
 * Return: 0 or -ENOMEM, after a message.
 */
static int __maybe_unused sw_alone_start(void)
{
	const int rc = sw_works_start(&sw_alone.works);

	if (rc)
		return rc;
	sw_alone.stapio = current->group_leader;
	get_task_struct(sw_alone.stapio);
	INIT_DELAYED_WORK(&sw_alone.look, sw_alone_look);
	sw_work_delay(&sw_alone.look, HZ);
	return 0;
}

#endif
