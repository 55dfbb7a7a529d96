/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of messages, /proc/systemtap/MODULE/messages, and its life from module
 * init to module exit.
 *
 * A reader that waits is told of the session's end, which waits for nobody: who is within
 * a system call on the file is done at once (base/reader.h).
 *
 * Who may run what, against whom:
 *
 *   sw_notify_start(), sw_notify_end()	module init before the begin probes,
 *				module exit after the end probes: sleepable, alone
 *   the file			processes, at any time
 */
#ifndef STAPWATCH_MESSAGE_SESSION_H
#define STAPWATCH_MESSAGE_SESSION_H

#include "base/access.h"
#include "base/contexts.h"
#include "base/reader.h"
#include "message/abi.h"
#include "message/send.h"
#include "trace/ring.h"
#include <linux/irq_work.h>
#include <linux/kmemleak.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#define SW_NOTIFY_MAX (1 << 16)

static struct proc_dir_entry *sw_notify_file;
static struct sw_access sw_notify_access;
/* One reader at a time takes messages out. */
static DEFINE_MUTEX(sw_notify_lock);

/* ---- the file */

static int sw_notify_open(struct inode *inode, struct file *file)
{
	return sw_may_open(&sw_notify_access, file);
}

/* Return: 1, 0 where there is no message, or an errno. */
static int sw_notify_take(struct sw_message *m)
{
	int got = mutex_lock_interruptible(&sw_notify_lock);

	if (got)
		return got;
	got = sw_notify_next(m);
	mutex_unlock(&sw_notify_lock);
	return got;
}

static bool sw_notify_is_readable(void)
{
	return !sw_notify_is_empty() || READ_ONCE(sw_notify_all.ended);
}

static ssize_t sw_notify_read(struct file *file, char __user *buf, size_t count,
			      loff_t *pos)
{
	struct sw_message m;
	size_t done = 0;
	int got = 0;

	if (count < sizeof(m))
		return -EINVAL;
	while (count - done >= sizeof(m)) {
		got = sw_notify_take(&m);
		if (!got && !done && !READ_ONCE(sw_notify_all.ended)) {
			if (file->f_flags & O_NONBLOCK)
				return -EAGAIN;
			got = wait_event_interruptible(*sw_notify_all.readers,
						       sw_notify_is_readable());
			if (got)
				return got;
			continue;
		}
		if (got <= 0)
			break;
		if (sw_reader_copy(buf + done, &m, sizeof(m)) < sizeof(m)) {
			atomic64_inc(&sw_notify_all.dropped);
			return done ?: -EFAULT;
		}
		done += sizeof(m);
	}
	return done ?: got;
}

static __poll_t sw_notify_poll(struct file *file, poll_table *wait)
{
	__poll_t ready = 0;

	poll_wait(file, sw_notify_all.readers, wait);
	/* with sw_notify(): it finds us in the queue, or we its message */
	smp_mb();
	if (!sw_notify_is_empty())
		ready |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(sw_notify_all.ended))
		ready |= EPOLLHUP;
	return ready;
}

static const struct proc_ops sw_notify_ops = {
	.proc_open = sw_notify_open,
	.proc_read = sw_notify_read,
	.proc_poll = sw_notify_poll,
};

/* ---- from module init to module exit */

/* The queue is the first of it.  Lockdep's name and class of its lock live as long. */
struct sw_notify_queue {
	wait_queue_head_t head;
	struct lock_class_key key;
	char name[24];
};

/*
 * Who polls stays in the queue until it runs again, which a user can put off for ever,
 * as one in an epoll set does by itself; and leaves it then without asking us, when the
 * module may be gone.  So the queue is no part of the module, and where somebody is left
 * in it these few bytes stay.  Nobody comes to it any more.
 */
static void sw_notify_leave_readers(void)
{
	wait_queue_head_t *readers = sw_notify_all.readers;
	struct sw_notify_queue *q = (struct sw_notify_queue *)readers;
	bool empty;

	if (!readers)
		return;
	/* under the lock, which who leaves has let go of then */
	spin_lock_irq(&readers->lock);
	empty = !waitqueue_active(readers);
	spin_unlock_irq(&readers->lock);
	sw_notify_all.readers = NULL;
	if (!empty) {
		kmemleak_ignore(q);
		return;
	}
	lockdep_unregister_key(&q->key);
	kfree(q);
}

static void sw_notify_free(void)
{
	int cpu, nmi;

	sw_notify_leave_readers();
	for_each_possible_cpu(cpu)
		for (nmi = 0; sw_notify_all.cpus && nmi < 2; nmi++)
			vfree(per_cpu_ptr(sw_notify_all.cpus,
					  cpu)->rings[nmi].bytes);
	free_percpu(sw_notify_all.cpus);
	sw_notify_all.cpus = NULL;
}

/* What nobody has read goes with the session. */
static u64 sw_notify_unread(void)
{
	struct sw_message m;
	u64 n = 0;

	while (sw_notify_next(&m))
		n++;
	return n;
}

static void __maybe_unused sw_notify_end(void)
{
	u64 lost, unread;
	int cpu;

	if (!sw_notify_all.cpus)
		return;
	WRITE_ONCE(sw_notify_all.ended, true);
	wake_up_interruptible(sw_notify_all.readers);
	/* waits for who is within a file's operations */
	proc_remove(sw_notify_file);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(sw_notify_all.cpus, cpu)->wake);
	unread = sw_notify_unread();
	lost = sw_notify_lost();
	if (lost || unread)
		_stp_warn("stapwatch: lost messages: %llu found the buffer full, %llu were not read; -G notify_messages=N makes it larger\n",
			  lost, unread);
	sw_notify_free();
}

static int sw_notify_alloc(unsigned long messages)
{
	unsigned long bytes = roundup_pow_of_two((messages + 1) *
						 sizeof(struct sw_note));
	struct sw_notify_queue *q;
	int cpu, nmi;
	void *mem;

	q = kzalloc(sizeof(*q), GFP_KERNEL);
	if (!q)
		return -ENOMEM;
	lockdep_register_key(&q->key);
	strscpy(q->name, "stapwatch readers", sizeof(q->name));
	init_waitqueue_head(&q->head);
	/* it may outlive the module, and with it the class that it has by that line */
	lockdep_set_class_and_name(&q->head.lock, &q->key, q->name);
	sw_notify_all.readers = &q->head;
	sw_notify_all.cpus = alloc_percpu(struct sw_notify_cpu);
	if (!sw_notify_all.cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct sw_notify_cpu *n = per_cpu_ptr(sw_notify_all.cpus, cpu);

		init_irq_work(&n->wake, sw_notify_wake);
		for (nmi = 0; nmi < 2; nmi++) {
			mem = vzalloc_node(bytes, cpu_to_node(cpu));
			if (!mem)
				return -ENOMEM;
			sw_ring_init(&n->rings[nmi], mem, bytes);
		}
	}
	return 0;
}

/* SystemTap's, whose definitions come after a script's C. */
static int _stp_mkdir_proc_module(void);
static struct proc_dir_entry *_stp_procfs_module_dir;

static int __maybe_unused sw_notify_start(s64 messages)
{
	int rc;

	if (messages < 1 || messages > SW_NOTIFY_MAX) {
		_stp_error("stapwatch: notify_messages=%lld: it must be from 1 to %d\n",
			   messages, SW_NOTIFY_MAX);
		return -EINVAL;
	}
	rc = sw_notify_alloc(messages);
	if (rc) {
		_stp_error("stapwatch: no memory for %lld messages on each CPU; try a smaller -G notify_messages=N\n",
			   messages);
		sw_notify_free();
		return rc;
	}
	sw_notify_access = sw_access_of(0400, 0, 0);
	if (!_stp_mkdir_proc_module())
		sw_notify_file = proc_create("messages", sw_notify_access.mode,
					     _stp_procfs_module_dir,
					     &sw_notify_ops);
	if (sw_notify_file)
		return 0;
	_stp_error("stapwatch: cannot make the file of messages in /proc\n");
	sw_notify_free();
	return -ENOMEM;
}

#endif
