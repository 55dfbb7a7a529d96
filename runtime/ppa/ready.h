/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread that is ready waits for, where that is asked for: competitors.h, for
 * each record and each CPU.
 *
 * A thread waits where it became ready.  Who comes to another CPU has been moved, at a
 * moment that nobody tells of; so of such a wait nothing else is known.
 *
 * Who may run what, against whom:
 *
 *   ppa_ready_begins()		the wake-up of a thread that runs nowhere
 *   ppa_ready_switch()		a switch, after all else that it does to records
 *   ppa_ready_alloc(), _free()	sleepable, when nobody looks
 */
#ifndef STAPWATCH_PPA_READY_H
#define STAPWATCH_PPA_READY_H

#include "ppa/charge.h"
#include "ppa/competitors.h"
#include "ppa/state.h"
#include <linux/percpu.h>
#include <linux/smp.h>

static struct ppa_came __percpu *ppa_came;

/* After what each record has. */
static __always_inline struct ppa_competing *
ppa_competing_of(const struct ppa_rec *r)
{
	return (struct ppa_competing *)((char *)r + ppa.competing_at);
}

/* R becomes ready on CPU, by a wake-up. */
static __always_inline void ppa_ready_begins(struct ppa_rec *r, int cpu)
{
	if (unlikely(ppa.competing_at))
		WRITE_ONCE(ppa_competing_of(r)->cpu, 1 + cpu);
}

/* IN has come to this CPU; where it has waited, for as long as C says. */
static void ppa_ready_ends(const struct ppa_cpu *c, struct ppa_rec *in, u64 now)
{
	struct ppa_competing *to = ppa_competing_of(in);
	const u32 here = 1 + smp_processor_id(), began = READ_ONCE(to->cpu);

	/* if it has to go it is ready here */
	WRITE_ONCE(to->cpu, here);
	if (c->moment == PPA_WAIT_NONE)
		return;
	ppa_rec_change(in);
	if (began == here)
		ppa_competed(to, this_cpu_ptr(ppa_came), c->waited, now);
	else if (began)
		to->values[PPA_COMPETED_MOVED] += c->waited;
	else
		to->values[PPA_COMPETED_UNKNOWN] += c->waited;
	ppa_rec_changed(in);
}

/* IN has come, or NULL, a thread of number TID. */
static void ppa_ready_switch(const struct ppa_cpu *c, struct ppa_rec *in,
			     pid_t tid, u64 now)
{
	if (in)
		ppa_ready_ends(c, in, now);
	ppa_competitor_came(this_cpu_ptr(ppa_came), tid, now);
}

static void ppa_ready_free(void)
{
	free_percpu(ppa_came);
	ppa_came = NULL;
	ppa.competing_at = 0;
}

/* Return: 0, or -ENOMEM. */
static int ppa_ready_alloc(void)
{
	ppa_came = alloc_percpu(struct ppa_came);
	return ppa_came ? 0 : -ENOMEM;
}

#endif
