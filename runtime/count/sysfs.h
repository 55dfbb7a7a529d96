/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel tells users of its PMUs, in sysfs: which CPUs one is of, and what
 * perf is to be told for an event by its name there.
 *
 * A module that asks when it is loaded is good for any machine.  That of a PMU has
 * no other interface that all kernels have.
 *
 * All of it: sleepable, not in a callback of CPU hotplug.
 */
#ifndef STAPWATCH_COUNT_SYSFS_H
#define STAPWATCH_COUNT_SYSFS_H

#include "count/terms.h"
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

/* As long as sysfs lets a file be */
#define SW_SYSFS_SIZE 4096

/**
 * sw_sysfs_read - the text of one of a PMU's files, without its newline
 * @dir: as "events/", or ""
 * Return: the text, to be freed, or an error.
 */
static char *
sw_sysfs_read(const char *pmu, const char *dir, const char *name)
{
	char *text = kasprintf(GFP_KERNEL, "/sys/bus/event_source/devices/%s/%s%s",
			       pmu, dir, name);
	struct file *file;
	loff_t at = 0;
	ssize_t len;

	if (!text)
		return ERR_PTR(-ENOMEM);
	file = filp_open(text, O_RDONLY, 0);
	kfree(text);
	if (IS_ERR(file))
		return ERR_CAST(file);
	text = kzalloc(SW_SYSFS_SIZE + 1, GFP_KERNEL);
	len = text ? kernel_read(file, text, SW_SYSFS_SIZE, &at) : -ENOMEM;
	filp_close(file, NULL);
	if (len < 0) {
		kfree(text);
		return ERR_PTR(len);
	}
	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	return text;
}

/**
 * sw_sysfs_cpus - the CPUs that a PMU is of
 *
 * `cpus' are those of one kind, each of which has such a PMU; `cpumask' are those
 * that stand for what several have together.
 *
 * Return: false: it names none, and is of all.
 */
static bool sw_sysfs_cpus(const char *pmu, struct cpumask *cpus)
{
	char *list = sw_sysfs_read(pmu, "", "cpus");
	bool ok;

	if (IS_ERR(list))
		list = sw_sysfs_read(pmu, "", "cpumask");
	if (IS_ERR(list))
		return false;
	ok = *list && !cpulist_parse(list, cpus);
	kfree(list);
	return ok;
}

/* One term that is a number of some bits. */
static int
sw_sysfs_format(const char *pmu, const char *name, u64 value, u64 *config)
{
	char *format = sw_sysfs_read(pmu, "format/", name);
	int rc = 0;

	if (IS_ERR(format))
		return PTR_ERR(format);
	if (!sw_terms_put(config, format, value))
		rc = -EINVAL;
	kfree(format);
	return rc;
}

static int sw_sysfs_formats(const char *pmu, const char *terms, u64 *config)
{
	char name[SW_TERM_NAME];
	bool alone;
	u64 value;
	int rc;

	while (*terms) {
		terms = sw_terms_next(terms, name, &value, &alone);
		if (!terms)
			return -EINVAL;
		rc = sw_sysfs_format(pmu, name, value, config);
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * sw_sysfs_event - what perf is to be told for one of a PMU's events
 * @terms: names of its events/, and of its format/ with values
 * @config: config, and config1 to config4
 * Return: 0; -ENODEV: there is no such PMU; or that it has no such term.
 */
static int __maybe_unused
sw_sysfs_event(const char *pmu, const char *terms, u32 *type, u64 *config)
{
	char name[SW_TERM_NAME], *text = sw_sysfs_read(pmu, "", "type");
	u64 value;
	bool alone;
	int rc;

	if (IS_ERR(text))
		return PTR_ERR(text) == -ENOENT ? -ENODEV : PTR_ERR(text);
	rc = sw_terms_number(text, &value) ? 0 : -EINVAL;
	kfree(text);
	*type = value;
	memset(config, 0, SW_TERMS_WORDS * sizeof(*config));
	while (!rc && *terms) {
		terms = sw_terms_next(terms, name, &value, &alone);
		if (!terms)
			return -EINVAL;
		text = alone ? sw_sysfs_read(pmu, "events/", name) :
			       ERR_PTR(-ENOENT);
		if (IS_ERR(text)) {
			rc = sw_sysfs_format(pmu, name, value, config);
			continue;
		}
		rc = sw_sysfs_formats(pmu, text, config);
		kfree(text);
	}
	return rc;
}

/**
 * sw_sysfs_is_at - is a PMU of that CPU?
 * @all: it is of all CPUs
 */
static bool sw_sysfs_is_at(const char *pmu, int cpu, bool *all)
{
	cpumask_var_t cpus;
	bool at;

	*all = false;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return false;
	*all = !sw_sysfs_cpus(pmu, cpus);
	at = *all || cpumask_test_cpu(cpu, cpus);
	free_cpumask_var(cpus);
	return at;
}

#endif
