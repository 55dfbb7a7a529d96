/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of threads that have ended, and of those that the session's end found.
 *
 * It has room for so many; the newest take the place of the oldest.  What a thread
 * has counted is in the sums of its targets all the same.
 *
 * Who may run what, against whom:
 *
 *   sw_list_put()	the holder of sw_watch.lock
 *   sw_list_at(), sw_list_find(), sw_list_count()	any context, NMI included;
 *			on the list's memory, which is there from the session's
 *			begin to the last end probe
 *   sw_list_start(), _stop()	sleepable, one at a time
 */
#ifndef STAPWATCH_WATCH_LIST_H
#define STAPWATCH_WATCH_LIST_H

#include "base/compat.h"
#include "count/cpu.h"
#include "watch/state.h"
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

struct sw_dead {
	u64 before;		/* who came before it, of its tid's hash; from 1 on, or 0 */
	u64 start;		/* when it began, by CLOCK_BOOTTIME */
	u64 holed;		/* bit per slot */
	u32 seq;		/* odd: it changes */
	u32 begun;		/* as in struct sw_thread_set */
	pid_t tid;
	pid_t pid;
	bool alive;		/* when the session ended */
	char name[TASK_COMM_LEN];
	u64 count[];
};

static struct {
	char *mem;
	u64 *heads;		/* by a tid's hash, who came last; as before */
	unsigned int bits;	/* of such a hash */
	unsigned int bytes;	/* of each */
	int max;
	u64 put;		/* so many came, the last of which are here */
} sw_list;

static struct sw_dead *sw_list_slot(u64 nr)
{
	return (struct sw_dead *)(sw_list.mem +
				  nr % sw_list.max * sw_list.bytes);
}

static int sw_list_count(void)
{
	u64 put = READ_ONCE(sw_list.put);

	if (!sw_list.mem)
		return 0;
	return put < sw_list.max ? put : sw_list.max;
}

/* How many were overwritten. */
static u64 sw_list_dropped(void)
{
	return sw_list.put - sw_list_count();
}

static void sw_list_put(struct task_struct *task, struct sw_thread *e, bool alive)
{
	const struct sw_watched *w = sw_watched_of(e);
	const struct sw_thread_set *s = sw_thread_set(e);
	struct sw_dead *d;
	u64 *head;

	if (!sw_list.mem)
		return;
	head = &sw_list.heads[hash_32(task->pid, sw_list.bits)];
	d = sw_list_slot(sw_list.put);
	WRITE_ONCE(d->seq, d->seq + 1);
	/* with the second smp_rmb() of sw_list_read() */
	smp_wmb();
	WRITE_ONCE(d->before, *head);
	d->holed = w->holed;
	d->begun = s ? s->begun : 0;
	d->start = task->start_boottime;
	d->tid = task->pid;
	d->pid = task->tgid;
	d->alive = alive;
	memcpy(d->name, task->comm, sizeof(d->name));
	d->name[sizeof(d->name) - 1] = '\0';
	memcpy(d->count, w->last, sw_watch.slots * sizeof(u64));
	/* with the first smp_rmb() of sw_list_read() */
	smp_wmb();
	WRITE_ONCE(d->seq, d->seq + 1);
	WRITE_ONCE(sw_list.put, sw_list.put + 1);
	/* with sw_list_find(), whose first look is at the whole of it */
	smp_store_release(head, sw_list.put);
}

/* One of the list, and one count of it, or none where SLOT is too large. */
struct sw_dead_view {
	u64 start;
	pid_t tid;
	pid_t pid;
	bool alive;
	bool holed;
	char name[TASK_COMM_LEN];
	u64 count;
};

/* Return: false: another one takes its place just now. */
static bool
sw_list_read(const struct sw_dead *d, unsigned int slot, struct sw_dead_view *v)
{
	u32 seq = READ_ONCE(d->seq);

	/* with sw_list_put() */
	smp_rmb();
	if (seq & 1)
		return false;
	v->start = READ_ONCE(d->start);
	v->tid = READ_ONCE(d->tid);
	v->pid = READ_ONCE(d->pid);
	v->alive = READ_ONCE(d->alive);
	memcpy(v->name, d->name, sizeof(v->name));
	v->holed = slot < SW_MAX_SLOTS && (READ_ONCE(d->holed) >> slot & 1);
	v->count = slot < sw_watch.slots ? READ_ONCE(d->count[slot]) : 0;
	/* it ended when another set counted there */
	if (sw_thread_words && slot < SW_WORDS &&
	    sw_word_is_void(slot, READ_ONCE(d->begun))) {
		v->holed = false;
		v->count = 0;
	}
	/* with sw_list_put() */
	smp_rmb();
	return READ_ONCE(d->seq) == seq;
}

/**
 * sw_list_at - the Nth of the list, from the oldest on
 * Context: any.
 * Return: whether there is one; if it goes just now it is none any more.
 */
static bool sw_list_at(s64 n, unsigned int slot, struct sw_dead_view *v)
{
	int count = sw_list_count();

	if (n < 0 || n >= count)
		return false;
	return sw_list_read(sw_list_slot(READ_ONCE(sw_list.put) - count + n),
			    slot, v);
}

/**
 * sw_list_find - the last thread of that number that has ended
 * @start: when that one began; 0: whenever
 * Context: any; it looks at those of the tid's hash, and at no more than the list holds.
 */
static bool
sw_list_find(pid_t tid, u64 start, unsigned int slot, struct sw_dead_view *v)
{
	u64 nr, before, put = READ_ONCE(sw_list.put);
	const struct sw_dead *d;

	if (!sw_list.mem)
		return false;
	/* with smp_store_release() in sw_list_put() */
	nr = smp_load_acquire(&sw_list.heads[hash_32(tid, sw_list.bits)]);
	for (; nr && put < nr + sw_list.max; nr = before) {
		d = sw_list_slot(nr - 1);
		before = READ_ONCE(d->before);
		if (READ_ONCE(d->tid) == tid && sw_list_read(d, slot, v) &&
		    v->tid == tid && (!start || v->start == start))
			return true;
		/* another one has taken its place, and so the way ends here */
		if (before >= nr)
			return false;
	}
	return false;
}

static void sw_list_stop(void)
{
	vfree(sw_list.heads);
	vfree(sw_list.mem);
	memset(&sw_list, 0, sizeof(sw_list));
}

/* Return: 0 or -ENOMEM. */
static int sw_list_start(int max, unsigned int slots)
{
	sw_list.bytes = ALIGN(sizeof(struct sw_dead) + slots * sizeof(u64),
			      sizeof(u64));
	sw_list.max = max;
	sw_list.put = 0;
	sw_list.bits = max > 2 ? ilog2(max) : 1;
	sw_list.heads = vzalloc(sizeof(*sw_list.heads) << sw_list.bits);
	sw_list.mem = vzalloc((size_t)max * sw_list.bytes);
	if (sw_list.mem && sw_list.heads)
		return 0;
	sw_list_stop();
	return -ENOMEM;
}

#endif
