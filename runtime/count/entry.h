/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the entry of a watched thread has beside its sums, and which of its readings
 * can be compared.
 *
 * Who may run what, against whom: all of it on the CPU that runs the thread.
 * sw_hole() wants c->busy held, what only reads wants preemption off.
 */
#ifndef STAPWATCH_COUNT_ENTRY_H
#define STAPWATCH_COUNT_ENTRY_H

#include "base/kernel.h"
#include "count/cpu.h"
#include "count/table.h"

static struct sw_table sw_threads;

/* Is it the entry that it was when its stretch was THEN?  It may have had holes. */
static bool sw_is_entry(const struct sw_thread *t, u64 then)
{
	return (t->stretch ^ then) / SW_TABLE_STRETCH == 0;
}

static noinline bool sw_stretch_differs(const struct sw_thread *t, u64 then)
{
	if (sw_is_entry(t, then))
		sw_withheld(holed);
	else
		sw_withheld(anew);
	return false;
}

/* Was all of the thread counted since its entry's stretch was THEN?  If not, a
 * difference is withheld. */

static __always_inline bool
sw_is_stretch(const struct sw_thread *t, u64 then)
{
	return likely(t->stretch == then) || sw_stretch_differs(t, then);
}

/*
 * In scripts with sets a thread has sums of each set after those of its slots: how long
 * the set was active while the thread ran, and in how many of its runs that was.
 * Set 0's time is that of all sets and of none.
 */
#define SW_WORD_ACTIVE(set) (SW_MAX_SLOTS + (set))
#define SW_WORD_RUNS(set) (SW_MAX_SLOTS + SW_MAX_SETS + (set))
#define SW_WORDS (SW_MAX_SLOTS + 2 * SW_MAX_SETS)

/* What it has after these, see set/thread.h. */
struct sw_thread_set {
	u32 spans;		/* how often what was counted for it changed */
	u32 set_gen;		/* its CPU's, when it came in */
	u8 with;		/* the set that counted when it went out */
	u8 set;			/* its own, if sets go by the thread's time */
	u8 active;		/* while it runs: the set whose time goes by */
	bool timed;		/* while it runs: what follows is known */
	u32 begun;		/* its sums are none of sets that had gone by then */
	u64 holed;		/* bit per slot: a hole that watch/ was not told of */
	u64 lost;		/* ... its set did not count meanwhile, and no reading said so */
	u64 used;		/* how much of its own set's time has gone by, ns */
	u64 runs[4];		/* the last ones that it ran in, of a CPU each */
	u64 run_at;		/* how many it was given */
	u64 session_at;		/* what its CPU's clocks stood at: of the session */
	u64 active_at;		/* and of that set */
};

#define SW_THREAD_SET_WORDS (sizeof(struct sw_thread_set) / sizeof(u64))
_Static_assert(SW_THREAD_SET_WORDS == 12, "as stapwatch-production(7) has it");

/*
 * A set's words may have been another one's, whose counts they still have.  Sets that go are
 * counted, and of each word it is known with which the last one of its sets went.  Who brings
 * a thread's sums up to date has such words begin at nothing first (watch/fold.h).
 */
static u32 sw_sets_gone;
static u32 sw_word_gone[SW_WORDS];

/* Has the word what another set had counted by then? */
static bool sw_word_is_void(unsigned int word, u32 begun)
{
	return (s32)(READ_ONCE(sw_word_gone[word]) - begun) > 0;
}

/* Who keeps sums of several threads is told of such a word, when nobody adds to it. */
static void (*sw_word_begins)(unsigned int word);

/* The words of each entry that has it; else 0. */
static unsigned int sw_thread_words;

/* NULL where the script has no sets. */
static struct sw_thread_set *sw_thread_set(struct sw_thread *t)
{
	if (!sw_thread_words)
		return NULL;
	return (struct sw_thread_set *)&t->sum[SW_WORDS];
}

static bool sw_sums_are_void(struct sw_thread *t)
{
	const struct sw_thread_set *s = sw_thread_set(t);

	/* with sw_set_forget_sums() */
	return s && unlikely(s->begun != smp_load_acquire(&sw_sets_gone));
}

/* A thread, if it is watched, runs without its counter. */
static void sw_hole(struct sw_thread *t, unsigned int slot)
{
	if (!t)
		return;
	t->lost |= SW_SLOT_BIT(slot);
	t->stretch++;
	if (sw_thread_set(t))
		sw_thread_set(t)->holed |= SW_SLOT_BIT(slot);
}

/* Where the script has sets: who keeps the time that each was active while a thread
 * ran.  Called on the CPU that runs it, c->busy held. */
static const struct sw_thread_times {
	/* the thread comes in */
	void (*in)(const struct sw_cpu *c, struct sw_thread *t, u64 now);
	/* it goes out, or wants its sums up to date.  Return: of which set, beside 0 */
	unsigned int (*out)(const struct sw_cpu *c, struct sw_thread *t,
			    u64 now);
} *sw_thread_times;

/* How often the set that counts changed for the thread that this CPU runs.  If two
 * readings return the same number, one set was active whenever the thread ran. */
static u32 __maybe_unused
sw_spans(const struct sw_cpu *c, struct sw_thread *t)
{
	const struct sw_thread_set *s = sw_thread_set(t);

	return s ? s->spans + c->set_gen - s->set_gen : 0;
}

#endif
