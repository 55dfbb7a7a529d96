/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of processes that have ended are given back when a function has few left, or when
 * one found no place, and what they have counted goes to the function's own histograms,
 * the others'.
 *
 * First the place's word is one that nobody looks for, and its generation another one: a
 * call that begins does not find it, and one that is under way goes to the others when
 * it returns.  A grace period later no handler is left that has found the place before;
 * what is in its histograms then stays, and is moved.  At the end the place is as new.
 *
 * Nothing is lost and nothing is counted twice, but for who reads while rows are moved.
 * So a table that is printed in parts and the moving exclude each other.
 *
 * Who may run what, against whom:
 *
 *   sw_call_sweep()		a work item: of a session one at a time, against all handlers
 *   sw_call_sweep_begin(), sw_call_sweep_end()	sleepable, under sw_session_lock
 */
#ifndef STAPWATCH_CALL_SWEEP_H
#define STAPWATCH_CALL_SWEEP_H

#include "base/kernel.h"
#include "base/work.h"
#include "call/hists.h"
#include "call/keys.h"
#include "call/state.h"
#include "store/move.h"
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#define SW_CALL_SWEEP_MS 100
/* A function has few keys left when less than one of so many is free. */
#define SW_CALL_SWEEP_SHARE 4

static void sw_call_sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(sw_call_sweep_work, sw_call_sweep);

/* Numbers 0 and below are nobody's that ends. */
static bool sw_call_process_is_gone(u64 key)
{
	const struct task_struct *task;
	bool is_gone;

	if (!sw_call_key_tgid(key))
		return false;
	rcu_read_lock();
	task = pid_task(find_pid_ns(sw_call_key_tgid(key), &init_pid_ns),
			PIDTYPE_TGID);
	is_gone = !task || sw_call_key_of_process(task->tgid,
						  task->start_time) != key;
	rcu_read_unlock();
	return is_gone;
}

static bool sw_call_key_is_over(const struct sw_call *call, unsigned int at)
{
	const u64 word = READ_ONCE(call->words[at]);

	if (!word || word == SW_CALL_RETIRED)
		return false;
	/* one that never became ready, too: its taker found another */
	return READ_ONCE(call->keys[at].state) == SW_CALL_KEY_TWICE ||
	       sw_call_process_is_gone(word ^ SW_CALL_NO_KEY);
}

static void sw_call_key_retire(struct sw_call *call, unsigned int at)
{
	struct sw_call_hists *h = &call->keys[at].hists;

	/* nobody labels those of a process that is gone */
	if (READ_ONCE(call->keys[at].state) == SW_CALL_KEY_READY)
		sw_call_hists_hide(h);
	WRITE_ONCE(call->words[at], SW_CALL_RETIRED);
	/* with smp_load_acquire() in sw_call_hists_by_key() */
	smp_store_release(&h->generation, h->generation + 1);
}

static bool sw_call_has_few_keys(struct sw_call *call)
{
	unsigned int at, free = 0;

	/* a key looks at some of the places only */
	if (READ_ONCE(call->crowded)) {
		WRITE_ONCE(call->crowded, false);
		return true;
	}
	for (at = 0; at < sw_calls.max_keys; at++)
		free += !READ_ONCE(call->words[at]);
	return free * SW_CALL_SWEEP_SHARE < sw_calls.max_keys;
}

/* Return: whether there are any. */
static bool sw_call_keys_retire(void)
{
	unsigned int i, at;
	bool any = false;

	for (i = 0; i < sw_calls.nr; i++) {
		struct sw_call *call = &sw_calls.calls[i];

		cond_resched();
		if (!call->words || !sw_call_has_few_keys(call))
			continue;
		for (at = 0; at < sw_calls.max_keys; at++) {
			if (!sw_call_key_is_over(call, at))
				continue;
			sw_call_key_retire(call, at);
			any = true;
		}
	}
	return any;
}

/* A grace period after it was retired. */
static void sw_call_key_free(struct sw_call *call, unsigned int at)
{
	struct sw_call_key *k = &call->keys[at];
	unsigned int i;

	if (k->state == SW_CALL_KEY_READY) {
		sw_call_hists_hide(&k->hists);
		for (i = 0; i <= sw_calls.nr_asked; i++)
			if (k->hists.at[i])
				sw_hist_move(k->hists.numbers[i],
					     call->hists.numbers[i]);
	}
	for (i = 0; i < ARRAY_SIZE(k->comm); i++)
		WRITE_ONCE(k->comm[i], 0);
	WRITE_ONCE(k->state, SW_CALL_KEY_NEW);
	/* with cmpxchg() in sw_call_key_get() */
	smp_store_release(&call->words[at], 0);
}

/* Return: whether they could be given back, as no table is being printed. */
static bool sw_call_keys_free_retired(void)
{
	unsigned int i, at;

	/* with smp_store_release() in sw_calls_print_part(): it has read all */
	if (cmpxchg(&sw_calls.rows_user, SW_CALL_ROWS_FREE, SW_CALL_ROWS_SWEPT))
		return false;
	for (i = 0; i < sw_calls.nr; i++) {
		struct sw_call *call = &sw_calls.calls[i];

		for (at = 0; call->words && at < sw_calls.max_keys; at++) {
			if (call->words[at] != SW_CALL_RETIRED)
				continue;
			sw_call_key_free(call, at);
			cond_resched();
		}
	}
	/* with cmpxchg() in sw_calls_print_part() */
	smp_store_release(&sw_calls.rows_user, SW_CALL_ROWS_FREE);
	return true;
}

static void sw_call_sweep(struct work_struct *work)
{
	if (!sw_calls.retired && sw_call_keys_retire()) {
		/* handlers have preemption off */
		synchronize_rcu();
		sw_calls.retired = true;
	}
	if (sw_calls.retired)
		sw_calls.retired = !sw_call_keys_free_retired();
	sw_work_delay(&sw_call_sweep_work, sw_calls.retired ? 1 :
		      msecs_to_jiffies(SW_CALL_SWEEP_MS));
}

static void sw_call_sweep_begin(void)
{
	if (sw_calls.by != SW_CALL_BY_PROCESS)
		return;
	sw_calls.sweeps = true;
	sw_work_delay(&sw_call_sweep_work, msecs_to_jiffies(SW_CALL_SWEEP_MS));
}

static void sw_call_sweep_end(void)
{
	if (sw_calls.sweeps)
		cancel_delayed_work_sync(&sw_call_sweep_work);
	sw_calls.sweeps = false;
}

#endif
