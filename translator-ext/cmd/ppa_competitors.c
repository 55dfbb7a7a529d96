/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Competitors for CPUs; ppa_competitors.h says what is wanted of it. */
#include "cmd/ppa_competitors.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a thread waited for. */
struct waited {
	struct ppa_competitor threads[PPA_COMPETITORS];	/* most time first */
	size_t nr;
	uint64_t values[PPA_NR_COMPETED_VALUES];
	uint64_t all;		/* what these sum to */
};

static uint64_t less(uint64_t now, uint64_t was)
{
	return now > was ? now - was : 0;
}

static uint64_t all_of(const struct ppa_competitors *c)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < PPA_NR_COMPETED_VALUES; i++)
		all += c->values[i];
	for (i = 0; i < PPA_COMPETITORS; i++)
		all += c->threads[i].ticks;
	return all;
}

/* What was added to the Ith thread; one that has less gave way, and came again. */
static uint64_t thread_ticks(const struct ppa_competitors *now,
			     const struct ppa_competitors *was, size_t i)
{
	const struct ppa_competitor *c = &now->threads[i];
	size_t k;

	for (k = 0; c->tid && k < PPA_COMPETITORS; k++)
		if (was->threads[k].tid == c->tid &&
		    was->threads[k].ticks <= c->ticks)
			return c->ticks - was->threads[k].ticks;
	return c->tid ? c->ticks : 0;
}

static int by_ticks(const void *a, const void *b)
{
	const struct ppa_competitor *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static struct waited waited_by(const struct ppa_interval *p,
			       const struct ppa_thread *t)
{
	static const struct ppa_competitors none;
	const struct ppa_competitors *now = ppa_competitors_of(&p->now, t);
	const struct ppa_competitors *was = ppa_competitors_of(&p->before, t);
	struct waited w = { 0 };
	uint64_t ticks, told = 0;
	size_t i;

	if (!now)
		return w;
	if (!was)
		was = &none;
	w.all = less(all_of(now), all_of(was));
	for (i = 0; i < PPA_COMPETITORS; i++) {
		ticks = thread_ticks(now, was, i);
		told += ticks;
		if (ticks)
			w.threads[w.nr++] = (struct ppa_competitor) {
				.tid = now->threads[i].tid, .ticks = ticks,
			};
	}
	for (i = 0; i < PPA_NR_COMPETED_VALUES; i++) {
		if (i == PPA_COMPETED_OTHERS)
			continue;
		w.values[i] = less(now->values[i], was->values[i]);
		told += w.values[i];
	}
	/* that of others has what threads had before, and gave way */
	w.values[PPA_COMPETED_OTHERS] = less(w.all, told);
	qsort(w.threads, w.nr, sizeof(*w.threads), by_ticks);
	return w;
}

/* ---- for people */

#define THREADS_SHOWN 2

/* What ran, of the time that was waited. */
struct share {
	uint32_t tid;		/* 0: WHO */
	const char *who;
	uint64_t ticks;
};

static bool is_shown(const struct waited *w, uint64_t ticks)
{
	return w->all && ticks && ticks >= w->all / 100;
}

static void put_share(const struct waited *w, uint64_t ticks, struct buf *out)
{
	buf_printf(out, " %.1f%%", ticks * 100.0 / w->all);
}

static int by_share(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Two threads, all others, and nobody: what is shown of these, most time first. */
static size_t shares_of(const struct waited *w, struct share *to)
{
	uint64_t others = w->values[PPA_COMPETED_OTHERS];
	size_t i, nr = 0;

	for (i = 0; i < w->nr; i++) {
		const struct ppa_competitor *c = &w->threads[i];

		if (i >= THREADS_SHOWN)
			others += c->ticks;
		else if (is_shown(w, c->ticks))
			to[nr++] = (struct share) { c->tid, NULL, c->ticks };
	}
	if (is_shown(w, others))
		to[nr++] = (struct share) { 0, "others", others };
	if (is_shown(w, w->values[PPA_COMPETED_IDLE]))
		to[nr++] = (struct share) { 0, "nobody",
					    w->values[PPA_COMPETED_IDLE] };
	qsort(to, nr, sizeof(*to), by_share);
	return nr;
}

bool ppa_competitors_put(const struct ppa_interval *p,
			 const struct ppa_thread *t, struct buf *out)
{
	static const struct {
		const char *what;
		enum ppa_competed_value value;
	} rest[] = {
		{ "moved", PPA_COMPETED_MOVED },
		{ "not known", PPA_COMPETED_UNKNOWN },
	};
	const struct waited w = waited_by(p, t);
	struct share shares[THREADS_SHOWN + 2];
	const size_t nr = shares_of(&w, shares);
	const char *between = nr ? "ready, while " : "ready: ";
	size_t i;

	for (i = 0; i < nr; i++) {
		buf_puts(out, between);
		between = ", ";
		if (shares[i].who)
			buf_puts(out, shares[i].who);
		else
			ppa_put_thread(p, shares[i].tid, out);
		buf_puts(out, i ? "" : " ran");
		put_share(&w, shares[i].ticks, out);
	}
	for (i = 0; i < sizeof(rest) / sizeof(*rest); i++) {
		if (!is_shown(&w, w.values[rest[i].value]))
			continue;
		buf_printf(out, "%s%s", between, rest[i].what);
		between = ", ";
		put_share(&w, w.values[rest[i].value], out);
	}
	return nr;
}

/* ---- for programs */

void ppa_competitors_json(const struct ppa_interval *p,
			  const struct ppa_thread *t, struct json *j)
{
	static const char *const names[PPA_NR_COMPETED_VALUES] = {
		[PPA_COMPETED_OTHERS] = "others_ns",
		[PPA_COMPETED_IDLE] = "idle_ns",
		[PPA_COMPETED_MOVED] = "moved_ns",
		[PPA_COMPETED_UNKNOWN] = "unknown_ns",
	};
	const struct waited w = waited_by(p, t);
	uint64_t ticks[PPA_COMPETITORS + PPA_NR_COMPETED_VALUES];
	uint64_t ns[PPA_COMPETITORS + PPA_NR_COMPETED_VALUES];
	size_t i, nr = 0;

	for (i = 0; i < w.nr; i++)
		ticks[nr++] = w.threads[i].ticks;
	for (i = 0; i < PPA_NR_COMPETED_VALUES; i++)
		ticks[nr++] = w.values[i];
	ppa_parts_ns(ticks, ns, nr, p->now.hz);
	json_object(j, "ready_while");
	json_uint(j, "sum_ns", ppa_ns(w.all, p->now.hz));
	json_array(j, "competitors");
	for (i = 0; i < w.nr; i++) {
		struct buf name = ppa_thread_name(p, w.threads[i].tid);

		json_object(j, NULL);
		json_uint(j, "tid", w.threads[i].tid);
		json_string(j, "comm", name.s ?: "");
		json_uint(j, "ran_ns", ns[i]);
		json_end_object(j);
		free(name.s);
	}
	json_end_array(j);
	for (i = 0; i < PPA_NR_COMPETED_VALUES; i++)
		json_uint(j, names[i], ns[w.nr + i]);
	json_end_object(j);
}
