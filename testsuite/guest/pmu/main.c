// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module.  Its parameters: profile=NAME, and what shall differ from it;
 * hybrid=1, for a last CPU of another kind; sockets=1, for PMUs of the socket; aux=1,
 * where loads tell of their data's source beside another event only;
 * pace, for NMIs between any two instructions; moves=1, where events change their
 * counters, with an NMI meanwhile; fail_add, fail_start and fail_read, an event for
 * which that shall fail.
 */
#include "simpmu.h"
#include <linux/module.h>
#include <linux/sysfs.h>

DEFINE_PER_CPU(struct sim_cpu, sim_cpus);

static const struct sim_profile sim_profiles[] = {
	{ .name = "plain", .counters = 4, .width = 48 },
	{ .name = "narrow", .counters = 4, .width = 32 },
	{ .name = "nmi", .counters = 4, .width = 48, .nmi = true },
	{ .name = "precise", .counters = 4, .width = 48, .nmi = true,
	  .precise = 2, .loads = true, .branches = true },
};

static char *profile = "plain";
module_param(profile, charp, 0444);
static int counters = -1;
module_param(counters, int, 0444);
static int width = -1;
module_param(width, int, 0444);
static int nmi = -1;
module_param(nmi, int, 0444);

static bool hybrid;
module_param(hybrid, bool, 0444);
static bool sockets;
module_param(sockets, bool, 0444);
static bool moves;
module_param(moves, bool, 0444);
static bool aux;
module_param(aux, bool, 0444);

struct sim_profile sim_has;
/* microseconds from an NMI that another CPU sends to the next; 0: none does */
unsigned int sim_pace;
module_param_named(pace, sim_pace, uint, 0444);
unsigned int sim_fail_add;
module_param_named(fail_add, sim_fail_add, uint, 0644);
unsigned int sim_fail_start;
module_param_named(fail_start, sim_fail_start, uint, 0644);
unsigned int sim_fail_read;
module_param_named(fail_read, sim_fail_read, uint, 0644);

/* What the kernel's own names stand for; 0: this PMU lacks it. */
static const u16 sim_hardware[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = SIM_CYCLES,
	[PERF_COUNT_HW_INSTRUCTIONS] = SIM_INSTRUCTIONS,
	[PERF_COUNT_HW_CACHE_REFERENCES] = SIM_UNITS,
	[PERF_COUNT_HW_CACHE_MISSES] = SIM_EVERY | 4 << 8,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = SIM_BURSTS,
	[PERF_COUNT_HW_BRANCH_MISSES] = SIM_ZERO,
	[PERF_COUNT_HW_REF_CPU_CYCLES] = SIM_SECOND,
};

static bool sim_knows(unsigned int event)
{
	switch (event) {
	case SIM_UNITS:
	case SIM_EVERY:
	case SIM_ZERO:
	case SIM_BURSTS:
	case SIM_SECOND:
	case SIM_CYCLES:
	case SIM_INSTRUCTIONS:
		return true;
	case SIM_LOADS:
		return sim_has.loads;
	}
	return false;
}

static struct pmu sim_pmu, sim_atom;

/* The last CPU is of the other kind. */
static bool sim_is_of(const struct pmu *pmu, int cpu)
{
	return !hybrid ||
	       (pmu == &sim_atom) == (cpu == cpumask_last(cpu_possible_mask));
}

static int sim_config(const struct perf_event *e, u64 *config)
{
	*config = e->attr.config;
	if (e->attr.type == PERF_TYPE_HARDWARE) {
		if (*config >= PERF_COUNT_HW_MAX || !sim_hardware[*config])
			return -ENOENT;
		*config = sim_hardware[*config];
	} else if (e->attr.type != e->pmu->type) {
		return -ENOENT;
	}
	return *config >> 16 || !sim_knows(*config & 0xff) ? -EINVAL : 0;
}

static int sim_init_event(struct perf_event *e)
{
	struct hw_perf_event *hw = &e->hw;
	u64 config;
	int rc = sim_config(e, &config);

	if (rc)
		return rc;
	if (e->cpu >= 0 && !sim_is_of(e->pmu, e->cpu))
		return -ENOENT;
	if ((has_branch_stack(e) && !sim_has.branches) ||
	    e->attr.precise_ip > sim_has.precise)
		return -EOPNOTSUPP;
	if (aux && (config & 0xff) == SIM_LOADS && e->group_leader == e &&
	    (e->attr.sample_type & PERF_SAMPLE_DATA_SRC))
		return -ENODATA;
	hw->config = config;
	hw->idx = -1;
	if (!is_sampling_event(e)) {
		hw->sample_period = sim_mask() >> 1;
		hw->last_period = hw->sample_period;
		local64_set(&hw->period_left, hw->sample_period);
	}
	return 0;
}

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(ldlat, "config1:0-15");
#ifdef PERF_ATTR_SIZE_VER8
PMU_FORMAT_ATTR(twice, "config3:4");
#endif
#ifdef PERF_ATTR_SIZE_VER9
PMU_FORMAT_ATTR(thrice, "config4:8");
#endif

static struct attribute *sim_formats[] = {
	&format_attr_event.attr,
	&format_attr_umask.attr,
	&format_attr_ldlat.attr,
#ifdef PERF_ATTR_SIZE_VER8
	&format_attr_twice.attr,
#endif
#ifdef PERF_ATTR_SIZE_VER9
	&format_attr_thrice.attr,
#endif
	NULL
};

#define SIM_EVENT(name, id, what)					\
	PMU_EVENT_ATTR_STRING(name, sim_event_##id, what)
SIM_EVENT(cpu-cycles, cycles, "event=0x3c");
SIM_EVENT(instructions, instructions, "event=0xc0");
SIM_EVENT(units, units, "event=0x01");
SIM_EVENT(every, every, "event=0x02,umask=0x04");
SIM_EVENT(second, second, "event=0x05");
SIM_EVENT(mem-loads, loads, "event=0xcd,umask=0x1,ldlat=3");

static struct attribute *sim_events[] = {
	&sim_event_cycles.attr.attr,
	&sim_event_instructions.attr.attr,
	&sim_event_units.attr.attr,
	&sim_event_every.attr.attr,
	&sim_event_second.attr.attr,
	&sim_event_loads.attr.attr,
	NULL
};

static const struct attribute_group sim_format_group = {
	.name = "format", .attrs = sim_formats
};
static const struct attribute_group sim_events_group = {
	.name = "events", .attrs = sim_events
};

static ssize_t
max_precise_show(struct device *dev, struct device_attribute *attr, char *to)
{
	return sysfs_emit(to, "%u\n", sim_has.precise);
}
static DEVICE_ATTR_RO(max_precise);

static ssize_t
branches_show(struct device *dev, struct device_attribute *attr, char *to)
{
	return sysfs_emit(to, "%u\n", sim_has.branches ? SIM_BRANCHES : 0);
}
static DEVICE_ATTR_RO(branches);

static struct attribute *sim_caps[] = {
	&dev_attr_max_precise.attr, &dev_attr_branches.attr, NULL
};
static const struct attribute_group sim_caps_group = {
	.name = "caps", .attrs = sim_caps
};

static ssize_t
cpus_show(struct device *dev, struct device_attribute *attr, char *to)
{
	unsigned int last = cpumask_last(cpu_possible_mask);

	if (dev_get_drvdata(dev) == &sim_atom)
		return sysfs_emit(to, "%u\n", last);
	return sysfs_emit(to, "0-%u\n", last - 1);
}
static DEVICE_ATTR_RO(cpus);

static umode_t
sim_cpus_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	return hybrid ? attr->mode : 0;
}

static struct attribute *sim_cpus_attrs[] = { &dev_attr_cpus.attr, NULL };
static const struct attribute_group sim_cpus_group = {
	.attrs = sim_cpus_attrs, .is_visible = sim_cpus_visible
};

static const struct attribute_group *sim_groups[] = {
	&sim_format_group, &sim_events_group, &sim_caps_group, &sim_cpus_group,
	NULL
};

/* Of who is on any CPU: those where it counts. */
static bool sim_filter(struct pmu *pmu, int cpu)
{
	return !sim_is_of(pmu, cpu);
}

#define SIM_PMU {							\
	.module = THIS_MODULE,						\
	.task_ctx_nr = perf_hw_context,					\
	.capabilities = PERF_PMU_CAP_EXTENDED_HW_TYPE,			\
	.attr_groups = sim_groups,					\
	.event_init = sim_init_event,					\
	.filter = sim_filter,						\
	.add = sim_add,							\
	.del = sim_del,							\
	.start = sim_start,						\
	.stop = sim_stop,						\
	.read = sim_read,						\
}

static struct pmu sim_pmu = SIM_PMU, sim_atom = SIM_PMU;

static void sim_stay(struct pmu *pmu)
{
}

static int __init sim_choose(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_profiles); i++)
		if (!strcmp(sim_profiles[i].name, profile))
			sim_has = sim_profiles[i];
	if (!sim_has.name) {
		pr_err("simpmu: there is no profile %s\n", profile);
		return -EINVAL;
	}
	if (counters >= 0)
		sim_has.counters = counters;
	if (width >= 0)
		sim_has.width = width;
	if (nmi >= 0)
		sim_has.nmi = nmi;
	if (moves && !sim_has.nmi) {
		pr_err("simpmu: moves=1 wants a profile with NMIs\n");
		return -EINVAL;
	}
	if (hybrid && num_possible_cpus() < 2) {
		pr_err("simpmu: hybrid=1 wants two CPUs\n");
		return -EINVAL;
	}
	if (sim_has.counters < 1 || sim_has.counters > SIM_MAX_COUNTERS ||
	    sim_has.width < 16 || sim_has.width > 63) {
		pr_err("simpmu: 1 to %d counters, of 16 to 63 bits\n",
		       SIM_MAX_COUNTERS);
		return -EINVAL;
	}
	return 0;
}

static int __init sim_init(void)
{
	int rc = sim_choose();

	if (!rc)
		rc = sim_overflow_start();
	if (rc)
		return rc;
	rc = sim_source_start();
	if (rc)
		goto no_source;
	if (moves) {
		/* perf's core wants both */
		sim_pmu.pmu_disable = sim_stay;
		sim_pmu.pmu_enable = sim_move;
	}
	rc = perf_pmu_register(&sim_pmu, hybrid ? "cpu_core" : "cpu",
			       PERF_TYPE_RAW);
	if (rc)
		goto no_pmu;
	rc = hybrid ? perf_pmu_register(&sim_atom, "cpu_atom", -1) : 0;
	if (rc)
		goto no_atom;
	rc = sockets ? sim_socket_begin() : 0;
	if (!rc)
		return 0;
	if (hybrid)
		perf_pmu_unregister(&sim_atom);
no_atom:
	perf_pmu_unregister(&sim_pmu);
no_pmu:
	sim_source_stop();
no_source:
	sim_overflow_stop();
	return rc;
}

static void __exit sim_exit(void)
{
	if (sockets)
		sim_socket_finish();
	if (hybrid)
		perf_pmu_unregister(&sim_atom);
	perf_pmu_unregister(&sim_pmu);
	sim_source_stop();
	sim_overflow_stop();
}

module_init(sim_init);
module_exit(sim_exit);
MODULE_DESCRIPTION("A PMU for guests, whose counts are known");
MODULE_LICENSE("GPL");
