// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * As long as it is loaded: calls nmi_mark_hook on each CPU from a thread, from
 * interrupts that other CPUs send, and from a softirq that those raise, over and
 * over, so that each comes in the midst of the one before.  NMIs are
 * nmi_mark.c's.  When it is gone, none of them is within the hook any more, even
 * an NMI, if the hook has been taken away before.
 */
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>

extern void (*nmi_mark_hook)(struct pt_regs *regs);

struct contexts {
	struct task_struct *thread;
	struct tasklet_struct softirq;
	call_single_data_t irq;		/* to the next CPU */
};

static DEFINE_PER_CPU(struct contexts, contexts);

/* preemption is off */
static void call_hook(unsigned int times)
{
	void (*hook)(struct pt_regs *regs);

	while (times--) {
		hook = READ_ONCE(nmi_mark_hook);
		if (hook)
			hook(NULL);
	}
}

static void on_softirq(struct tasklet_struct *unused)
{
	call_hook(50);
}

static void on_irq(void *unused)
{
	call_hook(5);
	tasklet_schedule(&this_cpu_ptr(&contexts)->softirq);
}

static int run(void *cpu)
{
	unsigned int next = cpumask_next((long)cpu, cpu_online_mask);

	if (next >= nr_cpu_ids)
		next = cpumask_first(cpu_online_mask);
	while (!kthread_should_stop()) {
		preempt_disable();
		call_hook(200);
		/* refused as long as the last one has not come */
		smp_call_function_single_async(next,
					       this_cpu_ptr(&contexts.irq));
		preempt_enable();
		cond_resched();
	}
	return 0;
}

static void nothing(void *unused)
{
}

static void contexts_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct contexts *c = per_cpu_ptr(&contexts, cpu);

		if (c->thread)
			kthread_stop(c->thread);
	}
	/* comes after all that the threads have sent */
	on_each_cpu(nothing, NULL, 1);
	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&contexts, cpu)->softirq);
	/* an NMI is a reader as well */
	synchronize_rcu();
}
module_exit(contexts_exit);

static int __init contexts_init(void)
{
	struct task_struct *t;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct contexts *c = per_cpu_ptr(&contexts, cpu);

		tasklet_setup(&c->softirq, on_softirq);
		INIT_CSD(&c->irq, on_irq, NULL);
	}
	for_each_online_cpu(cpu) {
		t = kthread_create_on_cpu(run, (void *)(long)cpu, cpu,
					  "contexts/%u");
		if (IS_ERR(t)) {
			contexts_exit();
			return PTR_ERR(t);
		}
		per_cpu_ptr(&contexts, cpu)->thread = t;
		wake_up_process(t);
	}
	return 0;
}
module_init(contexts_init);

MODULE_DESCRIPTION("Calls a test from thread, softirq and interrupt");
MODULE_LICENSE("GPL");
