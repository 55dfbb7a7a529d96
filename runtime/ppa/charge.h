/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charging: the time since the last charge becomes that of the state which a CPU
 * is in.  state.h says how.
 *
 * Who may run what, against whom:
 *
 *   ppa_on_sys_*(), ppa_on_counted_*()	processes, preemption on or off
 *   ppa_on_irq_*(), ...	around interrupts and softirqs
 *   the others			on this CPU, which stays; an interrupt or an NMI
 *				may come at any point
 */
#ifndef STAPWATCH_PPA_CHARGE_H
#define STAPWATCH_PPA_CHARGE_H

#include "base/clock.h"
#include "ppa/state.h"
#include "ppa/syscalls.h"
#include <linux/preempt.h>

/* Around a change, on this CPU.  The count of those under way is in the low bits,
 * so that one within another does not look like none. */
#define PPA_UNDER_WAY 0xffff

static __always_inline void ppa_begin(void)
{
	this_cpu_add(ppa_cpus.seq, 1);
	/* with the second smp_rmb() of ppa_read_cpu(): who has read what changes
	 * from here on sees that SEQ has moved */
	smp_wmb();
}

static __always_inline void ppa_done(void)
{
	/* with the first smp_rmb() of ppa_read_cpu(): who sees this SEQ reads
	 * what changed before it */
	smp_wmb();
	this_cpu_add(ppa_cpus.seq, PPA_UNDER_WAY);
}

/*
 * Around a change of a record that is in use: its readers look at its `seq'.  What is
 * charged to a thread off CPUs is charged by a reading of the clock from within: who
 * reads the record before the change, by a clock of its own, is not ahead then.
 */
static __always_inline void ppa_rec_change(struct ppa_rec *r)
{
	WRITE_ONCE(r->seq, r->seq + 1);
	/* with the second smp_rmb() of ppa_read_thread() and its like, as in
	 * ppa_begin() for a CPU */
	smp_wmb();
}

static __always_inline void ppa_rec_changed(struct ppa_rec *r)
{
	/* with the first one, as in ppa_done() */
	smp_wmb();
	WRITE_ONCE(r->seq, r->seq + 1);
}

/*
 * The processor's counter may go back where base/suspend.h does not see it, as when a
 * virtual machine is moved.  How long that took is not known: the CPU goes on as though
 * no time had passed, and its states still sum to its elapsed time.  So do the parts of
 * the thread that runs there, which has the CPU's time, to its life.
 */
static noinline u64 ppa_set_back(struct ppa_cpu *c, u64 last, u64 now)
{
	struct ppa_rec *r = c->on ? c->rec : NULL;
	unsigned long irq;

	WRITE_ONCE(c->since, c->since - (last - now));
	if (r) {
		local_irq_save(irq);
		ppa_rec_change(r);
		WRITE_ONCE(r->alive, r->alive - (last - now));
		WRITE_ONCE(r->at, r->at - (last - now));
		ppa_rec_changed(r);
		local_irq_restore(irq);
	}
	atomic_long_inc(&ppa.set_back);
	return 0;
}

/*
 * Take the time since the last charge.  It is missed where an interrupt comes in
 * between, which then has charged most of it; if that happens again and again
 * the rest is left to the next charge.
 */
static __always_inline u64 ppa_take(u64 *now)
{
	u64 last;
	int i;

	for (i = 0; i < 8; i++) {
		last = this_cpu_read(ppa_cpus.last);
		*now = sw_tsc();
		if (likely(this_cpu_cmpxchg(ppa_cpus.last, last, *now) == last))
			return likely(*now >= last)
				? *now - last
				: ppa_set_back(this_cpu_ptr(&ppa_cpus), last,
					       *now);
	}
	return 0;
}

/* `c->v[i]' without a check that UBSAN would make of a constant bound. */
static __always_inline u64 *ppa_v(struct ppa_cpu *c, unsigned int i)
{
	return (u64 *)((char *)c + offsetof(struct ppa_cpu, v)) + i;
}

/* The same on this CPU, by one instruction. */
#define ppa_add(value, n) this_cpu_add(*(&ppa_cpus.v[0] + (value)), n)

static __always_inline bool ppa_is_softirq(unsigned int state)
{
	return state - PPA_V_KIND < NR_SOFTIRQS;
}

/* Charge whatever state it is. */
static __always_inline u64 ppa_charge(unsigned int state)
{
	u64 now, d = ppa_take(&now);

	ppa_add(state, d);
	if (ppa_is_softirq(state))
		ppa_add(PPA_V_SOFT, d);
	if (unlikely(this_cpu_read(ppa_cpus.calls)))
		ppa_call_charge(state, d);
	return now;
}

/* With or without a look at what is called. */
static __always_inline void ppa_sys_enter(long id, bool counted)
{
	u64 now;

	preempt_disable_notrace();
	if (likely(this_cpu_read(ppa_cpus.state) <= PPA_V_SYSTEM)) {
		ppa_begin();
		ppa_add(this_cpu_read(ppa_cpus.state), ppa_take(&now));
		if (counted) {
			ppa_call_begins(id);
			this_cpu_write(ppa_cpus.called, now);
		}
		this_cpu_write(ppa_cpus.state, PPA_V_SYSTEM);
		ppa_add(PPA_V_SYSCALLS, 1);
		ppa_done();
	}
	preempt_enable_notrace();
}

static __always_inline void ppa_sys_exit(long ret, bool counted)
{
	u64 now, d;

	preempt_disable_notrace();
	if (likely(this_cpu_read(ppa_cpus.state) == PPA_V_SYSTEM)) {
		ppa_begin();
		d = ppa_take(&now);
		ppa_add(PPA_V_SYSTEM, d);
		if (counted)
			ppa_call_returns(now, d, ret);
		this_cpu_write(ppa_cpus.state, PPA_V_USER);
		ppa_done();
	}
	preempt_enable_notrace();
}

static void ppa_on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	ppa_sys_enter(id, false);
}

static void ppa_on_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	ppa_sys_exit(ret, false);
}

static void ppa_on_counted_enter(void *data, struct pt_regs *regs, long id)
{
	ppa_sys_enter(id, true);
}

static void ppa_on_counted_exit(void *data, struct pt_regs *regs, long ret)
{
	ppa_sys_exit(ret, true);
}

static void ppa_enter(unsigned int state, unsigned int count)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	/* what interrupts this puts the depth back, and the state from
	 * ppa_begin() on: no ppa_sync() comes then */
	u32 depth = READ_ONCE(c->depth), was;

	ppa_begin();
	was = READ_ONCE(c->state);
	ppa_charge(was);
	/* in this order: what comes in between uses the place above */
	WRITE_ONCE(c->depth, depth + 1);
	barrier();
	WRITE_ONCE(c->stack[depth % PPA_DEPTH], was);
	barrier();
	WRITE_ONCE(c->state, state);
	WRITE_ONCE(c->interrupted, true);
	ppa_add(count, 1);
	ppa_done();
}

static void ppa_leave(void)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);
	u32 depth = READ_ONCE(c->depth);

	/* accounting began within it */
	if (unlikely(!depth--))
		return;
	ppa_begin();
	ppa_charge(READ_ONCE(c->state));
	/* where the interrupt's entry was not seen, as accounting began after it, this is
	 * the place of what it interrupts, which may be about to write there */
	WRITE_ONCE(c->state, READ_ONCE(c->stack[depth % PPA_DEPTH]));
	barrier();
	WRITE_ONCE(c->depth, depth);
	ppa_done();
}

static void ppa_on_irq_entry(void *data, int irq, struct irqaction *action)
{
	ppa_enter(PPA_V_INT, PPA_V_INTS);
}

static void
ppa_on_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	ppa_leave();
}

static void ppa_on_softirq_entry(void *data, unsigned int nr)
{
	if (nr >= NR_SOFTIRQS)
		return;
	ppa_enter(PPA_V_KIND + nr, PPA_V_KINDS + nr);
	ppa_add(PPA_V_SOFTS, 1);
}

static void ppa_on_softirq_exit(void *data, unsigned int nr)
{
	ppa_leave();
}

static void ppa_on_vector_entry(void *data, int vector)
{
	ppa_enter(PPA_V_INT, PPA_V_INTS);
}

static void ppa_on_vector_exit(void *data, int vector)
{
	ppa_leave();
}

/* Where IPIs are interrupts like others, their handler has told of it already, and
 * nothing comes between the two. */
static void __maybe_unused ppa_on_ipi_entry(void *data, const char *reason)
{
	struct ppa_cpu *c = this_cpu_ptr(&ppa_cpus);

	c->ipi_is_irq = c->state == PPA_V_INT;
	if (!c->ipi_is_irq)
		ppa_enter(PPA_V_INT, PPA_V_INTS);
}

static void __maybe_unused ppa_on_ipi_exit(void *data, const char *reason)
{
	if (!this_cpu_read(ppa_cpus.ipi_is_irq))
		ppa_leave();
}

static void ppa_on_tasklet(void *data, struct tasklet_struct *t, void *func)
{
	u32 state = this_cpu_read(ppa_cpus.state);

	if (state == PPA_V_KIND + HI_SOFTIRQ)
		ppa_add(PPA_V_TASKLETS, 1);
	else if (state == PPA_V_KIND + TASKLET_SOFTIRQ)
		ppa_add(PPA_V_TASKLETS + 1, 1);
}

#endif
