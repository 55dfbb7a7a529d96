/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of threads: they are made, found and given back.
 *
 * Who may run what, against whom:
 *
 *   ppa_find()			any context, NMI included
 *   ppa_insert(), ppa_remove()	any context but NMI; ppa.records is taken with
 *				interrupts off
 *   ppa_on_new(), ppa_on_exec(), ppa_on_signal()	processes
 *   ppa_on_free()		processes, softirqs
 */
#ifndef STAPWATCH_PPA_THREADS_H
#define STAPWATCH_PPA_THREADS_H

#include "base/kernel.h"
#include "ppa/charge.h"
#include "ppa/life.h"
#include "ppa/slice.h"
#include "ppa/state.h"
#include <asm/syscall.h>
#include <linux/binfmts.h>
#include <linux/cgroup.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <trace/events/task.h>

/* Control may change the flags meanwhile: a byte, read by one instruction, which
 * READ_ONCE() would make two. */
static __always_inline bool ppa_has(const struct ppa_rec *r, u8 flag)
{
	return data_race(r->flags & flag);
}

static struct ppa_rec *ppa_rec_at(unsigned int i)
{
	return (struct ppa_rec *)(ppa.recs + i * ppa.stride);
}

static __always_inline struct ppa_rec *ppa_find(const struct task_struct *task)
{
	struct sw_thread *e = sw_table_find(&ppa.table, task);

	return e ? (struct ppa_rec *)READ_ONCE(e->sum[0]) : NULL;
}

/*
 * What a thread does that is not seen: by how it came into the kernel.  One that
 * is on its way out of a system call, after the tracepoint, still looks as
 * though it were within.
 */
static u8 ppa_mode_of(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return PPA_V_SYSTEM;
	return syscall_get_nr(task, task_pt_regs(task)) >= 0 ? PPA_V_SYSTEM
							     : PPA_V_USER;
}

/* It is the last to be used again, so that who ended can be read for a while. */
static void ppa_rec_free(struct ppa_rec *r)
{
	r->next = NULL;
	if (ppa.free_last)
		ppa.free_last->next = r;
	else
		ppa.free = r;
	ppa.free_last = r;
}

static void
ppa_rec_begin(struct ppa_rec *r, struct task_struct *task, u8 flags, u32 scale)
{
	/* with ppa_read_ended(): what is here goes */
	ppa_rec_change(r);
	memset((char *)r + offsetof(struct ppa_rec, stamp), 0,
	       ppa.stride - offsetof(struct ppa_rec, stamp));
	WRITE_ONCE(r->cpu, -1);
	r->mode = PPA_V_NOT_ACCOUNTED;
	WRITE_ONCE(r->flags, flags);
	WRITE_ONCE(r->scale, scale);
	WRITE_ONCE(r->tid, task->pid);
	r->lead = ppa_find(task->group_leader);
	r->tgid = task->tgid;
	r->started = task->start_time;
	r->part = PPA_PART_UNKNOWN;
	r->call = PPA_CALL_NONE;
	r->alive = sw_tsc();
	r->at = r->alive;
	ppa_rec_changed(r);
	/* with the first smp_rmb() of ppa_read_thread(): who finds TASK does not
	 * take what stood here before for its own */
	smp_wmb();
	WRITE_ONCE(r->task, task);
}

/* A thread that has no record gets one, if there is room, and the setting of PARENT; or
 * everyone's, where there is none, and while everyone gets another one. */
static struct ppa_rec *
ppa_insert(struct task_struct *task, const struct ppa_rec *parent)
{
	struct sw_thread *e = NULL;
	struct ppa_rec *r;
	unsigned long irq;

	raw_spin_lock_irqsave(&ppa.records, irq);
	r = ppa_find(task);
	if (!r) {
		/* there are as many records as the table takes threads */
		e = sw_table_insert(&ppa.table, task, 1);
		r = e ? ppa.free : NULL;
	}
	if (r && e) {
		if (r->ended)
			ppa_life_forget(r);
		ppa.free = r->next;
		if (!ppa.free)
			ppa.free_last = NULL;
		if (parent && !ppa.for_all)
			ppa_rec_begin(r, task, READ_ONCE(parent->flags),
				      READ_ONCE(parent->scale));
		else
			ppa_rec_begin(r, task, ppa.flags, ppa.scale);
		/* with ppa_find(), whose caller goes on by this address */
		smp_wmb();
		WRITE_ONCE(e->sum[0], (u64)(unsigned long)r);
		atomic_inc(&ppa.changes);
	}
	raw_spin_unlock_irqrestore(&ppa.records, irq);
	return r;
}

/* Of version 2; a thread that has ended still belongs to one. */
static u64 ppa_cgroup(struct task_struct *task)
{
	u64 id = 0;

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
#endif
	return id;
}

/* A thread goes that will not run any more; ppa.records is taken. */
static void ppa_remove_locked(struct task_struct *task)
{
	struct ppa_rec *r, *lead;
	struct sw_thread *e;
	unsigned int i;

	e = sw_table_find(&ppa.table, task);
	if (e) {
		r = (struct ppa_rec *)e->sum[0];
		lead = ppa_find(task->group_leader);
		/* one that is about to call exec() has its own number yet */
		if (lead == r || (lead && lead->tgid != r->tgid))
			lead = NULL;
		for (i = 0; lead && i < ppa.arrays; i++) {
			lead->gone[0] += r->sums[i * PPA_NR_SUMS + PPA_V_USER];
			lead->gone[1] += r->sums[i * PPA_NR_SUMS +
						 PPA_V_SYSTEM];
		}
		if (lead)
			ppa_life_gone(r, lead);
		WRITE_ONCE(e->sum[0], 0);
		/* who sees that SEQ has changed sees that there is no thread */
		ppa_rec_change(r);
		WRITE_ONCE(r->task, NULL);
		memcpy(r->comm, task->comm, sizeof(r->comm));
		r->cgroup = ppa_cgroup(task);
		r->ended = true;
		ppa_rec_changed(r);
		sw_table_remove(&ppa.table, e);
		ppa_rec_free(r);
		atomic_inc(&ppa.changes);
	}
}

/* The same, where it is not. */
static void ppa_remove(struct task_struct *task)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&ppa.records, irq);
	ppa_remove_locked(task);
	raw_spin_unlock_irqrestore(&ppa.records, irq);
}

/* What a timeline is told of a thread that current has made. */
static noinline void ppa_slice_born(struct ppa_rec *r)
{
	const u64 words[2] = { r->alive, r->started };
	unsigned long irq;

	WRITE_ONCE(r->waker, current->pid);
	local_irq_save(irq);
	ppa_slice_of_thread(SW_SLICE_BORN, r->tid, r->tgid, words);
	local_irq_restore(irq);
}

/* Every thread comes by here: those of fork(), of the kernel, of io_uring, vhost. */
static void ppa_on_new(void *data, struct task_struct *child,
		       sw_clone_flags flags)
{
	struct ppa_rec *new;

	/* the idle thread of a CPU that comes */
	if (!child->pid)
		return;
	new = ppa_insert(child, ppa_find(current));
	/* it comes into being within fork(), and returns from there */
	if (!new)
		return;
	new->mode = PPA_V_SYSTEM;
	new->born = true;
	if (ppa_has_slices())
		ppa_slice_born(new);
}

/* Its memory is about to go.  A process's first thread keeps its record until then
 * if others go on: theirs is the process's time. */
static void ppa_on_free(void *data, struct task_struct *task)
{
	ppa_remove(task);
}

/* LEAD, the first thread until then, has ended: what it knows of its process is R's at once
 * where it can be, or else when its memory goes. */
static void ppa_exec_led(const struct ppa_rec *r, const struct ppa_rec *lead)
{
	struct task_struct *task = lead ? READ_ONCE(lead->task) : NULL;

	/* It may be another's by now.  Who is off its CPU has had its last switch, and
	 * with ppa.records who has a record still has its memory. */
	if (task && lead != r && READ_ONCE(lead->tid) == r->tid &&
	    READ_ONCE(lead->part) == PPA_PART_OVER && !sw_task_is_on_cpu(task))
		ppa_remove_locked(task);
}

/* A thread that calls exec() takes its process's number. */
static void ppa_on_exec(void *data, struct task_struct *task, pid_t old_pid,
			struct linux_binprm *bprm)
{
	struct ppa_rec *r = ppa_find(task);
	unsigned long irq;

	if (!r || r->tid == task->pid)
		return;
	raw_spin_lock_irqsave(&ppa.records, irq);
	WRITE_ONCE(r->tid, task->pid);
	/* and that its first thread was born then */
	WRITE_ONCE(r->started, task->start_time);
	ppa_exec_led(r, r->lead);
	raw_spin_unlock_irqrestore(&ppa.records, irq);
	atomic_inc(&ppa.changes);
}

static void ppa_on_signal(void *data, int sig, struct kernel_siginfo *info,
			  struct k_sigaction *ka)
{
	struct ppa_rec *r = ppa_find(current);

	if (r && ppa_has(r, PPA_ON) && sig > 0 && sig <= _NSIG)
		r->signals[sig]++;
}

#endif
