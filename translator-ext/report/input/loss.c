/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace lacks; loss.h says what is wanted of it. */
#include "report/input/loss.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"

void loss_record(struct loss *l, const struct sw_trace_record *r)
{
	struct loss_cpu *c;

	l->cpus = array_room(l->cpus, &l->nr, r->cpu + 1, sizeof(*l->cpus));
	c = &l->cpus[r->cpu];
	/* its first number is 0; a number that comes again is no gap */
	if ((int32_t)(r->seq - c->next) > 0)
		c->missing += r->seq - c->next;
	c->seen = true;
	c->next = r->seq + 1;
	c->samples += r->type == SW_TRACE_SAMPLE;
	if (r->type == SW_TRACE_END) {
		c->ended = true;
		memcpy(&c->end, r, sizeof(c->end));
	}
}

void loss_free(struct loss *l)
{
	free(l->cpus);
	*l = (struct loss) { 0 };
}

static uint64_t lost_of(const struct sw_trace_end *e)
{
	return e->lost_full + e->lost_nested + e->lost_skipped;
}

struct loss_sum loss_sum(const struct loss *l)
{
	struct loss_sum sum = { 0 };
	const struct loss_cpu *c;
	bool ended = true;
	size_t i;

	for (i = 0; i < l->nr; i++) {
		c = &l->cpus[i];
		sum.read += c->samples;
		ended &= c->ended || !c->seen;
		if (!c->ended)
			continue;
		sum.taken += c->end.taken;
		sum.lost += lost_of(&c->end);
		if (c->end.written > c->samples)
			sum.missing += c->end.written - c->samples;
	}
	if (!ended)
		sum.taken = 0;
	return sum;
}

bool loss_ended(const struct loss *l)
{
	bool ended = false;
	size_t i;

	for (i = 0; i < l->nr; i++) {
		if (l->cpus[i].seen && !l->cpus[i].ended)
			return false;
		ended |= l->cpus[i].ended;
	}
	return ended;
}

uint64_t loss_samples(const struct loss_sum *sum)
{
	return sum->taken ?: sum->read + sum->lost + sum->missing;
}

/* ---- warnings */

struct saying {
	const char *name;
	struct warnings *to;
	uint64_t samples;	/* there were; 0: nobody knows */
};

static void __attribute__((format(printf, 4, 5)))
say(const struct saying *s, uint64_t part, uint64_t whole, const char *fmt, ...)
{
	struct buf what = { 0 };
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&what, fmt, args);
	va_end(args);
	warnings_add(s->to, WARNING_NUMBERS, warnings_share(part, whole),
		     "%s: %s", s->name, what.s);
	free(what.s);
}

/* Nobody knows how much it is of how much: it may be all. */
#define UNKNOWN 0, 0

static void say_stream(const struct saying *to, const struct trace_skipped *s,
		       uint64_t read)
{
	if (s->second)
		say(to, UNKNOWN, "another trace begins in it; what follows was not read");
	if (s->error)
		say(to, UNKNOWN, "reading ended early: %s", strerror(s->error));
	if (s->cut)
		say(to, UNKNOWN, "ends within a record");
	if (s->bytes)
		say(to, s->bytes, s->read,
		    "%" PRIu64 " bytes in %" PRIu64 " places are no records and were skipped",
		    s->bytes, s->places);
	if (s->damaged)
		say(to, s->bytes, s->read, "%" PRIu64 " records are damaged",
		    s->damaged);
	if (s->unknown)
		say(to, s->unknown, s->unknown + read,
		    "%" PRIu64 " records are of types that this stapwatch does not know",
		    s->unknown);
}

/* By how much the counts of an end differ. */
static uint64_t differ(uint64_t x, uint64_t y)
{
	return x > y ? x - y : y - x;
}

static void say_end(const struct saying *s, unsigned int cpu,
		    const struct loss_cpu *c)
{
	const struct sw_trace_end *e = &c->end;
	const uint64_t lost = lost_of(e);

	if (e->written != c->samples)
		say(s, differ(e->written, c->samples), s->samples,
		    "CPU %u: wrote %" PRIu64 " samples, of which %" PRIu64 " are here",
		    cpu, e->written, c->samples);
	if (lost)
		say(s, lost, s->samples,
		    "CPU %u: of %" PRIu64 " samples %" PRIu64 " were lost: %" PRIu64 " to a full buffer, %" PRIu64 " within another's handler, %" PRIu64 " that SystemTap skipped",
		    cpu, e->taken, lost, e->lost_full, e->lost_nested,
		    e->lost_skipped);
	if (e->taken != e->written + lost)
		say(s, differ(e->taken, e->written + lost), s->samples,
		    "CPU %u: its counts do not add up: %" PRIu64 " samples taken, %" PRIu64 " written, %" PRIu64 " lost",
		    cpu, e->taken, e->written, lost);
	if (e->no_stack)
		say(s, e->no_stack, s->samples,
		    "CPU %u: %" PRIu64 " samples have no stack: the table was full",
		    cpu, e->no_stack);
	if (e->other_lost)
		say(s, e->other_lost, e->other_lost + s->samples,
		    "CPU %u: %" PRIu64 " records of processes, their maps and marks were lost; images may be unknown or wrong",
		    cpu, e->other_lost);
}

static void say_cpu(const struct saying *s, unsigned int cpu,
		    const struct loss_cpu *c)
{
	if (c->missing)
		say(s, c->missing, s->samples,
		    "CPU %u: %" PRIu64 " records are missing", cpu, c->missing);
	if (c->ended)
		say_end(s, cpu, c);
	else
		say(s, UNKNOWN, "CPU %u: was cut off: it has no end that says how many samples there were",
		    cpu);
}

void loss_say(const struct loss *l, const struct trace_skipped *skipped,
	      const char *name, struct warnings *w)
{
	const struct loss_sum sum = loss_sum(l);
	const struct saying to = { name, w, loss_samples(&sum) };
	size_t i;

	say_stream(&to, skipped, sum.read);
	for (i = 0; i < l->nr; i++)
		if (l->cpus[i].seen)
			say_cpu(&to, i, &l->cpus[i]);
	if (l->late)
		say(&to, l->late, l->late + sum.read,
		    "%" PRIu64 " records came later than their round allows; their images may be wrong",
		    l->late);
}
