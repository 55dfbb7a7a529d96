/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts and softirqs; ppa_irqs.h says what is wanted of it. */
#include "cmd/ppa_irqs.h"

#include <inttypes.h>

#include "cmd/ppa_why.h"

static const struct {
	const char *title, *name;	/* for people, and in JSON */
	int count, time;
} kinds[] = {
	{ "interrupts", "interrupt", PPA_INTERRUPTCNT, PPA_INTERRUPTS },
	{ "timers", "timer", PPA_TMRTSKLTCNT, PPA_TMRTSKLTTIME },
	{ "net receive", "net_rx", PPA_NTWKRXCNT, PPA_NTWKRXTIME },
	{ "net send", "net_tx", PPA_NTWKTXCNT, PPA_NTWKTXTIME },
	{ "tasklets", "tasklet", PPA_REGPRITSKLTCNT, PPA_REGPRITSKLTTIME },
	{ "hi tasklets", "hi_tasklet", PPA_HIPRITSKLTCNT, PPA_HIPRITSKLTTIME },
};

#define NR_KINDS (sizeof(kinds) / sizeof(*kinds))
/* and behind these the softirqs of other kinds, and what is neither */
#define OTHERS NR_KINDS
#define REST (NR_KINDS + 1)
#define NR_PARTS (NR_KINDS + 2)

/* Of a CPU in an interval. */
struct irqs {
	uint64_t elapsed;	/* ticks, which these sum to: */
	uint64_t parts[NR_PARTS];
	uint64_t counts[NR_KINDS];
};

static uint64_t difference(const struct ppa_interval *p, size_t cpu, int value)
{
	const struct ppa_snapshot *was = &p->before;

	return p->now.cpus[cpu].v[value] -
	       (cpu < was->nr_cpus ? was->cpus[cpu].v[value] : 0);
}

static uint64_t less(uint64_t *from, uint64_t what)
{
	what = what < *from ? what : *from;
	*from -= what;
	return what;
}

/* The file may have been made up: no part is more than what is left. */
static struct irqs irqs_of(const struct ppa_interval *p, size_t cpu)
{
	struct irqs q = { .elapsed = difference(p, cpu, PPA_ELAPSED) };
	uint64_t soft = difference(p, cpu, PPA_TOTALSOFTIRQTIME);
	size_t i;

	q.parts[REST] = q.elapsed;
	for (i = 0; i < NR_KINDS; i++) {
		uint64_t time = difference(p, cpu, kinds[i].time);

		if (i)
			time = less(&soft, time);
		q.parts[i] = less(&q.parts[REST], time);
		q.counts[i] = difference(p, cpu, kinds[i].count);
	}
	q.parts[OTHERS] = less(&q.parts[REST], soft);
	return q;
}

static void put_row(const struct ppa_interval *p, const struct irqs *q,
		    size_t cpu, size_t i, struct buf *out)
{
	const double us = ppa_us(p, q->parts[i]);

	buf_printf(out, "%4zu %-14s", cpu,
		   i < NR_KINDS ? kinds[i].title : "other softirqs");
	if (i < NR_KINDS)
		buf_printf(out, " %10.0f", q->counts[i] / p->seconds);
	else
		buf_printf(out, " %10s", "-");
	buf_printf(out, " %10.1f", us / 1000);
	if (i < NR_KINDS && q->counts[i])
		buf_printf(out, " %8.1f", us / q->counts[i]);
	else
		buf_printf(out, " %8s", "-");
	buf_printf(out, " %6.2f\n",
		   q->elapsed ? 100.0 * q->parts[i] / q->elapsed : 0);
}

void ppa_irqs_table(const struct ppa_interval *p, struct buf *out)
{
	struct irqs q;
	size_t cpu, i;

	buf_printf(out, "%4s %-14s %10s %10s %8s %6s\n", "CPU", "KIND",
		   "TIMES/S", "ms", "us EACH", "TIME%");
	for (cpu = 0; cpu < p->now.nr_cpus; cpu++) {
		if (!p->now.cpus[cpu].v[PPA_ELAPSED])
			continue;
		q = irqs_of(p, cpu);
		for (i = 0; i <= OTHERS; i++)
			if (q.parts[i] || (i < NR_KINDS && q.counts[i]))
				put_row(p, &q, cpu, i, out);
	}
}

void ppa_irqs_json(const struct ppa_interval *p, struct buf *out)
{
	uint64_t ns[NR_PARTS];
	const char *comma = "";
	struct irqs q;
	size_t cpu, i;

	buf_printf(out, "{\"seconds\":%.6f,\"irqs\":[", p->seconds);
	for (cpu = 0; cpu < p->now.nr_cpus; cpu++) {
		if (!p->now.cpus[cpu].v[PPA_ELAPSED])
			continue;
		q = irqs_of(p, cpu);
		ppa_parts_ns(q.parts, ns, NR_PARTS, p->now.hz);
		buf_printf(out, "%s{\"cpu\":%zu,\"life_ns\":%" PRIu64
			   ",\"parts\":{", comma, cpu,
			   ppa_ns(q.elapsed, p->now.hz));
		for (i = 0; i < NR_KINDS; i++)
			buf_printf(out, "\"%s\":%" PRIu64 ",", kinds[i].name,
				   ns[i]);
		buf_printf(out, "\"softirq\":%" PRIu64 ",\"rest\":%" PRIu64
			   "},\"counts\":{", ns[OTHERS], ns[REST]);
		for (i = 0; i < NR_KINDS; i++)
			buf_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "",
				   kinds[i].name, q.counts[i]);
		buf_puts(out, "}}");
		comma = ",";
	}
	buf_puts(out, "]}\n");
}
