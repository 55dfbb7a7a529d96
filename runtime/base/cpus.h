/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that are online, read while others may come or go.
 *
 * The kernel's loop over them reads their mask as plain words: it is for callers that keep
 * CPUs from coming and going.  No handler can do so.  Here the bit of each CPU is read by
 * itself, atomically, as cpu_online() does.
 *
 * Who may run what: any context, NMI included.  A CPU may come or go right after its bit
 * was read, unless the caller has cpus_read_lock().
 */
#ifndef STAPWATCH_BASE_CPUS_H
#define STAPWATCH_BASE_CPUS_H

#include <linux/compiler.h>
#include <linux/cpumask.h>

/**
 * sw_for_each_online_cpu - each possible CPU that is online when its turn comes
 */
#define sw_for_each_online_cpu(cpu) \
	for_each_possible_cpu(cpu)  \
		if (!cpumask_test_cpu(cpu, cpu_online_mask)) { } else

static bool __maybe_unused sw_cpu_is_online(int cpu)
{
	return cpumask_test_cpu(cpu, cpu_online_mask);
}

/**
 * sw_cpus_online - put the CPUs that are online into a mask of the caller's
 */
static void __maybe_unused sw_cpus_online(struct cpumask *mask)
{
	int cpu;

	cpumask_clear(mask);
	sw_for_each_online_cpu(cpu)
		cpumask_set_cpu(cpu, mask);
}

#endif
