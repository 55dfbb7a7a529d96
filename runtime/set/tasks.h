/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads that switch sets: one for each CPU of the session.
 *
 * They have a real-time priority, since what runs before them runs while no set
 * counts.  A thread of a higher priority may keep a CPU for good, also in the middle of
 * a switch, while ours holds a lock of perf's or of ours.  So nothing waits for a thread
 * on its CPU: sw_sets_let_go() lets it end on any other one, and comes before all that
 * takes such a lock at the session's end.
 *
 * A thread is made when its CPU is first online, and lasts until the session ends.  Where
 * its CPU goes off, the scheduler has it leave before sw_set_cpu_down() is called, and it
 * sleeps elsewhere until sw_set_cpu_up(); or, if the CPU stays after all, until the
 * opener has bound it again.
 *
 * Who may run what, against whom:
 *
 *   sw_set_thread()		this CPU's thread
 *   sw_set_cpu_up(), _down()	callbacks of CPU hotplug, on that CPU
 *   sw_set_filled()		sleepable, under sw_session_lock
 *   sw_set_tasks_make(), _wait(), _stop(), sw_sets_let_go()
 *				sleepable; module init and module exit, one at a time
 */
#ifndef STAPWATCH_SET_TASKS_H
#define STAPWATCH_SET_TASKS_H

#include "base/cpus.h"
#include "base/kernel.h"
#include "count/chosen.h"
#include "count/pmu.h"
#include "set/cpu.h"
#include "set/switch.h"
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/topology.h>

/* How long a session waits for CPUs to begin, ms. */
#define SW_SET_BEGIN_MS 3000

/* On its CPU, or about to be there again.  Elsewhere it does nothing. */
static bool sw_set_thread_is_home(unsigned int cpu)
{
	if (raw_smp_processor_id() == cpu)
		return true;
	if (cpu_active(cpu)) {
		/* with the xchg() in sw_set_opener_work() */
		smp_store_release(&sw_sets.asked, true);
		preempt_disable();
		sw_set_kick();
		preempt_enable();
	}
	return false;
}

static int sw_set_thread(void *data)
{
	unsigned int cpu = (unsigned long)data;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!sw_set_thread_should_run(cpu) ||
		    !sw_set_thread_is_home(cpu)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		sw_set_thread_run(cpu);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/*
 * A thread that has never run yet has an ordinary thread's priority, and would wait for
 * its first run while the program runs that is to be counted: so it gets its own here.
 *
 * Context: sleepable; hotplug stands still.
 * Return: 0 or an errno.
 */
static int sw_set_task_make(unsigned int cpu)
{
	struct task_struct *task = per_cpu(sw_set_tasks, cpu);

	if (task)
		return set_cpus_allowed_ptr(task, cpumask_of(cpu));
	task = kthread_create_on_node(sw_set_thread,
				      (void *)(unsigned long)cpu,
				      cpu_to_node(cpu), "stapwatch/%u", cpu);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	sched_set_fifo_low(task);
	WRITE_ONCE(per_cpu(sw_set_tasks, cpu), task);
	return 0;
}

/* Have a CPU's thread look what there is to do. */
static void sw_set_wake(int cpu)
{
	struct task_struct *task = READ_ONCE(per_cpu(sw_set_tasks, cpu));

	if (task)
		wake_up_process(task);
}

static void sw_sets_wake(void)
{
	int cpu;

	sw_for_each_online_cpu(cpu)
		sw_set_wake(cpu);
}

/* Around the end of all turns, after which none is bound again. */
static DEFINE_MUTEX(sw_set_tasks_lock);

/* Those that a CPU has sent away that was about to go, and stayed. */
static void sw_set_tasks_bind(void)
{
	struct task_struct *task;
	int cpu;

	cpus_read_lock();
	mutex_lock(&sw_set_tasks_lock);
	sw_for_each_online_cpu(cpu) {
		task = per_cpu(sw_set_tasks, cpu);
		if (task && READ_ONCE(sw_sets.running) &&
		    !cpumask_equal(task->cpus_ptr, cpumask_of(cpu)))
			set_cpus_allowed_ptr(task, cpumask_of(cpu));
	}
	mutex_unlock(&sw_set_tasks_lock);
	cpus_read_unlock();
}

/* ---- CPUs that come and go */

static int sw_set_cpu_up(unsigned int cpu)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);
	int rc;

	if (!sw_cpu_is_chosen(cpu))
		return 0;
	rc = sw_set_task_make(cpu);
	if (rc) {
		_stp_warn("stapwatch: no thread for CPU %u, which came online (%d): no set has a turn there\n",
			  cpu, rc);
		return 0;
	}
	mutex_lock(&p->lock);
	p->down = false;
	mutex_unlock(&p->lock);
	sw_set_wake(cpu);
	return 0;
}

/* While perf still has the counters: they go after this. */
static int sw_set_cpu_down(unsigned int cpu)
{
	struct sw_set_cpu *p = per_cpu_ptr(sw_set_cpus, cpu);
	struct task_struct *task = per_cpu(sw_set_tasks, cpu);

	mutex_lock(&p->lock);
	sw_set_pause(p);
	sw_set_turn(p, 0, cpu);
	p->down = true;
	hrtimer_cancel(&p->timer);
	hrtimer_cancel(&p->of_thread);
	mutex_unlock(&p->lock);
	if (task)
		set_cpus_allowed_ptr(task, cpu_possible_mask);
	return 0;
}

/* Counters are opened on CPUs that have come (count/hotplug.h): before and after.  That
 * may be before sw_set_cpu_up(), and is not done again. */
static void sw_set_filled(bool done)
{
	int cpu, rc;

	sw_for_each_online_cpu(cpu) {
		if (!sw_cpu_is_chosen(cpu))
			continue;
		if (!done) {
			rc = sw_set_overflow_open(cpu);
			if (rc && rc != -ENODEV)
				sw_set_overflow_lacks(cpu);
			continue;
		}
		/* with sw_set_can_turn_on(): it sees them, or we what it waits for */
		smp_mb();
		WRITE_ONCE(per_cpu_ptr(sw_set_cpus, cpu)->blocked, false);
		sw_set_wake(cpu);
	}
}

/* ---- from the session's begin to its end */

/* One for each CPU that is on; sw_set_cpu_up() makes those of others. */
static int sw_set_tasks_make(void)
{
	int cpu, rc = 0;

	cpus_read_lock();
	sw_for_each_online_cpu(cpu)
		if (sw_cpu_is_chosen(cpu))
			rc = rc ?: sw_set_task_make(cpu);
	cpus_read_unlock();
	return rc;
}

/* CPUs on which no thread of ours has run yet; the first one of them is *FIRST. */
static unsigned int sw_set_tasks_late(int *first)
{
	unsigned int late = 0;
	int cpu;

	sw_for_each_online_cpu(cpu) {
		if (!READ_ONCE(per_cpu(sw_set_tasks, cpu)) ||
		    READ_ONCE(per_cpu_ptr(sw_set_cpus, cpu)->began))
			continue;
		if (!late++)
			*first = cpu;
	}
	return late;
}

/* Until CPUs have begun: usually they have, as their threads come before others. */
static void sw_set_tasks_wait(void)
{
	unsigned int ms, late;
	int first = 0;

	for (ms = 0; (late = sw_set_tasks_late(&first)); ms++) {
		if (ms == SW_SET_BEGIN_MS) {
			_stp_warn("stapwatch: no set has a turn yet on %u CPUs, the first of them CPU %d: as where a real-time thread keeps a CPU; -G stapwatch_cpus leaves CPUs out\n",
				  late, first);
			break;
		}
		usleep_range(900, 1100);
	}
}

static void sw_set_pause_here(void *unused)
{
	sw_set_pause(this_cpu_ptr(sw_set_cpus));
}

/*
 * A thread that waits for its CPU is taken to another one, which may be kept, too: as an
 * ordinary thread it is balanced.  On PREEMPT_RT it may not be taken away just now, and who
 * does so would wait for that.
 */
static void sw_set_tasks_let_go(void)
{
	static struct cpumask others;	/* one at a time */
	struct task_struct *task;
	int cpu;

	for_each_possible_cpu(cpu) {
		task = per_cpu(sw_set_tasks, cpu);
		if (!task)
			continue;
		sw_cpus_online(&others);
		cpumask_clear_cpu(cpu, &others);
		if (!IS_ENABLED(CONFIG_PREEMPT_RT) && !cpumask_empty(&others))
			set_cpus_allowed_ptr(task, &others);
		set_cpus_allowed_ptr(task, cpu_possible_mask);
		sched_set_normal(task, 0);
	}
}

/**
 * sw_sets_let_go - CPUs switch no more, and their threads may go on elsewhere
 *
 * Who waits for a lock that such a thread holds gets it after this, whatever keeps the
 * thread's CPU.
 *
 * Context: sleepable, without any lock; when no handler runs any more.
 */
static void sw_sets_let_go(void)
{
	if (!sw_set_cpus)
		return;
	mutex_lock(&sw_set_tasks_lock);
	WRITE_ONCE(sw_sets.running, false);
	/* the last moment of the CPUs' clocks; with sw_set_may_go_on() */
	on_each_cpu(sw_set_pause_here, NULL, 1);
	sw_set_tasks_let_go();
	mutex_unlock(&sw_set_tasks_lock);
}

/* When nobody wakes them, or follows CPUs, any more. */
static void sw_set_tasks_stop(void)
{
	struct task_struct *task;
	int cpu;

	/* one may have been bound to a CPU that came meanwhile */
	sw_set_tasks_let_go();
	for_each_possible_cpu(cpu) {
		task = per_cpu(sw_set_tasks, cpu);
		if (task)
			kthread_stop(task);
		per_cpu(sw_set_tasks, cpu) = NULL;
	}
}

#endif
