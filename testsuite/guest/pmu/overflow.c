// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters that wrap.  One of ticks has a timer, which looks whether the time
 * has come; one of units is looked at by who adds them.  Then comes an interrupt,
 * or an NMI that the CPU sends itself.
 */
#include "simpmu.h"
#include <linux/kprobes.h>
#include <linux/nmi.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/nmi.h>

static int (*sim_overflow)(struct perf_event *e, struct perf_sample_data *data,
			   struct pt_regs *regs);

/* What is programmed has the highest bit set, up to where it wraps. */
bool sim_has_wrapped(struct sim_cpu *c, const struct sim_counter *k)
{
	return READ_ONCE(k->running) &&
	       !(sim_value(c, k) >> (sim_has.width - 1));
}

/* Has a counter of units wrapped? */
bool sim_is_due(struct sim_cpu *c)
{
	unsigned int i;

	for (i = 0; i < sim_has.counters; i++) {
		const struct sim_counter *k = &c->counter[i];

		if (sim_has_wrapped(c, k) && !sim_is_ticks(k->event))
			return true;
	}
	return false;
}

/* A system call's instruction, before which a precise sample was taken. */
#define SIM_SYSCALL_BYTES 2

/* What a processor that samples loads notes of one. */
static void sim_tell_load(const struct sim_cpu *c, const struct perf_event *e,
			  struct perf_sample_data *data)
{
	u64 type = e->attr.sample_type;

	if (type & PERF_SAMPLE_ADDR) {
		data->addr = c->addr;
		data->sample_flags |= PERF_SAMPLE_ADDR;
	}
	if (type & PERF_SAMPLE_WEIGHT_TYPE) {
		data->weight.full = c->latency;
		data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
	}
	if (type & PERF_SAMPLE_DATA_SRC) {
		data->data_src.val = PERF_MEM_S(OP, LOAD) |
				     PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L3);
		data->sample_flags |= PERF_SAMPLE_DATA_SRC;
	}
}

/* The newest first: I bytes after the instruction, I times 16 further on, I
 * cycles; the second was predicted wrong. */
static void sim_tell_branches(struct sim_cpu *c, struct perf_event *e,
			      struct perf_sample_data *data, u64 ip)
{
	unsigned int i;

	c->branches.head.nr = SIM_BRANCHES;
	for (i = 0; i < SIM_BRANCHES; i++)
		c->branches.entries[i] = (struct perf_branch_entry) {
			.from = ip + i,
			.to = ip + 16 * i,
			.mispred = i == 1,
			.predicted = i != 1,
			.cycles = i,
		};
	perf_sample_save_brstack(data, e, &c->branches.head, NULL);
}

static void sim_sample(struct sim_cpu *c, struct perf_event *e,
		       struct pt_regs *regs)
{
	struct perf_sample_data data;
	struct pt_regs precise;

	perf_sample_data_init(&data, 0, e->hw.last_period);
	if (e->attr.precise_ip) {
		precise = *regs;
		precise.flags |= PERF_EFLAGS_EXACT;
		if (c->by_user && !sim_is_ticks(e))
			precise.ip -= SIM_SYSCALL_BYTES;
		regs = &precise;
		if (sim_event(e) == SIM_LOADS)
			sim_tell_load(c, e, &data);
	}
	if (has_branch_stack(e))
		sim_tell_branches(c, e, &data, instruction_pointer(regs));
	if (sim_overflow(e, &data, regs))
		sim_stop(e, 0);
}

static void sim_pmi(struct sim_cpu *c, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < sim_has.counters; i++) {
		struct sim_counter *k = &c->counter[i];

		if (!sim_has_wrapped(c, k))
			continue;
		sim_update(c, k->event);
		if (sim_set_period(c, k))
			sim_sample(c, k->event, regs);
	}
}

static enum hrtimer_restart sim_send(struct hrtimer *timer)
{
	unsigned int to = cpumask_next(smp_processor_id(), cpu_online_mask);

	if (to >= nr_cpu_ids)
		to = cpumask_first(cpu_online_mask);
	if (to != smp_processor_id()) {
		WRITE_ONCE(per_cpu(sim_cpus, to).paced, true);
		apic->send_IPI(to, NMI_VECTOR);
	}
	hrtimer_forward_now(timer, ns_to_ktime(sim_pace * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void sim_send_start(void *unused)
{
	hrtimer_start(&this_cpu_ptr(&sim_cpus)->pace,
		      ns_to_ktime(sim_pace * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static int sim_nmi(unsigned int type, struct pt_regs *regs)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);

	if (!c->nmi_due && !c->paced)
		return NMI_DONE;
	if (c->nmi_due && c->regs)
		regs = c->regs;
	c->nmi_due = false;
	c->paced = false;
	if (!c->masked)
		sim_pmi(c, regs);
	return NMI_HANDLED;
}

static void sim_irq(struct irq_work *work)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);

	sim_pmi(c, c->regs);
}

/*
 * Interrupt this CPU, and wait for that; no longer than it ever takes.
 * @regs: who is to have been interrupted; NULL: who is, by an NMI
 * Context: preemption off, and interrupts on, or in one.
 */
void sim_raise(struct sim_cpu *c, struct pt_regs *regs)
{
	unsigned int n;

	if (in_hardirq() && !sim_has.nmi) {
		sim_pmi(c, regs);
		return;
	}
	c->regs = regs;
	if (sim_has.nmi) {
		WRITE_ONCE(c->nmi_due, true);
		apic->send_IPI(smp_processor_id(), NMI_VECTOR);
	} else {
		irq_work_queue(&c->irq);
	}
	for (n = 0; n < 1000000 && (READ_ONCE(c->nmi_due) ||
				    irq_work_is_pending(&c->irq)); n++)
		cpu_relax();
	WARN_ON_ONCE(n == 1000000);
}

static ktime_t sim_time_left(struct sim_cpu *c, struct sim_counter *k)
{
	u64 ns = sim_ns(k->event, sim_mask() + 1 - sim_value(c, k));

	return ns_to_ktime(max_t(u64, ns, 500));
}

static enum hrtimer_restart sim_timer(struct hrtimer *timer)
{
	struct sim_counter *k = container_of(timer, struct sim_counter, timer);
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);

	if (k->running && sim_has_wrapped(c, k))
		sim_raise(c, get_irq_regs());
	if (!k->running || !sim_is_ticks(k->event) || hrtimer_is_queued(timer))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, sim_time_left(c, k));
	return HRTIMER_RESTART;
}

/* Of a counter that has been started; not in an NMI. */
void sim_timer_start(struct sim_cpu *c, struct sim_counter *k)
{
	if (sim_is_ticks(k->event) && !sim_pace)
		hrtimer_start(&k->timer, sim_time_left(c, k),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

static void sim_timer_setup(struct hrtimer *timer,
			    enum hrtimer_restart (*expires)(struct hrtimer *))
{
#ifdef SIM_OLD_HRTIMER
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = expires;
#else
	hrtimer_setup(timer, expires, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
#endif
}

int sim_overflow_start(void)
{
	struct kprobe kp = { .symbol_name = "perf_event_overflow" };
	unsigned int i;
	int cpu, rc;

	/* it is not exported */
	rc = register_kprobe(&kp);
	if (rc)
		return rc;
	sim_overflow = (void *)kp.addr;
	unregister_kprobe(&kp);
	for_each_possible_cpu(cpu) {
		struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);

		c->irq = IRQ_WORK_INIT_HARD(sim_irq);
		for (i = 0; i < SIM_MAX_COUNTERS; i++)
			sim_timer_setup(&c->counter[i].timer, sim_timer);
		sim_timer_setup(&c->pace, sim_send);
	}
	if (!sim_has.nmi)
		return 0;
	rc = register_nmi_handler(NMI_LOCAL, sim_nmi, 0, "simpmu");
	if (!rc && sim_pace)
		on_each_cpu(sim_send_start, NULL, 1);
	return rc;
}

void sim_overflow_stop(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(&sim_cpus, cpu)->pace);
	if (sim_has.nmi)
		unregister_nmi_handler(NMI_LOCAL, "simpmu");
	for_each_possible_cpu(cpu) {
		struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);

		irq_work_sync(&c->irq);
		for (i = 0; i < SIM_MAX_COUNTERS; i++)
			hrtimer_cancel(&c->counter[i].timer);
	}
}
