/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages that handlers send: stapwatch_notify().
 *
 * Each CPU has two rings.  Who writes has interrupts off; who comes in the middle of
 * that, in an NMI or by a breakpoint, takes the second ring.  So no message is lost for
 * that, and one that finds its ring full is counted.
 *
 * Who may run what, against whom:
 *
 *   sw_notify()	any context, NMI included
 *   sw_notify_next()	one reader at a time, in any context that may be preempted
 *   sw_notify_is_empty(), sw_notify_lost()	any context
 */
#ifndef STAPWATCH_MESSAGE_SEND_H
#define STAPWATCH_MESSAGE_SEND_H

#include "base/clock.h"
#include "base/compat.h"
#include "message/abi.h"
#include "sample/overflow.h"
#include "trace/ring.h"
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/wait.h>

/* In a ring. */
struct sw_note {
	u32 mark;		/* not 0, as a ring wants it */
	u32 cpu;
	u32 pid;
	u32 tid;
	u32 overflowed;		/* samplers, a bit each */
	u64 ns;
	s64 value;
	u64 ip;
	const char *event;	/* for as long as the module is there; or NULL */
	char set[SW_MESSAGE_SET];
};

_Static_assert(sizeof(struct sw_note) == 88, "as stapwatch-production(7) has it");

struct sw_notify_cpu {
	struct sw_ring rings[2];	/* [1]: where [0] is being written to */
	u64 lost;
	struct irq_work wake;
};

static struct {
	struct sw_notify_cpu __percpu *cpus;	/* NULL: nobody sends */
	wait_queue_head_t *readers;	/* see sw_notify_leave_readers() */
	bool ended;
	atomic64_t dropped;	/* taken out, and not handed over */
} sw_notify_all;

static void sw_notify_wake(struct irq_work *work)
{
	wake_up_interruptible(sw_notify_all.readers);
}

static bool
sw_note_put(struct sw_notify_cpu *n, s64 value, u64 ip, const char *set,
	    const char *event, u32 overflowed)
{
	struct sw_ring *r = n->rings;
	struct sw_note *note = NULL;

	if (sw_ring_enter(r) || sw_ring_enter(++r)) {
		note = sw_ring_reserve(r, sizeof(*note));
		if (note) {
			*note = (struct sw_note) {
				.mark = 1,
				.cpu = smp_processor_id(),
				.pid = current->tgid,
				.tid = current->pid,
				.overflowed = overflowed,
				.ns = sw_clock_ns(),
				.value = value,
				.ip = ip,
				.event = event,
			};
			strscpy(note->set, set, sizeof(note->set));
			sw_ring_commit(r);
		}
		sw_ring_leave(r);
	}
	return note;
}

/**
 * sw_notify - send a message to who reads them
 * @set: the name of the set that is active here, or ""
 * @sampler: whose overflow it is; or NULL
 * Context: any.
 * Return: whether there was room.
 */
static bool __maybe_unused
sw_notify(s64 value, u64 ip, const char *set, const struct sw_sampler *sampler)
{
	struct sw_notify_cpu *n;
	u32 overflowed = 0;
	unsigned long flags;
	bool sent;

	if (!sw_notify_all.cpus)
		return false;
	local_irq_save(flags);
	n = this_cpu_ptr(sw_notify_all.cpus);
	/* one that came in the middle may have told of this one */
	if (sampler)
		overflowed = sw_overflows_to_tell() |
			     1U << (sampler - sw_profile.samplers);
	sent = sw_note_put(n, value, ip, set, sampler ? sampler->name : NULL,
			   overflowed);
	/* in one instruction, as an NMI may come in the middle */
	if (!sent) {
		this_cpu_inc(sw_notify_all.cpus->lost);
		this_cpu_or(sw_overflows_untold, overflowed);
	}
	/* a full barrier in it is with a reader's, between its coming to the queue and
	 * its looking for messages */
	else if (wq_has_sleeper(sw_notify_all.readers)) {
		irq_work_queue(&n->wake);
	}
	local_irq_restore(flags);
	return sent;
}

/* What has been lost so far, for want of room or of a reader's memory. */
static u64 sw_notify_lost(void)
{
	u64 lost = atomic64_read(&sw_notify_all.dropped);
	int cpu;

	for_each_possible_cpu(cpu)
		lost += READ_ONCE(per_cpu_ptr(sw_notify_all.cpus, cpu)->lost);
	return lost;
}

static struct sw_note *sw_notify_first(struct sw_ring *r)
{
	/* with sw_ring_commit() */
	return sw_ring_first(r, smp_load_acquire(&r->head));
}

/* Of what is there the oldest one, and its ring. */
static struct sw_note *sw_notify_oldest(struct sw_ring **from)
{
	struct sw_note *oldest = NULL, *note;
	struct sw_ring *r;
	int cpu, nmi;

	for_each_possible_cpu(cpu) {
		for (nmi = 0; nmi < 2; nmi++) {
			r = &per_cpu_ptr(sw_notify_all.cpus, cpu)->rings[nmi];
			note = sw_notify_first(r);
			if (!note || (oldest && oldest->ns <= note->ns))
				continue;
			oldest = note;
			*from = r;
		}
	}
	return oldest;
}

/* Of samplers, a line each. */
static void sw_message_names(char *to, size_t size, u32 samplers)
{
	static const char more[] = "...\n";
	size_t len = 0, n;
	unsigned int i;

	for (i = 0; i < SW_MAX_SAMPLERS; i++) {
		const char *name = sw_profile.samplers[i].name;

		if (!(samplers >> i & 1) || !name)
			continue;
		n = strlen(name);
		if (len + n + 1 + sizeof(more) > size) {
			memcpy(to + len, more, sizeof(more));
			return;
		}
		memcpy(to + len, name, n);
		len += n;
		to[len++] = '\n';
	}
}

/**
 * sw_notify_next - take the oldest message out
 * Context: one reader at a time.
 * Return: whether there was one.
 */
static bool sw_notify_next(struct sw_message *m)
{
	struct sw_ring *r = NULL;
	struct sw_note *note = sw_notify_oldest(&r);

	if (!note)
		return false;
	*m = (struct sw_message) {
		.mark = SW_MESSAGE_MARK,
		.size = sizeof(*m),
		.kind = SW_MESSAGE_SENT,
		.ns = note->ns,
		.value = note->value,
		.ip = note->ip,
		.pid = note->pid,
		.tid = note->tid,
		.cpu = note->cpu,
	};
	memcpy(m->set, note->set, sizeof(m->set));
	if (note->event)
		strscpy(m->event, note->event, sizeof(m->event));
	sw_message_names(m->overflowed, sizeof(m->overflowed),
			 note->overflowed);
	sw_ring_drop(r, sizeof(*note));
	m->lost = sw_notify_lost();
	return true;
}

static bool sw_notify_is_empty(void)
{
	int cpu, nmi;

	for_each_possible_cpu(cpu) {
		for (nmi = 0; nmi < 2; nmi++) {
			const struct sw_ring *r = &per_cpu_ptr(
				sw_notify_all.cpus, cpu)->rings[nmi];

			if (READ_ONCE(r->head) != READ_ONCE(r->tail))
				return false;
		}
	}
	return true;
}

#endif
