/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timeline: what CPUs wrote into their rings of slices, and what threads stood at
 * when it began and when it ended, into the trace.
 *
 * Whoever reads it can sum up each thread's slices and has the accounting's own
 * figures beside them, both up to one and the same switch.
 *
 * Who may run what, against whom:
 *
 *   ppa_timeline_dump()	any context, NMI included
 *   ppa_timeline_put_*()	the trace's work item, under sw_trace.lock
 *   ppa_timeline_start(), _end()	sleepable, alone; see contexts.h for when
 */
#ifndef STAPWATCH_PPA_TIMELINE_H
#define STAPWATCH_PPA_TIMELINE_H

#include "ppa/session.h"
#include "ppa/slice.h"
#include "ppa/waking.h"
#include "trace/trace.h"
#include <linux/log2.h>
#include <linux/vmalloc.h>

#define PPA_SLICES_BYTES 4096	/* of a record, at most */
#define PPA_SLICES_MAX_KB (1 << 20)
#define PPA_KEEP_MAX_S 86400

static struct {
	bool on;
	bool ending;		/* what is put out is the last */
	u64 keep;		/* so many ticks are kept; 0: all is put out */
	bool dump;		/* what is kept is to be put out */
	bool dumping;		/* ... and some of it was */
	u64 from;		/* what ended before that is not */
	bool head;		/* is out */
	int threads;		/* so many records have been looked at */
	int ends;		/* so many CPUs have their end */
	/* a record that the output had no room for; its size is 0: none */
	struct {
		struct sw_trace_slices r;
		char bytes[PPA_SLICES_BYTES];
	} slices;
	struct {
		struct sw_trace_thread r;
		u64 parts[PPA_NR_PARTS];
	} thread;
} ppa_timeline;

/* ---- into the trace; each returns false if there is no room for all */

static bool ppa_timeline_put_head(void)
{
	struct sw_trace_timeline t = {
		.r = sw_trace_header(SW_TRACE_TIMELINE, sizeof(t)),
		.hz = ppa.hz,
		.tick = sw_tsc(),
	};

	if (!ppa_timeline.head)
		ppa_timeline.head = sw_trace_put(&t.r);
	return ppa_timeline.head;
}

/* R at its last switch.  Return: is it a thread's? */
static bool ppa_timeline_look(const struct ppa_rec *r, struct sw_trace_thread *t)
{
	unsigned int tries, i;
	u32 seq;

	for (tries = 0; tries < PPA_TRIES; tries++) {
		seq = READ_ONCE(r->seq);
		/* with ppa_rec_changed()'s smp_wmb() */
		smp_rmb();
		if (seq & 1) {
			cpu_relax();
			continue;
		}
		t->flags = READ_ONCE(r->task) ? 0 : SW_TRACE_THREAD_ENDED;
		if (READ_ONCE(r->cpu) >= 0)
			t->flags |= SW_TRACE_THREAD_RUNS;
		t->tid = READ_ONCE(r->tid);
		t->pid = READ_ONCE(r->tgid);
		t->part = READ_ONCE(r->part);
		t->born = READ_ONCE(r->started);
		t->begin = READ_ONCE(r->alive);
		t->at = READ_ONCE(r->at);
		for (i = 0; i < PPA_NR_PARTS; i++)
			t->parts[i] = READ_ONCE(r->parts[i]);
		ppa_life_sums(r->sums, t->parts);
		/* with ppa_rec_change()'s */
		smp_rmb();
		if (READ_ONCE(r->seq) == seq)
			return true;
	}
	return false;
}

/* Return: is it a thread's that runs, or has run? */
static bool ppa_timeline_read(struct ppa_rec *r, struct sw_trace_thread *t)
{
	struct task_struct *task;
	unsigned long irq;
	bool is_there;

	*t = (struct sw_trace_thread) {
		.r = sw_trace_header(SW_TRACE_THREAD,
				     sizeof(ppa_timeline.thread)),
		.nr_parts = PPA_NR_PARTS,
	};
	raw_spin_lock_irqsave(&ppa.records, irq);
	task = READ_ONCE(r->task);
	is_there = (task || r->ended) && ppa_timeline_look(r, t);
	if (is_there)
		memcpy(t->comm, task ? task->comm : r->comm, sizeof(t->comm));
	raw_spin_unlock_irqrestore(&ppa.records, irq);
	t->comm[sizeof(t->comm) - 1] = '\0';
	return is_there;
}

/* What threads stand at, from record ppa_timeline.threads on up to END. */
static bool ppa_timeline_put_threads(int end, u32 flags)
{
	struct sw_trace_thread *t = &ppa_timeline.thread.r;

	for (; ppa_timeline.threads < end; ppa_timeline.threads++) {
		if (!ppa_timeline_read(ppa_rec_at(ppa_timeline.threads %
						  ppa.max), t))
			continue;
		t->flags |= flags;
		if (!sw_trace_put(&t->r))
			return false;
	}
	return true;
}

static bool ppa_timeline_put_pending(void)
{
	struct sw_trace_slices *r = &ppa_timeline.slices.r;

	if (r->r.size && !sw_trace_put(&r->r))
		return false;
	r->r.size = 0;
	return true;
}

/* As many slices as one record has room for; those that ended before the time from
 * which on they are wanted are dropped. */
static void ppa_timeline_fill(int cpu, unsigned long head)
{
	struct ppa_slices *s = per_cpu_ptr(&ppa_slices, cpu);
	struct sw_trace_slices *r = &ppa_timeline.slices.r;
	struct ppa_stand before;
	struct sw_slice *e;
	u32 used = 0, size;

	*r = (struct sw_trace_slices) {
		.r = sw_trace_header(SW_TRACE_SLICES, 0),
	};
	r->r.cpu = cpu;
	while ((e = sw_ring_first(&s->ring, head))) {
		before = s->first;
		size = ppa_slice_follow(&s->first, e);
		if (used + size > PPA_SLICES_BYTES) {
			s->first = before;
			break;
		}
		if (!used) {
			r->from = before.time;
			r->tid = before.tid;
			r->flags = before.known ? SW_TRACE_SLICES_SINCE : 0;
		}
		if (used || s->first.time >= ppa_timeline.from) {
			memcpy(ppa_timeline.slices.bytes + used, e, size);
			used += size;
		}
		sw_ring_drop(&s->ring, size);
	}
	r->r.size = used ? sizeof(*r) + used : 0;
}

static bool ppa_timeline_put_cpu(int cpu)
{
	struct sw_ring *ring = &per_cpu_ptr(&ppa_slices, cpu)->ring;
	/* with sw_ring_commit() */
	unsigned long head = smp_load_acquire(&ring->head);

	while (READ_ONCE(ring->tail) != head) {
		ppa_timeline_fill(cpu, head);
		if (!ppa_timeline_put_pending())
			return false;
	}
	return true;
}

static bool ppa_timeline_put_ends(void)
{
	struct ppa_slices *s;

	for (; ppa_timeline.ends < nr_cpu_ids; ppa_timeline.ends++) {
		struct sw_trace_slices_end end = {
			.r = sw_trace_header(SW_TRACE_SLICES_END, sizeof(end)),
		};

		if (!cpu_possible(ppa_timeline.ends))
			continue;
		s = per_cpu_ptr(&ppa_slices, ppa_timeline.ends);
		end.r.cpu = ppa_timeline.ends;
		end.taken = s->taken;
		end.lost = s->lost;
		if (!sw_trace_put(&end.r))
			return false;
	}
	return true;
}

static bool ppa_timeline_put_cpus(void)
{
	int cpu;

	if (!ppa_timeline_put_pending())
		return false;
	for_each_possible_cpu(cpu)
		if (!ppa_timeline_put_cpu(cpu))
			return false;
	return true;
}

/* What runs is charged, and told of. */
static void ppa_timeline_sync(void)
{
	ppa_sync_all(NULL);
}

/* Who writes has interrupts off: when this returns none does any more. */
static void ppa_timeline_off(void)
{
	WRITE_ONCE(ppa_slices_on, false);
	ppa_timeline_sync();
}

/* At the end CPUs go on until all threads are looked at: what a thread stands at then
 * is told of by slices, too. */
static bool ppa_timeline_put_all(void)
{
	if (!ppa_timeline_put_head() || !ppa_timeline_put_cpus() ||
	    !ppa_timeline_put_threads(ppa.max, SW_TRACE_THREAD_FIRST))
		return false;
	if (!ppa_timeline.ending)
		return true;
	if (!ppa_timeline_put_threads(2 * ppa.max, 0))
		return false;
	ppa_timeline_off();
	return ppa_timeline_put_cpus() && ppa_timeline_put_ends();
}

/* From here on the CPUs' rings are read here, not by the CPUs. */
static void ppa_timeline_take(void)
{
	u64 now;

	WRITE_ONCE(ppa_timeline.dump, false);
	WRITE_ONCE(ppa_slices_kept, false);
	/* who gives slices up has interrupts off */
	ppa_timeline_sync();
	now = sw_tsc();
	ppa_timeline.from = now - min(now, ppa_timeline.keep);
	ppa_timeline.threads = 0;
	ppa_timeline.dumping = true;
}

static void ppa_timeline_keep(void)
{
	ppa_timeline.dumping = false;
	/* with smp_load_acquire() in ppa_slice_no_room() */
	smp_store_release(&ppa_slices_kept, true);
}

/* What is kept, where somebody has asked for it; threads are for their names. */
static bool ppa_timeline_put_kept(void)
{
	if (!ppa_timeline.dumping && READ_ONCE(ppa_timeline.dump))
		ppa_timeline_take();
	if (ppa_timeline.dumping) {
		if (!ppa_timeline_put_head() || !ppa_timeline_put_cpus() ||
		    !ppa_timeline_put_threads(ppa.max,
					      SW_TRACE_THREAD_FIRST |
					      SW_TRACE_THREAD_KEPT))
			return false;
		ppa_timeline_keep();
	}
	/* it has come in between */
	if (READ_ONCE(ppa_timeline.dump))
		return false;
	if (!ppa_timeline.ending || !ppa_timeline.head)
		return true;
	ppa_timeline_off();
	return ppa_timeline_put_ends();
}

static bool ppa_timeline_after(void)
{
	return ppa_timeline.keep ? ppa_timeline_put_kept()
				 : ppa_timeline_put_all();
}

/* All that it puts out, it puts out after a round. */
static void ppa_timeline_nothing(void)
{
}

static void ppa_timeline_no_record(struct sw_trace_record *r)
{
}

static void ppa_timeline_took(const struct sw_trace_record *r)
{
}

static const struct sw_trace_source ppa_timeline_source = {
	.begun = ppa_timeline_nothing,
	.before = ppa_timeline_nothing,
	.after = ppa_timeline_after,
	.finish = ppa_timeline_no_record,
	.took = ppa_timeline_took,
	.gave_up = ppa_timeline_nothing,
};

/* ---- beginning and end */

static void ppa_timeline_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ppa_slices *s = per_cpu_ptr(&ppa_slices, cpu);

		vfree(s->ring.bytes);
		memset(s, 0, sizeof(*s));
	}
	memset(&ppa_timeline, 0, sizeof(ppa_timeline));
}

static int ppa_timeline_alloc(unsigned long bytes)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ppa_slices *s = per_cpu_ptr(&ppa_slices, cpu);

		sw_ring_init(&s->ring, vzalloc_node(bytes, cpu_to_node(cpu)),
			     bytes);
		if (!s->ring.bytes)
			return -ENOMEM;
		s->gap = true;
	}
	return 0;
}

static void ppa_timeline_report(void)
{
	u64 taken = 0, lost = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		taken += per_cpu(ppa_slices, cpu).taken;
		lost += per_cpu(ppa_slices, cpu).lost;
	}
	if (lost)
		_stp_warn("stapwatch: %llu of %llu slices of the timeline were lost; -G ppa_timeline_buffer=KB makes a CPU's buffer larger\n",
			  lost, taken);
}

/**
 * ppa_timeline_end - put out all that there is, and the end
 * Context: sleepable, before ppa_end(); also where nothing has started.
 */
static void ppa_timeline_end(void)
{
	if (!ppa_timeline.on)
		return;
	ppa_timeline_sync();
	ppa_timeline.ending = true;
	sw_trace_stop(&ppa_timeline_source);
	/* where there was no room for all it is still on */
	ppa_timeline_off();
	/* and who has seen it on has put its slice away after this */
	ppa_waking_off(PPA_WAKING_TIMELINE);
	ppa_timeline_report();
	ppa_timeline_free();
}

/* Wakers that were kept for others before are none of slices. */
static void ppa_timeline_forget_wakers(void)
{
	int i;

	for (i = 0; i < ppa.max; i++)
		WRITE_ONCE(ppa_rec_at(i)->waker, 0);
}

static int ppa_timeline_begin(unsigned long bytes, u64 keep)
{
	int rc;

	rc = ppa_timeline_alloc(bytes);
	if (!rc)
		rc = sw_trace_start(4096, &ppa_timeline_source, false);
	if (rc) {
		_stp_error("stapwatch: no memory for each CPU's buffer of %lu KiB; try a smaller -G ppa_timeline_buffer=KB\n",
			   bytes >> 10);
		ppa_timeline_free();
		return rc;
	}
	ppa_timeline.keep = keep;
	ppa_slices_kept = keep;
	ppa_timeline.on = true;
	ppa_slices_kick = &sw_trace.kick;
	rc = ppa_waking_on(PPA_WAKING_TIMELINE, "a timeline");
	if (rc)
		return rc;
	ppa_timeline_forget_wakers();
	sw_trace.always = true;
	WRITE_ONCE(ppa_slices_on, true);
	ppa_timeline_sync();
	return 0;
}

/**
 * ppa_timeline_start - begin to record
 * @kb: of each CPU's ring
 * @seconds: how much is kept until it is asked for; 0: all is put out
 *
 * Context: sleepable, after ppa_start(); sw_trace knows where to print.
 * Return: 0, or an errno after a message; ppa_timeline_end() is called in any case.
 */
static int __maybe_unused ppa_timeline_start(s64 kb, s64 seconds)
{
	if (kb < 4 || kb > PPA_SLICES_MAX_KB) {
		_stp_error("stapwatch: ppa_timeline_buffer=%lld: it must be from 4 to %d (KiB)\n",
			   kb, PPA_SLICES_MAX_KB);
		return -EINVAL;
	}
	if (seconds < 0 || seconds > PPA_KEEP_MAX_S) {
		_stp_error("stapwatch: ppa_timeline_keep=%lld: it must be from 0 to %d (seconds)\n",
			   seconds, PPA_KEEP_MAX_S);
		return -EINVAL;
	}
	return ppa_timeline_begin(roundup_pow_of_two(kb) << 10,
				  seconds * ppa.hz);
}

/**
 * ppa_timeline_dump - let what is kept be put out soon
 * Context: any.
 */
static void __maybe_unused ppa_timeline_dump(void)
{
	if (!READ_ONCE(ppa_slices_on) || !ppa_timeline.keep)
		return;
	WRITE_ONCE(ppa_timeline.dump, true);
	irq_work_queue(&sw_trace.kick);
}

#endif
