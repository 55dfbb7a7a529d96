/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of who ran while threads were ready (see ppa(5)):
 *
 *	/proc/systemtap/MODULE/ppa/rawcompetitors
 *
 * It is there where that is asked for.  All of this is sleepable.
 */
#ifndef STAPWATCH_PPA_PROC_COMPETITORS_H
#define STAPWATCH_PPA_PROC_COMPETITORS_H

#include "ppa/proc.h"
#include "ppa/read.h"
#include "ppa/ready.h"
#include <linux/seq_file.h>

/* The header, and then a place for each record. */
static void *ppa_competitors_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= ppa.max ? pos : NULL;
}

static void *ppa_competitors_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ppa_competitors_start(m, pos);
}

/* Return: whether there are any. */
static bool ppa_competitors_take(const struct ppa_rec *r,
				 struct ppa_competitors *to)
{
	const struct ppa_competing *from = ppa_competing_of(r);
	unsigned int i;
	u64 any = 0;

	*to = (struct ppa_competitors) {
		.tid = READ_ONCE(r->tid), .born = READ_ONCE(r->started),
	};
	for (i = 0; i < PPA_NR_COMPETED_VALUES; i++)
		any |= to->values[i] = READ_ONCE(from->values[i]);
	for (i = 0; i < PPA_COMPETITORS; i++) {
		to->threads[i].tid = READ_ONCE(from->threads[i].tid);
		to->threads[i].ticks = READ_ONCE(from->threads[i].ticks);
		any |= to->threads[i].ticks;
	}
	return any;
}

/* What the record of a thread says, or of one that has ended; false: nothing. */
static bool ppa_competitors_read(const struct ppa_rec *r,
				 struct ppa_competitors *to)
{
	unsigned int tries;
	bool any;
	u32 seq;

	for (tries = 0; tries < PPA_TRIES; tries++) {
		seq = READ_ONCE(r->seq);
		/* with ppa_rec_changed()'s smp_wmb(), and ppa_remove()'s */
		smp_rmb();
		any = (READ_ONCE(r->task) || READ_ONCE(r->ended)) &&
		      ppa_competitors_take(r, to);
		/* with ppa_rec_change()'s */
		smp_rmb();
		if (!(seq & 1) && READ_ONCE(r->seq) == seq)
			return any;
		cpu_relax();
	}
	atomic_long_inc(&ppa.unread);
	return false;
}

static int ppa_competitors_show(struct seq_file *m, void *v)
{
	struct ppa_header h = ppa_file_header(PPA_FILE_COMPETITORS);
	loff_t at = *(loff_t *)v;
	struct ppa_competitors to;

	if (at) {
		if (!ppa_competitors_read(ppa_rec_at(at - 1), &to))
			return SEQ_SKIP;
		seq_write(m, &to, sizeof(to));
		return 0;
	}
	h.stride = sizeof(to);
	h.nr_values = PPA_NR_COMPETED_VALUES;
	seq_write(m, &h, sizeof(h));
	return 0;
}

static const struct seq_operations ppa_competitors_seq = {
	.start = ppa_competitors_start,
	.next = ppa_competitors_next,
	.stop = ppa_threads_stop,
	.show = ppa_competitors_show,
};

static int ppa_competitors_open(struct inode *inode, struct file *file)
{
	return sw_may_open(&ppa_access, file) ?:
	       seq_open(file, &ppa_competitors_seq);
}

PPA_OPS(ppa_competitors_ops, ppa_competitors_open, seq_release);

#endif
