/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who ran on a CPU while a thread waited for one: of each CPU the last switches.
 *
 * Who may run what, against whom:
 *
 *   ppa_ran_on_switch()	a switch: the run queue locked, interrupts off
 *   ppa_slow(), _competitor()	after a switch, on its CPU, preemption off: handlers
 *				of finish_task_switch(), or before the next one
 *   ppa_slow_start(), _end()	sleepable, alone; see contexts.h for when
 */
#ifndef STAPWATCH_PPA_SLOW_H
#define STAPWATCH_PPA_SLOW_H

#include "base/hooks.h"
#include "base/kernel.h"
#include "ppa/session.h"

/* Switches of a CPU that are kept: a power of two. */
#define PPA_RAN 64

/* Who went, and when. */
struct ppa_gone {
	u64 at;
	pid_t tid;
	char comm[TASK_COMM_LEN];
};

struct ppa_ran {
	u32 nr;			/* of all switches */
	struct ppa_gone gone[PPA_RAN];
};

static DEFINE_PER_CPU(struct ppa_ran, ppa_ran);

static void
ppa_ran_on_switch(void *data, bool preempt, struct task_struct *prev,
		  struct task_struct *next, unsigned int prev_state)
{
	struct ppa_ran *ran = this_cpu_ptr(&ppa_ran);
	struct ppa_gone *gone = &ran->gone[ran->nr++ % PPA_RAN];

	gone->at = sw_tsc();
	gone->tid = prev->pid;
	memcpy(gone->comm, prev->comm, sizeof(gone->comm));
}
SW_SWITCH_WITHOUT_STATE(ppa_ran_on_switch)

static struct sw_hook ppa_slow_hooks[] = {
	{ "sched_switch", SW_SWITCH_CALLBACK(ppa_ran_on_switch) },
};

static void __maybe_unused ppa_slow_check_callbacks(void)
{
	check_trace_callback_type_sched_switch(
		SW_SWITCH_CALLBACK(ppa_ran_on_switch));
}

/* For how long current was ready before it came to this CPU, in ticks; 0: it was not,
 * or that is not known. */
static u64 ppa_slow(void)
{
	const struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);

	return c->moment == PPA_WAIT_NONE ? 0 : c->waited;
}

/*
 * ppa_slow_competitor - the Nth thread that ran here meanwhile, the last one first
 * @n: from 0 on
 * @ticks: gets for how long, within the wait
 *
 * Return: NULL if there are no more, or no more is known.
 */
static const struct ppa_gone *ppa_slow_competitor(s64 n, u64 *ticks)
{
	const struct ppa_ran *ran = this_cpu_ptr(&ppa_ran);
	const u64 waited = ppa_slow();
	const struct ppa_gone *gone, *before;
	u64 end, begin, from;

	/* each ran from when the one before it went */
	if (!waited || n < 0 || n > PPA_RAN - 2 || n + 2 > ran->nr)
		return NULL;
	end = ran->gone[(ran->nr - 1) % PPA_RAN].at;
	begin = end > waited ? end - waited : 0;
	gone = &ran->gone[(ran->nr - 1 - n) % PPA_RAN];
	before = &ran->gone[(ran->nr - 2 - n) % PPA_RAN];
	/* with its own going the wait began, which was noted a little later */
	if (gone->at <= begin || gone->tid == current->pid)
		return NULL;
	from = max(before->at, begin);
	*ticks = gone->at > from ? gone->at - from : 0;
	return gone;
}

static void ppa_slow_end(void)
{
	sw_hooks_off(ppa_slow_hooks, ARRAY_SIZE(ppa_slow_hooks));
}

/* Return: 0, or an errno after a message; ppa_slow_end() is called in any case. */
static int ppa_slow_start(void)
{
	int rc, cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&ppa_ran, cpu), 0, sizeof(struct ppa_ran));
	sw_hooks_find(ppa_slow_hooks, ARRAY_SIZE(ppa_slow_hooks));
	rc = sw_hook_on(&ppa_slow_hooks[0]);
	if (rc)
		_stp_error("stapwatch: this kernel has no usable tracepoint %s, which ppa.runqslower needs (%d)\n",
			   ppa_slow_hooks[0].name, rc);
	return rc;
}

#endif
