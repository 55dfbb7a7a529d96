// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What events count: ticks, and units.  A program asks for units by a line to
 * /dev/simpmu, "user N" or "kernel N", after which may stand an address and a
 * latency, for samples.  They are counted on the CPU where it runs.  Those of
 * "socket N" are the socket's.
 */
#include "simpmu.h"
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>

#define SIM_BURST 1000
#define SIM_MOST_UNITS 1000000

bool sim_is_ticks(const struct perf_event *e)
{
	return sim_event(e) == SIM_CYCLES || sim_event(e) == SIM_INSTRUCTIONS;
}

static u64 sim_loads(const struct sim_cpu *c, const struct perf_event *e)
{
	u32 least = e->attr.config1 & 0xffff;
	unsigned int i;
	u64 n = 0;

	if (e->attr.exclude_user)
		return 0;
	for (i = least ? ilog2(least) : 0; i < SIM_LATENCIES; i++)
		n += c->loads[i];
	return n;
}

static u64 sim_units(const struct sim_cpu *c, const struct perf_event *e)
{
	u64 n = 0;

	if (!e->attr.exclude_user)
		n += c->units[0];
	if (!e->attr.exclude_kernel)
		n += c->units[1];
	return n;
}

/* How often each unit is counted, which an event's later words say. */
static u64 sim_times(const struct perf_event *e)
{
	u64 times = 1;

#ifdef PERF_ATTR_SIZE_VER8
	if (e->attr.config3 & 1 << 4)
		times *= 2;
#endif
#ifdef PERF_ATTR_SIZE_VER9
	if (e->attr.config4 & 1 << 8)
		times *= 3;
#endif
	return times;
}

/* What the event's source says on this CPU; it only grows. */
u64 sim_source(struct sim_cpu *c, const struct perf_event *e)
{
	u32 umask = e->hw.config >> 8 & 0xff;

	switch (sim_event(e)) {
	case SIM_CYCLES:
		return 2 * rdtsc_ordered();
	case SIM_INSTRUCTIONS:
		return rdtsc_ordered();
	case SIM_EVERY:
		return div_u64(sim_units(c, e), umask ?: 1);
	case SIM_BURSTS:
		return div_u64(sim_units(c, e), SIM_BURST) * SIM_BURST;
	case SIM_LOADS:
		return sim_loads(c, e);
	case SIM_ZERO:
		return 0;
	default:
		return sim_units(c, e) * sim_times(e);
	}
}

/* How long it takes at least to count that many ticks. */
u64 sim_ns(const struct perf_event *e, u64 count)
{
	if (sim_event(e) == SIM_CYCLES)
		count /= 2;
	return mul_u64_u32_div(count, 1000000, tsc_khz);
}

/* How many units can be added until the next counter wraps; 1 at least. */
static u32 sim_room(struct sim_cpu *c, u32 n)
{
	unsigned int i;
	u64 left;

	for (i = 0; i < sim_has.counters; i++) {
		struct sim_counter *k = &c->counter[i];

		if (!k->running || sim_is_ticks(k->event))
			continue;
		left = sim_mask() + 1 - sim_value(c, k);
		left = DIV_ROUND_UP_ULL(left, sim_times(k->event));
		if (sim_event(k->event) == SIM_BURSTS)
			left = 1;
		n = min_t(u64, n, left);
	}
	return n ?: 1;
}

/*
 * As a program's own code units come after whoever preempts the program, and on the CPU
 * where it goes on.
 * Context: sleepable.
 */
static void sim_count(unsigned int mode, u32 n, u64 addr, u64 latency)
{
	const unsigned int loads = latency ? ilog2(latency) : 0;
	struct pt_regs here, *regs = task_pt_regs(current);
	unsigned long flags;
	struct sim_cpu *c;
	bool due;
	u32 now;

	if (mode) {
		memset(&here, 0, sizeof(here));
		perf_fetch_caller_regs(&here);
		regs = &here;
	}
	for (; n; n -= now) {
		preempt_disable();
		local_irq_save(flags);
		c = this_cpu_ptr(&sim_cpus);
		now = need_resched() ? 0 : sim_room(c, n);
		c->addr = addr;
		c->latency = latency;
		c->by_user = !mode;
		WRITE_ONCE(c->units[mode], c->units[mode] + now);
		if (!mode)
			WRITE_ONCE(c->loads[loads], c->loads[loads] + now);
		due = sim_is_due(c);
		local_irq_restore(flags);
		if (due)
			sim_raise(c, regs);
		preempt_enable();
		if (need_resched())
			schedule();
	}
}

static ssize_t sim_write(struct file *file, const char __user *from, size_t len,
			 loff_t *at)
{
	char line[64] = "", mode[8];
	u64 addr = 0, latency = 0;
	unsigned int n;

	if (copy_from_user(line, from, min(len, sizeof(line) - 1)))
		return -EFAULT;
	if (sscanf(line, "%7s %u %llx %llu", mode, &n, &addr, &latency) < 2 ||
	    n > SIM_MOST_UNITS || latency >> SIM_LATENCIES ||
	    (strcmp(mode, "user") && strcmp(mode, "kernel") &&
	     strcmp(mode, "socket")))
		return -EINVAL;
	if (*mode == 's') {
		sim_socket_add_units(n);
		return len;
	}
	sim_count(*mode != 'u', n, addr, latency);
	return len;
}

static const struct file_operations sim_fops = {
	.owner = THIS_MODULE,
	.write = sim_write,
};

static struct miscdevice sim_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "simpmu",
	.fops = &sim_fops,
	.mode = 0666,
};

int sim_source_start(void)
{
	return misc_register(&sim_device);
}

void sim_source_stop(void)
{
	misc_deregister(&sim_device);
}
