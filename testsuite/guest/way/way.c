// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads on their way to sleep, and files whose last close takes a while: what is
 * written to /proc/way is
 *
 *	w	be about to sleep, and run on until a g is written
 *	W	wake who is
 *	g	let it go on
 *	c	let the last close of this file take 100 ms
 *
 * What is read is "w" while somebody is about to sleep, or "-".
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

static struct task_struct *way_task;
static bool way_goes;
static char way = '-';

static void way_to_sleep(void)
{
	WRITE_ONCE(way_goes, false);
	WRITE_ONCE(way_task, current);
	set_current_state(TASK_INTERRUPTIBLE);
	WRITE_ONCE(way, 'w');
	while (!READ_ONCE(way_goes)) {
		/* where the kernel is not preempted elsewhere */
		cond_resched();
		cpu_relax();
	}
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(way, '-');
}

static ssize_t
way_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char c;

	if (!len || get_user(c, buf))
		return -EINVAL;
	switch (c) {
	case 'w':
		way_to_sleep();
		break;
	case 'W':
		wake_up_process(READ_ONCE(way_task));
		break;
	case 'g':
		WRITE_ONCE(way_goes, true);
		break;
	case 'c':
		file->private_data = &way;
		break;
	default:
		return -EINVAL;
	}
	return len;
}

static ssize_t
way_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	return !len ? 0 : put_user(READ_ONCE(way), buf) ? -EFAULT : 1;
}

static int way_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static int way_release(struct inode *inode, struct file *file)
{
	if (file->private_data)
		msleep(100);
	return 0;
}

static const struct proc_ops way_ops = {
	.proc_open = way_open,
	.proc_write = way_write,
	.proc_read = way_read,
	.proc_release = way_release,
};

static int __init way_init(void)
{
	return proc_create("way", 0600, NULL, &way_ops) ? 0 : -ENOMEM;
}

static void __exit way_exit(void)
{
	remove_proc_entry("way", NULL);
}

module_init(way_init);
module_exit(way_exit);
MODULE_DESCRIPTION("Threads that are about to sleep, for a test");
MODULE_LICENSE("GPL");
