// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Locks of the kernel's that are held for as long as a program says: what is written
 * to /proc/held is
 *
 *	m, w, s	hold the mutex, the semaphore of readers and writers as a writer, or that
 *		which counts, until a g is written
 *	M, R, S	have the mutex, the one as a reader, or the other, for a moment
 *	f	let five threads want another one that counts, some hundred times each
 *	l	hold the spinning lock as a writer until somebody wants it, and a little
 *		longer
 *	L	have it as a reader
 *
 * What is read is the letter of what is held, or "-".
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

static DEFINE_MUTEX(held_mutex);
static DECLARE_RWSEM(held_sem);
static DEFINE_RWLOCK(held_lock);
static struct semaphore held_count, held_many;
static DECLARE_COMPLETION(held_go);
static DECLARE_COMPLETION(held_had);
static char held = '-';

static noinline void held_until_told(char c)
{
	WRITE_ONCE(held, c);
	wait_for_completion(&held_go);
	WRITE_ONCE(held, '-');
}

static noinline void held_until_wanted(void)
{
	write_lock(&held_lock);
	WRITE_ONCE(held, 'l');
	/* a reader adds itself before it spins */
	while (!(atomic_read(&held_lock.raw_lock.cnts) & ~_QW_WMASK))
		cpu_relax();
	udelay(100);
	WRITE_ONCE(held, '-');
	write_unlock(&held_lock);
}

static noinline void held_want_mutex(void)
{
	mutex_lock(&held_mutex);
	mutex_unlock(&held_mutex);
}

static noinline void held_want_sem(void)
{
	down_read(&held_sem);
	up_read(&held_sem);
}

static noinline void held_want_count(void)
{
	down(&held_count);
	up(&held_count);
}

/* With three at it, one is about to look at the word while another has its lock. */
static int held_want_many(void *unused)
{
	int i;

	for (i = 0; i < 300; i++) {
		down(&held_many);
		usleep_range(100, 200);
		up(&held_many);
		cond_resched();
	}
	complete(&held_had);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int held_five(void)
{
	struct task_struct *task[5];
	int i, rc = 0;

	for (i = 0; i < ARRAY_SIZE(task); i++) {
		task[i] = kthread_run(held_want_many, NULL, "k-many");
		if (IS_ERR(task[i]))
			rc = PTR_ERR(task[i]);
	}
	for (i = 0; i < ARRAY_SIZE(task); i++)
		if (!IS_ERR(task[i]))
			wait_for_completion(&held_had);
	for (i = 0; i < ARRAY_SIZE(task); i++)
		if (!IS_ERR(task[i]))
			kthread_stop(task[i]);
	return rc;
}

static noinline void held_want_lock(void)
{
	read_lock(&held_lock);
	read_unlock(&held_lock);
}

static ssize_t
held_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	int rc = 0;
	char c;

	if (!len || get_user(c, buf))
		return -EINVAL;
	switch (c) {
	case 'm':
		mutex_lock(&held_mutex);
		held_until_told(c);
		mutex_unlock(&held_mutex);
		break;
	case 'w':
		down_write(&held_sem);
		held_until_told(c);
		up_write(&held_sem);
		break;
	case 's':
		down(&held_count);
		held_until_told(c);
		up(&held_count);
		break;
	case 'l':
		held_until_wanted();
		break;
	case 'M':
		held_want_mutex();
		break;
	case 'R':
		held_want_sem();
		break;
	case 'S':
		held_want_count();
		break;
	case 'L':
		held_want_lock();
		break;
	case 'f':
		rc = held_five();
		break;
	case 'g':
		complete(&held_go);
		break;
	default:
		return -EINVAL;
	}
	return rc ?: len;
}

static ssize_t
held_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	return !len ? 0 : put_user(READ_ONCE(held), buf) ? -EFAULT : 1;
}

static const struct proc_ops held_ops = {
	.proc_write = held_write,
	.proc_read = held_read,
};

static int __init held_init(void)
{
	sema_init(&held_count, 1);
	sema_init(&held_many, 1);
	return proc_create("held", 0600, NULL, &held_ops) ? 0 : -ENOMEM;
}

static void __exit held_exit(void)
{
	remove_proc_entry("held", NULL);
}

module_init(held_init);
module_exit(held_exit);
MODULE_DESCRIPTION("Locks that are held, for a test");
MODULE_LICENSE("GPL");
