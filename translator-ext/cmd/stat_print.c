/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stapwatch stat prints; stat.h. */
#include "cmd/stat.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"

/* 1234567 as 1,234,567 */
static void put_grouped(struct buf *out, int64_t v, int width)
{
	char digits[32], text[48];
	int n = snprintf(digits, sizeof(digits), "%" PRId64, v), i, at = 0;

	for (i = 0; i < n; i++) {
		text[at++] = digits[i];
		if (i < n - 1 && (n - 1 - i) % 3 == 0 && digits[i] != '-')
			text[at++] = ',';
	}
	text[at] = '\0';
	buf_printf(out, "%*s", width, text);
}

static bool has_rate(const struct stat_rate *r, const int64_t *counts)
{
	return counts[r->numerator] != STAT_NO_COUNT &&
	       counts[r->denominator] != STAT_NO_COUNT &&
	       counts[r->denominator];
}

static double rate_of(const struct stat_rate *r, const int64_t *counts)
{
	return (double)counts[r->numerator] / counts[r->denominator];
}

/* ---- JSON: an object for each event and whom it was counted for */

static void json_target(const struct stat_request *req, struct json *j)
{
	static const char *const kinds[] = {
		[STAT_COMMAND] = "command",
		[STAT_PROCESS] = "process",
		[STAT_THREAD] = "thread",
		[STAT_CGROUP] = "cgroup",
		[STAT_CPUS] = "cpus",
	};

	json_string(j, "target", kinds[req->whom]);
	switch (req->whom) {
	case STAT_COMMAND:
		json_string(j, "target_name", req->command);
		break;
	case STAT_PROCESS:
	case STAT_THREAD:
		json_uint(j, "target_id", req->id);
		break;
	case STAT_CGROUP:
		json_string(j, "target_name", req->cgroup);
		break;
	case STAT_CPUS:
		json_string(j, "target_name", req->cpus ?: "all");
		break;
	}
}

static void json_head(const struct stat_request *req, const char *event,
		      const struct stat_block *b, struct json *j)
{
	json_document(j);
	json_string(j, "event", event);
	json_target(req, j);
	json_int(j, "time_ns", b->ns);
	if (b->spreads) {
		json_fixed(j, "time_deviation_ns",
			   stat_deviation(&b->spreads[req->nr_events]), 0);
		json_uint(j, "repeats", b->runs);
	}
	if (req->interval_ms)
		json_int(j, "late_cpus", b->late);
}

static void json_number(const char *name, int64_t v, struct json *j)
{
	if (v == STAT_NO_COUNT)
		json_null(j, name);
	else
		json_int(j, name, v);
}

static void json_set(const struct stat_request *req,
		     const struct stat_block *b, const struct stat_set *sets,
		     int64_t session_ns, size_t set, struct json *j)
{
	const bool several = req->nr_sets > 1;

	json_uint(j, "set", set);
	json_number("runs", several ? sets[set].runs : 1, j);
	json_number("active_ns", several ? sets[set].active_ns : b->span_ns, j);
	if (several)
		json_number("session_ns", session_ns, j);
}

static void json_count(int64_t count, struct json *j)
{
	json_number("count", count, j);
	json_uint(j, "withheld", count == STAT_NO_COUNT);
}

/* A mean, and of how many runs it is not. */
static void json_mean(const struct stat_block *b, size_t event, struct json *j)
{
	const struct stat_spread *s = &b->spreads[event];

	json_number("count", b->counts[event], j);
	json_uint(j, "withheld", b->runs - s->runs);
	json_fixed(j, "deviation", stat_deviation(s), 1);
}

static void json_estimated(const char *name, bool known, double v,
			   struct json *j)
{
	if (known)
		json_fixed(j, name, v, 0);
	else
		json_null(j, name);
}

static void json_thread(const struct stat_request *req,
			const struct stat_block *b,
			const struct stat_thread *t, struct json *j)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		json_head(req, req->events[i].text, b, j);
		json_int(j, "pid", t->pid);
		json_int(j, "tid", t->tid);
		json_string(j, "comm", t->name);
		json_count(t->counts[i], j);
		json_set(req, b, t->sets, t->ran_ns, req->events[i].set, j);
		json_end_document(j);
	}
}

static void json_block(const struct stat_request *req,
		       const struct stat_block *b, struct buf *out)
{
	struct json j = { .out = out };
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		json_head(req, req->events[i].text, b, &j);
		if (b->spreads)
			json_mean(b, i, &j);
		else
			json_count(b->counts[i], &j);
		json_set(req, b, b->sets, b->session_ns, req->events[i].set,
			 &j);
		if (b->estimates) {
			const struct stat_estimate *e = &b->estimates[i];

			json_estimated("estimate", e->known, e->count, &j);
			json_estimated("estimate_error", e->bounded, e->error,
				       &j);
		}
		json_end_document(&j);
	}
	for (i = 0; i < req->nr_rates; i++) {
		const struct stat_rate *r = &req->rates[i];

		if (!has_rate(r, b->counts))
			continue;
		json_head(req, r->derived->name, b, &j);
		json_fixed(&j, "value", rate_of(r, b->counts), 6);
		json_set(req, b, b->sets, b->session_ns,
			 req->events[r->numerator].set, &j);
		json_end_document(&j);
	}
	for (i = 0; i < b->nr_threads; i++)
		json_thread(req, b, &b->threads[i], &j);
}

/* ---- for people */

static void put_count(int64_t count, struct buf *out)
{
	if (count == STAT_NO_COUNT)
		buf_printf(out, "%20s", "withheld");
	else
		put_grouped(out, count, 20);
}

static void put_name(const char *name, int width, struct buf *out)
{
	struct buf shown = { 0 };

	buf_puts(out, "  ");
	shown_name(&shown, name);
	shown_pad(out, shown.s ? shown.s : "", width);
	free(shown.s);
}

/* Marked as what it is. */
static void put_estimate(const struct stat_estimate *e, struct buf *out)
{
	if (!e->known)
		return;
	buf_puts(out, ", estimated ");
	put_grouped(out, e->count, 0);
	if (e->bounded && e->count > 0)
		buf_printf(out, " +- %.1f %%", 100 * e->error / e->count);
}

static void put_deviation(const struct stat_spread *s, struct buf *out)
{
	const double deviation = stat_deviation(s);

	if (isfinite(deviation) && s->mean > 0)
		buf_printf(out, ", +- %.2f %%", 100 * deviation / s->mean);
}

/* How far runs of the command are off their mean. */
static void put_spread(const struct stat_block *b, size_t event,
		       struct buf *out)
{
	const struct stat_spread *s = &b->spreads[event];

	put_deviation(s, out);
	if (s->runs && s->runs < b->runs)
		buf_printf(out, ", withheld in %zu of %zu runs",
			   b->runs - s->runs, b->runs);
}

/* Its runs, and its part of the time. */
static void put_turns(size_t set, const struct stat_set *s, int64_t session_ns,
		      struct buf *out)
{
	buf_printf(out, "  set %zu, ", set);
	if (s->runs == STAT_NO_COUNT)
		buf_puts(out, "runs withheld");
	else
		buf_printf(out, "%" PRId64 " runs", s->runs);
	if (s->active_ns == STAT_NO_COUNT || session_ns == STAT_NO_COUNT)
		buf_puts(out, ", time withheld");
	else
		buf_printf(out, ", %.1f %%", session_ns ?
			   100.0 * s->active_ns / session_ns : 0.0);
}

static void put_row(const struct stat_request *req, size_t i, int64_t count,
		    const struct stat_set *sets, int64_t session_ns,
		    struct buf *out)
{
	const size_t set = req->events[i].set;

	put_count(count, out);
	put_name(req->events[i].text, req->nr_sets > 1 ? -32 : 0, out);
	if (req->nr_sets > 1)
		put_turns(set, &sets[set], session_ns, out);
}

/* What they have counted since they last said so is in an interval to come. */
static void put_late(int64_t cpus, struct buf *out)
{
	buf_printf(out, "%" PRId64 " CPU%s did not answer in time: the next interval has what %s counted last\n",
		   cpus, cpus == 1 ? "" : "s", cpus == 1 ? "it" : "they");
}

static void put_block(const struct stat_request *req,
		      const struct stat_block *b, struct buf *out)
{
	size_t i, n;

	if (req->interval_ms)
		buf_printf(out, "%.3f s\n", b->ns / 1e9);
	for (i = 0; i < req->nr_events; i++) {
		put_row(req, i, b->counts[i], b->sets, b->session_ns, out);
		if (b->estimates)
			put_estimate(&b->estimates[i], out);
		if (b->spreads)
			put_spread(b, i, out);
		buf_puts(out, "\n");
	}
	for (i = 0; i < req->nr_rates; i++) {
		const struct stat_rate *r = &req->rates[i];

		if (has_rate(r, b->counts))
			buf_printf(out, "%20.3f  %s\n", rate_of(r, b->counts),
				   r->derived->name);
	}
	for (n = 0; n < b->nr_threads; n++) {
		const struct stat_thread *t = &b->threads[n];
		struct buf name = { 0 };

		shown_name(&name, t->name);
		buf_printf(out, "thread %" PRId64 " of %" PRId64 " %s\n", t->tid,
			   t->pid, name.s ? name.s : "");
		free(name.s);
		for (i = 0; i < req->nr_events; i++) {
			put_row(req, i, t->counts[i], t->sets, t->ran_ns, out);
			buf_puts(out, "\n");
		}
	}
	if (req->interval_ms && b->late)
		put_late(b->late, out);
	if (!b->last || req->interval_ms)
		return;
	buf_printf(out, "%20.6f  seconds", b->ns / 1e9);
	if (b->spreads) {
		put_deviation(&b->spreads[req->nr_events], out);
		buf_printf(out, ", mean of %zu run%s", b->runs,
			   b->runs == 1 ? "" : "s");
	}
	buf_puts(out, "\n");
}

int stat_print(const struct stat_request *req, const struct stat_block *b)
{
	struct buf out = { 0 };
	int rc;

	if (req->json)
		json_block(req, b, &out);
	else
		put_block(req, b, &out);
	rc = buf_flush(&out, req->out);
	if (rc)
		shown_line(stderr, "stapwatch stat: %s: %s",
			   req->file ?: "cannot write", strerror(errno));
	free(out.s);
	return rc;
}
