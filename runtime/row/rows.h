/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows: a table's keys, each with a number that is the same on all CPUs.
 *
 * A script that counts by a thread, a file or a stack keeps what it counts by the row's
 * number.  So SystemTap's arrays have at most so many keys as there are rows, on each
 * CPU and in the sum of all, and do not end the script; what has no row is row 0.
 *
 * Who may run what, against whom:
 *
 *   sw_row_get(), sw_row_label()	any context, NMI included, on all CPUs
 *   sw_row_text(), sw_row_number()	the same
 *   sw_rows_clear()			the same; it looks at each row
 *   sw_rows_init()			when nobody uses the table
 *
 * A row is found without a lock.  It is added, labelled and given back under one that
 * is tried for a bounded time: whoever interrupts its holder does without a row.
 *
 * sw_rows_clear() begins a period, in which max rows can be asked for.  Rows that nobody
 * asked for in the last period are given back: no handler still has their numbers.  So
 * there are never more than those of two periods.  A handler that has its row while a
 * period begins may use it in the next one, where it is not of the max.
 *
 * The index is a hash table that only gets more.  sw_rows_clear() makes a new one beside
 * it, and lets that take its place.  Who still reads the old one finds rows that are
 * there, and misses those that came later; then it looks again, under the lock.
 */
#ifndef STAPWATCH_ROW_ROWS_H
#define STAPWATCH_ROW_ROWS_H

#include "base/compat.h"

/* A key's text, in words; the rest of a longer one is in the hash alone. */
#define SW_ROW_WORDS 24
#define SW_ROW_NUMBERS 3
/* Places that are looked at.  At most half of all are taken. */
#define SW_ROW_WINDOW 64
/* How often the lock is tried: each holder but sw_rows_clear() is done sooner. */
#define SW_ROW_SPINS 2048

struct sw_row_key {
	u64 hash;
	u64 number[SW_ROW_NUMBERS];
	unsigned int words;
	u64 text[SW_ROW_WORDS];		/* beyond words: not set */
};

struct sw_row {
	u32 seq;		/* odd: being written */
	u32 used;		/* in which period it was last asked for; 0: free */
	u64 hash;
	u64 number[SW_ROW_NUMBERS];
	u64 words;		/* of text that are part of the key */
	u64 text[SW_ROW_WORDS];	/* the key's; where it has none, the label */
};

struct sw_rows {
	struct sw_row *row;
	u32 *index[2];		/* numbers of rows, from 1; 0 ends a search */
	u32 *free;		/* rows that were given back */
	int max;		/* rows in a period: half of them */
	u32 mask;		/* of an index */
	u32 which;		/* index it is */
	u32 period;
	u32 nr;			/* rows that have ever been taken */
	u32 nr_free;
	u32 lock;
	u32 refused;		/* somebody got no row in this period */
	atomic_t in_use;	/* rows that were asked for in this period */
	u64 seed;
};

/** SW_ROWS_PLACES - how long each index of a table of MAX rows in a period is */
#define SW_ROWS_PLACES(max) (4 * (max) <= 64 ? 64 :			\
			     1U << (32 - __builtin_clz(4 * (max) - 1)))

/**
 * sw_rows_init - begin with no rows
 * @t: max is set; row and free, of twice as many, and index, whose memory is zeroed
 * @seed: what nobody outside can know
 */
static inline void sw_rows_init(struct sw_rows *t, u64 seed)
{
	t->mask = SW_ROWS_PLACES(t->max) - 1;
	t->seed = seed;
	t->period = 1;
}

/* ---- keys */

static __always_inline u64 sw_row_mix(u64 hash, u64 word)
{
	return (hash ^ word ^ hash >> 32) * 0x9e3779b97f4a7c15ULL;
}

/**
 * sw_row_key - make a key
 * @text: ends with a NUL
 * @number: SW_ROW_NUMBERS of them
 */
static __always_inline void
sw_row_key(const struct sw_rows *t, struct sw_row_key *key, const char *text,
	   const s64 *number)
{
	u64 hash = t->seed, word;
	unsigned int i, n;

	for (i = 0; i < SW_ROW_NUMBERS; i++) {
		key->number[i] = number[i];
		hash = sw_row_mix(hash, number[i]);
	}
	key->words = 0;
	while (*text) {
		for (word = 0, n = 0; n < sizeof(word) && text[n]; n++)
			word |= (u64)(unsigned char)text[n] << 8 * n;
		if (key->words < SW_ROW_WORDS)
			key->text[key->words++] = word;
		hash = sw_row_mix(hash, word);
		text += n;
	}
	key->hash = hash ^ hash >> 32;
}

/* ---- a row */

/* Who reads a word that is newer than the seq that it began with sees another seq in
 * the end: each word comes after the odd seq, and before the next even one. */
static __always_inline u64 sw_row_read(const u64 *word)
{
	/* with sw_row_put() */
	return smp_load_acquire(word);
}

static __always_inline void sw_row_put(u64 *word, u64 value)
{
	/* with sw_row_read() */
	smp_store_release(word, value);
}

static __always_inline u32 sw_row_seq(const struct sw_row *r)
{
	/* with sw_row_written() */
	return smp_load_acquire(&r->seq);
}

static __always_inline void sw_row_writing(struct sw_row *r)
{
	WRITE_ONCE(r->seq, r->seq + 1);
}

static __always_inline void sw_row_written(struct sw_row *r)
{
	/* with sw_row_seq() */
	smp_store_release(&r->seq, r->seq + 1);
}

static inline bool sw_row_is(const struct sw_row *r, const struct sw_row_key *key)
{
	u32 seq = sw_row_seq(r);
	unsigned int i;

	if (seq & 1 || sw_row_read(&r->hash) != key->hash ||
	    sw_row_read(&r->words) != key->words)
		return false;
	for (i = 0; i < SW_ROW_NUMBERS; i++)
		if (sw_row_read(&r->number[i]) != key->number[i])
			return false;
	for (i = 0; i < key->words; i++)
		if (sw_row_read(&r->text[i]) != key->text[i])
			return false;
	return READ_ONCE(r->seq) == seq;
}

static inline void
sw_row_write_text(struct sw_row *r, const u64 *text, unsigned int words)
{
	unsigned int i;

	for (i = 0; i < SW_ROW_WORDS; i++)
		sw_row_put(&r->text[i], i < words ? text[i] : 0);
}

static inline void sw_row_write(struct sw_row *r, const struct sw_row_key *key)
{
	unsigned int i;

	sw_row_writing(r);
	sw_row_put(&r->hash, key->hash);
	sw_row_put(&r->words, key->words);
	for (i = 0; i < SW_ROW_NUMBERS; i++)
		sw_row_put(&r->number[i], key->number[i]);
	sw_row_write_text(r, key->text, key->words);
	sw_row_written(r);
}

/* Note that a row is asked for in this period for the first time.  Return: false: there
 * is no room for it, or it has just been given back. */
static inline bool
sw_row_use_again(struct sw_rows *t, struct sw_row *r, u32 used)
{
	const u32 period = READ_ONCE(t->period);
	u32 was;

	if (!atomic_add_unless(&t->in_use, 1, t->max))
		return false;
	while (used && used != period) {
		was = cmpxchg(&r->used, used, period);
		if (was == used)
			return true;
		used = was;
	}
	/* somebody else was faster */
	atomic_dec(&t->in_use);
	return used != 0;
}

static __always_inline bool sw_row_use(struct sw_rows *t, struct sw_row *r)
{
	u32 used = READ_ONCE(r->used);

	return likely(used == READ_ONCE(t->period)) ||
	       (used && sw_row_use_again(t, r, used));
}

/* ---- the table */

/* Return: a row's number; 0: it is not in the index. */
static __always_inline u32
sw_row_find(const struct sw_rows *t, const struct sw_row_key *key)
{
	/* with sw_rows_clear() */
	u32 *index = t->index[smp_load_acquire(&t->which)];
	u32 at, i;

	for (i = 0; i < SW_ROW_WINDOW; i++) {
		/* with sw_row_enter() */
		at = smp_load_acquire(&index[(key->hash + i) & t->mask]);
		if (!at)
			return 0;
		if (sw_row_is(&t->row[at - 1], key))
			return at;
	}
	return 0;
}

static inline bool sw_rows_lock(struct sw_rows *t)
{
	unsigned int i;

	for (i = 0; i < SW_ROW_SPINS; i++)
		if (!READ_ONCE(t->lock) && !cmpxchg(&t->lock, 0, 1))
			return true;
	return false;
}

static inline void sw_rows_unlock(struct sw_rows *t)
{
	/* with the cmpxchg() in sw_rows_lock() */
	smp_store_release(&t->lock, 0);
}

/* Under the lock.  Return: false: no room near its place. */
static inline bool sw_row_enter(struct sw_rows *t, u32 *index, u64 hash, u32 at)
{
	u32 *place, i;

	for (i = 0; i < SW_ROW_WINDOW; i++) {
		place = &index[(hash + i) & t->mask];
		if (*place)
			continue;
		/* with sw_row_find() */
		smp_store_release(place, at);
		return true;
	}
	return false;
}

/* Under the lock.  Return: a row's number; 0: there is no room. */
static inline u32 sw_row_add(struct sw_rows *t, const struct sw_row_key *key)
{
	struct sw_row *r;
	u32 at;

	if ((!t->nr_free && t->nr == 2 * (u32)t->max) ||
	    !atomic_add_unless(&t->in_use, 1, t->max))
		return 0;
	at = t->nr_free ? t->free[t->nr_free - 1] : t->nr + 1;
	r = &t->row[at - 1];
	sw_row_write(r, key);
	WRITE_ONCE(r->used, t->period);
	if (!sw_row_enter(t, t->index[t->which], key->hash, at)) {
		WRITE_ONCE(r->used, 0);
		atomic_dec(&t->in_use);
		return 0;
	}
	if (t->nr_free)
		t->nr_free--;
	else
		t->nr++;
	return at;
}

/**
 * sw_row_get - the number of a key's row, which is added if it is new
 * Context: any.
 * Return: from 1; 0 when there is no room.
 */
static inline u32 sw_row_get(struct sw_rows *t, const struct sw_row_key *key)
{
	u32 at = sw_row_find(t, key);

	if (likely(at && sw_row_use(t, &t->row[at - 1])))
		return at;
	if (atomic_read(&t->in_use) < t->max && sw_rows_lock(t)) {
		at = sw_row_find(t, key);
		if (!at)
			at = sw_row_add(t, key);
		else if (!sw_row_use(t, &t->row[at - 1]))
			at = 0;
		sw_rows_unlock(t);
	} else {
		at = 0;
	}
	if (!at && !READ_ONCE(t->refused))
		WRITE_ONCE(t->refused, 1);
	return at;
}

/** sw_rows_one - the row of that number; NULL: there is none */
static inline struct sw_row *sw_rows_one(struct sw_rows *t, s64 number)
{
	return number < 1 || number > 2 * (s64)t->max ? NULL : &t->row[number - 1];
}

/**
 * sw_row_label - give a row of numbers alone a text, once
 * @text: as sw_row_key() makes it
 * Context: any.  A row that has a text keeps it.
 */
static inline void
sw_row_label(struct sw_rows *t, s64 number, const struct sw_row_key *text)
{
	struct sw_row *r = sw_rows_one(t, number);

	if (!r || READ_ONCE(r->text[0]) || !sw_rows_lock(t))
		return;
	if (!r->text[0] && READ_ONCE(r->used)) {
		sw_row_writing(r);
		sw_row_write_text(r, text->text, text->words);
		sw_row_written(r);
	}
	sw_rows_unlock(t);
}

/**
 * sw_row_text - a row's text
 * @to: SW_ROW_WORDS * 8 + 1 bytes, which end with a NUL; empty if there is no such
 * row, or another context writes it
 */
static inline void sw_row_text(struct sw_rows *t, s64 number, char *to)
{
	const struct sw_row *r = sw_rows_one(t, number);
	unsigned int i, n, nr = 0;
	u64 word = 1;
	u32 seq;

	to[0] = '\0';
	if (!r)
		return;
	seq = sw_row_seq(r);
	for (i = 0; word && i < SW_ROW_WORDS; i++) {
		word = sw_row_read(&r->text[i]);
		for (n = 0; n < sizeof(word) && word >> 8 * n; n++)
			to[nr++] = word >> 8 * n;
	}
	to[seq & 1 || READ_ONCE(r->seq) != seq ? 0 : nr] = '\0';
}

/**
 * sw_row_number - one of the numbers of a row's key
 * @n: from 0
 * Return: 0 if there is no such row or number.
 */
static inline s64 sw_row_number(struct sw_rows *t, s64 number, s64 n)
{
	const struct sw_row *r = sw_rows_one(t, number);

	return r && n >= 0 && n < SW_ROW_NUMBERS ? READ_ONCE(r->number[n]) : 0;
}

/**
 * sw_rows_clear - a new period begins; give back who was not asked for in the last
 * Context: any.  If another context holds the lock, nothing is given back.
 */
static inline void sw_rows_clear(struct sw_rows *t)
{
	const u32 period = t->period;
	u32 *index, i, used;

	if (!sw_rows_lock(t))
		return;
	index = t->index[!t->which];
	for (i = 0; i <= t->mask; i++)
		WRITE_ONCE(index[i], 0);
	for (i = 0; i < t->nr; i++) {
		struct sw_row *r = &t->row[i];

		used = READ_ONCE(r->used);
		if (!used)
			continue;
		/* with sw_row_use(), which may just have it stay */
		if ((used == period || cmpxchg(&r->used, used, 0) != used) &&
		    sw_row_enter(t, index, r->hash, i + 1))
			continue;
		WRITE_ONCE(r->used, 0);
		t->free[t->nr_free++] = i + 1;
	}
	/* with sw_row_find() */
	smp_store_release(&t->which, !t->which);
	WRITE_ONCE(t->refused, 0);
	atomic_set(&t->in_use, 0);
	WRITE_ONCE(t->period, period + 1 ? period + 1 : 1);
	sw_rows_unlock(t);
}

#endif
