/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user is told: why an event cannot be counted or sampled, and how many
 * values were withheld.
 *
 * All of it is sleepable, under sw_session_lock or, for what is sampled, under
 * sw_profile.lock.
 */
#ifndef STAPWATCH_STAP_ERRORS_H
#define STAPWATCH_STAP_ERRORS_H

#include "base/session.h"
#include "count/event.h"
#include "count/events.h"
#include "count/loads.h"
#include "count/perf.h"
#include "count/vthread.h"
#include "sample/sampler.h"
#include "watch/list.h"
#include "watch/state.h"

/* A name for what a value was withheld for, with how often, where it was. */
#define SW_REPORT(why, text) do {					\
	unsigned long n_ = 0;						\
	int cpu_;							\
	for_each_possible_cpu(cpu_) {					\
		n_ += per_cpu(sw_cpus, cpu_).why;			\
		per_cpu(sw_cpus, cpu_).why = 0;				\
	}								\
	if (n_)								\
		_stp_warn("stapwatch: %lu value%s withheld: %s\n",	\
			  n_, n_ == 1 ? "" : "s", text);		\
} while (0)

/**
 * sw_report - how many values were withheld, and for what; from then on none were
 * @has_threads: threads could be watched, and the table may have been too small
 * Context: sleepable, when nobody reads.
 */
static void sw_report(bool has_threads)
{
	SW_REPORT(nested, "asked for within another reading on that CPU (NMI)");
	SW_REPORT(locked, "asked for in an NMI, or with interrupts off, of a PMU whose driver may hold a lock then");
	SW_REPORT(stopped, "the counter was off the PMU");
	SW_REPORT(elsewhere, "asked for on a CPU that stapwatch_cpus leaves out");
	SW_REPORT(absent, "asked for on a CPU that the event's PMU is not of: one of another kind, or not the one that counts for its socket");
	SW_REPORT(socketless, "of a socket that is not there, or has no such counter");
	SW_REPORT(moved, "the call returned on another CPU; kernel.virtual.elapsed follows the thread");
	SW_REPORT(early, "the call began before the session or while its counter was off the PMU");
	SW_REPORT(holed, "the thread ran while its counter was off the PMU");
	SW_REPORT(anew, "the thread was not watched for a while");
	SW_REPORT(leaving, "asked for between two threads");
	SW_REPORT(undefined, "a rate of nothing to nothing");
	SW_REPORT(inactive, "the event's set was not the one that the CPU counted");
	SW_REPORT(switched, "the sets were switched in between");
	SW_REPORT(full, "the thread table is full; -G stapwatch_threads=N makes it larger");
	SW_REPORT(unwatched, "of a thread, a process, a cgroup or a CPU that is not watched, or of one that was dropped from the list");
	SW_REPORT(changing, "of other threads, which changed at every try");
	SW_REPORT(incomplete, "of other threads or of a socket, a part of which was not counted: the thread table was full, or a counter was off the PMU");
	if (has_threads && atomic_read(&sw_threads.refused))
		_stp_warn("stapwatch: a thread could not be watched %d times; the table holds %d\n",
			  atomic_read(&sw_threads.refused), sw_threads.max);
}

/**
 * sw_report_watch - what could not be watched, and what was not kept
 * @has_dead: the script reads the list of threads that have ended
 * Context: sleepable, when the session has ended.
 */
static void sw_report_watch(bool has_dead)
{
	if (sw_watch.gone)
		_stp_warn("stapwatch: a thread or process that was to be watched was not there %lu times\n",
			  sw_watch.gone);
	if (sw_watch.crowded)
		_stp_warn("stapwatch: a process or cgroup could not be watched %lu times: there can be %d at once\n",
			  sw_watch.crowded, SW_MAX_TARGETS);
	if (has_dead && sw_list_dropped())
		_stp_warn("stapwatch: %llu threads that have ended were dropped from the list; -G stapwatch_dead=N keeps more (now %d)\n",
			  sw_list_dropped(), sw_list.max);
	sw_watch.gone = 0;
	sw_watch.crowded = 0;
}

static bool sw_can_count(const struct sw_event *ev)
{
	struct perf_event *e = sw_pmu_counter(ev, raw_smp_processor_id(), false);

	if (IS_ERR(e))
		return false;
	perf_event_release_kernel(e);
	return true;
}

/* Why an event cannot be counted, or sampled, and what can, as one line's end. */
static void
sw_why_missing(const struct sw_event *ev, int rc, bool sampling, char *buf,
	       size_t size)
{
	static const struct sw_event cycles = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES
	};
	const char *why;
	unsigned int i, n = 0, len;
	bool pmu = sw_can_count(&cycles);

	if (sw_pmu_lacks(ev) == 3)
		why = "this kernel's perf has no config3, which came with Linux 6.3";
	else if (sw_pmu_lacks(ev))
		why = "this kernel's perf has no config4, which came after Linux 6.18";
	else if (rc == -ENOSPC)
		why = "the PMU has no counter left for it beside this script's other events and other users (the NMI watchdog?)";
	else if (rc == -EIO)
		why = "the PMU has a counter for it, but does not start it";
	else if (rc == -E2BIG)
		why = "the script has too many different events";
	else if (rc == -ENOMEM)
		why = "out of memory";
	else if (rc == -EOPNOTSUPP && sampling &&
		 (sw_profile.uses & SW_BRANCHES))
		why = "this machine's PMU does not record branches (x86 LBR, arm64 BRBE), or not for it; leave out sample_branches() and sample_branch_...()";
	else if ((rc == -EINVAL || rc == -EOPNOTSUPP) &&
		 (ev->flags & SW_PRECISE_MASK))
		why = "this PMU does not take it as it stands; is precise= too high?";
	else if (rc == SW_LOADS_SPE && ev->type == SW_TYPE_LOADS)
		why = "this machine's loads are sampled by ARM SPE, into memory that only perf reads: perf record -e arm_spe// has them";
	else if (rc == SW_LOADS_UNFILTERED && ev->type == SW_TYPE_LOADS)
		why = "this machine's IBS samples loads of any latency only";
	else if (rc == SW_LOADS_RANGE && ev->type == SW_TYPE_LOADS)
		why = "this machine's PMU does not take that ldlat=";
	else if (ev->type == SW_TYPE_LOADS)
		why = "this machine's PMU does not sample loads (x86 PEBS or IBS)";
	else if (ev->type == PERF_TYPE_SOFTWARE)
		why = "this kernel does not count it";
	else if (rc == -EOPNOTSUPP && pmu && !(ev->flags & SW_EXCLUDE_GUEST))
		why = "this machine's PMU does not count it, or not while a KVM guest has the PMU";
	else if (pmu)
		why = "this machine's PMU does not count it";
	else
		why = "this machine has no PMU that Linux can use (a virtual machine without one?)";
	len = scnprintf(buf, size, "%s (%d); what works here:", why, rc);
	for (i = 0; i < SW_NR_EVENTS && n < 8; i++) {
		const struct sw_event *o = &sw_events[i];

		/* filtered ones only say the same again */
		if (o == ev || o->flags || (sampling && i == SW_EV_tsc) ||
		    !sw_can_count(o))
			continue;
		len += scnprintf(buf + len, size - len, " %s", o->name);
		n++;
	}
}

/**
 * sw_sampling_failed - say why an event cannot be sampled
 *
 * Nothing else is said of it but SystemTap's error, which names no event.
 *
 * Context: sleepable.
 */
static void sw_sampling_failed(const struct sw_event *ev, int rc)
{
	char *why = kmalloc(512, GFP_KERNEL);

	if (why)
		sw_why_missing(ev, rc, true, why, 512);
	_stp_error("stapwatch: event %s cannot be sampled: %s\n", ev->name,
		   why ?: "no memory to say why");
	kfree(why);
}

#endif
