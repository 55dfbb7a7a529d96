/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lives and their parts; ppa_why.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "cmd/ppa_why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/ppa_competitors.h"
#include "cmd/ppa_room.h"

static const char *const part_names[PPA_NR_PARTS] = PPA_PART_NAMES;

const char *ppa_part_name(unsigned int part)
{
	return part_names[part];
}

/* ---- processes */

/* A process's first thread; one that was, until another called exec(), is counted. */
static bool is_first(const struct ppa_thread *t)
{
	return t->tid == t->tgid && !(t->flags & PPA_COUNTED);
}

static int by_pid(const void *a, const void *b)
{
	const struct ppa_thread *x = *(const struct ppa_thread *const *)a;
	const struct ppa_thread *y = *(const struct ppa_thread *const *)b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	/* the first thread, its others, and the next process of that number */
	if (x->born != y->born)
		return x->born < y->born ? -1 : 1;
	if (is_first(x) != is_first(y))
		return is_first(x) ? -1 : 1;
	return (x->flags & PPA_ENDED) - (y->flags & PPA_ENDED);
}

static void add_parts(struct ppa_process *p, const uint64_t *parts,
		      uint64_t life)
{
	size_t i;

	p->life += life;
	for (i = 0; i < PPA_NR_PARTS; i++)
		p->parts[i] += parts[i];
}

/* What T was went to its process's first thread, LEAD, before that was read; or to
 * one that is not there any more. */
static bool is_gone(const struct ppa_thread *t, const struct ppa_thread *lead,
		    bool led)
{
	if (!(t->flags & PPA_COUNTED))
		return false;
	return !led || (t != lead && t->gone_nr <= lead->gone_nr);
}

/*
 * Those of one number, from the first of AT on.  What has ended is in what is gone
 * of its first thread, if that is there.
 */
static size_t take_process(struct ppa_thread *const *at, size_t nr,
			   struct ppa_process *p)
{
	const struct ppa_thread *lead = at[0];
	const bool led = is_first(lead);
	size_t i;

	*p = (struct ppa_process) {
		.pid = lead->tgid,
		.sum = lead->flags & PPA_SUM,
		.cgroup = lead->cgroup,
	};
	memcpy(p->comm, lead->comm, sizeof(p->comm));
	if (led) {
		p->born = lead->born;
		p->ended = lead->gone_nr;
		add_parts(p, lead->gone_parts, lead->gone);
	}
	for (i = 0; i < nr && at[i]->tgid == lead->tgid; i++) {
		const bool ended = at[i]->flags & PPA_ENDED;

		/* the next one of this number; it may not be known that it is */
		if (i && is_first(at[i]) && at[i]->born != lead->born)
			break;
		if (i && is_first(at[i]) && !lead->born)
			continue;
		if (is_gone(at[i], lead, led))
			continue;
		p->threads += !ended;
		p->ended += ended && !p->sum;
		add_parts(p, at[i]->parts, at[i]->life);
	}
	return i;
}

static struct ppa_process *take_processes(const struct ppa_snapshot *s,
					  size_t *nr)
{
	struct ppa_thread **order = xmalloc((s->nr_threads + 1) *
					    sizeof(*order));
	struct ppa_process *all = xmalloc((s->nr_threads + 1) * sizeof(*all));
	size_t i;

	for (i = 0; i < s->nr_threads; i++)
		order[i] = &s->threads[i];
	qsort(order, s->nr_threads, sizeof(*order), by_pid);
	*nr = 0;
	for (i = 0; i < s->nr_threads;)
		i += take_process(order + i, s->nr_threads - i, &all[(*nr)++]);
	free(order);
	return all;
}

static bool subtract(struct ppa_process *p, const struct ppa_process *old)
{
	size_t i;

	if (old->life > p->life)
		return false;
	for (i = 0; i < PPA_NR_PARTS; i++)
		if (old->parts[i] > p->parts[i])
			return false;
	p->life -= old->life;
	p->ended -= old->ended < p->ended ? old->ended : p->ended;
	for (i = 0; i < PPA_NR_PARTS; i++)
		p->parts[i] -= old->parts[i];
	return true;
}

uint64_t ppa_on_cpus(const uint64_t *parts)
{
	return parts[PPA_PART_USER] + parts[PPA_PART_SYSTEM] +
	       parts[PPA_PART_INT] + parts[PPA_PART_SOFT];
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct ppa_process *x = a, *y = b;
	const enum ppa_sort by = *(enum ppa_sort *)sort;
	const uint64_t p = ppa_sort_parts(x->parts, by);
	const uint64_t q = ppa_sort_parts(y->parts, by);
	const int ours = ppa_sort_ours(x->comm, y->comm);

	if (ours)
		return ours;
	if (p != q)
		return p < q ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct ppa_process *
find_process(struct ppa_process *all, size_t nr, const struct ppa_process *one)
{
	size_t lo = 0, hi = nr;

	/* they are in the order of numbers, and of births */
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (all[mid].pid != one->pid ? all[mid].pid < one->pid :
					       all[mid].born < one->born)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && all[lo].pid == one->pid &&
	       all[lo].born == one->born ? &all[lo] : NULL;
}

/*
 * What has gone from NOW is in the sum of those that have ended.  What it had before
 * is not the interval's; and it is the one of these that ended in it.
 */
static void take_forgotten(struct ppa_process *sum,
			   struct ppa_process *now, size_t nr_now,
			   const struct ppa_process *old, size_t nr_old)
{
	const uint64_t ended = sum->ended;
	size_t i;

	for (i = 0; i < nr_old; i++)
		if (!find_process(now, nr_now, &old[i]))
			subtract(sum, &old[i]);
	sum->ended = ended;
}

/* Those that PID does not leave out; 0: all, those that waited all the time too. */
static struct ppa_process *
differences(const struct ppa_interval *p, uint64_t pid, size_t *nr,
	    size_t *withheld)
{
	size_t nr_old, i, k = 0;
	struct ppa_process *old = take_processes(&p->before, &nr_old);
	struct ppa_process *now = take_processes(&p->now, nr);

	*withheld = 0;
	/* its number is the lowest; all the others are looked for before they go */
	if (*nr && now->sum)
		take_forgotten(now, now, *nr, old, nr_old);
	for (i = 0; i < *nr; i++) {
		struct ppa_process *one = &now[i], *was;

		if (pid && one->pid != pid)
			continue;
		was = find_process(old, nr_old, one);
		if (was && !subtract(one, was)) {
			++*withheld;
			continue;
		}
		if (one->life)
			now[k++] = *one;
	}
	*nr = k;
	free(old);
	return now;
}

struct ppa_process *ppa_processes(const struct ppa_interval *p, uint64_t pid,
				  size_t *nr, size_t *withheld)
{
	struct ppa_process *all = differences(p, pid, nr, withheld);
	size_t i, k = 0;

	for (i = 0; i < *nr; i++)
		if (pid || ppa_on_cpus(all[i].parts))
			all[k++] = all[i];
	*nr = k;
	qsort_r(all, k, sizeof(*all), by_key, (void *)&p->sort);
	return all;
}

struct ppa_process *ppa_all_processes(const struct ppa_interval *p, size_t *nr,
				      size_t *withheld)
{
	return differences(p, 0, nr, withheld);
}

/* ---- tables */

void ppa_put_name(const char *comm, struct buf *out)
{
	char *name = ppa_name(comm);
	struct buf shown = { 0 };

	shown_text(&shown, name);
	shown_pad(out, shown.s ?: "", -PPA_NAME_WIDTH);
	free(shown.s);
	free(name);
}

void ppa_put_number(uint32_t number, bool sum, struct buf *out)
{
	if (sum)
		buf_printf(out, "%7s ", "-");
	else
		buf_printf(out, "%7" PRIu32 " ", number);
}

static double percent(uint64_t part, uint64_t life)
{
	return life ? part * 100.0 / life : 0;
}

static uint64_t ready(const uint64_t *parts)
{
	return parts[PPA_PART_WOKEN] + parts[PPA_PART_PREEMPTED];
}

/* Of a life, in percent, from which on it is told who ran meanwhile. */
#define READY_MUCH 1

static bool is_ready_much(const struct ppa_thread *t)
{
	return !ppa_is_ours(t->comm) &&
	       percent(ready(t->parts), t->life) >= READY_MUCH;
}

/* Who ran while T was ready, after BETWEEN; false: nobody knows. */
static bool put_competitors(const struct ppa_interval *p,
			    const struct ppa_thread *t, const char *between,
			    struct buf *out)
{
	struct buf text = { 0 };
	const bool known = ppa_competitors_put(p, t, &text);

	if (text.len) {
		buf_puts(out, between);
		shown_text(out, text.s);
	}
	free(text.s);
	return known;
}

bool ppa_put_life(const struct ppa_interval *p, const uint64_t *parts,
		  uint64_t life, const struct ppa_thread *t, const char *whose,
		  struct buf *out)
{
	bool shown[PPA_NR_PARTS] = { false };
	const char *between = "  ";
	unsigned int i, most;
	bool known = true;

	buf_printf(out, " %10.1f %6.1f %6.1f", ppa_us(p, life) / 1000,
		   percent(ppa_on_cpus(parts), life),
		   percent(ready(parts), life));
	if (whose) {
		buf_puts(out, between);
		shown_text(out, whose);
		between = ": ";
	}
	for (;;) {
		most = PPA_NR_PARTS;
		for (i = PPA_PART_DISK; i < PPA_NR_PARTS; i++)
			if (!shown[i] && (most == PPA_NR_PARTS ||
					  parts[i] > parts[most]))
				most = i;
		if (most == PPA_NR_PARTS || !parts[most] ||
		    parts[most] < life / 1000)
			break;
		shown[most] = true;
		buf_printf(out, "%s%s %.1f%%", between, part_names[most],
			   percent(parts[most], life));
		if (t && t->waits[most])
			buf_printf(out, " (%" PRIu64 ", longest %.1f ms)",
				   t->waits[most],
				   ppa_us(p, t->longest[most]) / 1000);
		between = ", ";
	}
	if (t && is_ready_much(t))
		known = put_competitors(p, t, *between == ' ' ? between : "; ",
					out);
	buf_puts(out, "\n");
	return known;
}

void ppa_put_withheld(size_t nr, struct buf *out)
{
	if (nr)
		buf_printf(out, "%zu processes are withheld: the record of an ended thread of theirs was taken while this was read\n",
			   nr);
}

void ppa_why_table(const struct ppa_interval *p, struct buf *out)
{
	bool known = true;
	size_t i;

	buf_printf(out, "%7s %-*s %10s %6s %6s  %s\n", "TID", PPA_NAME_WIDTH,
		   "NAME", "LIFEms", "CPU%", "READY%",
		   "BLOCKED (TIMES, LONGEST EVER)");
	for (i = 0; i < p->nr_rows; i++) {
		const struct ppa_thread *t = &p->rows[i];

		ppa_put_number(t->tid, t->flags & PPA_SUM, out);
		ppa_put_name(t->comm, out);
		known &= ppa_put_life(p, t->parts, t->life, t, NULL, out);
	}
	if (!known)
		buf_puts(out, "READY: `stap --example competitors.stp' shows which threads ran meanwhile\n");
	ppa_room_put(p, "\n", out);
}

void ppa_process_table(const struct ppa_interval *p, uint64_t pid,
		       struct buf *out)
{
	size_t nr, withheld, i;
	struct ppa_process *all = ppa_processes(p, pid, &nr, &withheld);

	buf_printf(out, "%7s %-*s %7s %10s %6s %6s  %s\n", "PID", PPA_NAME_WIDTH,
		   "NAME", "THREADS", "LIFEms", "CPU%", "READY%", "BLOCKED");
	for (i = 0; i < nr; i++) {
		ppa_put_number(all[i].pid, all[i].sum, out);
		ppa_put_name(all[i].comm, out);
		buf_printf(out, " %7zu", all[i].threads);
		ppa_put_life(p, all[i].parts, all[i].life, NULL, NULL, out);
	}
	ppa_put_withheld(withheld, out);
	ppa_room_put(p, "\n", out);
	free(all);
}
