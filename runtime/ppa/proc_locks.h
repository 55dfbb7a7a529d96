/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of locks (see ppa(5)):
 *
 *	/proc/systemtap/MODULE/ppa/rawlocks
 *
 * It is there where they are told apart.  All of this is sleepable.
 *
 * Addresses of the kernel are for those to whom /proc/kallsyms shows them, as they open
 * the file.  Others get what the kernel prints in place of an address, which tells locks
 * and places apart as well.
 */
#ifndef STAPWATCH_PPA_PROC_LOCKS_H
#define STAPWATCH_PPA_PROC_LOCKS_H

#include "ppa/lock_age.h"
#include "ppa/proc.h"
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>

/* The header, and then a place for each row. */
static void *ppa_locks_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= ppa_locks.nr ? pos : NULL;
}

static void *ppa_locks_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ppa_locks_start(m, pos);
}

/* What the kernel calls an address; nothing, if it has no name for it. */
static void ppa_lock_name(char *to, u64 at)
{
	snprintf(to, PPA_LOCK_TEXT, "%ps", (void *)(unsigned long)at);
	if (to[0] == '0' && to[1] == 'x')
		memset(to, 0, PPA_LOCK_TEXT);
}

/* As %p has it; 0 while the kernel has no key for that. */
static u64 ppa_lock_hashed(u64 at)
{
	char text[24];
	u64 hashed;

	snprintf(text, sizeof(text), "%p", (void *)(unsigned long)at);
	return kstrtou64(text, 16, &hashed) ? 0 : hashed;
}

static void ppa_lock_hide(struct ppa_lock *l)
{
	unsigned int i;

	l->lock = ppa_lock_hashed(l->lock);
	for (i = 0; i < l->nr_frames; i++)
		l->ip[i] = ppa_lock_hashed(l->ip[i]);
}

static void
ppa_lock_take(const struct ppa_lock_row *row, bool may_see, struct ppa_lock *to)
{
	const struct ppa_lock_key *key = &row->key;
	unsigned int i;

	to->kind = key->kind;
	to->what = key->what;
	to->lock = key->lock;
	to->space = key->space;
	to->holder = key->holder;
	to->nr_frames = key->nr;
	to->born = row->born;
	memcpy(to->comm, row->comm, sizeof(to->comm));
	memcpy(to->ip, key->ip, sizeof(to->ip));
	for (i = 0; i < PPA_NR_LOCK_VALUES; i++)
		to->values[i] = atomic64_read(&row->counts[i]);
	for (i = 0; i < PPA_LOCK_WAKERS; i++) {
		to->wakers[i].tid = READ_ONCE(row->wakers[i]);
		to->wakers[i].waits = atomic64_read(&row->woke[i]);
	}
	if (!ppa_lock_is_kernels(key->kind))
		return;
	ppa_lock_name(to->name, key->lock);
	/* a return address is after the call */
	for (i = 0; i < key->nr; i++)
		ppa_lock_name(to->places[i], key->ip[i] - 1);
	if (!may_see)
		ppa_lock_hide(to);
}

static int ppa_lock_put(struct seq_file *m, u32 at)
{
	const struct ppa_lock_row *row = &ppa_locks.rows[at];
	struct ppa_lock *to;

	/* with smp_store_release() in ppa_lock_claim(); the first has no key */
	if (at && !(smp_load_acquire(&row->state) & PPA_LOCK_FILLED))
		return SEQ_SKIP;
	to = kzalloc(sizeof(*to), GFP_KERNEL);
	if (!to)
		return -ENOMEM;
	ppa_lock_take(row, m->private, to);
	seq_write(m, to, sizeof(*to));
	kfree(to);
	return 0;
}

static int ppa_locks_show(struct seq_file *m, void *v)
{
	struct ppa_header h = ppa_file_header(PPA_FILE_LOCKS);
	loff_t at = *(loff_t *)v;

	if (at)
		return ppa_lock_put(m, at - 1);
	h.stride = sizeof(struct ppa_lock);
	h.nr_values = PPA_NR_LOCK_VALUES;
	h.lost = ppa_locks_lost();
	seq_write(m, &h, sizeof(h));
	return 0;
}

static const struct seq_operations ppa_locks_seq = {
	.start = ppa_locks_start,
	.next = ppa_locks_next,
	.stop = ppa_threads_stop,
	.show = ppa_locks_show,
};

/* What ibt_wrapper() changes is the CPU's.  A security module may take locks. */
static bool ppa_locks_may_see(const struct file *file)
{
	bool may = false;

	migrate_disable();
	if (ppa_locks.may_see)
		may = ibt_wrapper(bool, ppa_locks.may_see(file->f_cred));
	migrate_enable();
	return may;
}

static int ppa_locks_open(struct inode *inode, struct file *file)
{
	int rc = sw_may_open(&ppa_access, file) ?:
		 seq_open(file, &ppa_locks_seq);
	struct seq_file *m = file->private_data;

	if (rc)
		return rc;
	ppa_locks_look();
	/* NULL: who opens it may not */
	m->private = ppa_locks_may_see(file) ? m : NULL;
	return 0;
}

static int ppa_locks_release(struct inode *inode, struct file *file)
{
	ppa_locks_looked();
	return seq_release(inode, file);
}

PPA_OPS(ppa_locks_ops, ppa_locks_open, ppa_locks_release);

#endif
