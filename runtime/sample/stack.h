/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of stacks: identical ones are stored once and have a number.
 *
 * Who may run what, against whom:
 *
 *   sw_stack_get()	any context, NMI included, on all CPUs, and in between
 *			another one on the same CPU
 *   sw_stack_find(), sw_stack_at()	any context
 *   sw_stacks_init()	when nobody uses the table
 *
 * A stack is written in full to memory that nobody else has, and then put in
 * its place by one cmpxchg; a place never changes after that.  Who loses a place
 * to another stack goes on to the next; who loses it to the same stack takes
 * that one, and leaves unused what it wrote.  So nothing waits for anything.
 */
#ifndef STAPWATCH_SAMPLE_STACK_H
#define STAPWATCH_SAMPLE_STACK_H

#include "base/compat.h"

/* Places that are looked at.  At most a quarter of them are taken. */
#define SW_STACK_WINDOW 32
/* A stack has up to so many frames: who puts it out has room for these. */
#define SW_STACK_MOST 255
/* The room for a stack's frames, on average. */
#define SW_STACK_MEAN 48

struct sw_stack {
	u32 hash;
	u16 nr;
	u16 flags;		/* TRACE_STACK_... */
	u64 ip[];		/* innermost first */
};

struct sw_stacks {
	u64 *words;		/* stacks, one after the other */
	u32 *places;		/* where in words, plus 1; 0: free */
	u32 *order;		/* their numbers, in the order they came */
	int nr_words;
	int max;
	u32 mask;
	atomic_t next_word;
	atomic_t claimed;
	atomic_t nr;		/* of order */
	atomic_t refused;
};

static inline size_t sw_stacks_places(int max)
{
	return roundup_pow_of_two(4UL * max);
}

/**
 * sw_stacks_bytes - the zeroed memory that a table of MAX stacks takes
 */
static inline size_t sw_stacks_bytes(int max)
{
	return (size_t)max * (SW_STACK_MEAN + 1) * sizeof(u64) +
	       (sw_stacks_places(max) + max) * sizeof(u32);
}

static inline void sw_stacks_init(struct sw_stacks *t, int max, void *zeroed)
{
	*t = (struct sw_stacks) {
		.words = zeroed,
		.nr_words = max * (SW_STACK_MEAN + 1),
		.max = max,
		.mask = sw_stacks_places(max) - 1,
	};
	t->places = (u32 *)(t->words + t->nr_words);
	t->order = t->places + t->mask + 1;
}

static __always_inline u32
sw_stack_hash(const u64 *ip, unsigned int nr, unsigned int flags)
{
	u64 hash = flags + nr;
	unsigned int i;

	for (i = 0; i < nr; i++)
		hash = (hash ^ ip[i] ^ hash >> 32) * 0x9e3779b97f4a7c15ULL;
	return hash >> 32;
}

static __always_inline struct sw_stack *
sw_stack_in(const struct sw_stacks *t, u32 place)
{
	return (struct sw_stack *)(t->words + place - 1);
}

static inline bool
sw_stack_same(const struct sw_stack *s, u32 hash, const u64 *ip,
	      unsigned int nr, unsigned int flags)
{
	unsigned int i;

	if (s->hash != hash || s->nr != nr || s->flags != flags)
		return false;
	for (i = 0; i < nr; i++)
		if (s->ip[i] != ip[i])
			return false;
	return true;
}

/* Where in words it was written, plus 1; 0: no room. */
static inline u32
sw_stack_write(struct sw_stacks *t, u32 hash, const u64 *ip, unsigned int nr,
	       unsigned int flags)
{
	int words = 1 + nr, end;
	struct sw_stack *s;
	unsigned int i;

	if (!atomic_add_unless(&t->claimed, 1, t->max))
		return 0;
	/* looked at first, so that refusals cannot make it wrap */
	if (atomic_read(&t->next_word) > t->nr_words - words)
		goto full;
	end = atomic_add_return(words, &t->next_word);
	if (end > t->nr_words)
		goto full;
	s = sw_stack_in(t, end - words + 1);
	s->hash = hash;
	s->nr = nr;
	s->flags = flags;
	for (i = 0; i < nr; i++)
		s->ip[i] = ip[i];
	return end - words + 1;
full:
	atomic_dec(&t->claimed);
	return 0;
}

static inline u32 sw_stack_entered(struct sw_stacks *t, u32 at)
{
	int nr = atomic_add_return(1, &t->nr);

	/* with smp_load_acquire() in sw_stack_at() */
	smp_store_release(&t->order[nr - 1], at + 1);
	return at + 1;
}

/**
 * sw_stack_get - the number of a stack, which is stored if it is new
 * @ip: innermost first
 * @nr: up to SW_STACK_MOST
 * @flags: make another stack of the same addresses
 * Context: any.
 * Return: from 1; 0, counted in refused, when there is no room.
 */
static inline u32
sw_stack_get(struct sw_stacks *t, const u64 *ip, unsigned int nr,
	     unsigned int flags)
{
	u32 hash = sw_stack_hash(ip, nr, flags), mine = 0, at, is;
	unsigned int i;

	for (i = 0; i < SW_STACK_WINDOW; i++) {
		at = (hash + i) & t->mask;
		/* with the cmpxchg() below, of others */
		is = smp_load_acquire(&t->places[at]);
		if (!is) {
			if (!mine)
				mine = sw_stack_write(t, hash, ip, nr, flags);
			if (!mine)
				break;
			is = cmpxchg(&t->places[at], 0, mine);
			if (!is)
				return sw_stack_entered(t, at);
		}
		if (sw_stack_same(sw_stack_in(t, is), hash, ip, nr, flags)) {
			if (mine)
				atomic_dec(&t->claimed);
			return at + 1;
		}
	}
	if (mine)
		atomic_dec(&t->claimed);
	atomic_inc(&t->refused);
	return 0;
}

/**
 * sw_stack_find - the stack with that number
 * Return: NULL if there is none.
 */
static inline const struct sw_stack *
sw_stack_find(const struct sw_stacks *t, s64 number)
{
	u32 is;

	if (number < 1 || number > (s64)t->mask + 1)
		return NULL;
	/* with cmpxchg() in sw_stack_get() */
	is = smp_load_acquire(&t->places[number - 1]);
	return is ? sw_stack_in(t, is) : NULL;
}

/**
 * sw_stack_at - the number of the INDEXth stack, in the order they came
 * Return: 0 if it is not there (yet).
 */
static inline u32 sw_stack_at(const struct sw_stacks *t, unsigned int index)
{
	if (index >= (unsigned int)t->max)
		return 0;
	/* with smp_store_release() in sw_stack_entered() */
	return smp_load_acquire(&t->order[index]);
}

#endif
