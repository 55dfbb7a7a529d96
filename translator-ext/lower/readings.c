/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readings: how the event of startwatch("EVENT") or elapsed("EVENT") is read,
 * and the handler of the alias, which reads it.
 */
#include "lower/lowering.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NO_VALUE "-9223372036854775807"

/*
 * How one event is read.  Kernel functions' calls and returns are measured by
 * the runtime; those of a process's functions by stap's @entry.
 */
static void put_read(struct buf *b, const struct part *part, bool of_process,
		     const char *table_name, int native)
{
	bool elapsed = part->kind == PART_ELAPSED;
	const char *v = part->prefixed ? "virtual_" : "";
	char now[128];

	if (table_name)
		snprintf(now, sizeof(now), "%s%s()",
			 part->prefixed ? "virtual_" : "startwatch_", table_name);
	else
		snprintf(now, sizeof(now), "__sw_native_%s(%d)",
			 part->prefixed ? "thread" : "cpu", native);
	if (!elapsed)
		buf_puts(b, now);
	else if (!of_process && table_name)
		buf_printf(b, "__sw_%selapsed_%s()", v, table_name);
	else if (!of_process)
		buf_printf(b, "__sw_native_%selapsed(%d)", v, native);
	else if (part->prefixed || (table_name && !strcmp(table_name, "tsc")))
		buf_printf(b, "__sw_difference(%s, @entry(%s), 1)", now, now);
	else
		buf_printf(b, "__sw_difference(%s, @entry(%s), cpu() == @entry(cpu()))",
			   now, now);
}

static void put_reading(struct buf *b, const struct reading *r, bool of_process)
{
	const struct event_derived *d = r->ev.derived;

	if (!d) {
		put_read(b, r->part, of_process, r->ev.table_name, r->native);
		return;
	}
	/* of one instant, also where the probe names one of both beside it */
	buf_printf(b, "__sw_ratio(__sw_together(%u), ", d->scale);
	put_read(b, r->part, of_process, d->numerator, 0);
	buf_puts(b, ", ");
	put_read(b, r->part, of_process, d->denominator, 0);
	buf_puts(b, ")");
}

int reading_of(struct lowering *l, const struct part *part,
	       struct reading *r)
{
	const char *what = part->kind == PART_ELAPSED ? "elapsed"
						      : "startwatch";
	char *text = argument_string(l, part, what);

	*r = (struct reading) { .part = part };
	if (!text)
		return -1;
	if (!argument_event(l, part->argument, text, &r->ev)) {
		free(text);
		return -1;
	}
	free(text);
	if (r->ev.derived || r->ev.table_name)
		return 0;
	r->native = native_number(l, part->argument, r->ev.name,
				  &(struct native) {
					.attr = r->ev.attr, .counted = true
				  });
	if (r->native >= 0)
		return 0;
	event_free(&r->ev);
	return -1;
}

static bool body_names(const struct lowering *l, const struct probe *probe,
		       const char *name)
{
	size_t i;

	for (i = probe->body; i < probe->body_end; i++)
		if (l->s.t.tok[i].type == TOK_WORD && is(l, i, name) &&
		    !is(l, i + 1, "(") && !is(l, i - 1, "->"))
			return true;
	return false;
}

static bool is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

bool readings_asked(const struct lowering *l, const struct probe *probe)
{
	size_t i;

	if (globals_own_histogram(l))
		return false;
	for (i = probe->body; i + 1 < probe->body_end; i++)
		if (is(l, i, "histogram") && is(l, i + 1, "("))
			return true;
	return false;
}

/* As recorded calls have it. */
static void put_name(const struct reading *r, unsigned int n, struct buf *b)
{
	struct buf name = { 0 };

	buf_printf(&name, "%s%s", r->part->prefixed ? "virtual_" : "",
		   r->ev.name);
	buf_printf(b, "__sw_e%u = ", n);
	buf_stap_string(b, name.s);
	buf_puts(b, "; ");
	free(name.s);
}

int readings_put(struct lowering *l, const struct probe *probe,
		 const struct point *p, unsigned int n, struct buf *b)
{
	const bool of_process = is(l, p->begin, "process");
	const bool named = readings_asked(l, probe);
	struct reading r;
	size_t k;

	for (k = 0; k < p->nr_parts; k++) {
		const struct part *part = &p->parts[k];

		if (part->kind != PART_STARTWATCH && part->kind != PART_ELAPSED)
			continue;
		if (reading_of(l, part, &r))
			return -1;
		buf_printf(b, "__sw_p%u = ", n);
		put_reading(b, &r, of_process);
		buf_printf(b, "; if (__sw_p%u < " NO_VALUE ") next; ", n);
		if (is_identifier(r.ev.name) &&
		    body_names(l, probe, r.ev.name) &&
		    !globals_have(l, r.ev.name))
			buf_printf(b, "%s = __sw_p%u; ", r.ev.name, n);
		if (named)
			put_name(&r, n, b);
		buf_printf(&l->explain, "\t$pmu[%u]: %s, ", n, r.ev.name);
		buf_puts(&l->explain, part->prefixed ? "the thread's" : "the CPU's");
		if (part->kind == PART_ELAPSED)
			buf_puts(&l->explain, ", from call to return");
		buf_puts(&l->explain, ": ");
		if (r.ev.derived)
			buf_printf(&l->explain, "%u * %s / %s",
				   r.ev.derived->scale, r.ev.derived->numerator,
				   r.ev.derived->denominator);
		else
			explain_attr(l, &r.ev.attr);
		buf_puts(&l->explain, "\n");
		event_free(&r.ev);
		n++;
	}
	return 0;
}
