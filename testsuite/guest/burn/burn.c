// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A module that spends the milliseconds that are written to its parameter `ms' in
 * a function of its own, so that samples fall there.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static unsigned long burn_sink;

static noinline void burn_loop(unsigned long n)
{
	while (n--)
		WRITE_ONCE(burn_sink, burn_sink * 3 + n);
}

static int burn_set(const char *val, const struct kernel_param *kp)
{
	unsigned int ms;
	int err = kstrtouint(val, 0, &ms);
	u64 end = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;

	if (err)
		return err;
	while (ktime_get_ns() < end)
		burn_loop(1000);
	return 0;
}

static const struct kernel_param_ops burn_ops = { .set = burn_set };
module_param_cb(ms, &burn_ops, NULL, 0200);

static int __init burn_init(void)
{
	return 0;
}

static void __exit burn_exit(void)
{
}

module_init(burn_init);
module_exit(burn_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a function to be sampled");
