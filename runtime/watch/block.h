/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are blocked until a script lets them go on: thread_block().
 *
 * A blocked thread waits in the kernel's own trap for frozen cgroups, by the bit that a
 * cgroup's freezer sets for each of its threads.  So no code of the module is on its stack;
 * SIGKILL ends it, the machine can be suspended, and the module can go at any time, which
 * clears the bit.  Freezing and thawing the thread's cgroup, and moving the thread to another
 * one, set and clear the same bit: then the thread goes on earlier.
 *
 * The bit is under a lock that a handler may have interrupted.  So handlers only ask, and an
 * irq_work does it: a blocked thread goes on up to its next return to user space; on
 * PREEMPT_RT, where a thread runs irq_works, somewhat further.
 *
 * Who may run what, against whom:
 *
 *   sw_thread_block(), _go_on(), _is_blocked()	any context, NMI included
 *   sw_block_on_work(), _on_sweep()	hard interrupt; on PREEMPT_RT a thread of the kernel's
 *   sw_block_start(), _end()	sleepable, with no handler running
 */
#ifndef STAPWATCH_WATCH_BLOCK_H
#define STAPWATCH_WATCH_BLOCK_H

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#define SW_MAX_BLOCKED 64

/* Threads that have no user space, those that end, and that of a core dump. */
#ifndef PF_USER_WORKER		/* before Linux 6.4 */
#define PF_USER_WORKER 0
#endif
#define SW_NOT_BLOCKED (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER |	\
			PF_EXITING | PF_SIGNALED | PF_DUMPCORE)

/* Of a place, with how often it was taken, so that nobody takes one for another. */
enum { SW_BLOCK_FREE, SW_BLOCK_TAKEN, SW_BLOCK_ASKED, SW_BLOCK_OVER };
#define SW_BLOCK_STATE 3
#define SW_BLOCK_AGAIN 4

struct sw_blocked {
	atomic_t word;
	struct task_struct *task;	/* held, while it is asked for */
	pid_t tid;
	struct irq_work work;
};

static struct {
	spinlock_t lock;	/* what works do */
	struct irq_work sweep;	/* of threads that have ended */
	void (*wake)(struct task_struct *task, unsigned int state);
	struct sw_blocked of[SW_MAX_BLOCKED];
	atomic_t refused;
} sw_block = { .lock = __SPIN_LOCK_UNLOCKED(sw_block.lock) };

/* Does the thread's cgroup want it to stay, too? */
static bool sw_cgroup_is_frozen(struct task_struct *task)
{
	bool frozen = false;

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	frozen = test_bit(CGRP_FREEZE, &task_dfl_cgroup(task)->flags);
	rcu_read_unlock();
#endif
	return frozen;
}

/* The lock of a thread's signals; NULL: it has ended.  With RCU its memory stays that of a
 * lock, also where that is another process's by now. */
static struct sighand_struct *
sw_block_lock(struct task_struct *task, unsigned long *flags)
{
	struct sighand_struct *sighand;

	while ((sighand = rcu_dereference(task->sighand))) {
		spin_lock_irqsave(&sighand->siglock, *flags);
		if (rcu_access_pointer(task->sighand) == sighand)
			break;
		/* exec() has given it another one, which stays */
		spin_unlock_irqrestore(&sighand->siglock, *flags);
	}
	return sighand;
}

/* Return: false: it has ended. */
static bool sw_block_set(struct task_struct *task, bool blocked)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	bool there = false;

	rcu_read_lock();
	sighand = sw_block_lock(task, &flags);
	if (sighand) {
		there = !(READ_ONCE(task->flags) & PF_EXITING);
		if (there && blocked) {
			task->jobctl |= JOBCTL_TRAP_FREEZE;
			void_ibt_wrapper(sw_block.wake(task, 0));
		} else if (there && !sw_cgroup_is_frozen(task)) {
			task->jobctl &= ~JOBCTL_TRAP_FREEZE;
			wake_up_process(task);
		}
		spin_unlock_irqrestore(&sighand->siglock, flags);
	}
	rcu_read_unlock();
	return there;
}

static void sw_block_free(struct sw_blocked *b)
{
	const int again = (atomic_read(&b->word) & ~SW_BLOCK_STATE) +
			  SW_BLOCK_AGAIN;

	put_task_struct(b->task);
	WRITE_ONCE(b->task, NULL);
	WRITE_ONCE(b->tid, 0);
	/* with atomic_cmpxchg() in sw_block_take(), after which all is anew */
	atomic_set_release(&b->word, again | SW_BLOCK_FREE);
}

/* Is the thread asked for at another place, too?  It was blocked anew before this place's
 * work has run.  The lock is held. */
static bool sw_block_has_other(const struct sw_blocked *b)
{
	const struct sw_blocked *other;

	for (other = sw_block.of; other < sw_block.of + SW_MAX_BLOCKED; other++)
		/* with sw_thread_block()'s atomic_set_release() */
		if (other != b &&
		    (atomic_read_acquire(&other->word) & SW_BLOCK_STATE) ==
			    SW_BLOCK_ASKED &&
		    READ_ONCE(other->task) == b->task)
			return true;
	return false;
}

/* The thread has ended; or it was let go meanwhile, and that is the next work's. */
static void sw_block_give_up(struct sw_blocked *b, int word)
{
	if (atomic_cmpxchg(&b->word, word,
			   (word & ~SW_BLOCK_STATE) | SW_BLOCK_TAKEN) == word)
		sw_block_free(b);
}

/* What is asked for by now. */
static void sw_block_on_work(struct irq_work *work)
{
	struct sw_blocked *b = container_of(work, struct sw_blocked, work);
	unsigned long flags;
	int word;

	spin_lock_irqsave(&sw_block.lock, flags);
	/* with sw_thread_block()'s atomic_set_release() */
	word = atomic_read_acquire(&b->word);
	switch (word & SW_BLOCK_STATE) {
	case SW_BLOCK_ASKED:
		if (!sw_block_set(b->task, true))
			sw_block_give_up(b, word);
		break;
	case SW_BLOCK_OVER:
		if (!sw_block_has_other(b))
			sw_block_set(b->task, false);
		sw_block_free(b);
	}
	spin_unlock_irqrestore(&sw_block.lock, flags);
}

static void sw_block_on_sweep(struct irq_work *work)
{
	struct sw_blocked *b;
	unsigned long flags;
	int word;

	spin_lock_irqsave(&sw_block.lock, flags);
	for (b = sw_block.of; b < sw_block.of + SW_MAX_BLOCKED; b++) {
		/* with sw_thread_block()'s atomic_set_release() */
		word = atomic_read_acquire(&b->word);
		if ((word & SW_BLOCK_STATE) == SW_BLOCK_ASKED &&
		    READ_ONCE(b->task->flags) & PF_EXITING)
			sw_block_give_up(b, word);
	}
	spin_unlock_irqrestore(&sw_block.lock, flags);
}

static bool sw_block_is(struct sw_blocked *b, pid_t tid, int *word)
{
	/* with sw_thread_block()'s atomic_set_release() */
	*word = atomic_read_acquire(&b->word);
	return (*word & SW_BLOCK_STATE) == SW_BLOCK_ASKED &&
	       READ_ONCE(b->tid) == tid;
}

/* Where there is none there may be some of threads that have ended, for the next one. */
static struct sw_blocked *sw_block_take(void)
{
	unsigned int i;

	for (i = 0; i < SW_MAX_BLOCKED; i++) {
		struct sw_blocked *b = &sw_block.of[i];
		const int word = atomic_read(&b->word);

		if ((word & SW_BLOCK_STATE) == SW_BLOCK_FREE &&
		    atomic_cmpxchg(&b->word, word, word | SW_BLOCK_TAKEN) == word)
			return b;
	}
	irq_work_queue(&sw_block.sweep);
	atomic_inc(&sw_block.refused);
	return NULL;
}

/**
 * sw_thread_is_blocked - has a handler blocked the thread, and none let it go?
 * Context: any.
 */
static bool __maybe_unused sw_thread_is_blocked(s64 tid)
{
	unsigned int i;
	int word;

	for (i = 0; i < SW_MAX_BLOCKED; i++)
		if (sw_block_is(&sw_block.of[i], tid, &word))
			return true;
	return false;
}

/**
 * sw_thread_block - block this thread when it next returns to user space
 * Context: any.
 * Return: whether it will be; threads of the kernel have no user space.
 */
static bool __maybe_unused sw_thread_block(void)
{
	struct sw_blocked *b;
	unsigned int i;
	int word;

	if (current->flags & SW_NOT_BLOCKED || !current->pid)
		return false;
	/* it is; or was, and has been thawed */
	for (i = 0; i < SW_MAX_BLOCKED; i++) {
		b = &sw_block.of[i];
		if (sw_block_is(b, current->pid, &word) &&
		    READ_ONCE(b->task) == current) {
			irq_work_queue(&b->work);
			return true;
		}
	}
	b = sw_block_take();
	if (!b)
		return false;
	WRITE_ONCE(b->task, get_task_struct(current));
	WRITE_ONCE(b->tid, current->pid);
	/* with atomic_read_acquire() in sw_block_is() */
	atomic_set_release(&b->word,
			   (atomic_read(&b->word) & ~SW_BLOCK_STATE) | SW_BLOCK_ASKED);
	irq_work_queue(&b->work);
	return true;
}

/**
 * sw_thread_go_on - let a thread go on
 * Context: any.
 * Return: whether it was blocked.
 */
static bool __maybe_unused sw_thread_go_on(s64 tid)
{
	bool was = false;
	unsigned int i;
	int word;

	for (i = 0; i < SW_MAX_BLOCKED; i++) {
		struct sw_blocked *b = &sw_block.of[i];

		if (!sw_block_is(b, tid, &word) ||
		    atomic_cmpxchg(&b->word, word,
				   (word & ~SW_BLOCK_STATE) | SW_BLOCK_OVER) != word)
			continue;
		irq_work_queue(&b->work);
		was = true;
	}
	return was;
}

static int __maybe_unused sw_block_start(void)
{
	unsigned int i;

	sw_block.wake = (void *)kallsyms_lookup_name("signal_wake_up_state");
	if (!sw_block.wake) {
		_stp_error("stapwatch: thread_block(): this kernel has no signal_wake_up_state()\n");
		return -EOPNOTSUPP;
	}
	init_irq_work(&sw_block.sweep, sw_block_on_sweep);
	for (i = 0; i < SW_MAX_BLOCKED; i++)
		init_irq_work(&sw_block.of[i].work, sw_block_on_work);
	return 0;
}

/* All go on; nobody waits for that. */
static void __maybe_unused sw_block_end(void)
{
	int refused = atomic_xchg(&sw_block.refused, 0);
	unsigned int i;

	/* it has not started */
	if (!sw_block.wake)
		return;
	irq_work_sync(&sw_block.sweep);
	for (i = 0; i < SW_MAX_BLOCKED; i++) {
		struct sw_blocked *b = &sw_block.of[i];

		irq_work_sync(&b->work);
		if ((atomic_read(&b->word) & SW_BLOCK_STATE) == SW_BLOCK_FREE)
			continue;
		sw_block_set(b->task, false);
		sw_block_free(b);
	}
	if (refused)
		_stp_warn("stapwatch: a thread was not blocked %d times: there can be %d at once\n",
			  refused, SW_MAX_BLOCKED);
}

#endif
