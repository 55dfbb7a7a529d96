/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise accounting, from module init to module exit, and CPUs that come and go
 * in between.
 *
 *   ppa_start(), ppa_end()	sleepable, alone; see contexts.h for when
 *   ppa_cpu_*()		sleepable; the CPU that is meant does not run
 */
#ifndef STAPWATCH_PPA_SESSION_H
#define STAPWATCH_PPA_SESSION_H

#include "base/access.h"
#include "base/contexts.h"
#include "base/suspend.h"
#include "ppa/control.h"
#include "ppa/dirs.h"
#include "ppa/ready.h"
#include "ppa/waking.h"
#include "ppa/why.h"
#include <linux/cpuhotplug.h>
#include <linux/vmalloc.h>

/* ---- CPUs come and go */

/* Who ran last on a CPU that does not run any more.  The switch away from it comes where
 * no tracepoint is told of anything: it has stopped the CPU, and has nothing to do. */
static void ppa_cpu_leaves(struct ppa_cpu *c)
{
	struct ppa_rec *r = c->rec;

	if (!r)
		return;
	ppa_rec_change(r);
	ppa_fold(c, c->on);
	ppa_life_out(r, c->on, PPA_PART_WORK, c->last);
	WRITE_ONCE(r->wait, PPA_WAIT_NONE);
	WRITE_ONCE(r->cpu, -1);
	ppa_rec_changed(r);
	WRITE_ONCE(c->rec, NULL);
	WRITE_ONCE(c->on, false);
}

/* Charge a CPU that does not run. */
static void ppa_charge_for(struct ppa_cpu *c, unsigned int state, u32 next)
{
	u64 now, d;

	WRITE_ONCE(c->seq, c->seq + 1);
	/* as in ppa_begin(), for that CPU */
	smp_wmb();
	now = sw_tsc();
	if (!c->since) {
		WRITE_ONCE(c->since, now);
		c->last = now;
	}
	d = now >= c->last ? now - c->last : ppa_set_back(c, c->last, now);
	WRITE_ONCE(*ppa_v(c, state), *ppa_v(c, state) + d);
	WRITE_ONCE(c->last, now);
	WRITE_ONCE(c->state, next);
	WRITE_ONCE(c->depth, 0);
	ppa_cpu_leaves(c);
	/* as in ppa_done() */
	smp_wmb();
	WRITE_ONCE(c->seq, c->seq + PPA_UNDER_WAY);
}

/* It does not run yet. */
static int ppa_cpu_prepare(unsigned int cpu)
{
	ppa_charge_for(per_cpu_ptr(&ppa_cpus, cpu), PPA_V_OFFLINE, PPA_V_IDLE);
	per_cpu(ppa_slices, cpu).gap = true;
	return 0;
}

/* It does not run any more: until now it was in what it was in last, as it read. */
static int ppa_cpu_dead(unsigned int cpu)
{
	struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);

	ppa_charge_for(c, c->depth ? c->stack[0] : c->state, PPA_V_OFFLINE);
	return 0;
}

/* ---- from module init to module exit */

static void ppa_end(void)
{
	long n;

	ppa.started = false;
	ppa_files_end();
	ppa_expire_end();
	ppa_kprobes_off();
	sw_hooks_off(ppa_hooks, ARRAY_SIZE(ppa_hooks));
	ppa_waking_off(PPA_WAKING_LOCKS);
	sw_suspend_leave(SW_SUSPEND_PPA);
	if (ppa.hotplug > 0)
		cpuhp_remove_state_nocalls(ppa.hotplug);
	ppa.hotplug = 0;
	/* no handler is in a read any more */
	n = atomic_read(&ppa.table.refused);
	if (n)
		_stp_warn("stapwatch: %ld threads had no room in the table, which holds %d; -G ppa_threads=N makes it larger\n",
			  n, ppa.max);
	n = atomic_long_read(&ppa.unread);
	if (n)
		_stp_warn("stapwatch: %ld values of ppa were asked for in the middle of a change and not given\n",
			  n);
	n = atomic_long_read(&ppa.set_back);
	if (n)
		_stp_warn("stapwatch: %ld times a CPU's counter went back, as when a virtual machine is moved; ppa leaves out how long that took\n",
			  n);
	vfree(ppa.table.slots);
	ppa.table.slots = NULL;
	vfree(ppa.recs);
	ppa.recs = NULL;
	ppa_calls_free();
	n = ppa_locks_lost();
	if (n)
		_stp_warn("stapwatch: %ld waits for locks found no room among them; -G ppa_locks=N makes it\n",
			  n);
	n = atomic64_read(&ppa_locks.given_back);
	if (n)
		_stp_warn("stapwatch: the rows of %ld waits for locks are others' now, after a while without use; -G ppa_locks=N makes room\n",
			  n);
	ppa_locks_free();
	ppa_ready_free();
	atomic_set(&ppa.table.refused, 0);
	atomic_long_set(&ppa.unread, 0);
	atomic_long_set(&ppa.set_back, 0);
}

static int ppa_alloc(int max, bool competitors)
{
	size_t size = sizeof(struct ppa_rec) +
		      ppa.arrays * PPA_NR_SUMS * sizeof(u64);
	void *slots;
	int i, cpu;

	if (competitors) {
		ppa.competing_at = size;
		size += sizeof(struct ppa_competing);
	}
	ppa.stride = roundup(size, 64);
	ppa.recs = vzalloc((size_t)max * ppa.stride);
	slots = vzalloc(sw_table_bytes(&ppa.table, max, 1));
	if (!ppa.recs || !slots) {
		vfree(slots);
		return -ENOMEM;
	}
	sw_table_init(&ppa.table, slots);
	ppa.max = max;
	memset(&ppa.forgotten, 0, sizeof(ppa.forgotten));
	ppa.free = NULL;
	ppa.free_last = NULL;
	for (i = 0; i < max; i++) {
		ppa_rec_at(i)->cpu = -1;
		ppa_rec_free(ppa_rec_at(i));
	}
	for_each_possible_cpu(cpu) {
		struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);

		memset(c, 0, sizeof(*c));
		c->sums_at = cpu / ppa.grain * PPA_NR_SUMS * sizeof(u64);
		c->state = PPA_V_OFFLINE;
		if (cpu_online(cpu)) {
			c->state = PPA_V_NOT_ACCOUNTED;
			c->since = c->last = sw_tsc();
		}
	}
	return 0;
}

/* Records for the threads that are there.  That of one which exits meanwhile goes
 * with the thread's memory, at the latest. */
static void ppa_take_in_all(void)
{
	struct task_struct *process, *task;

	rcu_read_lock();
	for_each_process_thread(process, task)
		if (!READ_ONCE(task->exit_state) ||
		    (thread_group_leader(task) && !thread_group_empty(task)))
			ppa_insert(task, NULL);
	rcu_read_unlock();
}

static int ppa_begin_all(int max, unsigned int locks, bool competitors,
			 struct sw_access access)
{
	static const u64 bounds[PPA_NR_BUCKETS - 1] = {
		10, 100, 1000, 10000, 100000, 1000000
	};
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(bounds); i++)
		ppa.bounds[i] = mul_u64_u64_div_u64(bounds[i], ppa.hz,
						    USEC_PER_SEC);
	/* before records tell that there are any */
	rc = competitors ? ppa_ready_alloc() : 0;
	rc = rc ?: ppa_alloc(max, competitors);
	if (rc) {
		_stp_error("stapwatch: no memory for %d threads; try a smaller -G ppa_threads=N, or a larger -G ppa_scale=N\n",
			   max);
		return rc;
	}
	rc = ppa.calls ? ppa_calls_alloc() : 0;
	if (rc) {
		_stp_error("stapwatch: no memory to count system calls by number; leave out -G ppa_syscalls=1\n");
		return rc;
	}
	rc = locks ? ppa_locks_alloc(locks) : 0;
	if (rc) {
		_stp_error("stapwatch: no memory for %u locks; try a smaller -G ppa_locks=N\n",
			   locks);
		return rc;
	}
	rc = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "stapwatch:ppa",
				       ppa_cpu_prepare, ppa_cpu_dead);
	if (rc < 0) {
		_stp_error("stapwatch: cannot follow CPUs going on and off (%d)\n",
			   rc);
		return rc;
	}
	ppa.hotplug = rc;
	sw_suspend_follow(SW_SUSPEND_PPA);
	ppa_fault_text_find();
	ppa_hooks_choose();
	sw_hooks_find(ppa_hooks, ARRAY_SIZE(ppa_hooks));
	if (locks && !ppa_has_hook("contention_begin"))
		_stp_warn("stapwatch: this kernel does not tell of its own locks; ppa_locks has those of programs and files\n");
	rc = locks ? ppa_waking_on(PPA_WAKING_LOCKS, "ppa_locks") : 0;
	if (!rc)
		rc = ppa_hooks_set(ppa.flags & PPA_ON);
	if (rc)
		return rc;
	ppa_take_in_all();
	ppa_sync_all(&ppa);
	ppa_expire_set();
	return ppa_files_start(access);
}

/**
 * ppa_start - begin to account
 * @threads: how many there may be at once
 * @scale: CPUs to an array, as it is kept; 0: as few as 32 arrays allow
 * @flags: PPA_ON, ...
 * @calls: whether they are counted by number
 * @locks: how many are told apart; 0: none
 * @competitors: whether it is kept who ran while threads were ready
 * @access: who may read the files
 * @guru: programs may be changed
 *
 * Context: sleepable; see contexts.h.
 * Return: 0, or an errno after a message; ppa_end() is called in any case.
 */
static int ppa_start(s64 threads, s64 scale, s64 flags, s64 calls, s64 locks,
		     s64 competitors, struct sw_access access, bool guru)
{
	int rc;

	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		_stp_error("stapwatch: ppa does not work on a PREEMPT_RT kernel, where interrupts are threads\n");
		return -EOPNOTSUPP;
	}
	if (threads < 1 || threads > 1 << 20) {
		_stp_error("stapwatch: ppa_threads=%lld: it must be from 1 to %d\n",
			   threads, 1 << 20);
		return -EINVAL;
	}
	if (scale < 0 || scale > nr_cpu_ids) {
		_stp_error("stapwatch: ppa_scale=%lld: it must be from 1 to %u, the number of CPUs\n",
			   scale, nr_cpu_ids);
		return -EINVAL;
	}
	if (flags < 0 || flags > PPA_FLAGS || ((flags & PPA_EXPIRE) && !guru)) {
		_stp_error("stapwatch: ppa_flags=%lld: it is the sum of 1 and 2 and, with stap -g only, 4\n",
			   flags);
		return -EINVAL;
	}
	if (calls < 0 || calls > 1) {
		_stp_error("stapwatch: ppa_syscalls=%lld: it must be 0 or 1\n",
			   calls);
		return -EINVAL;
	}
	if (locks < 0 || locks > 1 << 20) {
		_stp_error("stapwatch: ppa_locks=%lld: it must be from 0, for none, to %d\n",
			   locks, 1 << 20);
		return -EINVAL;
	}
	if (competitors < 0 || competitors > 1) {
		_stp_error("stapwatch: ppa_competitors=%lld: it must be 0 or 1\n",
			   competitors);
		return -EINVAL;
	}
	ppa.calls = calls;
	ppa.guru = guru;
	ppa.hz = sw_tsc_hz();
	if (!ppa.hz) {
		_stp_error("stapwatch: ppa: this kernel does not know the frequency of the processor's counter\n");
		return -EOPNOTSUPP;
	}
	if (!sw_tsc_is_global())
		_stp_warn("stapwatch: the counters of this machine's CPUs differ; times between two CPUs, as from a wake-up to running, may be wrong\n");
	ppa.grain = scale ?: DIV_ROUND_UP(nr_cpu_ids, 32);
	ppa.arrays = DIV_ROUND_UP(nr_cpu_ids, ppa.grain);
	ppa.scale = nr_cpu_ids;
	ppa.flags = flags;
	mutex_lock(&ppa.lock);
	rc = ppa_begin_all(threads, locks, competitors, access);
	ppa.started = !rc;
	mutex_unlock(&ppa.lock);
	return rc;
}

#endif
