/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls told apart by who makes them, or by what they are called with: a function
 * has histograms for each such key, up to a number of keys, and its own for the rest.
 *
 * A key has its place by its hash.  A place is taken by one instruction.  Whoever
 * finds it taken, but not ready, makes its histograms too: by the same names they are
 * the same, and so nobody waits for anybody.
 *
 * Who may run what, against whom:
 *
 *   sw_call_hists_of()		any context that kprobes run in, NMI included, preemption
 *				off
 *   sw_call_keys_make()	sleepable, under sw_session_lock
 *   sw_call_keys_free()	module exit: sleepable, alone
 */
#ifndef STAPWATCH_CALL_KEYS_H
#define STAPWATCH_CALL_KEYS_H

#include "base/access.h"
#include "base/kernel.h"
#include "call/hists.h"
#include "call/state.h"
#include <asm/syscall.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>

#define SW_CALL_MAX_KEYS 4096
/* How far from its hash a key may stand. */
#define SW_CALL_WINDOW 16
/* The one value that no key may have, so that 0 is a place that nobody has. */
#define SW_CALL_NO_KEY 0x9d5c6a1f3b7e2480ULL

enum sw_call_key_state {
	SW_CALL_KEY_NEW,
	SW_CALL_KEY_READY,
	SW_CALL_KEY_NO_ROOM,
};

static __always_inline s64 sw_call_key_value(const struct sw_call_key *k)
{
	return READ_ONCE(k->word) ^ SW_CALL_NO_KEY;
}

/* The argument that calls are told apart by.  A system call has one, its registers. */
static s64 sw_call_argument(const struct sw_call *call, struct pt_regs *regs)
{
	unsigned long args[6], value;

	if (call->wraps) {
		syscall_get_arguments(current, (struct pt_regs *)
				      regs_get_kernel_argument(regs, 0), args);
		value = args[sw_calls.argument];
	} else {
		value = regs_get_kernel_argument(regs, sw_calls.argument);
	}
	return sw_calls.argument_is_int ? (s32)value : (s64)value;
}

/* What all histograms of the key are named by. */
static int sw_call_key_make(const struct sw_call *call, struct sw_call_key *k)
{
	char labels[SW_CTR_NAME];
	struct sw_call_name name;
	int n;

	if (sw_calls.by == SW_CALL_BY_PROCESS)
		n = snprintf(labels, sizeof(labels),
			     "function=\"%s\",process=\"%lld\"", call->name,
			     sw_call_key_value(k));
	else
		n = snprintf(labels, sizeof(labels),
			     "function=\"%s\",arg%u=\"%lld\"", call->name,
			     sw_calls.argument + 1, sw_call_key_value(k));
	return n < sizeof(labels) ? sw_call_hists_make(&k->hists, labels, &name)
				  : -EINVAL;
}

/* The first who says whether they could be made is right for all. */
static noinline void
sw_call_key_begin(const struct sw_call *call, struct sw_call_key *k)
{
	/* with smp_load_acquire() in sw_call_key_of(): the histograms are there */
	cmpxchg_release(&k->state, SW_CALL_KEY_NEW,
			sw_call_key_make(call, k) ? SW_CALL_KEY_NO_ROOM
						  : SW_CALL_KEY_READY);
}

/* Take that place.  Return: whose it is then; 0: nobody's, as there are enough keys. */
static u64
sw_call_key_take(struct sw_call *call, struct sw_call_key *k, u64 word)
{
	u64 has;

	/* those who come at once may make a few more */
	if (atomic_read(&call->nr_keys) >= sw_calls.max_keys)
		return 0;
	has = cmpxchg(&k->word, 0, word);
	if (has)
		return has;
	atomic_inc(&call->nr_keys);
	return word;
}

static struct sw_call_key *sw_call_key_of(struct sw_call *call, s64 value)
{
	const u64 word = value ^ SW_CALL_NO_KEY;
	u32 at = hash_64(word, 32), state;
	unsigned int i;

	for (i = 0; word && i < SW_CALL_WINDOW; i++, at++) {
		struct sw_call_key *k = &call->keys[at &
						    (sw_calls.key_places - 1)];
		u64 has = READ_ONCE(k->word) ?: sw_call_key_take(call, k, word);

		/* places are never given back: no key is after one that is nobody's */
		if (!has)
			return NULL;
		if (has != word)
			continue;
		/* with cmpxchg_release() in sw_call_key_begin() */
		state = smp_load_acquire(&k->state);
		if (unlikely(state == SW_CALL_KEY_NEW)) {
			sw_call_key_begin(call, k);
			state = READ_ONCE(k->state);
		}
		return state == SW_CALL_KEY_READY ? k : NULL;
	}
	return NULL;
}

/* The process's name; there may have been an exec(). */
static void
sw_call_key_name(struct sw_call_key *k, const struct task_struct *leader)
{
	u64 now[ARRAY_SIZE(k->comm)];
	unsigned int i;

	data_race(memcpy(now, leader->comm, sizeof(now)));
	for (i = 0; i < ARRAY_SIZE(now); i++)
		if (READ_ONCE(k->comm[i]) != now[i])
			WRITE_ONCE(k->comm[i], now[i]);
}

static noinline const struct sw_call_hists *
sw_call_hists_by_key(struct sw_call *call, struct pt_regs *regs)
{
	const struct task_struct *leader = current->group_leader;
	const bool by_process = sw_calls.by == SW_CALL_BY_PROCESS;
	struct sw_call_key *k;

	k = sw_call_key_of(call, by_process ? leader->pid :
			   sw_call_argument(call, regs));
	if (!k)
		return &call->hists;
	if (by_process)
		sw_call_key_name(k, leader);
	return &k->hists;
}

/**
 * sw_call_hists_of - the histograms that a call goes to, which begins now
 * @regs: as they are at the function's first instruction
 */
static __always_inline const struct sw_call_hists *
sw_call_hists_of(struct sw_call *call, struct pt_regs *regs)
{
	if (likely(!sw_calls.by))
		return &call->hists;
	return sw_call_hists_by_key(call, regs);
}

/**
 * sw_call_keys_make - places for a function's keys
 * Return: 0 or -ENOMEM.
 */
static int sw_call_keys_make(struct sw_call *call)
{
	if (!sw_calls.by)
		return 0;
	call->keys = kvcalloc(sw_calls.key_places, sizeof(*call->keys),
			      GFP_KERNEL);
	if (call->keys)
		return 0;
	_stp_error("stapwatch: no memory to tell the calls of %u functions apart; try a smaller -G call_keys=N\n",
		   sw_calls.nr);
	return -ENOMEM;
}

static void sw_call_keys_free(void)
{
	unsigned int i;

	for (i = 0; i < sw_calls.nr; i++)
		kvfree(sw_calls.calls[i].keys);
}

#endif
