/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places for calls of programs' functions that are under way.
 *
 * The kernel has no place for a call of a program's.  So there is a table, for calls
 * that are under way at once, however many functions there are.  A thread has a sequence of
 * places by its hash, and its calls are among the first of them, each known by the
 * stack's word that the call returns by.  Only the thread itself looks for them.  The
 * sequence is longer than what a thread may have, and goes through the whole table in
 * groups, so that threads whose sequences begin together soon part.
 *
 * Calls that never return, by longjmp() or exit(), leave a place: the next call of that
 * function with that word takes it over.  A call whose word is above that of another one
 * shows that the other one's frame is gone, and lets its place go; so does one with the
 * same word, unless it is a tail call.  The kernel forgets returns by the same rules
 * (arch_uretprobe_is_alive()).  So does the thread's end.
 *
 * Who may run what, against whom:
 *
 *	all	a thread on its way from user mode, on several CPUs at once, with
 *		preemption off; and the thread that ends
 */
#ifndef STAPWATCH_CALL_PLACES_H
#define STAPWATCH_CALL_PLACES_H

#include "base/guess.h"
#include "call/state.h"
#include <asm/ptrace.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>

#ifdef CONFIG_UPROBES

/* Calls of a thread: as many as the kernel keeps returns of. */
#define SW_CALL_DEPTH 64
/* How many places a thread looks at, in groups of a cache line's owners. */
#define SW_CALL_REACH 128U
#define SW_CALL_GROUP 8
#define SW_CALL_PLACES (1U << 14)

struct sw_call_place {
	const struct sw_call *call;
	unsigned long word;	/* of the stack, that the call returns by */
	struct sw_call_start start;
};

static struct {
	/* whose each place is, NULL: nobody's; apart, as they are looked through */
	struct task_struct **owners;
	/* by the first group of a thread's sequence: how many of its places were
	 * ever taken, and so have to be looked at; it only grows */
	unsigned int *reach;
	void *places;
	size_t size;		/* of a place */
	unsigned int nr;	/* a power of two */
} sw_call_user_table;

static __always_inline unsigned int sw_call_group(void)
{
	return hash_ptr(current, 32) &
	       (sw_call_user_table.nr / SW_CALL_GROUP - 1);
}

/* Number I of the thread's sequence.  An odd step comes to each group of a power of two. */
static __always_inline unsigned int sw_call_place_nr(unsigned int i)
{
	const u32 hash = hash_ptr(current, 32);
	const u32 step = hash >> 16 | 1;

	return ((hash + i / SW_CALL_GROUP * step) * SW_CALL_GROUP +
		i % SW_CALL_GROUP) & (sw_call_user_table.nr - 1);
}

static __always_inline unsigned int sw_call_reach(void)
{
	return READ_ONCE(sw_call_user_table.reach[sw_call_group()]);
}

/* Place I is taken.  Each turn but the last, another thread has made it more. */
static void sw_call_reach_at_least(unsigned int i)
{
	unsigned int *reach = &sw_call_user_table.reach[sw_call_group()];
	unsigned int has = READ_ONCE(*reach), was;

	for (; has <= i; has = was) {
		was = cmpxchg(reach, has, i + 1);
		if (was == has)
			return;
	}
}

static __always_inline struct sw_call_place *sw_call_place_at(unsigned int nr)
{
	return sw_call_user_table.places + nr * sw_call_user_table.size;
}

/* What a thread finds of its own. */
struct sw_call_search {
	struct sw_call_place *place;	/* that call's; NULL: it has none */
	unsigned int nr;	/* of that place */
	unsigned int own;	/* places of the thread, if it has none */
	unsigned int free;	/* where in the sequence the first free one may be */
};

/* With cmpxchg() in sw_call_place_take(): who had it has done with it. */
static __always_inline void sw_call_place_give(unsigned int nr)
{
	smp_store_release(&sw_call_user_table.owners[nr], NULL);
}

/* The word that a call returns by has been taken from the stack when it returns. */
static __always_inline unsigned long
sw_call_user_word(struct pt_regs *regs, bool has_returned)
{
	unsigned long word = user_stack_pointer(regs);

#ifdef CONFIG_X86
	if (has_returned)
		word -= user_64bit_mode(regs) ? 8 : 4;
#endif
	return word;
}

/*
 * Has a call that begins pushed where it returns to, so that another one that had this
 * word is gone?  A tail call finds what the other one would return to: the kernel's
 * trampoline, at the start of a page, where code returns to by a rare chance only.
 */
static bool sw_call_is_pushed(struct pt_regs *regs, unsigned long word)
{
	u64 to = 0;

#if defined(CONFIG_X86)
	if (!sw_guess_user(&to, word, user_64bit_mode(regs) ? 8 : 4))
		return false;
#elif defined(CONFIG_ARM64)
	to = regs->regs[30];
#endif
	return to % PAGE_SIZE;
}

/* Does a call that begins show that the one of that place will not return? */
static __always_inline bool
sw_call_place_is_left(const struct sw_call_place *p, const struct sw_call *call,
		      unsigned long word, struct pt_regs *regs)
{
	const struct sw_call_user *its = &p->call->user;

	if (likely(p->word != word))
		return p->word < word;
	/* the same function, by another name, has not its trampoline yet */
	return (its->inode != call->user.inode ||
		its->offset != call->user.offset) &&
	       sw_call_is_pushed(regs, word);
}

/* REGS: of a call that begins; NULL where it returns. */
static __always_inline struct sw_call_search
sw_call_place_find(const struct sw_call *call, unsigned long word,
		   struct pt_regs *regs)
{
	const unsigned int reach = sw_call_reach();
	struct sw_call_search s = { .free = reach };
	unsigned int i;

	for (i = 0; i < reach; i++) {
		const struct task_struct *owner;
		struct sw_call_place *p;

		s.nr = sw_call_place_nr(i);
		owner = READ_ONCE(sw_call_user_table.owners[s.nr]);
		p = sw_call_place_at(s.nr);
		if (regs && owner == current &&
		    sw_call_place_is_left(p, call, word, regs)) {
			sw_call_place_give(s.nr);
			owner = NULL;
		}
		if (!owner && s.free == reach)
			s.free = i;
		if (owner != current)
			continue;
		s.own++;
		if (p->word == word && p->call == call) {
			s.place = p;
			break;
		}
	}
	return s;
}

static struct sw_call_place *
sw_call_place_take(const struct sw_call *call, struct pt_regs *regs)
{
	const unsigned int end = min(SW_CALL_REACH, sw_call_user_table.nr);
	const unsigned long word = sw_call_user_word(regs, false);
	const struct sw_call_search s = sw_call_place_find(call, word, regs);
	struct sw_call_place *p;
	unsigned int i, nr;

	if (s.place)
		return s.place;
	if (s.own >= SW_CALL_DEPTH)
		return NULL;
	for (i = s.free; i < end; i++) {
		nr = sw_call_place_nr(i);
		if (READ_ONCE(sw_call_user_table.owners[nr]) ||
		    cmpxchg(&sw_call_user_table.owners[nr], NULL, current))
			continue;
		sw_call_reach_at_least(i);
		p = sw_call_place_at(nr);
		p->call = call;
		p->word = word;
		return p;
	}
	return NULL;
}

/*
 * A call that is not wanted begins where one was that never returned, when its thread
 * was wanted: this one's return is not that one's.
 */
static void sw_call_place_forget(const struct sw_call *call,
				 struct pt_regs *regs)
{
	const struct sw_call_search s =
		sw_call_place_find(call, sw_call_user_word(regs, false), NULL);

	if (s.place)
		sw_call_place_give(s.nr);
}

#endif

#endif
