/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls told apart by who makes them, or by what they are called with: a function
 * has histograms for each such key, up to a number of keys, and its own for the rest.
 *
 * A key stands in one of the places from its hash on.  A place is taken by one
 * instruction.  Whoever finds it taken, but not ready, makes its histograms too: they go
 * by the place, or by their names, and so they are the same, and nobody waits for anybody.
 *
 * A place that sweep.h gives back may come up while two handlers look for one for the same
 * key, and then each takes another one.  So before calls are counted in a place, whoever
 * makes it ready looks for the key in the others.  A place that is ready stays; of those
 * that are not, the first stays; and nothing was counted in the others yet.
 *
 * A process's key is its number and its start, for numbers come again.  Both
 * give the same hash.  A thread that ends can still make calls when its process is gone
 * for all others: these take no place, so a place that was given back has no successor.
 *
 * Who may run what, against whom:
 *
 *   sw_call_hists_of()		any context that kprobes run in, NMI included, preemption
 *				off: what it has found is not given to another key before
 *				preemption has been on
 *   sw_call_key_*()		its parts; sweep.h uses some
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
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>

#define SW_CALL_MAX_KEYS 4096
/* How far from its hash a key may stand: anywhere, where there are no more places. */
#define SW_CALL_WINDOW 64U
/* A word is a key and this, so that 0 is a place that nobody has.  The one key whose word
 * would be 0 has no place. */
#define SW_CALL_NO_KEY 0x9d5c6a1f3b7e2480ULL
/* A place that is being given back: the process of number 0 has no start. */
#define SW_CALL_RETIRED (SW_CALL_NO_KEY ^ 1)
/* A process's key: its number, and from when on, in units of 1024 ns, that it is. */
#define SW_CALL_START_BITS 42

enum sw_call_key_state {
	SW_CALL_KEY_NEW,
	SW_CALL_KEY_READY,
	SW_CALL_KEY_NO_ROOM,
	SW_CALL_KEY_TWICE,	/* another place has that key */
};

static __always_inline s64 sw_call_key_value(const struct sw_call_key *k)
{
	return READ_ONCE(k->word) ^ SW_CALL_NO_KEY;
}

static __always_inline u64 sw_call_key_of_process(pid_t tgid, u64 start_time)
{
	return tgid ? (u64)tgid << SW_CALL_START_BITS |
		      (start_time >> 10 & (BIT_ULL(SW_CALL_START_BITS) - 1))
		    : 0;
}

static __always_inline pid_t sw_call_key_tgid(u64 key)
{
	return key >> SW_CALL_START_BITS;
}

static __always_inline u64 sw_call_key_start(u64 key)
{
	return key & (BIT_ULL(SW_CALL_START_BITS) - 1);
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

static __always_inline unsigned int sw_call_window(void)
{
	return min(SW_CALL_WINDOW, sw_calls.max_keys);
}

/* The first place that a key may have; the others follow, and go round. */
static __always_inline unsigned int sw_call_key_first(u64 word)
{
	const u64 key = word ^ SW_CALL_NO_KEY;

	return reciprocal_scale(hash_64(sw_calls.by == SW_CALL_BY_PROCESS ?
					sw_call_key_tgid(key) : key, 32),
				sw_calls.max_keys);
}

static __always_inline unsigned int sw_call_key_next(unsigned int at)
{
	return at + 1 == sw_calls.max_keys ? 0 : at + 1;
}

/* ---- a place becomes ready */

/* What all histograms of the key are named by; false: it is too long. */
static bool
sw_call_key_labels(const struct sw_call *call, const struct sw_call_key *k,
		   char labels[SW_CTR_NAME])
{
	const s64 key = sw_call_key_value(k);
	int n;

	if (sw_calls.by == SW_CALL_BY_PROCESS)
		n = snprintf(labels, SW_CTR_NAME,
			     "function=\"%s\",process=\"%d\"", call->name,
			     sw_call_key_tgid(key));
	else
		n = snprintf(labels, SW_CTR_NAME,
			     "function=\"%s\",arg%u=\"%lld\"", call->name,
			     sw_calls.argument + 1, key);
	return n < SW_CTR_NAME;
}

/* The place in the map of a key's first histogram: a process's are others' later. */
static u64
sw_call_key_map_place(const struct sw_call *call, const struct sw_call_key *k)
{
	const u64 function = call - sw_calls.calls;

	return sw_calls.by != SW_CALL_BY_PROCESS ? 0 :
	       1 + (function * sw_calls.max_keys + (k - call->keys)) *
		   ARRAY_SIZE(k->hists.at);
}

static bool sw_call_key_make(const struct sw_call *call, struct sw_call_key *k)
{
	char labels[SW_CTR_NAME];
	struct sw_call_name name;

	return sw_call_key_labels(call, k, labels) &&
	       !sw_call_hists_make(&k->hists, sw_call_key_map_place(call, k),
				   labels, &name);
}

/* The key's place AT is to be ready.  Return: no, the key has another one. */
static bool
sw_call_key_is_twice(const struct sw_call *call, unsigned int at, u64 word)
{
	unsigned int i, n = sw_call_key_first(word);
	u32 state;

	/* with that of others: of two who have taken a place each, or found one taken, one
	 * or both see the other's */
	smp_mb();
	for (i = 0; i < sw_call_window(); i++, n = sw_call_key_next(n)) {
		if (n == at || READ_ONCE(call->words[n]) != word)
			continue;
		/* with cmpxchg() in sw_call_key_get(): not the state of an earlier key */
		smp_rmb();
		state = READ_ONCE(call->keys[n].state);
		if (state == SW_CALL_KEY_NEW && n > at)
			state = cmpxchg(&call->keys[n].state, SW_CALL_KEY_NEW,
					SW_CALL_KEY_TWICE) ?: SW_CALL_KEY_TWICE;
		if (state != SW_CALL_KEY_TWICE)
			return true;
	}
	return false;
}

/* The map has the process's histograms by its number, and none of an earlier one's that
 * had this number.  Called once for a key that is ready. */
static noinline void
sw_call_key_label(const struct sw_call *call, const struct sw_call_key *k)
{
	const pid_t tgid = sw_call_key_tgid(sw_call_key_value(k));
	unsigned int i, n = sw_call_key_first(k->word);
	char labels[SW_CTR_NAME];

	for (i = 0; i < sw_call_window(); i++, n = sw_call_key_next(n)) {
		const struct sw_call_key *has = &call->keys[n];

		/* with cmpxchg() in sw_call_key_begin(); a place that is being given back
		 * is hidden already, and may be another's soon */
		if (has != k &&
		    smp_load_acquire(&has->state) == SW_CALL_KEY_READY &&
		    READ_ONCE(call->words[n]) == READ_ONCE(has->word) &&
		    sw_call_key_tgid(sw_call_key_value(has)) == tgid)
			sw_call_hists_hide(&has->hists);
	}
	if (sw_call_key_labels(call, k, labels))
		sw_call_hists_label(&k->hists, labels);
}

/* The first who says what becomes of the place is right for all. */
static noinline void
sw_call_key_begin(const struct sw_call *call, unsigned int at, u64 word)
{
	struct sw_call_key *k = &call->keys[at];
	u32 becomes;

	WRITE_ONCE(k->word, word);
	becomes = sw_call_key_make(call, k) ? SW_CALL_KEY_READY
					    : SW_CALL_KEY_NO_ROOM;
	if (sw_call_key_is_twice(call, at, word))
		becomes = SW_CALL_KEY_TWICE;
	/* with smp_load_acquire() of those who find it: the histograms are there */
	if (cmpxchg(&k->state, SW_CALL_KEY_NEW, becomes) == SW_CALL_KEY_NEW &&
	    becomes == SW_CALL_KEY_READY &&
	    sw_calls.by == SW_CALL_BY_PROCESS)
		sw_call_key_label(call, k);
}

/* ---- a handler looks for a key */

static __always_inline u32
sw_call_key_state(const struct sw_call *call, unsigned int at, u64 word)
{
	/* with cmpxchg() in sw_call_key_begin() */
	u32 state = smp_load_acquire(&call->keys[at].state);

	if (likely(state != SW_CALL_KEY_NEW))
		return state;
	sw_call_key_begin(call, at, word);
	/* with that cmpxchg(), also of who was faster */
	return smp_load_acquire(&call->keys[at].state);
}

/* What a key's window has. */
struct sw_call_found {
	int at;			/* the key's place; -1: it has none */
	int free;		/* the first one that is free; -1: there is none */
	u32 state;		/* of the key's place */
};

static __always_inline struct sw_call_found
sw_call_key_find(const struct sw_call *call, u64 word)
{
	struct sw_call_found f = { -1, -1 };
	unsigned int i, n = sw_call_key_first(word);

	for (i = 0; i < sw_call_window(); i++, n = sw_call_key_next(n)) {
		const u64 has = READ_ONCE(call->words[n]);

		if (has == word) {
			/* with cmpxchg() in sw_call_key_get(), as above */
			smp_rmb();
			f.state = sw_call_key_state(call, n, word);
			if (f.state == SW_CALL_KEY_TWICE)
				continue;
			f.at = n;
			break;
		}
		if (!has && f.free < 0)
			f.free = n;
	}
	return f;
}

/* The place is found again where it was taken; each turn but the last, another key or
 * another handler was faster. */
static struct sw_call_key *
sw_call_key_get(struct sw_call *call, u64 word, bool may_take)
{
	unsigned int turns = sw_call_window() + 1;
	struct sw_call_found f;

	while (word && turns--) {
		f = sw_call_key_find(call, word);
		if (f.at >= 0)
			return f.state == SW_CALL_KEY_READY ?
			       &call->keys[f.at] : NULL;
		if (f.free < 0 && !READ_ONCE(call->crowded))
			WRITE_ONCE(call->crowded, true);
		if (!may_take || f.free < 0)
			return NULL;
		/* with smp_store_release() in sw_call_key_free(): it is as new */
		cmpxchg(&call->words[f.free], 0, word);
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

/*
 * A thread that has ended may be there longer than the leader of its process.  For all
 * others that has a leader until its last thread has ended.
 */
static struct sw_call_key *sw_call_key_of_current(struct sw_call *call)
{
	const bool ended = READ_ONCE(current->exit_state);
	const struct task_struct *leader = current->group_leader;
	struct sw_call_key *k;

	if (unlikely(ended && leader != current))
		return NULL;
	k = sw_call_key_get(call, SW_CALL_NO_KEY ^
			    sw_call_key_of_process(current->tgid,
						   leader->start_time), !ended);
	if (k)
		sw_call_key_name(k, leader);
	return k;
}

static noinline const struct sw_call_hists *
sw_call_hists_by_key(struct sw_call *call, struct pt_regs *regs,
		     u32 *generation)
{
	struct sw_call_key *k;

	*generation = 0;
	if (sw_calls.by == SW_CALL_BY_PROCESS)
		k = sw_call_key_of_current(call);
	else
		k = sw_call_key_get(call, sw_call_argument(call, regs) ^
				    SW_CALL_NO_KEY, true);
	if (!k)
		return &call->hists;
	/* with smp_store_release() in sw_call_key_retire(): if the generation is the one
	 * after, the word is that of a place that is being given back */
	*generation = smp_load_acquire(&k->hists.generation);
	if (unlikely(READ_ONCE(call->words[k - call->keys]) != READ_ONCE(k->word))) {
		*generation = 0;
		return &call->hists;
	}
	return &k->hists;
}

/**
 * sw_call_hists_of - the histograms that a call goes to, which begins now
 * @regs: as they are at the function's first instruction
 * @generation: of these, for sw_call_hists_now()
 */
static __always_inline const struct sw_call_hists *
sw_call_hists_of(struct sw_call *call, struct pt_regs *regs, u32 *generation)
{
	if (unlikely(sw_calls.by))
		return sw_call_hists_by_key(call, regs, generation);
	*generation = 0;
	return &call->hists;
}

/**
 * sw_call_hists_now - those that it goes to when it has returned
 *
 * They stay until preemption is on: sweep.h waits for that after the generation has
 * become another one.
 */
static __always_inline const struct sw_call_hists *
sw_call_hists_now(const struct sw_call_hists *h, u32 generation)
{
	return likely(READ_ONCE(h->generation) == generation) ? h : h->others;
}

/* ---- the session */

/**
 * sw_call_keys_make - places for a function's keys
 * Return: 0 or -ENOMEM.
 */
static int sw_call_keys_make(struct sw_call *call)
{
	unsigned int i;

	if (!sw_calls.by)
		return 0;
	call->words = kvcalloc(sw_calls.max_keys, sizeof(*call->words),
			       GFP_KERNEL);
	call->keys = kvcalloc(sw_calls.max_keys, sizeof(*call->keys),
			      GFP_KERNEL);
	if (!call->words || !call->keys) {
		_stp_error("stapwatch: no memory to tell the calls of %u functions apart; try a smaller -G call_keys=N\n",
			   sw_calls.nr);
		return -ENOMEM;
	}
	for (i = 0; i < sw_calls.max_keys; i++)
		call->keys[i].hists.others = &call->hists;
	return 0;
}

static void sw_call_keys_free(void)
{
	unsigned int i;

	for (i = 0; i < sw_calls.nr; i++) {
		kvfree(sw_calls.calls[i].words);
		kvfree(sw_calls.calls[i].keys);
	}
}

#endif
