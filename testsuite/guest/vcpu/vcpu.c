// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A virtual CPU that has nothing to do: whoever writes a number to /proc/vcpu enters it
 * as often, and leaves it at once, as KVM does.
 */
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/proc_fs.h>

static void vcpu_enter(void)
{
	local_irq_disable();
	guest_timing_enter_irqoff();
	guest_context_enter_irqoff();
	guest_context_exit_irqoff();
	guest_timing_exit_irqoff();
	local_irq_enable();
}

static ssize_t
vcpu_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	unsigned int n;
	int rc = kstrtouint_from_user(buf, len, 10, &n);

	if (rc)
		return rc;
	while (n--)
		vcpu_enter();
	return len;
}

static const struct proc_ops vcpu_ops = {
	.proc_write = vcpu_write,
};

static int __init vcpu_init(void)
{
	return proc_create("vcpu", 0200, NULL, &vcpu_ops) ? 0 : -ENOMEM;
}

static void __exit vcpu_exit(void)
{
	remove_proc_entry("vcpu", NULL);
}

module_init(vcpu_init);
module_exit(vcpu_exit);
MODULE_DESCRIPTION("A virtual CPU that is entered and left, for a test");
MODULE_LICENSE("GPL");
