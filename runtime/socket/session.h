/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session's counters of sockets: where they are opened, and how they end.
 *
 * An event is looked up in sysfs when the module is loaded, so that a module is good
 * for any machine: the table has the places where machines have it.  It is opened on
 * the CPUs of the PMU's `cpumask', and nowhere else.
 *
 * Who may run what, against whom: all of it is sleepable, under sw_session_lock, but
 * for the work, which looks ten times a second: how old readings get; and for
 * sw_socket_cpu_came(), a callback of CPU hotplug, between begin and end.
 */
#ifndef STAPWATCH_SOCKET_SESSION_H
#define STAPWATCH_SOCKET_SESSION_H

#include "base/ask.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/work.h"
#include "count/event.h"
#include "count/hotplug.h"
#include "count/perf.h"
#include "count/sysfs.h"
#include "socket/events.h"
#include "socket/read.h"
#include "socket/state.h"
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

/* How many PMUs of one name there may be, NAME_0 and so on */
#define SW_SOCKET_PMUS 64
#define SW_SOCKET_PMU_NAME 48
#define SW_SOCKET_EVERY (HZ / 10 ?: 1)

static void sw_socket_round(struct work_struct *work);
static DECLARE_DELAYED_WORK(sw_socket_work, sw_socket_round);

static void sw_socket_round(struct work_struct *work)
{
	static struct cpumask told;	/* there is one such work */
	const struct sw_socket_counter *k;
	unsigned long flags;
	unsigned int i;
	int cpu;

	cpumask_clear(&told);
	local_irq_save(flags);
	for (i = 0; i < SW_NR_SOCKET_EVENTS; i++)
		for (k = READ_ONCE(sw_socket.of[i]); k; k = k->next) {
			cpu = sw_socket_cpu_of(k);
			if (cpu >= 0 && !cpumask_test_and_set_cpu(cpu, &told))
				sw_socket_tell(cpu, flags);
		}
	local_irq_restore(flags);
	sw_work_delay(&sw_socket_work, SW_SOCKET_EVERY);
}

/* One counter more in a list.  Return: 0 or an errno. */
static int
sw_socket_open_on(struct sw_socket_counter **list, const struct sw_event *ev,
		  int cpu)
{
	struct sw_socket_counter *k = kzalloc(sizeof(*k), GFP_KERNEL);
	struct perf_event *e;

	if (!k)
		return -ENOMEM;
	e = sw_pmu_checked(sw_pmu_counter(ev, cpu, false));
	if (IS_ERR(e)) {
		kfree(k);
		return PTR_ERR(e);
	}
	k->event = e;
	k->socket = topology_physical_package_id(cpu);
	k->stamp = sw_clock_ns();
	k->next = *list;
	*list = k;
	return 0;
}

/* One PMU, on the CPUs that it names.  Return: how many there are, or an errno. */
static int
sw_socket_open_pmu(struct sw_socket_counter **list, const char *pmu,
		   const char *terms)
{
	struct sw_event ev = { .name = pmu };
	u64 config[SW_TERMS_WORDS];
	cpumask_var_t cpus;
	int cpu, nr = 0, rc;
	u32 type;

	rc = sw_sysfs_event(pmu, terms, &type, config);
	if (rc)
		return rc;
	sw_event_take(&ev, type, config);
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	if (!sw_sysfs_cpus(pmu, cpus))
		rc = -ENXIO;
	sw_for_each_online_cpu(cpu) {
		if (!cpumask_test_cpu(cpu, cpus))
			continue;
		rc = sw_socket_open_on(list, &ev, cpu);
		if (rc)
			break;
		nr++;
	}
	free_cpumask_var(cpus);
	return rc ?: nr;
}

/* All PMUs of a name.  Return: how many counters there are, or an errno. */
static int
sw_socket_open_pmus(struct sw_socket_counter **list, const char *name,
		    const char *terms)
{
	char pmu[SW_SOCKET_PMU_NAME];
	int i, nr, all = 0;

	for (i = -1; i < SW_SOCKET_PMUS; i++) {
		snprintf(pmu, sizeof(pmu), i < 0 ? "%s" : "%s_%d", name, i);
		nr = sw_socket_open_pmu(list, pmu, terms);
		/* a PMU that is there, and has no such event, is of another kind */
		if (nr == -ENODEV || nr == -ENOENT)
			continue;
		if (nr < 0)
			return nr;
		all += nr;
	}
	return all ?: -ENODEV;
}

static void sw_socket_free(struct sw_socket_counter *list)
{
	struct sw_socket_counter *k;

	while ((k = list)) {
		list = k->next;
		if (k->event)
			perf_event_release_kernel(k->event);
		kfree(k);
	}
}

/* In the first of several places, "PMU/TERMS/ PMU/TERMS/", that this machine has. */
static int
sw_socket_open_at(struct sw_socket_counter **list, char *places)
{
	char *place, *name;
	int rc = -ENODEV;

	while (rc == -ENODEV && (place = strsep(&places, " "))) {
		name = strsep(&place, "/");
		rc = sw_socket_open_pmus(list, name, strsep(&place, "/"));
	}
	return rc;
}

/* A driver that moves its events has none left on a CPU that was offline. */
static void sw_socket_cpu_came(unsigned int cpu)
{
	struct sw_socket_counter *k;
	unsigned int i;

	for (i = 0; i < SW_NR_SOCKET_EVENTS; i++)
		for (k = READ_ONCE(sw_socket.of[i]); k; k = k->next)
			if (READ_ONCE(k->event->cpu) == cpu)
				WRITE_ONCE(k->lost, true);
}

/**
 * sw_socket_open - count an event of the table on every socket
 * Return: 0, or an errno; then there is none of its counters.
 */
static int sw_socket_open(unsigned int n)
{
	char *places = kstrdup(sw_socket_events[n].where, GFP_KERNEL);
	struct sw_socket_counter *list = NULL;
	int rc = -ENOMEM;

	if (places)
		rc = sw_socket_open_at(&list, places);
	kfree(places);
	if (rc < 0) {
		sw_socket_free(list);
		sw_socket.missing[n] = true;
		return rc;
	}
	/* with who goes over the lists: the work, and CPUs that it asks */
	smp_store_release(&sw_socket.of[n], list);
	if (sw_socket.on)
		return 0;
	sw_ask_init(&sw_socket_cpus.look, sw_socket_look, sw_socket_has_missed);
	WRITE_ONCE(sw_socket.on, true);
	WRITE_ONCE(sw_cpu_came, sw_socket_cpu_came);
	sw_work_delay(&sw_socket_work, SW_SOCKET_EVERY);
	return 0;
}

/*
 * The session ends, and nobody asks any more.  What was counted in the end stays for
 * end probes.
 */
static void sw_socket_end(void)
{
	struct sw_socket_counter *k;
	u64 enabled, running, began, count;
	unsigned int i, lost = 0;

	if (!sw_socket.on)
		return;
	/* no CPU comes any more */
	sw_cpu_came = NULL;
	WRITE_ONCE(sw_socket.on, false);
	/* who has seen it on has preemption off; with sw_socket_refresh() */
	synchronize_rcu();
	cancel_delayed_work_sync(&sw_socket_work);
	sw_ask_end(&sw_socket_cpus.look);
	for (i = 0; i < SW_NR_SOCKET_EVENTS; i++)
		for (k = sw_socket.of[i]; k; k = k->next) {
			k->lost |= sw_socket_cpu_of(k) < 0;
			lost += k->lost;
			began = sw_clock_ns();
			count = perf_event_read_value(k->event, &enabled,
						      &running);
			sw_socket_note(k, count, began);
			perf_event_release_kernel(k->event);
			k->event = NULL;
		}
	if (lost)
		_stp_warn("stapwatch: %u counters of sockets were off their PMU while a CPU was offline: their counts are withheld\n",
			  lost);
}

/* The end probes have run. */
static void sw_socket_gone(void)
{
	unsigned int i;

	for (i = 0; i < SW_NR_SOCKET_EVENTS; i++) {
		sw_socket_free(sw_socket.of[i]);
		sw_socket.of[i] = NULL;
		sw_socket.missing[i] = false;
	}
}

#endif
