/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What scripts read of sockets.
 *
 * Who may run what, against whom:
 *
 *   sw_socket_read(), _age()	any context, NMI included; a PMU's driver is not called
 *				where it may hold a lock, see base/nmi.h
 *   sw_socket_look()		interrupts off, on the CPU whose counters it reads, by
 *				itself or where another CPU has asked (base/ask.h)
 *   sw_socket_tell(), sw_socket_ask()	interrupts off, in an NMI too: where it may hold
 *				a driver's lock this CPU looks in an interrupt
 */
#ifndef STAPWATCH_SOCKET_READ_H
#define STAPWATCH_SOCKET_READ_H

#include "base/ask.h"
#include "base/clock.h"
#include "base/compat.h"
#include "base/nmi.h"
#include "count/cpu.h"
#include "socket/events.h"
#include "socket/state.h"
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/smp.h>
#include <linux/topology.h>

#define SW_SOCKET_WAIT_NS 1000000

static void sw_socket_note(struct sw_socket_counter *k, u64 count, u64 began)
{
	WRITE_ONCE(k->count, count);
	/* with sw_socket_sum() */
	smp_store_release(&k->stamp, began);
}

/* Which CPU can read it now; -1: none. */
static int sw_socket_cpu_of(const struct sw_socket_counter *k)
{
	const struct perf_event *e = READ_ONCE(k->event);

	return e ? READ_ONCE(e->oncpu) : -1;
}

/* This CPU reads all that it can. */
static void sw_socket_look(void)
{
	struct sw_socket_cpu *c = this_cpu_ptr(&sw_socket_cpus);
	struct sw_socket_counter *k;
	unsigned int i;
	u64 began;

	WRITE_ONCE(c->rounds, c->rounds + 1);
	/* before it looks, since who asks from now on wants another look; with
	 * sw_socket_has_looked() */
	xchg(&c->asked, 0);
	for (i = 0; i < SW_NR_SOCKET_EVENTS && READ_ONCE(sw_socket.on); i++)
		for (k = READ_ONCE(sw_socket.of[i]); k; k = k->next) {
			if (sw_socket_cpu_of(k) != smp_processor_id() ||
			    (READ_ONCE(k->event->hw.state) & PERF_HES_STOPPED))
				continue;
			began = sw_clock_ns();
			k->event->pmu->read(k->event);
			sw_socket_note(k, local64_read(&k->event->count), began);
		}
	/* with sw_socket_has_looked() */
	smp_store_release(&c->rounds, c->rounds + 1);
}

/* Has that CPU done what it was asked for? */
static bool sw_socket_has_looked(int cpu)
{
	const struct sw_socket_cpu *c = per_cpu_ptr(&sw_socket_cpus, cpu);

	/* with sw_socket_look(): first that it has begun, then that it is done */
	return !smp_load_acquire(&c->asked) &&
	       !(smp_load_acquire(&c->rounds) & 1);
}

/* A CPU that was to look is offline. */
static void sw_socket_has_missed(int cpu)
{
	WRITE_ONCE(per_cpu_ptr(&sw_socket_cpus, cpu)->asked, 0);
}

/* @flags: of interrupts, before they were turned off */
static void sw_socket_tell(int cpu, unsigned long flags)
{
	struct sw_socket_cpu *c = per_cpu_ptr(&sw_socket_cpus, cpu);
	bool here = cpu == smp_processor_id();

	/* a probe on the driver would have each look be followed by another one */
	if (here && c->rounds & 1)
		return;
	if (here && !sw_may_hold_locks(flags))
		sw_socket_look();
	else if (!xchg(&c->asked, 1))
		sw_ask_cpu(&c->look);
}

/* Has that CPU none of the counters before K?  A mask of CPUs has no room here. */
static bool sw_socket_is_first(const struct sw_socket_counter *list,
			       const struct sw_socket_counter *k, int cpu)
{
	while (list != k && sw_socket_cpu_of(list) != cpu)
		list = list->next;
	return list == k;
}

/* Let each CPU look, once, that has counters of an event. */
static void sw_socket_ask(unsigned int n, unsigned long flags)
{
	const struct sw_socket_counter *list = READ_ONCE(sw_socket.of[n]), *k;
	int cpu;

	for (k = list; k; k = k->next) {
		cpu = sw_socket_cpu_of(k);
		if (cpu >= 0 && sw_socket_is_first(list, k, cpu))
			sw_socket_tell(cpu, flags);
	}
}

/* Have all of them? */
static bool sw_socket_is_new(unsigned int n)
{
	const struct sw_socket_counter *k;
	int cpu;

	for (k = READ_ONCE(sw_socket.of[n]); k; k = k->next) {
		cpu = sw_socket_cpu_of(k);
		if (cpu >= 0 && !sw_socket_has_looked(cpu))
			return false;
	}
	return true;
}

/*
 * Bring the readings up to date; in an interrupt, or where interrupts are off, for the
 * next who reads: what is there has its age.
 */
static void sw_socket_refresh(unsigned int n)
{
	unsigned long flags;
	u64 end;

	if (!READ_ONCE(sw_socket.on))
		return;
	local_irq_save(flags);
	sw_socket_ask(n, flags);
	local_irq_restore(flags);
	end = sw_clock_ns() + SW_SOCKET_WAIT_NS;
	while (in_task() && !irqs_disabled() && !sw_socket_is_new(n) &&
	       sw_clock_ns() < end)
		cpu_relax();
}

static int __maybe_unused sw_socket_here(void)
{
	return topology_physical_package_id(raw_smp_processor_id());
}

/* The sum of a socket's counters.  Return: when the oldest was read; 0: there is none. */
static u64 sw_socket_sum(unsigned int n, s64 socket, u64 *count)
{
	const struct sw_socket_counter *k;
	u64 oldest = 0, stamp;

	*count = 0;
	for (k = READ_ONCE(sw_socket.of[n]); k; k = k->next) {
		if (socket != -1 && k->socket != socket)
			continue;
		if (READ_ONCE(k->lost)) {
			sw_withheld(incomplete);
			return 0;
		}
		/* with sw_socket_note() */
		stamp = smp_load_acquire(&k->stamp);
		*count += READ_ONCE(k->count);
		if (!oldest || stamp < oldest)
			oldest = stamp;
	}
	if (!oldest)
		sw_withheld(socketless);
	return oldest;
}

/**
 * sw_socket_read - what a socket has counted
 * @n: the event's number
 * @socket: its number; -1: all
 * Context: any.
 * Return: the count, SW_NONE or SW_MISSING.
 */
static s64 __maybe_unused sw_socket_read(unsigned int n, s64 socket)
{
	u64 count;

	if (sw_socket.missing[n])
		return SW_MISSING;
	sw_socket_refresh(n);
	return sw_socket_sum(n, socket, &count) ? count : SW_NONE;
}

/**
 * sw_socket_age - how old the newest reading is
 * Context: any.
 * Return: nanoseconds, SW_NONE or SW_MISSING.
 */
static s64 __maybe_unused sw_socket_age(unsigned int n, s64 socket)
{
	u64 count, oldest;

	if (sw_socket.missing[n])
		return SW_MISSING;
	oldest = sw_socket_sum(n, socket, &count);
	return oldest ? sw_clock_ns() - oldest : SW_NONE;
}

#endif
