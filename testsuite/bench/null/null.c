// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A callback of sched_switch that does nothing: what the tracepoint itself costs.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

static struct tracepoint *sched_switch;

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
}

static void match(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_switch"))
		sched_switch = tp;
}

static int __init null_init(void)
{
	for_each_kernel_tracepoint(match, NULL);
	return sched_switch ?
	       tracepoint_probe_register(sched_switch, on_switch, NULL) :
	       -ENOENT;
}
module_init(null_init);

static void __exit null_exit(void)
{
	tracepoint_probe_unregister(sched_switch, on_switch, NULL);
	tracepoint_synchronize_unregister();
}
module_exit(null_exit);

MODULE_DESCRIPTION("A callback of sched_switch that does nothing");
MODULE_LICENSE("GPL");
