/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts and softirqs; ppa_irqs.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "cmd/ppa_irqs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
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
/* and after these the softirqs of other kinds, and what is neither */
#define OTHERS NR_KINDS
#define REST (NR_KINDS + 1)
#define NR_PARTS (NR_KINDS + 2)

/* Of a CPU in an interval. */
struct irqs {
	size_t cpu;
	uint64_t elapsed;	/* ticks, which these sum to: */
	uint64_t parts[NR_PARTS];
	uint64_t counts[NR_KINDS];
};

static uint64_t less(uint64_t *from, uint64_t what)
{
	what = what < *from ? what : *from;
	*from -= what;
	return what;
}

/* The file may have been made up: no part is more than what is left. */
static struct irqs irqs_of(const struct ppa_interval *p, size_t cpu)
{
	struct irqs q = {
		.cpu = cpu,
		.elapsed = ppa_cpu_value(p, cpu, PPA_ELAPSED),
	};
	uint64_t soft = ppa_cpu_value(p, cpu, PPA_TOTALSOFTIRQTIME);
	size_t i;

	q.parts[REST] = q.elapsed;
	for (i = 0; i < NR_KINDS; i++) {
		uint64_t time = ppa_cpu_value(p, cpu, kinds[i].time);

		if (i)
			time = less(&soft, time);
		q.parts[i] = less(&q.parts[REST], time);
		q.counts[i] = ppa_cpu_value(p, cpu, kinds[i].count);
	}
	q.parts[OTHERS] = less(&q.parts[REST], soft);
	return q;
}

/* Those of each CPU that was there. */
static struct irqs *irqs_of_all(const struct ppa_interval *p, size_t *nr)
{
	struct irqs *all = xmalloc((p->now.nr_cpus + 1) * sizeof(*all));
	size_t cpu;

	*nr = 0;
	for (cpu = 0; cpu < p->now.nr_cpus; cpu++)
		if (p->now.cpus[cpu].v[PPA_ELAPSED])
			all[(*nr)++] = irqs_of(p, cpu);
	return all;
}

/* ---- for people */

/* A kind on a CPU. */
struct row {
	const struct irqs *of;
	size_t kind;
};

/* Of softirqs that have no kind here nobody counts how many there are. */
static uint64_t count_of(const struct irqs *q, size_t kind)
{
	return kind < NR_KINDS ? q->counts[kind] : 0;
}

static uint64_t key(const struct irqs *q, size_t kind, enum ppa_sort sort)
{
	switch (sort) {
	case PPA_BY_TIME:
		return q->parts[kind];
	case PPA_BY_COUNT:
		return count_of(q, kind);
	default:
		return 0;
	}
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct row *x = a, *y = b;
	const enum ppa_sort by = *(enum ppa_sort *)sort;
	const uint64_t p = key(x->of, x->kind, by);
	const uint64_t q = key(y->of, y->kind, by);

	if (p != q)
		return p < q ? 1 : -1;
	if (x->of->cpu != y->of->cpu)
		return x->of->cpu < y->of->cpu ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static void put_row(const struct ppa_interval *p, const struct row *r,
		    struct buf *out)
{
	const struct irqs *q = r->of;
	const size_t i = r->kind;
	const double us = ppa_us(p, q->parts[i]);

	buf_printf(out, "%4zu %-14s", q->cpu,
		   i < NR_KINDS ? kinds[i].title : "other softirqs");
	if (i < NR_KINDS)
		buf_printf(out, " %10.0f", q->counts[i] / p->seconds);
	else
		buf_printf(out, " %10s", "-");
	buf_printf(out, " %10.1f", us / 1000);
	if (count_of(q, i))
		buf_printf(out, " %8.1f", us / q->counts[i]);
	else
		buf_printf(out, " %8s", "-");
	buf_printf(out, " %6.2f\n",
		   q->elapsed ? 100.0 * q->parts[i] / q->elapsed : 0);
}

void ppa_irqs_table(const struct ppa_interval *p, struct buf *out)
{
	size_t nr, i, kind, nr_rows = 0;
	struct irqs *all = irqs_of_all(p, &nr);
	struct row *rows = xmalloc((nr + 1) * NR_PARTS * sizeof(*rows));

	for (i = 0; i < nr; i++)
		for (kind = 0; kind <= OTHERS; kind++)
			if (all[i].parts[kind] || count_of(&all[i], kind))
				rows[nr_rows++] = (struct row) { &all[i], kind };
	qsort_r(rows, nr_rows, sizeof(*rows), by_key, (void *)&p->sort);
	buf_printf(out, "%4s %-14s %10s %10s %8s %6s\n", "CPU", "KIND",
		   "TIMES/S", "ms", "us EACH", "TIME%");
	for (i = 0; i < nr_rows; i++)
		put_row(p, &rows[i], out);
	free(rows);
	free(all);
}

/* ---- for programs */

/* A CPU's, of all its kinds. */
static uint64_t sum_of(const struct irqs *q, enum ppa_sort sort)
{
	uint64_t sum = 0;
	size_t kind;

	for (kind = 0; kind <= OTHERS; kind++)
		sum += key(q, kind, sort);
	return sum;
}

static int by_sum(const void *a, const void *b, void *sort)
{
	const struct irqs *x = a, *y = b;
	const enum ppa_sort by = *(enum ppa_sort *)sort;
	const uint64_t p = sum_of(x, by), q = sum_of(y, by);

	if (p != q)
		return p < q ? 1 : -1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void json_cpu(const struct ppa_interval *p, const struct irqs *q,
		     struct json *j)
{
	uint64_t ns[NR_PARTS];
	size_t i;

	ppa_parts_ns(q->parts, ns, NR_PARTS, p->now.hz);
	json_object(j, NULL);
	json_uint(j, "cpu", q->cpu);
	json_uint(j, "sum_ns", ppa_ns(q->elapsed, p->now.hz));
	json_object(j, "parts");
	for (i = 0; i < NR_KINDS; i++)
		json_uint(j, kinds[i].name, ns[i]);
	json_uint(j, "softirq", ns[OTHERS]);
	json_uint(j, "rest", ns[REST]);
	json_end_object(j);
	json_object(j, "counts");
	for (i = 0; i < NR_KINDS; i++)
		json_uint(j, kinds[i].name, q->counts[i]);
	json_end_object(j);
	json_end_object(j);
}

void ppa_irqs_json(const struct ppa_interval *p, struct buf *out)
{
	size_t nr, i;
	struct irqs *all = irqs_of_all(p, &nr);
	struct json j = { .out = out };

	qsort_r(all, nr, sizeof(*all), by_sum, (void *)&p->sort);
	json_document(&j);
	json_fixed(&j, "seconds", p->seconds, 6);
	json_array(&j, "irqs");
	for (i = 0; i < nr; i++)
		json_cpu(p, &all[i], &j);
	json_end_array(&j);
	json_end_document(&j);
	free(all);
}
