/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that the session is of.
 *
 * Who may run what, against whom:
 *
 *   sw_cpus_choose()		begin probes, before the session
 *   sw_cpu_is_chosen()		any context
 */
#ifndef STAPWATCH_COUNT_CHOSEN_H
#define STAPWATCH_COUNT_CHOSEN_H

#include "base/compat.h"
#include "base/cpus.h"
#include <linux/cpumask.h>
#include <linux/string.h>

/* CPUs that are counted on; without a list, all of them. */
static struct cpumask sw_chosen_cpus;
static bool sw_has_chosen_cpus;

static bool sw_cpu_is_chosen(int cpu)
{
	return !sw_has_chosen_cpus || cpumask_test_cpu(cpu, &sw_chosen_cpus);
}

/**
 * sw_cpus_choose - count on some CPUs only
 * @list: as "0,2-3" or, as stap -G lets no comma pass, "0.2-3"; if it is empty, on all
 * Return: false where that is no list of CPUs that are there.
 */
static bool __maybe_unused sw_cpus_choose(const char *list)
{
	char commas[256], *dot;
	int cpu;

	sw_has_chosen_cpus = *list;
	if (!*list)
		return true;
	if (strlen(list) >= sizeof(commas))
		return false;
	strcpy(commas, list);
	while ((dot = strchr(commas, '.')))
		*dot = ',';
	if (cpulist_parse(commas, &sw_chosen_cpus))
		return false;
	sw_for_each_online_cpu(cpu)
		if (cpumask_test_cpu(cpu, &sw_chosen_cpus))
			return true;
	return false;
}

#endif
