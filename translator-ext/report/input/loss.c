/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace lacks; loss.h says what is wanted of it. */
#include "report/input/loss.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/shown.h"

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

struct lines {
	const char *name;
	FILE *out;
	unsigned int nr;
};

static void __attribute__((format(printf, 2, 3)))
say(struct lines *lines, const char *fmt, ...)
{
	struct buf what = { 0 };
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&what, fmt, args);
	va_end(args);
	shown_line(lines->out, "stapwatch report: %s: %s", lines->name, what.s);
	free(what.s);
	lines->nr++;
}

static void say_stream(struct lines *lines, const struct trace_skipped *s)
{
	if (s->bytes)
		say(lines, "%" PRIu64 " bytes in %" PRIu64 " places are no records and were skipped",
		    s->bytes, s->places);
	if (s->damaged)
		say(lines, "%" PRIu64 " records are damaged", s->damaged);
	if (s->unknown)
		say(lines, "%" PRIu64 " records are of types that this stapwatch does not know",
		    s->unknown);
	if (s->second)
		say(lines, "another trace begins in it; what follows was not read");
	if (s->error)
		say(lines, "reading ended early: %s", strerror(s->error));
	if (s->cut)
		say(lines, "ends within a record");
}

static void say_cpu(struct lines *lines, unsigned int cpu,
		    const struct loss_cpu *c)
{
	const struct sw_trace_end *e = &c->end;

	if (c->missing)
		say(lines, "CPU %u: %" PRIu64 " records are missing", cpu,
		    c->missing);
	if (!c->ended) {
		say(lines, "CPU %u: was cut off: it has no end that says how many samples there were",
		    cpu);
		return;
	}
	if (e->written != c->samples)
		say(lines, "CPU %u: wrote %" PRIu64 " samples, of which %" PRIu64 " are here",
		    cpu, e->written, c->samples);
	if (lost_of(e))
		say(lines, "CPU %u: of %" PRIu64 " samples %" PRIu64 " were lost: %" PRIu64 " to a full buffer, %" PRIu64 " within another's handler, %" PRIu64 " that SystemTap skipped",
		    cpu, e->taken, lost_of(e), e->lost_full, e->lost_nested,
		    e->lost_skipped);
	if (e->taken != e->written + lost_of(e))
		say(lines, "CPU %u: its counts do not add up: %" PRIu64 " samples taken, %" PRIu64 " written, %" PRIu64 " lost",
		    cpu, e->taken, e->written, lost_of(e));
	if (e->no_stack)
		say(lines, "CPU %u: %" PRIu64 " samples have no stack: the table was full",
		    cpu, e->no_stack);
	if (e->other_lost)
		say(lines, "CPU %u: %" PRIu64 " records of processes, their maps and marks were lost; images may be unknown or wrong",
		    cpu, e->other_lost);
}

unsigned int loss_say(const struct loss *l, const struct trace_skipped *skipped,
		      const char *name, FILE *out)
{
	struct lines lines = { name, out, 0 };
	size_t i;

	say_stream(&lines, skipped);
	for (i = 0; i < l->nr; i++)
		if (l->cpus[i].seen)
			say_cpu(&lines, i, &l->cpus[i]);
	if (l->late)
		say(&lines, "%" PRIu64 " records came later than their round allows; their images may be wrong",
		    l->late);
	return lines.nr;
}
