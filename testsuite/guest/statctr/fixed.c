// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * statctr's counters in a kernel.  What is written to /proc/MODULE is
 *
 *	new	eight more counters: with what a cache line holds, a block of their own
 *	N	add one to each of the counters, N times, on the CPU that this runs on
 *
 * What is read is a line for each counter: its value, what was added to it, and CPU 1's
 * word.  What was added is counted by an atomic word, which knows of no CPUs.
 *
 * This has the fixed allocator; flexible.c is the same with the other one.  CPUs that
 * come and go are told to both alike.
 */
#include <linux/atomic.h>
#include <linux/cpuhotplug.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "store/statctr.h"

#define AT_ONCE 8
#define MAX (16 * AT_ONCE)

static statctr_t counters[MAX];
static atomic_long_t added[MAX];
static int nr;
static DEFINE_MUTEX(making);
static int hotplug;

static int counters_make(void)
{
	int rc = -ENOSPC;

	mutex_lock(&making);
	if (nr < MAX)
		rc = statctr_ninit(&counters[nr], AT_ONCE, 0);
	/* with smp_load_acquire() in counters_add() */
	if (!rc)
		smp_store_release(&nr, nr + AT_ONCE);
	mutex_unlock(&making);
	return rc;
}

static void counters_add(unsigned int times)
{
	/* with smp_store_release() in counters_make() */
	int i, n = smp_load_acquire(&nr);
	unsigned int t;

	for (t = 0; t < times; t++)
		for (i = 0; i < n; i++)
			statctr_inc(&counters[i]);
	for (i = 0; i < n; i++)
		atomic_long_add(times, &added[i]);
}

static ssize_t counters_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	unsigned int times;
	char word[16];
	int rc;

	if (len >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, buf, len))
		return -EFAULT;
	word[len] = '\0';
	if (sysfs_streq(word, "new")) {
		rc = counters_make();
	} else {
		rc = kstrtouint(word, 10, &times);
		if (!rc)
			counters_add(times);
	}
	return rc ?: len;
}

static unsigned long first_cpus_word(const statctr_t *c)
{
	const unsigned long *word = PCPU_CTR(c->ctr, 1);

	return word ? READ_ONCE(*word) : 0;
}

static int counters_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < nr; i++)
		seq_printf(m, "%lu %ld %lu\n", statctr_read(&counters[i]),
			   atomic_long_read(&added[i]),
			   first_cpus_word(&counters[i]));
	return 0;
}

static int counters_open(struct inode *inode, struct file *file)
{
	return single_open(file, counters_show, NULL);
}

static const struct proc_ops counters_ops = {
	.proc_open = counters_open,
	.proc_read = seq_read,
	.proc_write = counters_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init counters_init(void)
{
	hotplug = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "test/statctr:prepare",
				    statctr_cpu_up, statctr_cpu_down);
	if (hotplug < 0)
		return hotplug;
	if (proc_create(KBUILD_MODNAME, 0600, NULL, &counters_ops))
		return 0;
	cpuhp_remove_state(hotplug);
	return -ENOMEM;
}

static void __exit counters_exit(void)
{
	remove_proc_entry(KBUILD_MODNAME, NULL);
	statctr_ncleanup(counters, nr);
	cpuhp_remove_state(hotplug);
}

module_init(counters_init);
module_exit(counters_exit);
MODULE_DESCRIPTION("statctr's counters, for a test");
MODULE_LICENSE("GPL");
