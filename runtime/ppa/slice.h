/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices: what trace/abi.h says of a timeline, into the ring of the CPU.
 *
 * A switch writes one, of 16 bytes and what else there was.  Where the ring is full
 * slices are lost and counted; the next one says anew where the CPU stands.
 * timeline.h takes them out; a script without it leaves ppa_slices_on false for the
 * compiler, which drops all of this.
 *
 * A ring that only keeps what was last gives the oldest slices up instead, as long as
 * nobody takes them out: the CPU is then the ring's reader, too.
 *
 * Who may run what, against whom:
 *
 *   all of it			on this CPU, interrupts off; an NMI may come, which
 *				writes none
 */
#ifndef STAPWATCH_PPA_SLICE_H
#define STAPWATCH_PPA_SLICE_H

#include "ppa/charge.h"
#include "ppa/state.h"
#include "trace/abi.h"
#include "trace/ring.h"
#include <asm/syscall.h>
#include <linux/irq_work.h>
#include <linux/sched/task_stack.h>

/* Where a CPU stands when the oldest of its slices begins. */
struct ppa_stand {
	u64 time;
	u32 tid;
	bool known;
};

/* What a ring has, for the one who takes out of it. */
struct ppa_slices {
	struct sw_ring ring;
	u64 last;		/* when the last slice ended */
	bool gap;		/* where the CPU stands is not known */
	u64 taken;
	u64 lost;
	struct ppa_stand first;
};

static DEFINE_PER_CPU(struct ppa_slices, ppa_slices);
static bool ppa_slices_on;
static bool ppa_slices_kept;	/* none is taken out */
/* What it does when a ring is half full. */
static struct irq_work *ppa_slices_kick;

/* What a slice tells of who goes, and of who comes. */
struct ppa_slice {
	u64 system;
	u64 irq;
	u64 soft;
	u64 ready;
	u32 waker;
	u16 call;
	u8 part;
};

/* A plain read, of what the compiler then knows to be false where nobody sets it. */
static __always_inline bool ppa_has_slices(void)
{
	return unlikely(data_race(ppa_slices_on));
}

/* What TASK ran, before the CPU folds that. */
static __always_inline void
ppa_slice_take(struct ppa_slice *s, struct ppa_cpu *c, struct task_struct *task)
{
	const u64 *v = ppa_v(c, 0), *base = c->base;

	*s = (struct ppa_slice) {
		.system = v[PPA_V_SYSTEM] - base[PPA_V_SYSTEM],
		.irq = v[PPA_V_INT] - base[PPA_V_INT],
		.soft = v[PPA_V_SOFT] - base[PPA_V_SOFT],
		.call = SW_SLICE_NO_CALL,
		.part = c->on ? 0 : SW_SLICE_NOT_ACCOUNTED,
	};
	if (c->state == PPA_V_SYSTEM && !(task->flags & PF_KTHREAD))
		s->call = syscall_get_nr(task, task_pt_regs(task));
}

static noinline void ppa_slices_half_full(void)
{
	if (!READ_ONCE(ppa_slices_kept))
		irq_work_queue(ppa_slices_kick);
}

static __always_inline void ppa_slice_commit(struct ppa_slices *t)
{
	sw_ring_commit(&t->ring);
	if (unlikely(t->ring.head - READ_ONCE(t->ring.tail) >
		     t->ring.size / 2))
		ppa_slices_half_full();
}

/* The oldest slice is E: how long it is, and what it says of where its CPU is then.
 * By the ring's reader. */
static u32 ppa_slice_follow(struct ppa_stand *at, const struct sw_slice *e)
{
	const unsigned int more = sw_slice_more(e->flags);
	u64 dt = e->dt;

	if (e->flags & SW_SLICE_BEGIN) {
		*at = (struct ppa_stand) { e->more[0], e->tid, true };
	} else if (!(e->flags & (SW_SLICE_BORN | SW_SLICE_NAME))) {
		/* its upper half is in the first of the last three */
		if (e->flags & SW_SLICE_WIDE)
			dt |= READ_ONCE(*(e->more + more - 3)) << 32;
		at->time += dt;
		at->tid = e->tid;
	}
	return sizeof(*e) + more * sizeof(u64);
}

/* The most that has to go for one: as many of the shortest, and what is left over at
 * the ring's end. */
#define PPA_SLICES_TO_GIVE_UP 8

static struct sw_slice *
ppa_slice_give_up(struct ppa_slices *t, unsigned int words)
{
	struct sw_slice *e, *first;
	unsigned int i;

	for (i = 0; i < PPA_SLICES_TO_GIVE_UP; i++) {
		first = sw_ring_first(&t->ring, t->ring.head);
		if (!first)
			break;
		sw_ring_drop(&t->ring, ppa_slice_follow(&t->first, first));
		WRITE_ONCE(t->taken, t->taken - 1);
		e = sw_ring_reserve(&t->ring, 8 * words);
		if (e)
			return e;
	}
	return NULL;
}

static noinline struct sw_slice *
ppa_slice_no_room(struct ppa_slices *t, unsigned int words)
{
	/* with ppa_timeline_keep(): who took slices out does so no more */
	struct sw_slice *e = smp_load_acquire(&ppa_slices_kept) ?
			     ppa_slice_give_up(t, words) : NULL;

	if (likely(e))
		return e;
	WRITE_ONCE(t->lost, t->lost + 1);
	t->gap = true;
	return NULL;
}

static __always_inline struct sw_slice *
ppa_slice_reserve(struct ppa_slices *t, unsigned int words)
{
	struct sw_slice *e = sw_ring_reserve(&t->ring, 8 * words);

	WRITE_ONCE(t->taken, t->taken + 1);
	return likely(e) ? e : ppa_slice_no_room(t, words);
}

/* TID runs since NOW; nothing is told of what was before. */
static noinline void ppa_slice_begin(struct ppa_slices *t, u64 now, u32 tid)
{
	struct sw_slice *e = ppa_slice_reserve(t, 3);

	if (!e)
		return;
	*e = (struct sw_slice) {
		.flags = SW_SLICE | SW_SLICE_BEGIN,
		.call = SW_SLICE_NO_CALL,
		.tid = tid,
	};
	e->more[0] = now;
	t->gap = false;
	t->last = now;
	ppa_slice_commit(t);
}

/* At NOW what S tells of has gone, and TID runs. */
static __always_inline void
ppa_slice_put(const struct ppa_slice *s, u64 now, u32 tid)
{
	struct ppa_slices *t = this_cpu_ptr(&ppa_slices);
	/* a counter that was set back: no time has passed */
	u64 dt = now > t->last ? now - t->last : 0;
	u8 flags = SW_SLICE;
	unsigned int words = sizeof(struct sw_slice) / 8;
	struct sw_slice *e;
	u64 *more;

	if (unlikely(t->gap)) {
		ppa_slice_begin(t, now, tid);
		return;
	}
	if (s->irq | s->soft) {
		flags |= SW_SLICE_IRQ;
		words++;
	}
	if (s->ready | s->waker) {
		flags |= SW_SLICE_WOKEN;
		words++;
	}
	if (unlikely((dt | s->system | s->irq | s->soft | s->ready) >> 32)) {
		flags |= SW_SLICE_WIDE;
		words += 3;
	}
	e = ppa_slice_reserve(t, words);
	if (unlikely(!e))
		return;
	e->flags = flags;
	e->part = s->part;
	e->call = s->call;
	e->tid = tid;
	e->dt = dt;
	e->system = s->system;
	more = e->more;
	if (flags & SW_SLICE_IRQ)
		*more++ = (u32)s->irq | s->soft << 32;
	if (flags & SW_SLICE_WOKEN)
		*more++ = (u32)s->ready | (u64)s->waker << 32;
	if (unlikely(flags & SW_SLICE_WIDE)) {
		*more++ = dt >> 32 | s->system >> 32 << 32;
		*more++ = s->irq >> 32 | s->soft >> 32 << 32;
		*more++ = s->ready >> 32;
	}
	t->last = now;
	ppa_slice_commit(t);
}

/* Two words of a thread, which stand beside what the CPU does. */
static noinline void
ppa_slice_of_thread(u8 flag, u32 tid, u32 tgid, const u64 words[2])
{
	struct ppa_slices *t = this_cpu_ptr(&ppa_slices);
	struct sw_slice *e = ppa_slice_reserve(t, 4);

	if (!e)
		return;
	*e = (struct sw_slice) {
		.flags = SW_SLICE | flag,
		.call = SW_SLICE_NO_CALL,
		.tid = tid,
		.system = tgid,
	};
	memcpy(e->more, words, 2 * sizeof(*words));
	ppa_slice_commit(t);
}

#endif
