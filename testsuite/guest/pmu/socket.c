// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PMUs of a socket: its energy, and two memory controllers.
 *
 * They count what a program asks for by "socket N", the second controller twice as
 * much.  One CPU stands for all, the last one as long as it is online, and nobody
 * else may read them; nor may an NMI, nor who has interrupted an update, since there may
 * be a lock.
 */
#include "simpmu.h"
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#define SIM_ENERGY 0x02
#define SIM_READS 0x0304
#define SIM_WRITES 0x0c04

static atomic64_t sim_socket_units;
static int sim_socket_cpu;
static int sim_socket_state;
/* how many events are on these PMUs now */
static atomic_t sim_socket_used;
/* how often one was read */
static atomic_t sim_socket_reads;
/* how often one was updated within another update */
static atomic_t sim_socket_twice;
static int sim_socket_number_get(char *to, const struct kernel_param *kp)
{
	return sysfs_emit(to, "%d\n", atomic_read((atomic_t *)kp->arg));
}
static const struct kernel_param_ops sim_socket_number_ops = {
	.get = sim_socket_number_get
};
module_param_cb(socket_used, &sim_socket_number_ops, &sim_socket_used, 0444);
module_param_cb(socket_reads, &sim_socket_number_ops, &sim_socket_reads, 0444);
module_param_cb(socket_twice, &sim_socket_number_ops, &sim_socket_twice, 0444);

/* they stay behind when their CPU goes, as with a driver that does not look */
static bool sim_socket_stays;
module_param_named(stays, sim_socket_stays, bool, 0444);

static struct pmu sim_sockets[];

void sim_socket_add_units(u64 n)
{
	atomic64_add(n, &sim_socket_units);
}

static u64 sim_socket_source(const struct perf_event *e)
{
	return atomic64_read(&sim_socket_units) *
	       (e->pmu == &sim_sockets[2] ? 2 : 1);
}

static int sim_socket_init_event(struct perf_event *e)
{
	bool energy = e->pmu == &sim_sockets[0];

	if (e->attr.type != e->pmu->type)
		return -ENOENT;
	if (is_sampling_event(e) || e->cpu < 0)
		return -EINVAL;
	if (energy ? e->attr.config != SIM_ENERGY :
		     e->attr.config != SIM_READS && e->attr.config != SIM_WRITES)
		return -EINVAL;
	e->cpu = READ_ONCE(sim_socket_cpu);
	return 0;
}

static DEFINE_PER_CPU(unsigned int, sim_socket_locks);

/* What takes the lock in a driver that has one. */
static void sim_socket_update(struct perf_event *e)
{
	u64 now = sim_socket_source(e);
	unsigned long flags;

	local_irq_save(flags);
	if (this_cpu_inc_return(sim_socket_locks) != 1)
		atomic_inc(&sim_socket_twice);
	else
		/* where a probe may be; few others call it */
		int_sqrt(smp_processor_id() + 1);
	this_cpu_dec(sim_socket_locks);
	local_irq_restore(flags);
	local64_add(now - local64_xchg(&e->hw.prev_count, now), &e->count);
}

static void sim_socket_read(struct perf_event *e)
{
	sim_socket_update(e);
	/* not sim_socket_cpu, which is another already while events are moved there */
	WARN_ON_ONCE(in_nmi() || smp_processor_id() != READ_ONCE(e->oncpu));
	atomic_inc(&sim_socket_reads);
}

static void sim_socket_start(struct perf_event *e, int flags)
{
	local64_set(&e->hw.prev_count, sim_socket_source(e));
	e->hw.state = 0;
}

static void sim_socket_stop(struct perf_event *e, int flags)
{
	if (e->hw.state & PERF_HES_STOPPED)
		return;
	sim_socket_update(e);
	e->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int sim_socket_add(struct perf_event *e, int flags)
{
	e->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	atomic_inc(&sim_socket_used);
	if (flags & PERF_EF_START)
		sim_socket_start(e, flags);
	return 0;
}

static void sim_socket_del(struct perf_event *e, int flags)
{
	sim_socket_stop(e, flags);
	atomic_dec(&sim_socket_used);
}

static ssize_t
cpumask_show(struct device *dev, struct device_attribute *attr, char *to)
{
	return sysfs_emit(to, "%d\n", sim_socket_cpu);
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *sim_socket_masks[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group sim_socket_mask_group = {
	.attrs = sim_socket_masks
};

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");

static struct attribute *sim_socket_formats[] = {
	&format_attr_event.attr, &format_attr_umask.attr, NULL
};
static const struct attribute_group sim_socket_format_group = {
	.name = "format", .attrs = sim_socket_formats
};

#define SIM_EVENT(name, id, what)					\
	PMU_EVENT_ATTR_STRING(name, sim_event_##id, what)
SIM_EVENT(energy-pkg, energy, "event=0x02");
SIM_EVENT(energy-pkg.unit, energy_unit, "Joules");
SIM_EVENT(energy-pkg.scale, energy_scale, "2.3283064365386962890625e-10");
SIM_EVENT(cas_count_read, reads, "event=0x04,umask=0x03");
SIM_EVENT(cas_count_write, writes, "event=0x04,umask=0x0c");

static struct attribute *sim_energy_events[] = {
	&sim_event_energy.attr.attr, &sim_event_energy_unit.attr.attr,
	&sim_event_energy_scale.attr.attr, NULL
};
static const struct attribute_group sim_energy_events_group = {
	.name = "events", .attrs = sim_energy_events
};
static struct attribute *sim_memory_events[] = {
	&sim_event_reads.attr.attr, &sim_event_writes.attr.attr, NULL
};
static const struct attribute_group sim_memory_events_group = {
	.name = "events", .attrs = sim_memory_events
};

static const struct attribute_group *sim_energy_groups[] = {
	&sim_socket_mask_group, &sim_socket_format_group,
	&sim_energy_events_group, NULL
};
static const struct attribute_group *sim_memory_groups[] = {
	&sim_socket_mask_group, &sim_socket_format_group,
	&sim_memory_events_group, NULL
};

static const char *const sim_socket_names[] = {
	"power", "uncore_imc_0", "uncore_imc_1"
};

#define SIM_SOCKET_PMU(groups) {					\
	.module = THIS_MODULE,						\
	.task_ctx_nr = perf_invalid_context,				\
	.capabilities = PERF_PMU_CAP_NO_EXCLUDE,			\
	.attr_groups = groups,						\
	.event_init = sim_socket_init_event,				\
	.add = sim_socket_add,						\
	.del = sim_socket_del,						\
	.start = sim_socket_start,					\
	.stop = sim_socket_stop,					\
	.read = sim_socket_read,					\
}

static struct pmu sim_sockets[] = {
	SIM_SOCKET_PMU(sim_energy_groups),
	SIM_SOCKET_PMU(sim_memory_groups),
	SIM_SOCKET_PMU(sim_memory_groups),
};

/* Its CPU goes, and another stands for the socket. */
static int sim_socket_offline(unsigned int cpu)
{
	unsigned int i, to = cpumask_any_but(cpu_online_mask, cpu);

	if (cpu != sim_socket_cpu || to >= nr_cpu_ids || sim_socket_stays)
		return 0;
	WRITE_ONCE(sim_socket_cpu, to);
	for (i = 0; i < ARRAY_SIZE(sim_sockets); i++)
		perf_pmu_migrate_context(&sim_sockets[i], cpu, to);
	return 0;
}

int sim_socket_begin(void)
{
	unsigned int i;
	int rc;

	sim_socket_cpu = cpumask_last(cpu_online_mask);
	for (i = 0; i < ARRAY_SIZE(sim_sockets); i++) {
		rc = perf_pmu_register(&sim_sockets[i], sim_socket_names[i], -1);
		if (rc)
			goto failed;
	}
	rc = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "simpmu:socket",
				       NULL, sim_socket_offline);
	if (rc > 0) {
		sim_socket_state = rc;
		return 0;
	}
failed:
	while (i--)
		perf_pmu_unregister(&sim_sockets[i]);
	return rc;
}

void sim_socket_finish(void)
{
	unsigned int i;

	cpuhp_remove_state_nocalls(sim_socket_state);
	for (i = 0; i < ARRAY_SIZE(sim_sockets); i++)
		perf_pmu_unregister(&sim_sockets[i]);
}
