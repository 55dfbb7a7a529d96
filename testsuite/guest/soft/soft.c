// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Softirqs of known kinds: whoever writes a number to /proc/soft has as many of each run
 * on its CPU, a regular tasklet, one of high priority, and the freeing of a packet that
 * was sent.  Each is over before the next one begins, if the writer stays on its CPU.
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/skbuff.h>

static DECLARE_COMPLETION(soft_over);

static void soft_tasklet(struct tasklet_struct *tasklet)
{
	complete(&soft_over);
}

static DECLARE_TASKLET(soft_regular, soft_tasklet);
static DECLARE_TASKLET(soft_high, soft_tasklet);

static void soft_packet_over(struct sk_buff *skb)
{
	complete(&soft_over);
}

static int soft_raise(void)
{
	struct sk_buff *skb;

	tasklet_schedule(&soft_regular);
	wait_for_completion(&soft_over);
	tasklet_hi_schedule(&soft_high);
	wait_for_completion(&soft_over);
	skb = alloc_skb(0, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	skb->destructor = soft_packet_over;
	dev_consume_skb_irq(skb);
	wait_for_completion(&soft_over);
	return 0;
}

static ssize_t
soft_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	unsigned int n;
	int rc = kstrtouint_from_user(buf, len, 10, &n);

	while (!rc && n--)
		rc = soft_raise();
	return rc ?: len;
}

static const struct proc_ops soft_ops = {
	.proc_write = soft_write,
};

static int __init soft_init(void)
{
	return proc_create("soft", 0200, NULL, &soft_ops) ? 0 : -ENOMEM;
}

static void __exit soft_exit(void)
{
	remove_proc_entry("soft", NULL);
	tasklet_kill(&soft_regular);
	tasklet_kill(&soft_high);
}

module_init(soft_init);
module_exit(soft_exit);
MODULE_DESCRIPTION("Softirqs of known kinds, for a test");
MODULE_LICENSE("GPL");
