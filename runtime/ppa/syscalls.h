/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls by number: how many, how they ended, how long they took, and what
 * their time went to.
 *
 * Each CPU has a table of all numbers.  The call that its thread is within is an
 * offset in there, which goes with the thread when that is switched away, and stays
 * when the call is over: what the CPU's state is tells whether it still counts.
 * Whatever time is charged meanwhile, on a CPU or off it, is charged to the call too:
 * so of all calls the parts are what the threads had within calls, to the tick.
 *
 * A call is seen from its begin on.  One that a new thread only returns from, or that
 * had begun before the accounting did, is none.
 *
 * Who may run what, against whom:
 *
 *   ppa_call_begins(), _returns()	system calls, preemption off
 *   ppa_call_charge(), _add()	on this CPU, which stays; interrupts may come, and
 *				charge too: parts change by one instruction
 *   ppa_call_out(), _in()	a switch
 *   ppa_calls_alloc(), _free()	sleepable, when nobody counts
 */
#ifndef STAPWATCH_PPA_SYSCALLS_H
#define STAPWATCH_PPA_SYSCALLS_H

#include "ppa/state.h"
#include <asm/local64.h>
#include <asm/syscall.h>
#include <linux/bitops.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/topology.h>
#include <linux/unistd.h>
#include <linux/vmalloc.h>

/* The words of a struct ppa_syscall, after its number. */
struct ppa_call {
	u64 unreturned;
	u64 errors;
	u64 longest;
	u64 buckets[PPA_NR_CALL_BUCKETS];
	local64_t parts[PPA_NR_PARTS];
};

#define PPA_CALL_WORDS (sizeof(struct ppa_call) / sizeof(u64))

/* All that have no number here, the numbers, and a place for what is no call. */
#define PPA_CALL_FIRST 1
#define PPA_NR_CALLS (PPA_CALL_FIRST + NR_syscalls)
#define PPA_CALL_NONE (PPA_NR_CALLS * sizeof(struct ppa_call))

/* x32's numbers are above all others, but those of 32-bit programs are not. */
#ifdef CONFIG_X86
#define PPA_CALL_IS_FOREIGN() in_ia32_syscall()
#else
#define PPA_CALL_IS_FOREIGN() in_compat_syscall()
#endif

/* One of this CPU's table. */
static __always_inline struct ppa_call *ppa_call_at(u64 at)
{
	return (struct ppa_call *)(this_cpu_read(ppa_cpus.calls) + at);
}

static __always_inline unsigned long ppa_call_bucket(u64 ticks)
{
	unsigned long power;

	ticks += 1UL << PPA_CALL_POWER;
	power = __fls(ticks);
	/* the three highest bits are a number from 4 to 7; `& 63' saves the check of
	 * a kernel with UBSAN */
	return power * 4 + (ticks >> ((power - 2) & 63)) -
	       4 * (PPA_CALL_POWER + 1);
}

/* What has no bucket: after the last, or before the call, as the counter may go
 * back: charge.h. */
#define PPA_CALL_LONG (PPA_CALL_POWER + PPA_NR_CALL_BUCKETS / 4 - 1)

static noinline u64 ppa_call_took(struct ppa_call *call, s64 took)
{
	if (took < 0)
		return 0;
	if (took > call->longest)
		call->longest = took;
	return (1UL << PPA_CALL_LONG) - 1;
}

/*
 * A call begins; its time does when `called' is set.  This comes before the CPU is in
 * system mode: what is charged in between is not the call's.
 */
static __always_inline void ppa_call_begins(long id)
{
	unsigned long i = array_index_nospec(id + 1UL, NR_syscalls + 1UL);

	if (unlikely(PPA_CALL_IS_FOREIGN()))
		i = 0;
	this_cpu_write(ppa_cpus.call, i * sizeof(struct ppa_call));
}

/* It is over: NOW, D after the last charge. */
static __always_inline void ppa_call_returns(u64 now, u64 d, long result)
{
	struct ppa_call *call = ppa_call_at(this_cpu_read(ppa_cpus.call));
	u64 took = now - this_cpu_read(ppa_cpus.called);

	local64_add(d, &call->parts[PPA_PART_SYSTEM]);
	if (unlikely(took >> PPA_CALL_LONG))
		took = ppa_call_took(call, took);
	/* not an index: UBSAN would check it */
	++*(call->buckets + ppa_call_bucket(took));
	if (unlikely(took > call->longest))
		call->longest = took;
	if (unlikely(IS_ERR_VALUE(result)))
		call->errors++;
}

/* What a CPU's state is of its thread's call; PPA_NR_PARTS: no part of it. */
static u8 ppa_call_part(const struct ppa_cpu *c, unsigned int state)
{
	if (state == PPA_V_SYSTEM)
		return PPA_PART_SYSTEM;
	/* in what the outermost interrupt came */
	if (!c->depth || c->stack[0] != PPA_V_SYSTEM)
		return PPA_NR_PARTS;
	if (state == PPA_V_INT)
		return PPA_PART_INT;
	if (state - PPA_V_KIND < NR_SOFTIRQS)
		return PPA_PART_SOFT;
	return PPA_NR_PARTS;
}

/* The CPU was in STATE for D. */
static noinline void ppa_call_charge(unsigned int state, u64 d)
{
	u8 part = ppa_call_part(this_cpu_ptr(&ppa_cpus), state);

	if (part < PPA_NR_PARTS)
		local64_add(d, ppa_call_at(this_cpu_read(ppa_cpus.call))->parts +
			       part);
}

/* A thread that comes to this CPU within call AT was in PART for D. */
static __always_inline void ppa_call_add(u64 at, u8 part, u64 d)
{
	local64_add(d, ppa_call_at(at)->parts + part);
}

/* A thread goes that was in STATE, perhaps for good. */
static __always_inline void
ppa_call_out(struct ppa_cpu *c, struct ppa_rec *out, u32 state, bool dead)
{
	u64 at = state == PPA_V_SYSTEM ? c->call : PPA_CALL_NONE;

	if (out) {
		out->call = at;
		out->called = c->called;
	}
	if (unlikely(dead))
		ppa_call_at(at)->unreturned++;
	else if (unlikely(!out) && at != PPA_CALL_NONE)
		c->calls_lost++;
	WRITE_ONCE(c->call, PPA_CALL_NONE);
}

/* One comes, which is accounted for if ON. */
static __always_inline void
ppa_call_in(struct ppa_cpu *c, struct ppa_rec *in, bool on)
{
	c->called = in->called;
	barrier();
	WRITE_ONCE(c->call, on ? in->call : PPA_CALL_NONE);
	in->call = PPA_CALL_NONE;
}

static void ppa_calls_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);

		vfree(c->calls);
		c->calls = NULL;
	}
}

/* Return: 0, or -ENOMEM; ppa_calls_free() is called in any case. */
static int ppa_calls_alloc(void)
{
	int cpu;

	BUILD_BUG_ON(sizeof(struct ppa_call) !=
		     sizeof(struct ppa_syscall) -
		     offsetof(struct ppa_syscall, unreturned));
	for_each_possible_cpu(cpu) {
		struct ppa_cpu *c = per_cpu_ptr(&ppa_cpus, cpu);

		c->calls = vzalloc_node((PPA_NR_CALLS + 1) *
					sizeof(struct ppa_call),
					cpu_to_node(cpu));
		c->call = PPA_CALL_NONE;
		if (!c->calls)
			return -ENOMEM;
	}
	return 0;
}

#endif
