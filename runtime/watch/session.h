/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching, from the first anchor to the last end probe.
 *
 * Begin probes declare, since they run before the anchors.  With the last anchor all
 * counters are there, and what was declared is taken up.  When the session ends,
 * every CPU brings up to date what it runs, and threads that are left are put into
 * the list: so end probes read what the session has counted.
 *
 * All of it is sleepable, under sw_session_lock or when nothing else is left.
 */
#ifndef STAPWATCH_WATCH_SESSION_H
#define STAPWATCH_WATCH_SESSION_H

#include "base/ask.h"
#include "base/contexts.h"
#include "base/hooks.h"
#include "base/session.h"
#include "count/vthread.h"
#include "watch/attach.h"
#include "watch/cgroup.h"
#include "watch/fold.h"
#include "watch/gate.h"
#include "watch/list.h"
#include "watch/read.h"
#include "watch/state.h"
#include "watch/wants.h"
#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

/* The set of hooks that are only wanted for cgroups. */
#define SW_HOOK_CGROUP 1

static struct sw_hook sw_watch_hooks[] = {
	{ "sched_process_free", sw_watch_on_free },
	{ "task_newtask", sw_watch_on_new },
#ifdef CONFIG_CGROUPS
	{ "cgroup_attach_task", sw_cgroup_on_attach, SW_HOOK_CGROUP },
#endif
};

static bool sw_watch_has_cgroups(void)
{
	unsigned int i;

	for (i = 0; i < SW_MAX_TARGETS; i++)
		if (sw_watch.targets[i].state == SW_TARGET_DECLARED &&
		    sw_watch.targets[i].kind == SW_TARGET_CGROUP)
			return true;
	return false;
}

static int sw_watch_hook(void)
{
	bool cgroups = sw_watch_has_cgroups();
	unsigned int i;
	int rc = 0;

#ifdef CONFIG_CGROUPS
	sw_bits_of_cgroup = cgroups || sw_watch.programs ? sw_cgroup_bits : NULL;
#else
	sw_watch.programs = false;
#endif
	sw_hooks_find(sw_watch_hooks, ARRAY_SIZE(sw_watch_hooks));
	for (i = 0; i < ARRAY_SIZE(sw_watch_hooks) && !rc; i++) {
		if (sw_watch_hooks[i].set != SW_HOOK_CGROUP || cgroups)
			rc = sw_hook_on(&sw_watch_hooks[i]);
		else if (sw_watch.programs)
			/* where there is none, programs go without cgroups */
			sw_watch.programs = !sw_hook_on(&sw_watch_hooks[i]);
	}
	return rc;
}

/* What handlers have left, as they have interrupts off. */
static void sw_watch_take_rest(struct work_struct *work)
{
	u64 rest = atomic64_xchg(&sw_watch_rest, 0);

	for (; rest; rest &= rest - 1)
		sw_process_fill_rest(sw_watch.targets + __ffs64(rest));
#ifdef CONFIG_CGROUPS
	sw_cgroups_move_rest();
	sw_cgroups_let_go();
#endif
	sw_watch_ask();
}

/* Nobody asks any more, and no CPU is still about to look. */
static void sw_watch_settle(void)
{
	/* who asks has interrupts off */
	synchronize_rcu();
	irq_work_sync(&sw_watch_rest_kick);
	cancel_work_sync(&sw_watch_rest_work);
	sw_ask_end(&sw_watch_cpus.look);
}

static void sw_watch_unhook(void)
{
	sw_hooks_off(sw_watch_hooks, ARRAY_SIZE(sw_watch_hooks));
	sw_watch_settle();
	WRITE_ONCE(sw_entry_of_current, NULL);
	WRITE_ONCE(sw_word_begins, NULL);
	sw_bits_of_cgroup = NULL;
#ifdef CONFIG_CGROUPS
	sw_cgroups_stop();
#endif
}

static void sw_watch_free_records(void)
{
	vfree(sw_watch.records);
	sw_watch.records = NULL;
}

/**
 * sw_watch_end - let go of what end probes could read
 * Context: after the end probes, or where a session has failed.
 */
static void sw_watch_end(void)
{
	int cpu;

	sw_list_stop();
	vfree(sw_watch.sums);
	sw_watch.sums = NULL;
	for_each_possible_cpu(cpu)
		per_cpu(sw_watch_cpus, cpu).sums = NULL;
}

/* No CPU adds to that word of targets any more, and another set will. */
static void sw_targets_begin(unsigned int word)
{
	unsigned int t;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sw_watch_cpu *wc = per_cpu_ptr(&sw_watch_cpus, cpu);

		for (t = 0; t < SW_MAX_TARGETS; t++) {
			WRITE_ONCE(sw_target_sums(wc, t, false)[word], 0);
			WRITE_ONCE(sw_target_sums(wc, t, true)[word], 0);
		}
	}
	for (t = 0; word < SW_MAX_SLOTS && t < SW_MAX_TARGETS; t++)
		atomic64_andnot(SW_SLOT_BIT(word), &sw_watch.targets[t].holed);
}

/* Each CPU's sums are in lines of the cache that no other CPU writes to. */
static int sw_watch_alloc(unsigned int slots, int dead)
{
	size_t bytes = ALIGN((SW_MAX_TARGETS + 1) * 2 * slots * sizeof(u64),
			     SMP_CACHE_BYTES);
	unsigned int i;
	int cpu;

	/* before all that may fail: these are waited for in any case */
	init_irq_work(&sw_watch_rest_kick, sw_watch_on_rest);
	INIT_WORK(&sw_watch_rest_work, sw_watch_take_rest);
	sw_watch.slots = slots;
	sw_watch.record = sizeof(struct sw_watched) + slots * sizeof(u64);
	sw_watch.sums = vzalloc(bytes * nr_cpu_ids);
	sw_watch.records = vzalloc((size_t)sw_table_slots(&sw_threads) *
				   sw_watch.record);
	if (!sw_watch.sums || !sw_watch.records || sw_list_start(dead, slots))
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct sw_watch_cpu *wc = per_cpu_ptr(&sw_watch_cpus, cpu);

		wc->sums = sw_watch.sums + bytes * cpu;
		wc->active = 0;
		/* a CPU that never looks has counted nothing that is known */
		for (i = 0; i < slots; i++)
			sw_cpu_counts(wc)[i] = SW_NONE;
	}
	sw_ask_init(&sw_watch_cpus.look, sw_watch_look, sw_watch_has_missed);
	WRITE_ONCE(sw_ask_looks[SW_ASK_WATCH], sw_watch_look_meanwhile);
	return 0;
}

/**
 * sw_watch_start - be ready to watch whom somebody asks for
 * @slots: how many counters there may come to be
 * @dead: how many threads that have ended shall be kept
 *
 * The table is there, and the switch calls sw_watch_on_switch().
 *
 * Return: 0, or an errno after a message; then all is as before.
 */
static int sw_watch_start(unsigned int slots, int dead)
{
	int rc;

	rc = sw_watch_alloc(slots, dead);
	if (rc) {
		_stp_error("stapwatch: no memory to watch %d threads and keep %d that have ended; try a smaller -G stapwatch_threads=N or stapwatch_dead=N\n",
			   sw_threads.max, dead);
	} else {
		rc = sw_watch_hook();
		if (rc)
			_stp_error("stapwatch: cannot watch threads that others make: this kernel has no usable tracepoint task_newtask, sched_process_free or cgroup_attach_task (%d)\n",
				   rc);
	}
	if (rc) {
		sw_watch_unhook();
		sw_watch_free_records();
		sw_watch_end();
		return rc;
	}
	sw_entry_of_current = sw_entry_get;
	if (sw_gate_parks)
		WRITE_ONCE(sw_gate_parks, sw_watch_park);
	WRITE_ONCE(sw_word_begins, sw_targets_begin);
	return 0;
}

static void sw_watch_look_everywhere(void *unused)
{
	sw_watch_look();
}

/**
 * sw_watch_take - take up what begin probes have declared
 * Context: all counters are there, no handler runs yet.
 */
static void sw_watch_take(void)
{
	struct sw_target *t;

	WRITE_ONCE(sw_watch.on, true);
	on_each_cpu(sw_watch_look_everywhere, NULL, 1);
	for (t = sw_watch.targets; t < sw_watch.targets + SW_MAX_TARGETS; t++) {
		if (t->state != SW_TARGET_DECLARED)
			continue;
		if (t->kind == SW_TARGET_PROCESS)
			sw_target_take_process(t);
		else if (t->kind == SW_TARGET_THREAD)
			sw_target_take_thread(t);
#ifdef CONFIG_CGROUPS
		else
			sw_target_take_cgroup(t);
#endif
	}
}

/* Those that are left, as long as there is room. */
static void sw_watch_list_the_rest(void)
{
	unsigned int i, slots = sw_table_slots(&sw_threads);
	struct sw_thread *e;
	struct sw_watched *w;
	unsigned long flags;
	struct sw_cpu *c;

	for (i = 0; i < slots; i++) {
		e = (struct sw_thread *)(sw_threads.slots +
					 (size_t)i * sw_threads.stride);
		if (!READ_ONCE(e->task) || !sw_watch_enter(&c, &flags))
			continue;
		w = sw_watched_of(e);
		if (e->task && w->since && (w->want || w->kept || w->let_go))
			sw_list_put(e->task, e, true);
		sw_watch_leave(c, flags);
	}
}

/**
 * sw_watch_stop - the session ends
 *
 * Counters still run.
 */
static void sw_watch_stop(void)
{
	on_each_cpu(sw_watch_look_everywhere, NULL, 1);
	/* a thread that ends now goes with its last switch, or stays: its
	 * task_struct is not freed before the tracepoint's callbacks are done */
	sw_vthread_unhook();
	sw_watch_list_the_rest();
	WRITE_ONCE(sw_watch.on, false);
	sw_watch.ended = true;
	/* readers of records have RCU */
	synchronize_rcu();
	sw_watch_unhook();
	sw_watch_free_records();
}

#endif
