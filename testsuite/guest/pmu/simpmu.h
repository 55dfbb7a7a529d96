/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PMU for a guest without one, which perf's core takes for the CPU's.
 *
 * What an event counts is known: ticks of the time-stamp counter, which under
 * -icount are instructions, or units that a program asks for by a write() to
 * /dev/simpmu.  Everything else is as a processor has it: few counters, of few
 * bits, which wrap, and which interrupt when they do.
 *
 *   main.c	profiles, events, sysfs, the module
 *   source.c	what events count; /dev/simpmu
 *   counter.c	perf's callbacks
 *   socket.c	PMUs that one CPU reads for all
 *   overflow.c	the interrupt or NMI of a counter that has wrapped
 *
 * Who may run what: counter.c's callbacks as perf calls them, on this CPU with
 * interrupts off, of which read and stop may come in an NMI; sim_pmi() in an
 * interrupt or an NMI on this CPU; sim_value() in any context on this CPU.
 */
#ifndef SIMPMU_H
#define SIMPMU_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#define SIM_MAX_COUNTERS 8

/* Events, as in the lowest byte of a raw event's config */
#define SIM_UNITS 0x01		/* each unit */
#define SIM_EVERY 0x02		/* each umask-th unit of the CPU */
#define SIM_ZERO 0x03		/* nothing, ever */
#define SIM_BURSTS 0x04		/* a thousand at once, each thousandth unit */
#define SIM_SECOND 0x05		/* each unit, on counter 2 only */
#define SIM_CYCLES 0x3c		/* two a tick */
#define SIM_INSTRUCTIONS 0xc0	/* ticks */
#define SIM_LOADS 0xcd		/* each unit of that latency, as 2^n, or more */

#define SIM_LATENCIES 16	/* of 2^n up to the next */
#define SIM_BRANCHES 3

struct sim_profile {
	const char *name;
	unsigned int counters;
	unsigned int width;
	bool nmi;
	/* samples that know the instruction, loads, the last branches */
	unsigned int precise;
	bool loads;
	bool branches;
};

struct sim_counter {
	struct perf_event *event;
	/* running, it stands at what its source says and this; else at value */
	u64 offset;
	u64 value;
	bool running;
	struct hrtimer timer;
};

struct sim_cpu {
	struct sim_counter counter[SIM_MAX_COUNTERS];
	/* by the mode that asked for them */
	u64 units[2];
	u64 loads[SIM_LATENCIES];
	/* what the last that asked for units said of them */
	u64 addr;
	u64 latency;
	bool by_user;
	struct {
		struct perf_branch_stack head;
		struct perf_branch_entry entries[SIM_BRANCHES];
	} branches;
	/* an NMI is on its way; and whom it or the interrupt finds */
	bool nmi_due;
	struct pt_regs *regs;
	/* one comes from another CPU, and finds whom it finds */
	bool paced;
	struct hrtimer pace;
	/* a counter is being started or stopped */
	bool masked;
	struct irq_work irq;
};

DECLARE_PER_CPU(struct sim_cpu, sim_cpus);

extern struct sim_profile sim_has;
extern unsigned int sim_pace;
extern unsigned int sim_fail_add;
extern unsigned int sim_fail_start;
extern unsigned int sim_fail_read;

static inline u64 sim_mask(void)
{
	return GENMASK_ULL(sim_has.width - 1, 0);
}

static inline unsigned int sim_event(const struct perf_event *e)
{
	return e->hw.config & 0xff;
}

/* source.c */
bool sim_is_ticks(const struct perf_event *e);
u64 sim_source(struct sim_cpu *c, const struct perf_event *e);
u64 sim_ns(const struct perf_event *e, u64 count);
int sim_source_start(void);
void sim_source_stop(void);

/* socket.c */
void sim_socket_add_units(u64 n);
int sim_socket_begin(void);
void sim_socket_finish(void);

/* counter.c */
u64 sim_value(struct sim_cpu *c, const struct sim_counter *k);
void sim_update(struct sim_cpu *c, struct perf_event *e);
bool sim_set_period(struct sim_cpu *c, struct sim_counter *k);
int sim_add(struct perf_event *e, int flags);
void sim_del(struct perf_event *e, int flags);
void sim_start(struct perf_event *e, int flags);
void sim_stop(struct perf_event *e, int flags);
void sim_read(struct perf_event *e);
void sim_move(struct pmu *pmu);

/* overflow.c */
bool sim_has_wrapped(struct sim_cpu *c, const struct sim_counter *k);
bool sim_is_due(struct sim_cpu *c);
void sim_raise(struct sim_cpu *c, struct pt_regs *regs);
void sim_timer_start(struct sim_cpu *c, struct sim_counter *k);
int sim_overflow_start(void);
void sim_overflow_stop(void);

#endif
