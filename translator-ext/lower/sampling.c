/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu_profile("EVENT:PERIOD") and time_ms(N): points that are sampled. */
#include "lower/lowering.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_declare.h"

/* The runtime's SW_SAMPLING_NATIVE: a type whose config is the number. */
#define NATIVE_SAMPLING 0x57000000U

/* Its SW_SAMPLING_OFF_CPU. */
#define WAIT_SAMPLING 0x57000003U

/* Perf's number for software events. */
#define TYPE_SOFTWARE 1

/* What is sampled, and how often. */
struct sampling {
	struct event_profile parts;
	struct event_attr attr;
};

static bool can_sample(struct lowering *l, const struct part *part,
		       const struct event *ev)
{
	if (ev->derived) {
		lower_fail(l, part->argument, "%s is computed from two events, and nothing interrupts for that; sample %s or %s",
			   ev->name, ev->derived->numerator,
			   ev->derived->denominator);
		return false;
	}
	if (ev->table_name && !strcmp(ev->table_name, "tsc")) {
		lower_fail(l, part->argument, "tsc cannot interrupt; sample cpu_clock, or cpu_cycles where there is a PMU");
		return false;
	}
	if (part->prefixed && ev->attr.type == TYPE_SOFTWARE) {
		lower_fail(l, part->begin, "%s comes from a timer or from the kernel itself, never by NMI; leave out .nmi, or sample cpu_cycles",
			   ev->name);
		return false;
	}
	return true;
}

/* pmu_profile("off_cpu:least") */
static int read_waits(struct lowering *l, const struct part *part,
		      struct sampling *s)
{
	char why[512];

	if (part->prefixed) {
		lower_fail(l, part->begin, "off_cpu is seen at switches, never by NMI; leave out .nmi");
		return -1;
	}
	if (event_profile_wait(&s->parts, why, sizeof(why))) {
		lower_fail(l, part->argument, "%s", why);
		return -1;
	}
	s->attr = (struct event_attr) { .type = WAIT_SAMPLING };
	return 0;
}

/* pmu_profile("event:period") */
static int read_profile(struct lowering *l, const struct part *part,
			struct sampling *s)
{
	char *text = argument_string(l, part, "pmu_profile"), why[512];
	struct event ev;
	bool ok;

	if (!text)
		return -1;
	if (event_profile_split(text, &s->parts, why, sizeof(why))) {
		lower_fail(l, part->argument, "%s", why);
		free(text);
		return -1;
	}
	free(text);
	if (event_is_wait(s->parts.event))
		return read_waits(l, part, s);
	if (!argument_event(l, part->argument, s->parts.event, &ev))
		return -1;
	if (s->parts.precise >= 0)
		ev.attr.precise_ip = s->parts.precise;
	s->attr = ev.attr;
	s->attr.wants_nmi = part->prefixed;
	ok = can_sample(l, part, &ev);
	event_free(&ev);
	return ok ? 0 : -1;
}

/* time_ms(N): as many nanoseconds of the CPU's clock. */
static int read_time(struct lowering *l, const struct part *part,
		     struct sampling *s)
{
	size_t i = part->argument, len = i < l->s.t.nr ? tok_len(l, i) : 0;
	char number[24] = "", *end;
	unsigned long long ms;

	if (i + 2 == part->end && is(l, i + 1, ")") && len < sizeof(number))
		memcpy(number, tok_text(l, i), len);
	ms = strtoull(number, &end, 0);
	if (!isdigit((unsigned char)*number) || *end || ms < 1 ||
	    ms > 3600000) {
		lower_fail(l, part->begin, "time_ms takes a number of milliseconds from 1 to 3600000, as in kernel.time_ms(10)");
		return -1;
	}
	s->parts.event = xstrdup("cpu_clock");
	s->attr = (struct event_attr) { .type = TYPE_SOFTWARE };
	s->parts.period = ms * 1000000;
	return 0;
}

/* What the sampling needs of the runtime, named in the tail once. */
static void bring_in(struct lowering *l, const char *function, bool *done)
{
	if (*done)
		return;
	buf_printf(&l->tail, "probe begin(-9223372036854775806) { %s() }",
		   function);
	edit_tail_line(l);
	*done = true;
}

/*
 * Stap's perf probe has a place for type, config and period, or else for a
 * process; what it has no place for, the runtime is told of.
 */
static int put_sampling(struct lowering *l, size_t i, const struct sampling *s,
			const struct part *process, struct buf *b)
{
	const struct event_profile *parts = &s->parts;
	struct event_attr plain = {
		.type = s->attr.type, .config = s->attr.config
	};
	int native;

	buf_printf(&l->explain, "\tsampled: %s, %s %" PRIu64, parts->event,
		   parts->freq ? "a second" : "every", parts->period);
	if (parts->random)
		buf_printf(&l->explain, " and what is random under 0x%" PRIx64,
			   parts->random);
	if (parts->long_period)
		buf_printf(&l->explain, ", or %" PRIu64 " after a sample that was lost",
			   parts->long_period);
	buf_puts(&l->explain, ": ");
	explain_attr(l, &s->attr);
	buf_puts(&l->explain, "\n");
	if (!process && !parts->random && !parts->long_period && event_same_attr(&plain, &s->attr) &&
	    s->attr.config <= INT64_MAX) {
		/* which may fail, and then the runtime says what would not */
		if (plain.type == WAIT_SAMPLING)
			bring_in(l, "__sw_off_cpu", &l->waits);
		else if (plain.type != TYPE_SOFTWARE)
			bring_in(l, "__sw_sampling", &l->sampling);
		buf_printf(b, "perf.type(%" PRIu32 ").config(%" PRIu64
			   ").%s(%" PRIu64 ")", plain.type, plain.config,
			   parts->freq ? "hz" : "sample", parts->period);
		return 0;
	}
	native = native_number(l, i, parts->event, &(struct native) {
		.attr = s->attr,
		.period = parts->freq ? -(int64_t)parts->period :
					(int64_t)parts->period,
		.random = parts->random,
		.long_period = parts->long_period,
	});
	if (native < 0)
		return -1;
	buf_printf(b, "perf.type(%u).config(%d).", NATIVE_SAMPLING, native);
	if (process)
		edit_copy(l, process->begin, process->end, b);
	else
		buf_puts(b, "sample(1)");
	return 0;
}

static bool is_word_alone(const struct lowering *l, const struct part *part,
			  const char *word)
{
	return part->end == part->begin + 1 && is(l, part->begin, word);
}

int sampling_put(struct lowering *l, const struct point *p, struct buf *b)
{
	const struct part *sampled = NULL, *process = NULL;
	const char *example = point_has(p, PART_TIME) ? "time_ms(N)"
				: "pmu_profile(\"EVENT:PERIOD\")";
	struct sampling s = { 0 };
	size_t k;
	int rc;

	for (k = 0; k < p->nr_parts; k++) {
		const struct part *part = &p->parts[k];

		if (part->kind == PART_PROFILE || part->kind == PART_TIME) {
			if (sampled) {
				lower_fail(l, part->begin, "one probe point samples one thing; write two, with a comma");
				return -1;
			}
			sampled = part;
		} else if (part->kind == PART_ELAPSED) {
			lower_fail(l, part->begin, "elapsed counts from a call to its return, and a sample is neither; use startwatch");
			return -1;
		} else if (part->kind == PART_OTHER && !k &&
			   is(l, part->begin, "process")) {
			process = part;
		} else if (part->kind == PART_OTHER &&
			   (k || !is_word_alone(l, part, "kernel"))) {
			lower_fail(l, part->begin, "samples are taken of the kernel or of a process: kernel.%s or process(\"PATH\").%s, with nothing else but startwatch",
				   example, example);
			return -1;
		}
	}
	rc = sampled->kind == PART_TIME ? read_time(l, sampled, &s)
					: read_profile(l, sampled, &s);
	if (!rc && process && s.attr.type == WAIT_SAMPLING) {
		lower_fail(l, process->begin, "off_cpu is sampled of all threads: kernel.pmu_profile(\"off_cpu:1M\"), and profile_only(target()) in a begin probe leaves out others");
		rc = -1;
	}
	if (!rc)
		rc = put_sampling(l, sampled->begin, &s, process, b);
	free(s.parts.event);
	return rc;
}
