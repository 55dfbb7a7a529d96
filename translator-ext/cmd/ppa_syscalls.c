/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls by number; ppa_syscalls.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "cmd/ppa_syscalls.h"

#include <asm/unistd.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/ppa_json.h"
#include "cmd/ppa_why.h"
#include "store/hist.h"

/* Of the machine that this is built for, from its <asm/unistd.h>. */
static const char *const names[] = {
#include "syscall_names.h"
};

struct call {
	struct ppa_syscall of;	/* differences */
	uint64_t returned;
	uint64_t life;
};

const char *ppa_call_name(uint32_t nr)
{
	return nr < sizeof(names) / sizeof(*names) ? names[nr] : NULL;
}

static struct buf name_of(const struct call *c)
{
	const uint32_t nr = c->of.nr;
	struct buf name = { 0 };

	if (nr == PPA_CALL_OTHER)
		buf_puts(&name, "[others]");
	else if (ppa_call_name(nr))
		buf_puts(&name, ppa_call_name(nr));
	else
		buf_printf(&name, "%" PRIu32, nr);
	return name;
}

static uint64_t less(uint64_t now, uint64_t was)
{
	return now > was ? now - was : 0;
}

static struct call
difference(const struct ppa_syscall *now, const struct ppa_syscall *was)
{
	struct call c = { .of = *now };
	size_t i;

	if (was) {
		c.of.errors = less(now->errors, was->errors);
		c.of.unreturned = less(now->unreturned, was->unreturned);
	}
	for (i = 0; i < PPA_NR_CALL_BUCKETS; i++) {
		c.of.buckets[i] = less(now->buckets[i],
				       was ? was->buckets[i] : 0);
		c.returned += c.of.buckets[i];
	}
	for (i = 0; i < PPA_NR_PARTS; i++) {
		c.of.parts[i] = less(now->parts[i], was ? was->parts[i] : 0);
		c.life += c.of.parts[i];
	}
	return c;
}

static uint64_t key(const struct call *c, enum ppa_sort sort)
{
	switch (sort) {
	case PPA_BY_DEFAULT:
	case PPA_BY_TIME:
		return c->life;
	case PPA_BY_COUNT:
		return c->returned;
	case PPA_BY_ERRORS:
		return c->of.errors;
	case PPA_BY_LONGEST:
		return c->of.longest;
	default:
		return ppa_sort_parts(c->of.parts, sort);
	}
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct call *x = a, *y = b;
	const enum ppa_sort by = *(enum ppa_sort *)sort;
	const uint64_t p = key(x, by), q = key(y, by);

	if (p != q)
		return p < q ? 1 : -1;
	return (x->of.nr > y->of.nr) - (x->of.nr < y->of.nr);
}

static struct call *calls_of(const struct ppa_interval *p, size_t *nr)
{
	struct call *all = xmalloc((p->now.nr_calls + 1) * sizeof(*all));
	size_t i, old = 0;

	*nr = 0;
	/* both are in the order of numbers */
	for (i = 0; i < p->now.nr_calls; i++) {
		const struct ppa_syscall *was = NULL;
		const uint32_t number = p->now.calls[i].nr;

		while (old < p->before.nr_calls &&
		       p->before.calls[old].nr < number)
			old++;
		if (old < p->before.nr_calls &&
		    p->before.calls[old].nr == number)
			was = &p->before.calls[old];
		all[*nr] = difference(&p->now.calls[i], was);
		*nr += all[*nr].returned || all[*nr].life ||
		       all[*nr].of.unreturned;
	}
	qsort_r(all, *nr, sizeof(*all), by_key, (void *)&p->sort);
	return all;
}

/* The middle of a bucket, in ticks. */
static double middle(unsigned int bucket)
{
	const unsigned int power = PPA_CALL_POWER + bucket / 4;

	return (4.5 + bucket % 4) * (1ULL << (power - 2)) -
	       (1 << PPA_CALL_POWER);
}

/* What so many of a thousand calls are not above; no more than the longest. */
static double quantile(const struct call *c, unsigned int permille)
{
	uint64_t rank = hist_rank(c->returned, permille, 1000);
	unsigned int i;

	for (i = 0; i < PPA_NR_CALL_BUCKETS - 1 && c->of.buckets[i] < rank; i++)
		rank -= c->of.buckets[i];
	return middle(i) < c->of.longest ? middle(i) : c->of.longest;
}

static void put_row(const struct ppa_interval *p, const struct call *c,
		    struct buf *out)
{
	struct buf name = name_of(c);

	buf_printf(out, "%10" PRIu64 " %8" PRIu64, c->returned, c->of.errors);
	if (c->returned)
		buf_printf(out, " %10.1f %10.1f",
			   ppa_us(p, quantile(c, 500)),
			   ppa_us(p, quantile(c, 990)));
	else
		buf_printf(out, " %10s %10s", "-", "-");
	buf_printf(out, " %12.1f", ppa_us(p, c->of.longest));
	ppa_put_life(p, c->of.parts, c->life, NULL, name.s, out);
	free(name.s);
}

void ppa_syscalls_table(const struct ppa_interval *p, struct buf *out)
{
	size_t nr, i;
	struct call *all = calls_of(p, &nr);
	const uint64_t lost = less(p->now.calls_lost, p->before.calls_lost);

	buf_printf(out, "%10s %8s %10s %10s %12s %10s %6s %6s  %s\n",
		   "RETURNED", "ERRORS", "p50us", "p99us", "LONGEST EVER",
		   "TIMEms", "CPU%", "READY%", "CALL: BLOCKED");
	for (i = 0; i < nr; i++)
		put_row(p, &all[i], out);
	if (lost)
		buf_printf(out, "%" PRIu64 " calls are left out: their threads had no room in the table\n",
			   lost);
	free(all);
}

static uint64_t quantile_ns(const struct ppa_interval *p,
			    const struct call *c, unsigned int permille)
{
	return c->returned ? ppa_us(p, quantile(c, permille)) * 1000 : 0;
}

static void json_call(const struct ppa_interval *p, const struct call *c,
		      struct json *j)
{
	struct buf name = name_of(c);

	json_object(j, NULL);
	if (c->of.nr == PPA_CALL_OTHER)
		json_null(j, "syscall_nr");
	else
		json_uint(j, "syscall_nr", c->of.nr);
	json_string(j, "syscall_name", name.s);
	json_uint(j, "returned", c->returned);
	json_uint(j, "errors", c->of.errors);
	json_uint(j, "unreturned", c->of.unreturned);
	json_uint(j, "p50_ns", quantile_ns(p, c, 500));
	json_uint(j, "p99_ns", quantile_ns(p, c, 990));
	json_uint(j, "longest_ns", ppa_ns(c->of.longest, p->now.hz));
	ppa_json_life(p, c->of.parts, c->life, j);
	json_end_object(j);
	free(name.s);
}

void ppa_syscalls_json(const struct ppa_interval *p, struct buf *out)
{
	size_t nr, i;
	struct call *all = calls_of(p, &nr);
	struct json j = { .out = out };

	json_document(&j);
	json_fixed(&j, "seconds", p->seconds, 6);
	json_uint(&j, "lost", less(p->now.calls_lost, p->before.calls_lost));
	json_array(&j, "syscalls");
	for (i = 0; i < nr; i++)
		json_call(p, &all[i], &j);
	json_end_array(&j);
	json_end_document(&j);
	free(all);
}
