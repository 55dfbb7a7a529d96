/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stapwatch latency prints; latency.h. */
#include "cmd/latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/shown.h"
#include "store/hist.h"

/* A function's time, in nanoseconds. */
struct times {
	double total, mean, p50, p99, p999, max, on_cpu;
};

static double quantile(const struct latency_hist *h, unsigned int permille)
{
	u64 v;

	hist_quantile(h->n, permille, &v);
	return v;
}

static double mean(const struct latency_hist *h)
{
	return h->count ? (double)h->n[PERFMAP_HIST_SUM] / h->count : 0;
}

static struct times times_of(const struct latency_block *b,
			     const struct latency_function *f)
{
	const struct latency_hist *h = &f->hists[LATENCY_TIME];
	const double ns = b->tick_ns;

	return (struct times) {
		.total = h->n[PERFMAP_HIST_SUM] * ns,
		.mean = mean(h) * ns,
		.p50 = quantile(h, 500) * ns,
		.p99 = quantile(h, 990) * ns,
		.p999 = quantile(h, 999) * ns,
		.max = quantile(h, 1000) * ns,
		.on_cpu = f->hists[LATENCY_ON_CPU].n[PERFMAP_HIST_SUM] * ns,
	};
}

static double share(const struct latency_block *b,
		    const struct latency_function *f)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < b->nr_functions; i++)
		all += b->functions[i].hists[LATENCY_TIME].n[PERFMAP_HIST_SUM];
	return all ? (double)f->hists[LATENCY_TIME].n[PERFMAP_HIST_SUM] / all :
		     0;
}

static uint64_t calls(const struct latency_function *f)
{
	return f->hists[LATENCY_TIME].count;
}

static double rate(const struct latency_rate *r,
		   const struct latency_function *f)
{
	const struct latency_hist *a = &f->hists[LATENCY_EVENT(r->numerator)];
	const struct latency_hist *b = &f->hists[LATENCY_EVENT(r->denominator)];

	return b->n[PERFMAP_HIST_SUM] ?
	       (double)a->n[PERFMAP_HIST_SUM] / b->n[PERFMAP_HIST_SUM] : 0;
}

/* ---- JSON: an object for each function */

/* Calls that have no key of their own have none here, either. */
static void json_key(const struct latency_request *req,
		     const struct latency_function *f, struct json *j)
{
	const char *name = req->by == LATENCY_BY_PROCESS ? "pid" : "argument";

	if (!f->has_key) {
		json_null(j, name);
		return;
	}
	json_int(j, name, f->key);
	if (f->comm)
		json_string(j, "comm", f->comm);
}

static void json_times(const struct latency_block *b,
		       const struct latency_function *f, struct json *j)
{
	const struct times t = times_of(b, f);

	json_fixed(j, "total_ns", t.total, 0);
	json_fixed(j, "share", share(b, f), 6);
	json_fixed(j, "mean_ns", t.mean, 1);
	json_fixed(j, "p50_ns", t.p50, 0);
	json_fixed(j, "p99_ns", t.p99, 0);
	json_fixed(j, "p999_ns", t.p999, 0);
	json_fixed(j, "max_ns", t.max, 0);
	json_fixed(j, "on_cpu_ns", t.on_cpu, 0);
	json_uint(j, "on_cpu_calls", f->hists[LATENCY_ON_CPU].count);
}

static void json_function(const struct latency_request *req,
			  const struct latency_block *b,
			  const struct latency_function *f, struct json *j)
{
	size_t i;

	json_document(j);
	json_string(j, "function", f->name);
	if (req->by == LATENCY_BY_CPU)
		json_int(j, "cpu", f->cpu);
	if (latency_has_keys(req))
		json_key(req, f, j);
	json_int(j, "time_ns", b->ns);
	json_uint(j, "calls", calls(f));
	json_uint(j, "missed", f->missed);
	json_times(b, f, j);
	json_uint(j, "nested", f->nested);
	json_array(j, "events");
	for (i = 0; i < req->nr_events; i++) {
		const struct latency_hist *h = &f->hists[LATENCY_EVENT(i)];

		json_object(j, NULL);
		json_string(j, "event", req->events[i].text);
		json_uint(j, "count", h->n[PERFMAP_HIST_SUM]);
		json_uint(j, "calls", h->count);
		json_end_object(j);
	}
	json_end_array(j);
	json_object(j, "rates");
	for (i = 0; i < req->nr_rates; i++)
		json_fixed(j, req->rates[i].derived->name,
			   rate(&req->rates[i], f), 6);
	json_end_object(j);
	json_end_document(j);
}

/* ---- for people */

static int by_total(const void *a, const void *b)
{
	const struct latency_function *const *x = a, *const *y = b;
	const uint64_t s = (*x)->hists[LATENCY_TIME].n[PERFMAP_HIST_SUM];
	const uint64_t t = (*y)->hists[LATENCY_TIME].n[PERFMAP_HIST_SUM];

	return s != t ? (s < t) - (s > t) :
			strcmp((*x)->name, (*y)->name) ?:
			((*x)->cpu > (*y)->cpu) - ((*x)->cpu < (*y)->cpu) ?:
			((*x)->key > (*y)->key) - ((*x)->key < (*y)->key);
}

/* The functions that were called, those with the most time first. */
static const struct latency_function **
sorted(const struct latency_block *b, size_t *nr)
{
	const struct latency_function **f;
	size_t i;

	*nr = 0;
	f = xmalloc((b->nr_functions + 1) * sizeof(*f));
	for (i = 0; i < b->nr_functions; i++)
		if (calls(&b->functions[i]))
			f[(*nr)++] = &b->functions[i];
	qsort(f, *nr, sizeof(*f), by_total);
	return f;
}

static void put_key(const struct latency_request *req,
		    const struct latency_function *f, struct buf *out)
{
	if (!f->has_key) {
		buf_puts(out, ", others");
	} else if (req->by == LATENCY_BY_PROCESS) {
		buf_puts(out, ", ");
		shown_name(out, f->comm);
		buf_printf(out, " (%" PRId64 ")", f->key);
	} else {
		buf_printf(out, ", arg%u %" PRId64, req->argument, f->key);
	}
}

static void put_row(const struct latency_request *req,
		    const struct latency_block *b,
		    const struct latency_function *f, struct buf *out)
{
	const struct times t = times_of(b, f);
	struct buf name = { 0 };
	size_t i;

	shown_name(&name, f->name);
	buf_printf(out, "%8" PRIu64 " %9.3f %5.1f%% %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f",
		   calls(f), t.total / 1e6, 100 * share(b, f), t.mean / 1e3,
		   t.p50 / 1e3, t.p99 / 1e3, t.p999 / 1e3, t.max / 1e3,
		   mean(&f->hists[LATENCY_ON_CPU]) * b->tick_ns / 1e3);
	for (i = 0; i < req->nr_events; i++)
		buf_printf(out, " %11.1f", mean(&f->hists[LATENCY_EVENT(i)]));
	for (i = 0; i < req->nr_rates; i++)
		buf_printf(out, " %11.3f", rate(&req->rates[i], f));
	buf_printf(out, "  %s", name.s ? name.s : "");
	if (req->by == LATENCY_BY_CPU)
		buf_printf(out, ", CPU %" PRId64, f->cpu);
	if (latency_has_keys(req))
		put_key(req, f, out);
	buf_puts(out, "\n");
	free(name.s);
}

static void put_head(const struct latency_request *req, struct buf *out)
{
	size_t i;

	buf_printf(out, "%8s %9s %6s %8s %8s %8s %8s %8s %8s", "calls",
		   "total ms", "share", "mean us", "p50", "p99", "p999", "max",
		   "on CPU");
	for (i = 0; i < req->nr_events; i++) {
		struct buf name = { 0 };

		shown_name(&name, req->events[i].text);
		buf_printf(out, " %11.11s", name.s);
		free(name.s);
	}
	for (i = 0; i < req->nr_rates; i++)
		buf_printf(out, " %11.11s", req->rates[i].derived->name);
	buf_puts(out, "  function\n");
}

/* The time of a function, in rows of powers of two of nanoseconds. */
static void draw(const struct latency_block *b,
		 const struct latency_function *f, FILE *out)
{
	const struct latency_hist *h = &f->hists[LATENCY_TIME];
	u64 rows[HIST_ROWS] = { h->n[PERFMAP_HIST_NEGATIVE] };
	unsigned int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		if (h->n[i])
			rows[hist_row(hist_bucket(hist_mid(i) * b->tick_ns))] +=
				h->n[i];
	hist_draw(out, rows);
}

/* The function there, or a key of its, which stand after it. */
static bool is_called(const struct latency_block *b, size_t at)
{
	do {
		if (calls(&b->functions[at]))
			return true;
	} while (++at < b->nr_functions && b->functions[at].has_key);
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the functions that are recorded, in order; to be freed. */
static const char **recorded(const struct latency_block *b, size_t *nr)
{
	const char **names = xmalloc((b->nr_functions + 1) * sizeof(*names));
	size_t i;

	*nr = 0;
	for (i = 0; i < b->nr_functions; i++)
		if (!b->functions[i].has_key)
			names[(*nr)++] = b->functions[i].name;
	qsort(names, *nr, sizeof(*names), by_name);
	return names;
}

/* Those of a pattern that the session had to leave out; each CPU's table has no row of
 * those that were not called, so nobody can tell. */
static void put_left_out(const struct latency_request *req,
			 const struct latency_block *b, struct buf *out)
{
	struct buf which = { 0 };
	const char **names;
	size_t i, nr, left_out = 0;

	if (req->by == LATENCY_BY_CPU)
		return;
	names = recorded(b, &nr);
	for (i = 0; i < req->nr_functions; i++) {
		const char *name = req->functions[i].asked ?:
				   req->functions[i].name;

		if (bsearch(&name, names, nr, sizeof(*names), by_name))
			continue;
		left_out++;
		buf_puts(&which, " ");
		shown_name(&which, name);
	}
	free(names);
	if (left_out)
		buf_printf(out, "%zu of %zu functions cannot be probed%s%s\n",
			   left_out, req->nr_functions,
			   req->verbose ? ":" : "; -v names them",
			   req->verbose ? which.s : "");
	free(which.s);
}

static void put_losses(const struct latency_block *b, struct buf *out)
{
	uint64_t missed = 0, nested = 0;
	size_t i, idle = 0, all = 0;

	for (i = 0; i < b->nr_functions; i++) {
		missed += b->functions[i].missed;
		nested += b->functions[i].nested;
		all += !b->functions[i].has_key;
		idle += !b->functions[i].has_key && !is_called(b, i);
	}
	if (idle && b->functions[0].cpu < 0)
		buf_printf(out, "%zu of %zu functions were not called\n", idle,
			   all);
	if (missed)
		buf_printf(out, "%" PRIu64 " calls were missed\n", missed);
	if (nested)
		buf_printf(out, "%" PRIu64 " calls, of any thread, came while a probe was handled\n",
			   nested);
	if (b->last && b->under_way)
		buf_printf(out, "%" PRId64 " calls had not returned\n",
			   b->under_way);
}

/* How many rows a terminal has room for, beside what stands around them. */
static size_t rows_of_terminal(FILE *terminal, size_t nr)
{
	struct winsize size;

	if (ioctl(fileno(terminal), TIOCGWINSZ, &size) || size.ws_row <= 9 ||
	    nr <= size.ws_row - 9u)
		return nr;
	return size.ws_row - 9;
}

/* At a terminal each interval is drawn over the one before. */
static void put_table(const struct latency_request *req,
		      const struct latency_block *b, struct buf *out)
{
	const bool live = req->interval_ms && isatty(fileno(req->out));
	const struct latency_function **f;
	size_t i, nr, rows;

	f = sorted(b, &nr);
	rows = live ? rows_of_terminal(req->out, nr) : nr;
	/* a long line ends at the edge, and does not wrap */
	if (live)
		buf_puts(out, "\033[?7l\033[H\033[J");
	if (req->interval_ms)
		buf_printf(out, "%.3f s\n", b->ns / 1e9);
	if (nr)
		put_head(req, out);
	for (i = 0; i < rows; i++)
		put_row(req, b, f[i], out);
	if (rows < nr)
		buf_printf(out, "%zu rows more\n", nr - rows);
	put_left_out(req, b, out);
	put_losses(b, out);
	if (live)
		buf_puts(out, "\033[?7h");
	free(f);
}

int latency_print(const struct latency_request *req,
		  const struct latency_block *b)
{
	const bool draws = !req->json && !req->interval_ms &&
			   b->nr_functions == 1 && calls(&b->functions[0]);
	struct buf out = { 0 };
	struct json j = { .out = &out };
	size_t i;
	int rc;

	if (req->json)
		for (i = 0; i < b->nr_functions; i++)
			json_function(req, b, &b->functions[i], &j);
	else
		put_table(req, b, &out);
	if (draws) {
		buf_puts(&out, "\nnanoseconds of ");
		shown_name(&out, b->functions[0].name);
		buf_puts(&out, "\n");
	}
	rc = buf_flush(&out, fileno(req->out));
	if (!rc && draws) {
		draw(b, &b->functions[0], req->out);
		rc = fflush(req->out) || ferror(req->out) ? -1 : 0;
	}
	if (rc)
		shown_line(stderr, "stapwatch latency: cannot write: %s",
			   strerror(errno));
	free(out.s);
	return rc;
}
