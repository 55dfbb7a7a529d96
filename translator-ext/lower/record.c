/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A probe whose handler is histogram() and nothing else: calls that are recorded in
 * C, without a handler.
 *
 * It becomes a begin probe in its place, whose handler calls a function of the tail's
 * that declares the calls.  What is no call of the kernel's function by its name, or
 * counts what recorded calls do not, stays an ordinary probe.
 */
#include "lower/lowering.h"

#include <stdlib.h>
#include <string.h>

/* What is in a name that is no pattern. */
#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/* What recorded calls are to be. */
struct record {
	struct buf functions;	/* with commas between them */
	struct buf counts;	/* statements */
	struct buf explain;
};

/* The text of a part's only string, or NULL. */
static const char *string_of(const struct lowering *l, const struct part *part,
			     const char *name, size_t *len)
{
	const size_t i = part->begin;
	const struct token *s = &l->s.t.tok[i + 2];

	if (part->end != i + 4 || !is(l, i, name) || !is(l, i + 1, "(") ||
	    s->type != TOK_STRING || s->len < 3 || !is(l, i + 3, ")"))
		return NULL;
	*len = s->len - 2;
	return s->s + 1;
}

static bool is_made(const struct lowering *l, size_t begin, size_t end)
{
	for (; begin < end; begin++)
		if (l->s.t.tok[begin].made)
			return true;
	return false;
}

/* kernel or module("NAME"), and then, but for our parts, function("NAME").return:
 * NULL, or why it is not that. */
static const char *put_function(const struct lowering *l,
				const struct point *p, struct record *r)
{
	const struct part *part[3] = { NULL };
	const char *module = NULL, *name;
	size_t k, nr = 0, module_len = 0, len;

	if (is_made(l, p->begin, p->end))
		return "a part of the probe point comes out of a macro or an argument";
	for (k = 0; k < p->nr_parts; k++) {
		if (p->parts[k].kind == PART_ELAPSED)
			continue;
		if (p->parts[k].kind != PART_OTHER)
			return "the probe point has more than elapsed()";
		if (nr == 3)
			return "the probe point has more than a function and .return";
		part[nr++] = &p->parts[k];
	}
	if (nr < 3 || !is(l, part[2]->begin, "return") ||
	    part[2]->end != part[2]->begin + 1)
		return "the probe point is no function's .return, or has more than that";
	module = string_of(l, part[0], "module", &module_len);
	if (!module && !(is(l, part[0]->begin, "kernel") &&
			 part[0]->end == part[0]->begin + 1))
		return "it is no function of the kernel or of a module";
	name = string_of(l, part[1], "function", &len);
	if (!name)
		return "it is no function by its name";
	if (strspn(name, NAME) < len || strspn(module ?: "", NAME) < module_len)
		return "the function's name is a pattern, or has a file, which stap resolves";
	if (is(l, p->end, "if") || is(l, p->end, "!"))
		return "the probe point has a condition";
	buf_printf(&r->functions, "%s%.*s%s%.*s%s", r->functions.len ? "," : "",
		   (int)module_len, module ?: "", module ? ":" : "", (int)len,
		   name, is(l, p->end, "?") ? "?" : "");
	return NULL;
}

/* What it counts: NULL, or why recorded calls do not; after an error, too. */
static const char *put_count(struct lowering *l, const struct part *part,
			     struct record *r)
{
	const unsigned int errors = l->errors;
	const char *why = NULL;
	struct reading got;

	if (reading_of(l, part, &got))
		return l->errors > errors ? "" : NULL;
	buf_printf(&r->explain, "\trecorded: %s, %s, from call to return\n",
		   got.ev.name, part->prefixed ? "the thread's" : "the CPU's");
	if (got.ev.derived)
		why = "a rate has no histogram of its own; take its two events";
	else if (!part->prefixed &&
		 (!got.ev.table_name || strcmp(got.ev.table_name, "tsc")))
		why = "it counts an event of the CPU's; recorded calls count the thread's, by virtual.elapsed(\"EVENT\")";
	else if (part->prefixed && got.ev.table_name)
		buf_printf(&r->counts, " call_count_%s()", got.ev.table_name);
	else if (part->prefixed)
		buf_printf(&r->counts, " __sw_native_call_count(%d)",
			   got.native);
	event_free(&got.ev);
	return why;
}

static const char *put_all(struct lowering *l, const struct probe *probe,
			   struct record *r)
{
	const char *why = NULL;
	size_t k, i;

	for (k = 0; k < probe->nr_points && !why; k++) {
		const struct point *p = &probe->points[k];

		why = put_function(l, p, r);
		for (i = 0; i < p->nr_parts && !why; i++)
			if (p->parts[i].kind == PART_ELAPSED)
				why = put_count(l, &p->parts[i], r);
	}
	return why;
}

/* Where there are none, histogram() is not ours, or handlers.c says so. */
static bool is_of_readings(const struct probe *probe)
{
	size_t k;

	for (k = 0; k < probe->nr_points; k++)
		if (!point_readings(&probe->points[k]))
			return false;
	return probe->nr_points;
}

/* histogram(), alone */
static const char *check_body(const struct lowering *l,
			      const struct probe *probe)
{
	size_t i = probe->body, end = probe->body_end;

	/* it is counted in */
	if (end > i && is(l, end - 1, "}"))
		end--;
	if (end > i && is(l, end - 1, ";"))
		end--;
	if (end != i + 3 || !is(l, i, "histogram") || !is(l, i + 2, ")"))
		return "the handler has more than histogram()";
	if (is_made(l, i, end))
		return "the handler comes out of a macro or an argument";
	if (edit_room(l, &l->s.t, i, i + 3) < strlen("histogram()"))
		return "histogram() is not on one line";
	return NULL;
}

/* Each point with what is recorded for it, which has a line for each reading. */
static void explain(struct lowering *l, const struct probe *probe,
		    const struct record *r)
{
	const char *line = r->explain.s ?: "";
	size_t k, n, len;

	for (k = 0; k < probe->nr_points; k++) {
		explain_point(l, &probe->points[k]);
		for (n = point_readings(&probe->points[k]); n--; line += len) {
			len = strcspn(line, "\n") + 1;
			buf_add(&l->explain, line, len);
		}
	}
}

/* In the place of the points and of histogram(), which is as long. */
static void replace(struct lowering *l, size_t number, const struct record *r)
{
	const struct probe *probe = &l->s.probes[number];
	const size_t begin = probe->points[0].begin;
	char name[16], call[24];

	/* its digits are as many as the word has room for */
	snprintf(name, sizeof(name), "__sw%sr%zu",
		 (char[]){ l->letter, '\0' }, number);
	snprintf(call, sizeof(call), "%s()", name);
	explain(l, probe, r);
	edit_blank(l, &l->s.t, begin, probe->body - 1);
	edit_put(l, l->s.t.tok[begin].at, "begin");
	edit_blank(l, &l->s.t, probe->body, probe->body + 3);
	edit_put(l, l->s.t.tok[probe->body].at, call);
	buf_printf(&l->tail, "function %s() {%s call_histogram(\"%s\") }", name,
		   r->counts.s ?: "", r->functions.s);
	edit_tail_line(l);
}

bool record_lower(struct lowering *l, size_t number)
{
	const struct probe *probe = &l->s.probes[number];
	const unsigned int errors = l->errors;
	struct record r = { 0 };
	const char *why;

	if (probe->nr_names || !is_of_readings(probe) ||
	    !readings_asked(l, probe))
		return false;
	why = check_body(l, probe) ?: put_all(l, probe, &r);
	if (!why && number > 999)
		why = "the script has 1000 probes before it";
	if (!why) {
		replace(l, number, &r);
		l->counted[number].recorded = true;
	} else if (l->errors == errors) {
		const struct token *t = &l->s.t.tok[probe->points[0].begin];

		buf_printf(&l->explain, "%s:%u:%u: histogram() is in a handler here: %s\n",
			   l->name, t->line, t->column, why);
	}
	free(r.functions.s);
	free(r.counts.s);
	free(r.explain.s);
	return !why || l->errors > errors;
}
