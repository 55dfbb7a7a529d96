/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control: for whom is what accounted for, and the tracepoints that this takes.
 *
 *   ppa_sync()		on its CPU, by an interrupt from another one or alone
 *   ppa_hooks_set(), ppa_control(), ppa_sync_all()	sleepable, under ppa.lock
 */
#ifndef STAPWATCH_PPA_CONTROL_H
#define STAPWATCH_PPA_CONTROL_H

#include "base/cpus.h"
#include "base/hooks.h"
#include "base/kernel.h"
#include "ppa/expire.h"
#include "ppa/sched.h"
#include <linux/delay.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/syscalls.h>

/* The sets of hooks: always; the same, where the kernel has them, for no
 * architecture has all interrupts; with accounting on; the same. */
enum { PPA_ALWAYS, PPA_ALWAYS_IF, PPA_FULL, PPA_FULL_IF };

static struct sw_hook ppa_hooks[] = {
	{ "sched_switch", SW_SWITCH_CALLBACK(ppa_on_switch), PPA_ALWAYS },
	{ "task_newtask", ppa_on_new, PPA_ALWAYS },
	{ "sched_process_free", ppa_on_free, PPA_ALWAYS },
	{ "sched_process_exec", ppa_on_exec, PPA_ALWAYS },
	SW_IRQ_HOOKS(ppa, PPA_ALWAYS_IF),
	{ "sys_exit", ppa_on_sys_exit, PPA_FULL },
	{ "sys_enter", ppa_on_sys_enter, PPA_FULL },
	{ "sched_wakeup", ppa_on_wakeup, PPA_FULL },
	{ "sched_wakeup_new", ppa_on_wakeup_new, PPA_FULL },
	{ "signal_deliver", ppa_on_signal, PPA_FULL },
	{ "tasklet_entry", ppa_on_tasklet, PPA_FULL_IF },
	{ "contention_end", ppa_on_contention_end, PPA_FULL_IF },
	{ "contention_begin", ppa_on_contention_begin, PPA_FULL_IF },
	{ "sched_exit_tp", ppa_on_sched_exit, PPA_FULL_IF },
	{ "sched_entry_tp", ppa_on_sched_entry, PPA_FULL_IF },
};

static void __maybe_unused ppa_check_callbacks(void)
{
	check_trace_callback_type_sched_switch(SW_SWITCH_CALLBACK(ppa_on_switch));
	check_trace_callback_type_sched_switch(
		SW_SWITCH_CALLBACK(ppa_on_competing_switch));
	check_trace_callback_type_task_newtask(ppa_on_new);
	check_trace_callback_type_sched_process_free(ppa_on_free);
	check_trace_callback_type_sched_process_exec(ppa_on_exec);
	check_trace_callback_type_sched_wakeup(ppa_on_wakeup);
	check_trace_callback_type_sched_wakeup_new(ppa_on_wakeup_new);
	check_trace_callback_type_irq_handler_entry(ppa_on_irq_entry);
	check_trace_callback_type_irq_handler_exit(ppa_on_irq_exit);
	check_trace_callback_type_softirq_entry(ppa_on_softirq_entry);
	check_trace_callback_type_softirq_exit(ppa_on_softirq_exit);
	check_trace_callback_type_sys_enter(ppa_on_sys_enter);
	check_trace_callback_type_sys_exit(ppa_on_sys_exit);
	check_trace_callback_type_sys_enter(ppa_on_counted_enter);
	check_trace_callback_type_sys_exit(ppa_on_counted_exit);
	check_trace_callback_type_signal_deliver(ppa_on_signal);
}

/* Before any is hooked: those that look at what is called, and at locks, or those that
 * do not. */
static void ppa_hooks_choose(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ppa_hooks); i++) {
		struct sw_hook *h = &ppa_hooks[i];

		if (!strcmp(h->name, "sched_switch"))
			h->callback = ppa.competing_at ?
				SW_SWITCH_CALLBACK(ppa_on_competing_switch) :
				SW_SWITCH_CALLBACK(ppa_on_switch);
		else if (!strcmp(h->name, "sys_enter"))
			h->callback = ppa.calls ? ppa_on_counted_enter
						: ppa_on_sys_enter;
		else if (!strcmp(h->name, "sys_exit"))
			h->callback = ppa.calls ? ppa_on_counted_exit
						: ppa_on_sys_exit;
		else if (!strcmp(h->name, "contention_begin"))
			h->callback = ppa_locks.rows ? ppa_on_lock_begin
						     : ppa_on_contention_begin;
		else if (!strcmp(h->name, "contention_end"))
			h->callback = ppa_locks.rows ? ppa_on_lock_end
						     : ppa_on_contention_end;
	}
}

static bool ppa_has_hook(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ppa_hooks); i++)
		if (!strcmp(ppa_hooks[i].name, name))
			return ppa_hooks[i].tp;
	return false;
}

/* Hook what accounting wants, all or what idle time takes. */
static int ppa_hooks_set(bool full)
{
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(ppa_hooks); i++) {
		struct sw_hook *h = &ppa_hooks[i];

		if (h->set >= PPA_FULL && !full) {
			sw_hook_off(h);
			continue;
		}
		if (!h->tp && (h->set == PPA_ALWAYS_IF || h->set == PPA_FULL_IF))
			continue;
		rc = sw_hook_on(h);
		if (rc) {
			_stp_error("stapwatch: this kernel has no usable tracepoint %s, which ppa needs (%d)\n",
				   h->name, rc);
			return rc;
		}
	}
	if (!full && ppa_locks.rows) {
		tracepoint_synchronize_unregister();
		ppa_spins_forget();
	}
	if (ppa_has_hook("sched_exit_tp")) {
		ppa.knows_switches = true;
	} else if (!full) {
		ppa_kprobes_off();
	} else if (!ppa_kprobes[0].addr) {
		ppa.knows_switches = !ppa_kprobes_on();
		if (!ppa.knows_switches)
			_stp_warn("stapwatch: reschedules and context switch times cannot be seen on this kernel; they stay 0\n");
	}
	return 0;
}

/* What current has run so far is charged to it; from here on it is R's, if that is
 * ON.  R is within a change if it is not C's. */
static void ppa_sync_run(struct ppa_cpu *c, struct ppa_rec *r)
{
	if (c->rec)
		ppa_rec_change(c->rec);
	ppa_fold(c, c->rec && c->on);
	/* this may be within an interrupt, whose rest is still to come */
	c->interrupted = c->depth;
	if (r)
		ppa_life_sync(r, c->rec == r && c->on, c->last);
	if (c->rec)
		ppa_rec_changed(c->rec);
}

/* On a CPU: let its thread's accounting be as its record says, and its state as
 * the thread's is; a timeline is told where it stands.  FIRST: begin. */
static void ppa_sync(void *first)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	struct ppa_rec *r = NULL;
	struct ppa_slice slice;
	unsigned long irq;
	bool on = READ_ONCE(ppa.flags) & PPA_ON, is_new, changed, has_slices;
	u32 state;

	local_irq_save(irq);
	/* what it came within would go on with what it has read */
	if (this_cpu_read(ppa_cpus.seq) & PPA_UNDER_WAY)
		goto out;
	if (!is_idle_task(current))
		r = ppa_find(current);
	/* the record was made after the thread came in */
	is_new = r && r != c->rec;
	ppa_begin();
	/* before the clock is read: see ppa_rec_change() */
	if (is_new)
		ppa_rec_change(r);
	ppa_charge(c->state);
	if (first) {
		memset(c->v, 0, sizeof(c->v));
		WRITE_ONCE(c->since, c->last);
		WRITE_ONCE(c->on, false);
	}
	if (r)
		on = READ_ONCE(r->flags) & PPA_ON;
	if (is_idle_task(current)) {
		on = false;
		state = PPA_V_IDLE;
	} else {
		state = on ? ppa_mode_of(current) : PPA_V_NOT_ACCOUNTED;
	}
	has_slices = ppa_has_slices();
	if (has_slices)
		ppa_slice_take(&slice, c, current);
	changed = first || c->rec != r || c->on != on;
	if (changed || has_slices)
		ppa_sync_run(c, r);
	if (changed) {
		WRITE_ONCE(c->call, PPA_CALL_NONE);
		WRITE_ONCE(c->rec, r);
		/* with smp_load_acquire() in ppa_woken(): who sees ON sees who
		 * runs here */
		WRITE_ONCE(c->task, current);
		smp_store_release(&c->on, on);
		if (c->depth)
			c->stack[0] = state;
		else
			WRITE_ONCE(c->state, state);
	}
	WRITE_ONCE(c->task, current);
	if (r)
		WRITE_ONCE(r->cpu, smp_processor_id());
	if (is_new)
		ppa_rec_changed(r);
	ppa_done();
	if (has_slices)
		ppa_slice_put(&slice, c->last, current->pid);
	WRITE_ONCE(c->unsynced, false);
out:
	local_irq_restore(irq);
}

static bool ppa_is_unsynced(int cpu, void *first)
{
	return READ_ONCE(per_cpu(ppa_cpus.unsynced, cpu));
}

/* The same on each CPU that is online.  One on which it came within a change, of some
 * instructions, is asked again. */
static void ppa_sync_all(void *first)
{
	bool again;
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(ppa_cpus.unsynced, cpu), true);
	do {
		on_each_cpu_cond(ppa_is_unsynced, ppa_sync, first, true);
		again = false;
		sw_for_each_online_cpu(cpu)
			again |= ppa_is_unsynced(cpu, first);
		/* who changes may be a thread that waits for this one's CPU */
		if (again)
			usleep_range(20, 100);
	} while (again);
}

/* Has any thread, or will a new one have, this flag? */
static bool ppa_any(u8 flag)
{
	int i;

	if (ppa.flags & flag)
		return true;
	for (i = 0; i < ppa.max; i++)
		if (READ_ONCE(ppa_rec_at(i)->task) &&
		    (READ_ONCE(ppa_rec_at(i)->flags) & flag))
			return true;
	return false;
}

static void ppa_expire_set(void)
{
	if (ppa_any(PPA_EXPIRE))
		ppa_expire_start();
	else
		ppa_expire_end();
}

static void ppa_rec_control(struct ppa_rec *r, u8 flags, u32 scale)
{
	WRITE_ONCE(r->flags, flags);
	WRITE_ONCE(r->scale, scale);
	/* while nothing is hooked it may get the lock unseen */
	WRITE_ONCE(r->lock, NULL);
}

/* A thread that goes meanwhile leaves its record to another. */
static int ppa_control_one(pid_t tid, u8 flags, u32 scale)
{
	struct ppa_rec *r;
	unsigned long irq;

	raw_spin_lock_irqsave(&ppa.records, irq);
	r = ppa_find_tid(tid);
	if (r) {
		ppa_rec_control(r, flags, scale);
	}
	raw_spin_unlock_irqrestore(&ppa.records, irq);
	return r ? 0 : -ESRCH;
}

/* What who is born meanwhile has from its parent may be the old setting, in a record that
 * has been passed already: so it gets everyone's. */
static void ppa_control_all(u8 flags, u32 scale)
{
	unsigned long irq;
	int i;

	raw_spin_lock_irqsave(&ppa.records, irq);
	WRITE_ONCE(ppa.flags, flags);
	WRITE_ONCE(ppa.scale, scale);
	ppa.for_all = true;
	raw_spin_unlock_irqrestore(&ppa.records, irq);
	for (i = 0; i < ppa.max; i++)
		ppa_rec_control(ppa_rec_at(i), flags, scale);
	raw_spin_lock_irqsave(&ppa.records, irq);
	ppa.for_all = false;
	raw_spin_unlock_irqrestore(&ppa.records, irq);
}

/*
 * ppa_control - what is written to ppactl
 * @tid: the thread's number, or 0: everyone's, now and later
 * @flags: PPA_ON, ...
 * @scale: CPUs to an array, as it is shown
 *
 * Context: sleepable, ppa.lock is held.
 * Return: 0 or an errno.
 */
static int ppa_control(pid_t tid, u8 flags, u32 scale)
{
	int rc = 0;

	if (scale < 1 || scale > nr_cpu_ids ||
	    (scale % ppa.grain && scale != nr_cpu_ids))
		return -EINVAL;
	if ((flags & PPA_EXPIRE) && !ppa.guru)
		return -EPERM;
	if (tid)
		rc = ppa_control_one(tid, flags, scale);
	else
		ppa_control_all(flags, scale);
	rc = rc ?: ppa_hooks_set(ppa_any(PPA_ON));
	if (rc)
		return rc;
	ppa_sync_all(NULL);
	ppa_expire_set();
	return 0;
}

#endif
