/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file by which programs have a session, /proc/systemtap/MODULE/control, and its life
 * from module init to module exit.
 *
 * An opening of it is a program's session: it can be passed on, and ends with its last
 * reference, or with the script.
 *
 * Who may run what, against whom:
 *
 *   sw_control_start(), sw_control_end()	module init before the begin probes,
 *				module exit after the end probes: sleepable, alone
 *   the file			processes, at any time
 */
#ifndef STAPWATCH_CONTROL_FILE_H
#define STAPWATCH_CONTROL_FILE_H

#include "base/access.h"
#include "base/contexts.h"
#include "base/reader.h"
#include "control/abi.h"
#include "control/run.h"
#include "control/state.h"
#include "watch/state.h"
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#define SW_CONTROL_MAX 256

static struct proc_dir_entry *sw_control_entry;
static struct sw_access sw_control_access;

static int sw_control_open(struct inode *inode, struct file *file)
{
	struct sw_controller *p;
	int rc = sw_may_open(&sw_control_access, file);

	if (rc)
		return rc;
	p = sw_controller_get();
	if (IS_ERR_OR_NULL(p))
		return p ? PTR_ERR(p) : -ENOMEM;
	file->private_data = p;
	return 0;
}

static int sw_control_release(struct inode *inode, struct file *file)
{
	sw_controller_put(file->private_data);
	return 0;
}

/* Return: 1: done; 0: it has failed, as the caller can see; or an errno. */
static int sw_control_one(struct sw_control_run *r, void __user *at)
{
	const size_t size = sizeof(r->step);

	*r->why = '\0';
	if (sw_writer_copy(&r->step, at, size))
		return -EFAULT;
	r->step.error = -sw_control_do(r);
	if (sw_reader_copy(at, &r->step, size) < size)
		return -EFAULT;
	return !r->step.error || r->step.error == ENODATA;
}

static long
sw_control_all(struct sw_control_run *r, const struct sw_control_call *call)
{
	void __user *at = (void __user *)(unsigned long)call->steps;
	void __user *why = (void __user *)(unsigned long)call->why;
	size_t len;
	u32 i;
	int rc;

	for (i = 0; i < call->nr; i++) {
		rc = sw_control_one(r, at + (size_t)i * call->step_size);
		if (rc < 0)
			return rc;
		if (!rc)
			break;
		/* who ends it, or the session's end, waits for us */
		if (fatal_signal_pending(current))
			return -EINTR;
		if (sw_is_over())
			return -ESHUTDOWN;
		cond_resched();
	}
	len = min_t(size_t, strlen(r->why) + 1, call->why_size);
	if (len && i < call->nr) {
		r->why[len - 1] = '\0';
		if (sw_reader_copy(why, r->why, len) < len)
			return -EFAULT;
	}
	return i;
}

static long
sw_control_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct sw_control_run r = {
		.by = file->private_data,
		.writes = file->f_mode & FMODE_WRITE,
	};
	struct sw_control_call call;
	long rc;

	if (cmd != SW_CONTROL_RUN)
		return -ENOTTY;
	if (sw_writer_copy(&call, (void __user *)arg, sizeof(call)))
		return -EFAULT;
	if (call.version != SW_CONTROL_VERSION ||
	    call.step_size != sizeof(r.step))
		return -EOPNOTSUPP;
	if (call.nr > SW_CONTROL_STEPS)
		return -EINVAL;
	rc = sw_control_all(&r, &call);
	kfree(r.words);
	return rc;
}

/* A reading at an event's word: of the caller's own thread. */
static ssize_t sw_control_read_own(struct file *file, char __user *buf, size_t size,
				   loff_t *at)
{
	s64 value;
	int rc;

	if (size != sizeof(value))
		return -EINVAL;
	rc = sw_control_own_value(*at, &value);
	if (rc)
		return rc;
	return sw_reader_put((u64 __user *)buf, value) ?: size;
}

static const struct proc_ops sw_control_ops = {
	.proc_open = sw_control_open,
	.proc_release = sw_control_release,
	.proc_read = sw_control_read_own,
	.proc_ioctl = sw_control_ioctl,
#ifdef CONFIG_COMPAT
	/* all of a call is as wide for 32 bits */
	.proc_compat_ioctl = sw_control_ioctl,
#endif
};

/* ---- from module init to module exit */

/* SystemTap's, whose definitions come after a script's C. */
static int _stp_mkdir_proc_module(void);
static struct proc_dir_entry *_stp_procfs_module_dir;

static void __maybe_unused sw_control_end(void)
{
	/* waits for who is within a file's operations, and ends those that are open */
	proc_remove(sw_control_entry);
	sw_control_entry = NULL;
}

static int __maybe_unused sw_control_start(s64 sessions)
{
	if (sessions < 1 || sessions > SW_CONTROL_MAX) {
		_stp_error("stapwatch: control_sessions=%lld: it must be from 1 to %d\n",
			   sessions, SW_CONTROL_MAX);
		return -EINVAL;
	}
	sw_control.max = sessions;
	sw_watch.programs = true;
	sw_control_access = sw_access_of(0400, 0, 0);
	if (!_stp_mkdir_proc_module())
		sw_control_entry = proc_create("control", 0600,
					       _stp_procfs_module_dir,
					       &sw_control_ops);
	if (sw_control_entry)
		return 0;
	_stp_error("stapwatch: cannot make the file of control in /proc\n");
	return -ENOMEM;
}

#endif
