/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of system calls by number (see ppa(5)):
 *
 *	/proc/systemtap/MODULE/ppa/rawsyscalls
 *
 * It is there where calls are counted.  All of this is sleepable, but for
 * ppa_call_read(), which says so.
 */
#ifndef STAPWATCH_PPA_PROC_SYSCALLS_H
#define STAPWATCH_PPA_PROC_SYSCALLS_H

#include "ppa/proc.h"
#include "ppa/read.h"
#include "ppa/syscalls.h"

/*
 * ppa_call_read - what all CPUs have counted of a call
 * @i: below PPA_NR_CALLS
 * @to: PPA_CALL_WORDS
 * @copy: as many, for a CPU's
 *
 * Context: any, preemption off.
 * Return: false if a CPU did not stop to change it.
 */
static bool ppa_call_read(unsigned int i, u64 *to, u64 *copy)
{
	const size_t longest = offsetof(struct ppa_call, longest) / sizeof(u64);
	unsigned int tries, k;
	const u64 *from;
	int cpu;
	u64 seq;

	memset(to, 0, sizeof(struct ppa_call));
	for_each_possible_cpu(cpu) {
		struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);

		from = (const u64 *)(c->calls + i * sizeof(struct ppa_call));
		for (tries = 0; tries < PPA_TRIES; tries++) {
			seq = READ_ONCE(c->seq);
			/* with ppa_done()'s smp_wmb() */
			smp_rmb();
			for (k = 0; k < PPA_CALL_WORDS; k++)
				copy[k] = READ_ONCE(from[k]);
			/* with ppa_begin()'s smp_wmb() */
			smp_rmb();
			if (!(seq & PPA_UNDER_WAY) && READ_ONCE(c->seq) == seq)
				break;
			cpu_relax();
		}
		if (tries == PPA_TRIES)
			return false;
		for (k = 0; k < PPA_CALL_WORDS; k++)
			to[k] = k == longest ? max(to[k], copy[k])
					     : to[k] + copy[k];
	}
	return true;
}

static u64 ppa_calls_lost(void)
{
	u64 lost = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		lost += READ_ONCE(per_cpu(ppa_cpus.calls_lost, cpu));
	return lost;
}

/* The header, and then a place for each call. */
static void *ppa_syscalls_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= PPA_NR_CALLS ? pos : NULL;
}

static void *ppa_syscalls_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ppa_syscalls_start(m, pos);
}

static bool ppa_syscall_is_there(const u64 *words)
{
	unsigned int i;

	for (i = 0; i < PPA_CALL_WORDS; i++)
		if (words[i])
			return true;
	return false;
}

static int ppa_syscall_put(struct seq_file *m, unsigned int i)
{
	const u32 number[2] = {
		i < PPA_CALL_FIRST ? PPA_CALL_OTHER : i - PPA_CALL_FIRST,
	};
	/* the call, and what ppa_call_read() wants beside it */
	u64 *words = kmalloc_array(2, sizeof(struct ppa_call), GFP_KERNEL);
	int rc = SEQ_SKIP;
	bool ok;

	if (!words)
		return -ENOMEM;
	preempt_disable();
	ok = ppa_call_read(i, words, words + PPA_CALL_WORDS);
	preempt_enable();
	if (!ok) {
		rc = -EAGAIN;
	} else if (ppa_syscall_is_there(words)) {
		seq_write(m, number, sizeof(number));
		seq_write(m, words, sizeof(struct ppa_call));
		rc = 0;
	}
	kfree(words);
	return rc;
}

static int ppa_syscalls_show(struct seq_file *m, void *v)
{
	struct ppa_header h = ppa_file_header(PPA_FILE_SYSCALLS);
	loff_t at = *(loff_t *)v;

	if (at)
		return ppa_syscall_put(m, at - 1);
	h.stride = sizeof(struct ppa_syscall);
	h.nr_values = PPA_NR_CALL_VALUES;
	h.latency_offset = offsetof(struct ppa_syscall, buckets);
	h.nr_buckets = PPA_NR_CALL_BUCKETS;
	h.parts_offset = offsetof(struct ppa_syscall, parts);
	h.nr_parts = PPA_NR_PARTS;
	h.lost = ppa_calls_lost();
	seq_write(m, &h, sizeof(h));
	return 0;
}

static const struct seq_operations ppa_syscalls_seq = {
	.start = ppa_syscalls_start,
	.next = ppa_syscalls_next,
	.stop = ppa_threads_stop,
	.show = ppa_syscalls_show,
};

static int ppa_syscalls_open(struct inode *inode, struct file *file)
{
	return sw_may_open(&ppa_access, file) ?:
	       seq_open(file, &ppa_syscalls_seq);
}

PPA_OPS(ppa_syscalls_ops, ppa_syscalls_open, seq_release);

#endif
