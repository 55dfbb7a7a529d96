/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How COMMAND of stap -c ended.  SystemTap waits for it, and tells in words on stderr.
 *
 * Who may run what, against whom:
 *
 *   sw_command_hold()		a begin probe, when COMMAND's process is there and has
 *				not begun
 *   sw_command_status()	an end probe, which comes after that
 *   sw_command_free()		module exit, when no probe runs any more
 */
#ifndef STAPWATCH_BASE_COMMAND_H
#define STAPWATCH_BASE_COMMAND_H

#include "base/contexts.h"
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

/* Its first thread, with a reference: what that says of its end stays. */
static struct task_struct *sw_command;

static void __maybe_unused sw_command_hold(pid_t pid)
{
	if (sw_command || pid <= 0)
		return;
	rcu_read_lock();
	sw_command = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	if (sw_command)
		get_task_struct(sw_command);
	rcu_read_unlock();
}

/**
 * sw_command_status - as waitpid() has it
 * Return: -1 where COMMAND has not ended, or nobody can tell.
 */
static int __maybe_unused sw_command_status(void)
{
	const struct task_struct *t = sw_command;

	if (!t || atomic_read(&t->signal->live) > 0)
		return -1;
	/* as the kernel's own wait_task_zombie() */
	if (t->signal->flags & SIGNAL_GROUP_EXIT)
		return t->signal->group_exit_code;
	/* another thread may have run another program, and is the first one since */
	return t->exit_signal < 0 ? -1 : t->exit_code;
}

static void __maybe_unused sw_command_free(void)
{
	if (sw_command)
		put_task_struct(sw_command);
	sw_command = NULL;
}

#endif
