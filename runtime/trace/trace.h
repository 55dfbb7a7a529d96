/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace: what trace/abi.h says, from CPUs' rings to the script's output.
 *
 * Records are made where things happen, in the ring of the CPU.  A work item
 * takes them out, numbers them, and puts them into SystemTap's output between
 * what the script prints; it stops while the output has no room, so that what
 * gets lost is lost in a ring, where it is counted.
 *
 * Who may run what, against whom:
 *
 *   sw_trace_enter() to sw_trace_leave()	any context, NMI included,
 *				preemption off; one within another is refused
 *   sw_trace_put(), sw_trace_round()	the work item, under sw_trace.lock
 *   sw_trace_emit()		sleepable
 *   sw_trace_start(), sw_trace_stop()	sleepable, one after the other
 */
#ifndef STAPWATCH_TRACE_TRACE_H
#define STAPWATCH_TRACE_TRACE_H

#include "base/clock.h"
#include "base/session.h"
#include "base/version.h"
#include "base/work.h"
#include "trace/abi.h"
#include "trace/buildid.h"
#include "trace/output.h"
#include "trace/ring.h"
#include "trace/source.h"
#include <linux/delay.h>
#include <linux/elf.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/mutex.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define SW_TRACE_INTERVAL (HZ / 10)
#define SW_TRACE_LAST_WAIT_MS 10000

struct sw_trace_cpu {
	struct sw_ring ring;
	/* what this CPU counts */
	unsigned long taken;
	unsigned long full;
	unsigned long nested;
	unsigned long skipped;
	unsigned long no_stack;
	unsigned long other_lost;
	/* what the work item does */
	u32 seq;
	u64 written;
};

static DEFINE_PER_CPU(struct sw_trace_cpu, sw_trace_cpus);

static struct {
	struct mutex lock;
	bool on;			/* rings are there */
	bool quiet;			/* nothing is put out: for the images */
	bool begun;			/* the head is out */
	bool dirty;			/* something followed the last round */
	bool endless;			/* the output had no room for the end */
	bool always;			/* it is put out also if nothing was sampled */
	u64 held;			/* see sw_trace_hold() */
	bool keeps_end;			/* records of when handlers cease to run come late */
	u64 oldest;			/* what the last round said while handlers ran */
	const struct sw_trace_source *source;
	bool works;
	struct delayed_work work;
	struct work_struct kicked;	/* the same, at once */
	struct irq_work kick;
} sw_trace = { .lock = __MUTEX_INITIALIZER(sw_trace.lock) };

/* ---- writing, in any context */

/**
 * sw_trace_enter - begin to write a record
 * Return: false, counted by the caller, within the writing of another.
 */
static __always_inline bool sw_trace_enter(struct sw_trace_cpu *t)
{
	return sw_ring_enter(&t->ring);
}

static __always_inline void sw_trace_leave(struct sw_trace_cpu *t)
{
	sw_ring_leave(&t->ring);
}

/**
 * sw_trace_reserve - a record with its head filled in
 * @size: a multiple of eight
 * Return: NULL when the ring is full.
 */
static __always_inline void *
sw_trace_reserve(struct sw_trace_cpu *t, u16 type, u32 size)
{
	struct sw_trace_record *r = sw_ring_reserve(&t->ring, size);

	if (unlikely(!r))
		return NULL;
	*r = (struct sw_trace_record) {
		.mark = SW_TRACE_MARK,
		.type = type,
		.cpu = smp_processor_id(),
		.size = size,
		.time = sw_clock_ns(),
	};
	return r;
}

static __always_inline void sw_trace_commit(struct sw_trace_cpu *t)
{
	sw_ring_commit(&t->ring);
	if (unlikely(t->ring.head - READ_ONCE(t->ring.tail) >
		     t->ring.size / 2))
		irq_work_queue(&sw_trace.kick);
}

/**
 * sw_trace_enter_other - begin to write a record that is no sample
 * Return: the CPU's ring with interrupts off, or NULL, which is counted.  Else
 * sw_trace_leave_other() must follow.
 */
static struct sw_trace_cpu *sw_trace_enter_other(unsigned long *flags)
{
	struct sw_trace_cpu *t;

	local_irq_save(*flags);
	t = this_cpu_ptr(&sw_trace_cpus);
	if (likely(sw_trace_enter(t)))
		return t;
	this_cpu_inc(sw_trace_cpus.other_lost);
	local_irq_restore(*flags);
	return NULL;
}

/* The record, or NULL: there was no room, which is counted. */
static void
sw_trace_leave_other(struct sw_trace_cpu *t, const void *record,
		     unsigned long flags)
{
	if (record)
		sw_trace_commit(t);
	else
		this_cpu_inc(sw_trace_cpus.other_lost);
	sw_trace_leave(t);
	local_irq_restore(flags);
}

/* ---- the work item */

/**
 * sw_trace_put - give a record its number, and to the script's output
 *
 * Context: a work item, under sw_trace.lock, between sw_trace_open() and
 * sw_trace_close().
 * Return: false when there is no room.
 */
static bool sw_trace_put(const struct sw_trace_record *r)
{
	struct sw_trace_record *to;

	if (sw_trace.quiet)
		return true;
	to = sw_output_put(r, r->size);
	if (!to)
		return false;
	to->seq = per_cpu_ptr(&sw_trace_cpus, r->cpu)->seq++;
	sw_trace.dirty = true;
	return true;
}

static void sw_trace_open(void)
{
	mutex_lock(&sw_trace.lock);
}

/* What the output has no room for yet comes with what is next. */
static void sw_trace_close(void)
{
	sw_output_flush();
	mutex_unlock(&sw_trace.lock);
}

static struct sw_trace_record sw_trace_header(u16 type, u32 size)
{
	return (struct sw_trace_record) {
		.mark = SW_TRACE_MARK,
		.type = type,
		.cpu = raw_smp_processor_id(),
		.size = size,
		.time = sw_clock_ns(),
	};
}

/* A record that ends in a text: a release of Linux, an event's name.  Not from
 * memory that there may be none of, for without such records a trace is nothing. */
static bool
sw_trace_put_named(const struct sw_trace_record *r, size_t size,
		   const char *name)
{
	u64 all[32] = { 0 };
	struct sw_trace_record *whole = (void *)all;
	size_t room = sizeof(all) - size;

	memcpy(all, r, size);
	strscpy((char *)all + size, name, room);
	whole->size = ALIGN(size + strnlen(name, room - 1) + 1, 8);
	return sw_trace_put(whole);
}

static void sw_trace_put_head(void)
{
	struct sw_trace_head h = {
		.r = sw_trace_header(SW_TRACE_HEAD, 0),
		.version = SW_TRACE_VERSION,
		.size = offsetof(struct sw_trace_head, release),
		.machine = ELF_ARCH,
		.page_size = PAGE_SIZE,
		.nr_cpus = nr_cpu_ids,
		.realtime = ktime_get_real_fast_ns(),
		.stext = kallsyms_lookup_name("_stext"),
		.made_by = SW_VERSION,
	};

	const void *notes = (void *)kallsyms_lookup_name("__start_notes");
	const void *end = (void *)kallsyms_lookup_name("__stop_notes");

	h.session = h.realtime;
	if (notes && notes < end)
		sw_build_id_in_notes(notes, end - notes, h.build_id);
	sw_trace_put_named(&h.r, h.size, init_utsname()->release);
}

/* Return: false: no room for all. */
static bool sw_trace_put_cpu(struct sw_trace_cpu *t)
{
	struct sw_trace_record *r;
	unsigned long head;
	u32 size;

	/* with sw_ring_leave(): who had begun to write has interrupts off, and
	 * is done at once */
	while (smp_load_acquire(&t->ring.busy))
		cpu_relax();
	/* with sw_ring_commit() */
	head = smp_load_acquire(&t->ring.head);
	while ((r = sw_ring_first(&t->ring, head))) {
		size = r->size;
		sw_trace.source->finish(r);
		if (!sw_trace_put(r))
			return false;
		t->written += r->type == SW_TRACE_SAMPLE;
		sw_trace.source->took(r);
		sw_ring_drop(&t->ring, size);
	}
	return true;
}

/* Return: false: no room for all. */
static bool sw_trace_round(void)
{
	struct sw_trace_round round = { .oldest = sw_clock_ns() };
	bool all = true;
	int cpu;

	if (!sw_trace.begun) {
		sw_trace.begun = true;
		sw_trace_put_head();
		sw_trace.source->begun();
	}
	sw_trace.source->before();
	/* with sw_ring_enter()'s xchg(): who is not seen writing now begins
	 * after `oldest'; and who sees that handlers run no more, if they do here */
	smp_mb();
	if (!sw_trace.keeps_end || sw_is_running())
		sw_trace.oldest = round.oldest;
	for_each_possible_cpu(cpu)
		all &= sw_trace_put_cpu(per_cpu_ptr(&sw_trace_cpus, cpu));
	all &= sw_trace.source->after();
	if (all && sw_trace.dirty) {
		round.r = sw_trace_header(SW_TRACE_ROUND, sizeof(round));
		round.oldest = min(sw_trace.oldest, sw_trace.held ?: U64_MAX);
		if (sw_trace_put(&round.r))
			sw_trace.dirty = false;
	}
	return all && !sw_trace.dirty;
}

/* Return: has the trace begun? */
static bool sw_trace_put_all(void)
{
	bool begun;

	sw_trace_open();
	if (sw_trace.begun || sw_is_running())
		sw_trace_round();
	begun = sw_trace.begun;
	sw_trace_close();
	return begun;
}

static void sw_trace_work(struct work_struct *work)
{
	/* soon, for those who are there only for a moment */
	unsigned long delay = sw_trace_put_all() ? SW_TRACE_INTERVAL : 1;

	sw_work_delay(&sw_trace.work, delay);
}

static void sw_trace_kicked(struct work_struct *work)
{
	sw_trace_put_all();
}

static void sw_trace_kick(struct irq_work *work)
{
	sw_work_queue(&sw_trace.kicked);
}

/**
 * sw_trace_catch_up - put out what there is now, if it can be
 * Context: sleepable.
 */
static void sw_trace_catch_up(void)
{
	if (sw_trace.on)
		flush_delayed_work(&sw_trace.work);
}

/**
 * sw_trace_hold - from here to sw_trace_let_go(), records are made that are put
 * out later, by one work item: rounds take account of it
 * Context: sleepable.
 */
static void sw_trace_hold(void)
{
	mutex_lock(&sw_trace.lock);
	sw_trace.held = sw_clock_ns();
	mutex_unlock(&sw_trace.lock);
}

static void sw_trace_let_go(void)
{
	mutex_lock(&sw_trace.lock);
	sw_trace.held = 0;
	mutex_unlock(&sw_trace.lock);
}

/* ---- the end */

/* Return: false: no room. */
static bool sw_trace_put_end(int cpu)
{
	struct sw_trace_cpu *t = per_cpu_ptr(&sw_trace_cpus, cpu);
	struct sw_trace_end end = {
		.r = sw_trace_header(SW_TRACE_END, sizeof(end)),
		.taken = t->taken,
		.written = t->written,
		.lost_full = t->full,
		.lost_nested = t->nested,
		.lost_skipped = t->skipped,
		.no_stack = t->no_stack,
		.other_lost = t->other_lost,
	};

	end.r.cpu = cpu;
	return sw_trace_put(&end.r);
}

/* What the output had no room for to the very end. */
static void sw_trace_give_up(struct sw_trace_cpu *t)
{
	struct sw_trace_record *r;

	while ((r = sw_ring_first(&t->ring, t->ring.head))) {
		if (r->type == SW_TRACE_SAMPLE)
			t->full++;
		else
			t->other_lost++;
		sw_ring_drop(&t->ring, r->size);
	}
}

/* Let who reads the output make room.  Return: false: there was enough time. */
static bool sw_trace_wait(unsigned int *waited)
{
	if (*waited >= SW_TRACE_LAST_WAIT_MS)
		return false;
	sw_trace_close();
	msleep(20);
	*waited += 20;
	sw_trace_open();
	return true;
}

static void sw_trace_last_work(struct work_struct *work)
{
	unsigned int waited = 0;
	bool put;
	int cpu;

	sw_trace_open();
	while (!sw_trace_round() && sw_trace_wait(&waited))
		;
	sw_trace.source->gave_up();
	for_each_possible_cpu(cpu) {
		sw_trace_give_up(per_cpu_ptr(&sw_trace_cpus, cpu));
		while (!(put = sw_trace_put_end(cpu)) && sw_trace_wait(&waited))
			;
		sw_trace.endless |= !put;
	}
	while (!(put = sw_output_flush()) && sw_trace_wait(&waited))
		;
	sw_trace.endless |= !put;
	sw_trace_close();
}

static void sw_trace_report(void)
{
	unsigned long full = 0, skipped = 0, other = 0, taken = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sw_trace_cpu *t = per_cpu_ptr(&sw_trace_cpus, cpu);

		taken += t->taken;
		full += t->full;
		skipped += t->nested + t->skipped;
		other += t->other_lost;
	}
	if (full)
		_stp_warn("stapwatch: %lu of %lu samples were lost; -G stapwatch_buffer=KB makes a CPU's buffer larger\n",
			  full, taken);
	if (skipped)
		_stp_warn("stapwatch: %lu of %lu samples were lost: SystemTap skipped the handler: another was running on that CPU, or the CPU came online later\n",
			  skipped, taken);
	if (other)
		_stp_warn("stapwatch: %lu records of processes, their maps and marks were lost; -G stapwatch_buffer=KB makes a CPU's buffer larger\n",
			  other);
	if (sw_trace.endless)
		_stp_warn("stapwatch: the trace has no end: for %d s nobody read the session's output\n",
			  SW_TRACE_LAST_WAIT_MS / 1000);
}

static bool sw_trace_taken(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(sw_trace_cpus, cpu).taken)
			return true;
	return false;
}

static void sw_trace_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sw_trace_cpu *t = per_cpu_ptr(&sw_trace_cpus, cpu);

		vfree(t->ring.bytes);
		memset(t, 0, sizeof(*t));
	}
}

/**
 * sw_trace_stop - put out all that there is, and the end
 * @source: who started it; for another one nothing is done
 *
 * Context: sleepable, when nothing is sampled or recorded any more.
 */
static void sw_trace_stop(const struct sw_trace_source *source)
{
	struct work_struct last;

	if (!sw_trace.on || sw_trace.source != source)
		return;
	irq_work_sync(&sw_trace.kick);
	cancel_work_sync(&sw_trace.kicked);
	cancel_delayed_work_sync(&sw_trace.work);
	if (sw_trace.begun || sw_trace.always || sw_trace_taken()) {
		INIT_WORK_ONSTACK(&last, sw_trace_last_work);
		sw_work_queue(&last);
		flush_work(&last);
		destroy_work_on_stack(&last);
		sw_trace_report();
	} else {
		int cpu;

		for_each_possible_cpu(cpu)
			sw_trace_give_up(per_cpu_ptr(&sw_trace_cpus, cpu));
	}
	sw_works_stop(&sw_trace.works);
	sw_trace_free();
	sw_trace.on = false;
	sw_trace.begun = false;
}

/**
 * sw_trace_start - be ready to write
 * @bytes: of each CPU's ring, a power of two
 * @source: what there is to trace
 * @quiet: put nothing out: records are for the images alone
 * Context: sleepable.
 * Return: 0, -ENOMEM, or -EBUSY if there is another source.
 */
static int sw_trace_start(unsigned long bytes,
			  const struct sw_trace_source *source, bool quiet)
{
	int cpu;

	if (sw_trace.on)
		return -EBUSY;
	if (sw_works_start(&sw_trace.works)) {
		sw_works_stop(&sw_trace.works);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu) {
		struct sw_trace_cpu *t = per_cpu_ptr(&sw_trace_cpus, cpu);

		sw_ring_init(&t->ring, vzalloc_node(bytes, cpu_to_node(cpu)),
			     bytes);
		if (!t->ring.bytes) {
			sw_trace_free();
			sw_works_stop(&sw_trace.works);
			return -ENOMEM;
		}
	}
	sw_output_start();
	sw_trace.source = source;
	sw_trace.quiet = quiet;
	sw_trace.dirty = false;
	sw_trace.endless = false;
	sw_trace.always = false;
	INIT_DELAYED_WORK(&sw_trace.work, sw_trace_work);
	INIT_WORK(&sw_trace.kicked, sw_trace_kicked);
	init_irq_work(&sw_trace.kick, sw_trace_kick);
	sw_trace.on = true;
	sw_work_delay(&sw_trace.work, 1);
	return 0;
}

#endif
