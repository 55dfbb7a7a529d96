/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads did in an interval; ppa_interval.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "cmd/ppa_interval.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t switches(const struct ppa_thread *t)
{
	return t->values[PPA_SCHEDOUTCNT] + t->values[PPA_PRMPTPRICNT] +
	       t->values[PPA_PRMPTCTXTCNT];
}

/* Ever, of any cause. */
static uint64_t longest(const struct ppa_thread *t)
{
	uint64_t most = 0;
	size_t i;

	for (i = PPA_PART_DISK; i <= PPA_PART_KERNEL; i++)
		if (t->longest[i] > most)
			most = t->longest[i];
	return most;
}

static double key(const struct ppa_thread *t, enum ppa_sort sort)
{
	switch (sort) {
	case PPA_BY_DEFAULT:
	case PPA_BY_CPU:
		return t->values[PPA_SCHEDACCUM];
	case PPA_BY_SYSTEM:
		return t->values[PPA_SCACCUM];
	case PPA_BY_SYSCALLS:
		return t->values[PPA_SYSCALLCNT];
	case PPA_BY_LATENCY:
		return ppa_mean(t->values[PPA_SCHLATACCUM],
				t->values[PPA_SCHLATCNT]);
	case PPA_BY_SWITCHES:
		return switches(t);
	case PPA_BY_LONGEST:
		return longest(t);
	default:
		return ppa_sort_parts(t->parts, sort);
	}
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct ppa_thread *x = a, *y = b;
	const enum ppa_sort by = *(enum ppa_sort *)sort;
	const double p = key(x, by), q = key(y, by);
	const int ours = ppa_sort_ours(x->comm, y->comm);

	if (ours)
		return ours;
	if (p != q)
		return p < q ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static bool has_values(const struct ppa_thread *old, const struct ppa_thread *t)
{
	size_t i;

	for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
		if (old->values[i] > t->values[i])
			return false;
	for (i = 0; i < PPA_NR_BUCKETS; i++)
		if (old->latency[i] > t->latency[i])
			return false;
	return true;
}

static bool has_life(const struct ppa_thread *old, const struct ppa_thread *t)
{
	size_t i;

	if (old->life > t->life)
		return false;
	for (i = 0; i < PPA_NR_PARTS; i++)
		if (old->parts[i] > t->parts[i] || old->waits[i] > t->waits[i])
			return false;
	return true;
}

/*
 * Where the file does not tell when a thread was born, a number that comes again
 * is one that has less of anything.
 */
static bool is_same(const struct ppa_thread *old, const struct ppa_thread *t)
{
	return old->tgid == t->tgid && has_values(old, t) && has_life(old, t);
}

static bool is_active(const struct ppa_thread *t)
{
	size_t i;

	for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
		if (t->values[i])
			return true;
	return false;
}

static const struct ppa_thread *find(const struct ppa_snapshot *s,
				     const struct ppa_thread *t)
{
	return bsearch(t, s->threads, s->nr_threads, sizeof(*t),
		       ppa_by_identity);
}

static void subtract(struct ppa_thread *t, const struct ppa_thread *old)
{
	size_t i;

	for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
		t->values[i] -= old->values[i];
	for (i = 0; i < PPA_NR_BUCKETS; i++)
		t->latency[i] -= old->latency[i];
	t->life -= old->life;
	for (i = 0; i < PPA_NR_PARTS; i++) {
		t->parts[i] -= old->parts[i];
		t->waits[i] -= old->waits[i];
	}
}

static uint64_t of_cpus(const struct ppa_interval *p, int value)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < p->now.nr_cpus; i++)
		sum += ppa_cpu_value(p, i, value);
	return sum;
}

static void take_from(uint64_t *rest, uint64_t value)
{
	*rest -= value < *rest ? value : *rest;
}

static size_t count_ended(const struct ppa_interval *p)
{
	const struct ppa_thread *t;
	size_t i, nr = 0;

	for (i = 0; i < p->before.nr_threads; i++) {
		if (p->before.threads[i].flags & PPA_ENDED)
			continue;
		t = find(&p->now, &p->before.threads[i]);
		nr += !t || t->flags & PPA_ENDED ||
		      !is_same(&p->before.threads[i], t);
	}
	return nr;
}

/*
 * The sum of those that are in no record any more: what they had before is theirs,
 * and not the interval's.
 */
static void take_forgotten(const struct ppa_interval *p, struct ppa_thread *sum)
{
	const struct ppa_thread *old;
	size_t i;

	for (i = 0; i < p->before.nr_threads; i++) {
		old = &p->before.threads[i];
		if (!find(&p->now, old) && has_values(old, sum) &&
		    has_life(old, sum))
			subtract(sum, old);
	}
}

void ppa_interval_rows(struct ppa_interval *p, uint64_t pid)
{
	struct ppa_others *rest = &p->others;
	const struct ppa_thread *old;
	struct ppa_thread *t;
	size_t i;

	*rest = (struct ppa_others) {
		.user = of_cpus(p, PPA_USRMODE),
		.system = of_cpus(p, PPA_SYSMODE),
		.syscalls = of_cpus(p, PPA_SYS_SYSCALLCNT),
		.ended = count_ended(p),
	};
	p->rows = xrealloc(p->rows,
			   (p->now.nr_threads + 1) * sizeof(*p->rows));
	p->nr_rows = 0;
	for (i = 0; i < p->now.nr_threads; i++) {
		t = &p->rows[p->nr_rows];
		*t = p->now.threads[i];
		old = find(&p->before, t);
		if (old && is_same(old, t))
			subtract(t, old);
		if (t->flags & PPA_SUM)
			take_forgotten(p, t);
		take_from(&rest->user, t->values[PPA_SCHEDACCUM] -
				       t->values[PPA_SCACCUM]);
		take_from(&rest->system, t->values[PPA_SCACCUM]);
		take_from(&rest->syscalls, t->values[PPA_SYSCALLCNT]);
		if (pid ? t->tid == pid || (!p->one_thread && t->tgid == pid) :
			  is_active(t))
			p->nr_rows++;
	}
	qsort_r(p->rows, p->nr_rows, sizeof(*p->rows), by_key, &p->sort);
}

static double cpu_key(const struct ppa_interval *p, size_t cpu)
{
#define SUM(a, b) (ppa_cpu_value(p, cpu, a) + ppa_cpu_value(p, cpu, b))
	switch (p->cpu_sort) {
	case PPA_BY_CPU:
		return SUM(PPA_USRMODE, PPA_SYSMODE) +
		       SUM(PPA_INTERRUPTS, PPA_TOTALSOFTIRQTIME);
	case PPA_BY_SYSTEM:
		return ppa_cpu_value(p, cpu, PPA_SYSMODE);
	case PPA_BY_SYSCALLS:
		return ppa_cpu_value(p, cpu, PPA_SYS_SYSCALLCNT);
	case PPA_BY_LATENCY:
		return ppa_mean(ppa_cpu_value(p, cpu, PPA_SYS_SCHLATACCUM),
				ppa_cpu_value(p, cpu, PPA_SYS_SCHLATCNT));
	case PPA_BY_SWITCHES:
		return SUM(PPA_SYS_SCHEDOUTCNT, PPA_SYS_PRMPTPRICNT) +
		       ppa_cpu_value(p, cpu, PPA_SYS_PRMPTCTXTCNT);
	default:
		return 0;
	}
}

static int by_cpu_key(const void *a, const void *b, void *interval)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const double p = cpu_key(interval, x), q = cpu_key(interval, y);

	if (p != q)
		return p < q ? 1 : -1;
	return (x > y) - (x < y);
}

size_t *ppa_interval_cpus(const struct ppa_interval *p, size_t *nr)
{
	size_t *cpus = xmalloc((p->now.nr_cpus + 1) * sizeof(*cpus)), i;

	*nr = 0;
	for (i = 0; i < p->now.nr_cpus; i++)
		if (p->now.cpus[i].v[PPA_ELAPSED])
			cpus[(*nr)++] = i;
	qsort_r(cpus, *nr, sizeof(*cpus), by_cpu_key, (void *)p);
	return cpus;
}

void ppa_interval_free(struct ppa_interval *p)
{
	ppa_snapshot_free(&p->before);
	ppa_snapshot_free(&p->now);
	free(p->rows);
}

uint64_t ppa_ns(uint64_t ticks, uint64_t hz)
{
	return (unsigned __int128)ticks * 1000000000 / hz;
}

void ppa_parts_ns(const uint64_t *ticks, uint64_t *ns, size_t nr, uint64_t hz)
{
	uint64_t sum = 0, before = 0, now;
	size_t i;

	for (i = 0; i < nr; i++) {
		sum += ticks[i];
		now = ppa_ns(sum, hz);
		ns[i] = now - before;
		before = now;
	}
}

struct buf ppa_thread_name(const struct ppa_interval *p, uint32_t tid)
{
	const struct ppa_thread *t = ppa_thread_of(&p->now, tid);
	struct buf name = { 0 };
	char *comm = t ? ppa_name(t->comm) : NULL;

	buf_puts(&name, comm ?: "");
	free(comm);
	return name;
}

void ppa_put_thread(const struct ppa_interval *p, uint32_t tid, struct buf *out)
{
	struct buf name = ppa_thread_name(p, tid);

	buf_printf(out, name.len ? "%s (%" PRIu32 ")" : "%s%" PRIu32,
		   name.s ?: "", tid);
	free(name.s);
}
