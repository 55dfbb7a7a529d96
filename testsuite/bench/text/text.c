// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/text: 4,096 counters per CPU, a line for each with its name and its
 * count on each CPU, as a kernel would show them without a map.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#define COUNTERS 4096

static u64 __percpu *counts;

static void *text_start(struct seq_file *m, loff_t *pos)
{
	/* any but NULL and errors */
	return *pos < COUNTERS ? pos : NULL;
}

static void *text_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return text_start(m, pos);
}

static void text_stop(struct seq_file *m, void *v)
{
}

static int text_show(struct seq_file *m, void *v)
{
	unsigned int i = *(loff_t *)v;
	int cpu;

	seq_printf(m, "calls{n=\"%u\"}", i);
	for_each_possible_cpu(cpu)
		seq_put_decimal_ull(m, " ", per_cpu_ptr(counts, cpu)[i]);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations text_ops = {
	.start = text_start,
	.next = text_next,
	.stop = text_stop,
	.show = text_show,
};

static int __init text_init(void)
{
	int cpu, i;

	counts = __alloc_percpu(COUNTERS * sizeof(u64), sizeof(u64));
	if (!counts)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		for (i = 0; i < COUNTERS; i++)
			per_cpu_ptr(counts, cpu)[i] = 1000000000 + i;
	if (proc_create_seq("text", 0444, NULL, &text_ops))
		return 0;
	free_percpu(counts);
	return -ENOMEM;
}
module_init(text_init);

static void __exit text_exit(void)
{
	remove_proc_entry("text", NULL);
	free_percpu(counts);
}
module_exit(text_exit);

MODULE_DESCRIPTION("Counters in a text file");
MODULE_LICENSE("GPL");
