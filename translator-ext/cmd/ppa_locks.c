/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks; ppa_locks.h says what is wanted of it. */
#define _GNU_SOURCE	/* qsort_r() */
#include "cmd/ppa_locks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"
#include "cmd/ppa_names.h"
#include "cmd/ppa_why.h"

static const char *const kinds[PPA_NR_LOCK_KINDS] = {
	[PPA_LOCK_LOST] = "no room",
	[PPA_LOCK_SPIN] = "spinlock",
	[PPA_LOCK_RWLOCK_READ] = "rwlock read",
	[PPA_LOCK_RWLOCK_WRITE] = "rwlock write",
	[PPA_LOCK_MUTEX] = "mutex",
	[PPA_LOCK_READ] = "rwsem read",
	[PPA_LOCK_WRITE] = "rwsem write",
	[PPA_LOCK_PERCPU_READ] = "percpu read",
	[PPA_LOCK_PERCPU_WRITE] = "percpu write",
	[PPA_LOCK_RT] = "rtmutex",
	[PPA_LOCK_FUTEX] = "futex",
	[PPA_LOCK_FILE] = "file",
	[PPA_LOCK_SEMAPHORE] = "semaphore",
	[PPA_LOCK_FUTEXES] = "futexes",
};

#define KIND_WIDTH 12

/* Of one lock: its rows, most time first. */
struct lock {
	struct ppa_lock *rows;
	size_t nr;
	uint64_t values[PPA_NR_LOCK_VALUES];
};

struct locks {
	struct ppa_lock *rows;	/* differences */
	size_t nr_rows;
	struct lock *all;
	size_t nr;
};

static const char *kind_of(const struct ppa_lock *l)
{
	return l->kind < PPA_NR_LOCK_KINDS ? kinds[l->kind] : "?";
}

/* Or several. */
static bool is_futex(const struct ppa_lock *l)
{
	return l->kind == PPA_LOCK_FUTEX || l->kind == PPA_LOCK_FUTEXES;
}

static uint64_t time_of(const uint64_t *values)
{
	return values[PPA_LOCK_BLOCKED] + values[PPA_LOCK_SPINNING];
}

static bool is_longest(unsigned int value)
{
	return value == PPA_LOCK_LONGEST || value == PPA_LOCK_LONGEST_SPIN;
}

static int by_time(const void *a, const void *b)
{
	const struct ppa_lock *x = a, *y = b;
	const uint64_t p = time_of(x->values), q = time_of(y->values);

	return p != q ? (p < q ? 1 : -1) : ppa_by_lock(a, b);
}

static uint64_t key(const struct lock *l, enum ppa_sort sort)
{
	const uint64_t *v = l->values;

	switch (sort) {
	case PPA_BY_COUNT:
		return v[PPA_LOCK_WAITS] + v[PPA_LOCK_SPUN];
	case PPA_BY_LONGEST:
		return v[PPA_LOCK_LONGEST] > v[PPA_LOCK_LONGEST_SPIN] ?
		       v[PPA_LOCK_LONGEST] : v[PPA_LOCK_LONGEST_SPIN];
	case PPA_BY_BLOCKED:
		return v[PPA_LOCK_BLOCKED];
	case PPA_BY_SPUN:
		return v[PPA_LOCK_SPINNING];
	default:
		return time_of(v);
	}
}

/* The kernel's are everybody's. */
static const char *whose(const struct ppa_lock *l)
{
	return is_futex(l) || l->kind == PPA_LOCK_FILE ? l->comm : "";
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct lock *x = a, *y = b;
	const enum ppa_sort by = *(enum ppa_sort *)sort;
	const uint64_t p = key(x, by), q = key(y, by);
	const int ours = ppa_sort_ours(whose(x->rows), whose(y->rows));

	if (ours)
		return ours;
	return p != q ? (p < q ? 1 : -1) : ppa_by_lock(x->rows, y->rows);
}

/* ---- an interval */

static void subtract_waker(struct ppa_lock_waker *w, const struct ppa_lock *was)
{
	const struct ppa_lock_waker *old = was->wakers;
	unsigned int i;

	for (i = 0; i < PPA_LOCK_WAKERS && old[i].tid; i++) {
		if (old[i].tid != w->tid)
			continue;
		w->waits -= old[i].waits < w->waits ? old[i].waits : w->waits;
		return;
	}
	/* there was no place for it in a row that stood twice: what it had then is not
	 * known, and what it has since is among the waits that nobody is told of */
	if (i == PPA_LOCK_WAKERS)
		w->waits = 0;
}

/* What WAS had, as far as L has it: LEFT is what remains of that. */
static void subtract_values(struct ppa_lock *l, uint64_t *left)
{
	unsigned int i;
	uint64_t n;

	for (i = 0; i < PPA_NR_LOCK_VALUES; i++) {
		if (is_longest(i))
			continue;
		n = left[i] < l->values[i] ? left[i] : l->values[i];
		l->values[i] -= n;
		left[i] -= n;
	}
}

/* What was added to a row. */
static void subtract(struct ppa_lock *l, const struct ppa_lock *was)
{
	uint64_t left[PPA_NR_LOCK_VALUES];
	unsigned int i;

	memcpy(left, was->values, sizeof(left));
	subtract_values(l, left);
	for (i = 0; i < PPA_LOCK_WAKERS; i++)
		subtract_waker(&l->wakers[i], was);
}

/* The process that has what was in it, when it has ended; 0: all have. */
static uint64_t owner_of(const struct ppa_lock *l)
{
	if (l->kind == PPA_LOCK_LOST)
		return 0;
	return l->kind == PPA_LOCK_FILE ? l->what : l->space;
}

/* Rows of one process's others, if threads began them at once. */
#define MOST_TWINS 8

/* LEFT off what all others of OWNER have, or of all processes, if that is 0. */
static void subtract_from_others(struct locks *l, uint64_t owner, uint64_t *left)
{
	size_t lo = 0, hi = l->nr_rows, mid, i;
	const struct ppa_lock *row;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		row = &l->rows[mid];
		if (row->kind == PPA_LOCK_LOST && row->space < owner)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (i = lo; i < l->nr_rows && i < lo + MOST_TWINS; i++) {
		row = &l->rows[i];
		if (row->kind != PPA_LOCK_LOST || row->space != owner)
			break;
		subtract_values(&l->rows[i], left);
	}
}

/* A row that has ended: what it had is among all others of its process, or of all. */
static void subtract_ended(struct locks *l, const struct ppa_lock *was)
{
	const uint64_t owner = owner_of(was);
	uint64_t left[PPA_NR_LOCK_VALUES];

	memcpy(left, was->values, sizeof(left));
	if (owner)
		subtract_from_others(l, owner, left);
	subtract_from_others(l, 0, left);
}

/* By their order both are gone through once. */
static void subtract_all(struct locks *l, const struct ppa_snapshot *old)
{
	const struct ppa_lock *was;
	size_t i = 0, k;
	int by;

	for (k = 0; k < old->nr_locks; k++) {
		was = &old->locks[k];
		by = -1;
		for (; i < l->nr_rows; i++) {
			by = ppa_by_lock_record(was, &l->rows[i]);
			if (by <= 0)
				break;
		}
		if (i < l->nr_rows && !by)
			subtract(&l->rows[i], was);
		else
			subtract_ended(l, was);
	}
}

static bool is_empty(const struct ppa_lock *l)
{
	return !l->values[PPA_LOCK_WAITS] && !l->values[PPA_LOCK_SPUN] &&
	       !time_of(l->values);
}

static void add(struct lock *to, const struct ppa_lock *row)
{
	unsigned int i;

	for (i = 0; i < PPA_NR_LOCK_VALUES; i++) {
		if (!is_longest(i))
			to->values[i] += row->values[i];
		else if (row->values[i] > to->values[i])
			to->values[i] = row->values[i];
	}
	to->nr++;
}

static struct locks locks_of(const struct ppa_interval *p)
{
	const struct ppa_snapshot *now = &p->now;
	struct locks l = {
		.rows = xmalloc((now->nr_locks + 1) * sizeof(*l.rows)),
		.all = xmalloc((now->nr_locks + 1) * sizeof(*l.all)),
	};
	size_t i, n = 0;

	l.nr_rows = now->nr_locks;
	memcpy(l.rows, now->locks, l.nr_rows * sizeof(*l.rows));
	subtract_all(&l, &p->before);
	for (i = 0; i < l.nr_rows; i++)
		if (!is_empty(&l.rows[i]))
			l.rows[n++] = l.rows[i];
	l.nr_rows = ppa_merge_locks(l.rows, n, ppa_by_lock);
	for (i = 0; i < l.nr_rows; i++) {
		if (!l.nr || !ppa_same_lock(l.all[l.nr - 1].rows, &l.rows[i]))
			l.all[l.nr++] = (struct lock) { .rows = &l.rows[i] };
		add(&l.all[l.nr - 1], &l.rows[i]);
	}
	for (i = 0; i < l.nr; i++)
		qsort(l.all[i].rows, l.all[i].nr, sizeof(*l.rows), by_time);
	qsort_r(l.all, l.nr, sizeof(*l.all), by_key, (void *)&p->sort);
	return l;
}

static void locks_free(struct locks *l)
{
	free(l->rows);
	free(l->all);
}

/* ---- names */

/* What wakes and is no thread; NULL: it is one. */
static const char *no_thread(uint32_t tid)
{
	switch (tid) {
	case PPA_WAKER_IRQ:
		return "an interrupt";
	case PPA_WAKER_SOFTIRQ:
		return "a softirq";
	case PPA_WAKER_IDLE:
		return "an idle CPU";
	}
	return tid > INT32_MAX ? "something else" : NULL;
}

/* A process's waits for which it had its share already. */
static bool is_beyond_share(const struct ppa_lock *l)
{
	return l->kind == PPA_LOCK_LOST && l->space;
}

/* Of a process, for one that has a number. */
static void put_process(const struct ppa_lock *l, struct buf *out)
{
	char *comm = ppa_name(l->comm);

	buf_printf(out, " of %s (%" PRIu64 ")", comm, l->space);
	free(comm);
}

static struct buf lock_name(const struct ppa_lock *l)
{
	struct buf name = { 0 };

	if (l->kind == PPA_LOCK_LOST) {
		buf_puts(&name, "all others");
		if (is_beyond_share(l))
			put_process(l, &name);
	} else if (l->kind == PPA_LOCK_FILE) {
		/* as the kernel gives a device's number to programs */
		buf_printf(&name, "inode %" PRIu64 " of device %" PRIu64 ":%" PRIu64,
			   l->lock, l->space >> 8 & 0xfff,
			   (l->space & 0xff) | (l->space >> 12 & 0xfff00));
	} else if (l->what == PPA_LOCK_IS_MMAP || l->what == PPA_LOCK_IS_SIGNAL) {
		buf_puts(&name, l->what == PPA_LOCK_IS_MMAP ? "mmap_lock" :
							      "siglock");
		put_process(l, &name);
	} else if (*l->name) {
		buf_puts(&name, l->name);
	} else {
		buf_printf(&name, "0x%" PRIx64, l->lock);
		if (l->kind == PPA_LOCK_FUTEXES)
			buf_puts(&name, " and others");
		if (is_futex(l))
			put_process(l, &name);
	}
	return name;
}

static struct buf place_name(struct ppa_names *names, const struct ppa_lock *l,
			     uint32_t frame)
{
	struct buf name = { 0 };

	if (*l->places[frame])
		buf_puts(&name, l->places[frame]);
	else if (is_futex(l) || l->kind == PPA_LOCK_FILE)
		ppa_names_put(names,
			      l->kind == PPA_LOCK_FILE ? l->what : l->space,
			      l->ip[frame], frame, &name);
	else
		buf_printf(&name, "0x%" PRIx64, l->ip[frame]);
	return name;
}

/* ---- for people */

#define FRAMES_SHOWN 3

static double percent(uint64_t part, uint64_t all)
{
	return all ? part * 100.0 / all : 0;
}

/* Who ended most waits of a row; NULL: nobody is known. */
static const struct ppa_lock_waker *waker_of(const struct ppa_lock *row)
{
	const struct ppa_lock_waker *most = row->wakers;
	unsigned int i;

	for (i = 1; i < PPA_LOCK_WAKERS; i++)
		if (row->wakers[i].waits > most->waits)
			most = &row->wakers[i];
	return most->waits ? most : NULL;
}

/* There is none: a semaphore that counts, and all that found no room. */
static bool has_no_holder(const struct ppa_lock *row)
{
	return row->kind == PPA_LOCK_SEMAPHORE || row->kind == PPA_LOCK_LOST;
}

/* Who held it, or else who let it go. */
static void put_holder(const struct ppa_interval *p, const struct ppa_lock *row,
		       struct buf *out)
{
	const struct ppa_lock_waker *by = row->kind == PPA_LOCK_LOST ?
					  NULL : waker_of(row);

	if (row->holder) {
		buf_puts(out, ", held by ");
		ppa_put_thread(p, row->holder, out);
	} else if (by) {
		buf_puts(out, ", released by ");
		if (no_thread(by->tid))
			buf_puts(out, no_thread(by->tid));
		else
			ppa_put_thread(p, by->tid, out);
		buf_printf(out, " %" PRIu64 " of %" PRIu64, by->waits,
			   by->waits > row->values[PPA_LOCK_WAITS] ?
			   by->waits : row->values[PPA_LOCK_WAITS]);
	} else if (!has_no_holder(row)) {
		buf_puts(out, ", holder not known");
	}
}

/* Of one row: who held it, and who wanted it. */
static void put_place(const struct ppa_interval *p, struct ppa_names *names,
		      const struct lock *of, const struct ppa_lock *row,
		      struct buf *out)
{
	uint32_t i;

	put_holder(p, row, out);
	for (i = 0; i < row->nr_frames && i < FRAMES_SHOWN; i++) {
		struct buf name = place_name(names, row, i);

		buf_printf(out, "%s%s", i ? " < " : ", at ", name.s);
		free(name.s);
	}
	if (of->nr > 1)
		buf_printf(out, ": %.1f%% of it",
			   percent(time_of(row->values), time_of(of->values)));
}

static void put_lock(const struct ppa_interval *p, struct ppa_names *names,
		     const struct lock *l, struct buf *out)
{
	const uint64_t *v = l->values;
	struct buf text = lock_name(l->rows);

	buf_printf(out, "%8" PRIu64 " %10.1f %10.1f %8" PRIu64 " %8.1f %10.1f  %-*s ",
		   v[PPA_LOCK_WAITS], ppa_us(p, v[PPA_LOCK_BLOCKED]) / 1000,
		   ppa_us(p, v[PPA_LOCK_LONGEST]) / 1000, v[PPA_LOCK_SPUN],
		   ppa_us(p, v[PPA_LOCK_SPINNING]) / 1000,
		   ppa_us(p, v[PPA_LOCK_LONGEST_SPIN]), KIND_WIDTH,
		   kind_of(l->rows));
	put_place(p, names, l, l->rows, &text);
	shown_text(out, text.s);
	buf_puts(out, "\n");
	free(text.s);
}

void ppa_locks_table(const struct ppa_interval *p, struct ppa_names *names,
		     struct buf *out)
{
	struct locks l = locks_of(p);
	size_t i;

	ppa_names_look_again(names);
	buf_printf(out, "%8s %10s %10s %8s %8s %10s  %-*s %s\n", "WAITS",
		   "BLOCKEDms", "LONGESTms", "SPINS", "SPUNms", "LONGESTus",
		   KIND_WIDTH, "KIND", "LOCK, HOLDER, PLACE");
	for (i = 0; i < l.nr; i++)
		put_lock(p, names, &l.all[i], out);
	locks_free(&l);
}

/* ---- for programs */

static void json_values(const struct ppa_interval *p, const uint64_t *v,
			struct json *j)
{
	const uint64_t ticks[] = { v[PPA_LOCK_BLOCKED], v[PPA_LOCK_SPINNING] };
	uint64_t ns[2];

	ppa_parts_ns(ticks, ns, 2, p->now.hz);
	json_uint(j, "waits", v[PPA_LOCK_WAITS]);
	json_uint(j, "longest_ns", ppa_ns(v[PPA_LOCK_LONGEST], p->now.hz));
	json_uint(j, "spins", v[PPA_LOCK_SPUN]);
	json_uint(j, "longest_spin_ns",
		  ppa_ns(v[PPA_LOCK_LONGEST_SPIN], p->now.hz));
	json_uint(j, "sum_ns", ns[0] + ns[1]);
	json_object(j, "parts");
	json_uint(j, "blocked", ns[0]);
	json_uint(j, "spun", ns[1]);
	json_end_object(j);
}

static void json_waker(const struct ppa_interval *p,
		       const struct ppa_lock_waker *by, struct json *j)
{
	const char *what = no_thread(by->tid);
	struct buf name = what ? (struct buf) { 0 } :
				 ppa_thread_name(p, by->tid);

	json_object(j, NULL);
	if (what)
		json_null(j, "tid");
	else
		json_uint(j, "tid", by->tid);
	json_string(j, "comm", what ?: name.s ?: "");
	json_uint(j, "waits", by->waits);
	json_end_object(j);
	free(name.s);
}

static void json_holder(const struct ppa_interval *p,
			const struct ppa_lock *row, struct json *j)
{
	struct buf name;

	if (!row->holder) {
		json_null(j, "holder");
		return;
	}
	name = ppa_thread_name(p, row->holder);
	json_object(j, "holder");
	json_uint(j, "tid", row->holder);
	json_string(j, "comm", name.s ?: "");
	json_end_object(j);
	free(name.s);
}

static void json_place(const struct ppa_interval *p, struct ppa_names *names,
		       const struct ppa_lock *row, struct json *j)
{
	struct buf name = { 0 };
	uint32_t i;

	json_object(j, NULL);
	json_array(j, "stack");
	for (i = 0; i < row->nr_frames; i++) {
		name = place_name(names, row, i);
		json_string(j, NULL, name.s);
		free(name.s);
	}
	json_end_array(j);
	json_holder(p, row, j);
	json_array(j, "wakers");
	for (i = 0; i < PPA_LOCK_WAKERS; i++)
		if (row->wakers[i].waits)
			json_waker(p, &row->wakers[i], j);
	json_end_array(j);
	json_values(p, row->values, j);
	json_end_object(j);
}

static void json_lock(const struct ppa_interval *p, struct ppa_names *names,
		      const struct lock *l, struct json *j)
{
	struct buf text = { 0 };
	size_t i;

	json_object(j, NULL);
	buf_printf(&text, "0x%" PRIx64, l->rows->lock);
	json_string(j, "lock", text.s);
	free(text.s);
	json_string(j, "kind", kind_of(l->rows));
	text = lock_name(l->rows);
	json_string(j, "name", text.s);
	free(text.s);
	if (is_futex(l->rows) || is_beyond_share(l->rows))
		json_uint(j, "pid", l->rows->space);
	else
		json_null(j, "pid");
	json_values(p, l->values, j);
	json_array(j, "places");
	for (i = 0; i < l->nr; i++)
		json_place(p, names, &l->rows[i], j);
	json_end_array(j);
	json_end_object(j);
}

void ppa_locks_json(const struct ppa_interval *p, struct ppa_names *names,
		    struct buf *out)
{
	struct locks l = locks_of(p);
	struct json j = { .out = out };
	size_t i;

	ppa_names_look_again(names);
	json_document(&j);
	json_fixed(&j, "seconds", p->seconds, 6);
	json_array(&j, "locks");
	for (i = 0; i < l.nr; i++)
		json_lock(p, names, &l.all[i], &j);
	json_end_array(&j);
	json_end_document(&j);
	locks_free(&l);
}
