/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in handlers: $pmu[N], $timestamp, $current and $thread. */
#include "lower/lowering.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Of how many readings histogram() is; the tapset has a macro for each. */
#define HISTOGRAM_MAX 8

/* What is replaced stands in the text, be it in a macro's body. */
static bool raw_is(const struct lowering *l, size_t i, const char *s)
{
	return token_is(&l->s.raw, i, s);
}

/* Is what begins in token I and ends before AFTER set, in whatever way? */
static bool assigned(const struct tokens *t, size_t i, size_t after)
{
	static const char *const ops[] = {
		"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=",
		"|=", ".=", "<<<", "++", "--",
	};
	size_t k;

	for (k = 0; k < sizeof(ops) / sizeof(*ops); k++)
		if (token_is(t, after, ops[k]))
			return true;
	return i && (token_is(t, i - 1, "++") || token_is(t, i - 1, "--") ||
		     token_is(t, i - 1, "delete"));
}

/* The N of $pmu[N]; -1 after an error. */
static long pmu_number(struct lowering *l, const struct tokens *t, size_t i)
{
	const struct token *n = &t->tok[i + 2];
	unsigned long number = 0;
	size_t k;

	if (i + 3 >= t->nr || n->type != TOK_NUMBER ||
	    !token_is(t, i + 3, "]") || n->len > 4) {
		lower_fail_at(l, &t->tok[i], "$pmu[N] takes a number: the startwatch components of the probe point count from 0");
		return -1;
	}
	for (k = 0; k < n->len; k++)
		number = isdigit((unsigned char)n->s[k]) && number < 10000
				? 10 * number + n->s[k] - '0' : 10000;
	return number;
}

/* The point as it would have a reading: kernel.startwatch("EVENT").function("f"). */
static void put_example(const struct lowering *l, const struct point *p,
			struct buf *b)
{
	const struct part *first = &p->parts[0];

	edit_copy(l, first->begin, first->end, b);
	buf_puts(b, ".startwatch(\"EVENT\")");
	if (p->nr_parts == 1)
		return;
	buf_puts(b, ".");
	edit_copy(l, p->parts[1].begin, p->end, b);
}

/* What $pmu[N] is where no reading is, of a point that has none for sure. */
static void fail_without(struct lowering *l, const struct token *pmu,
			 const struct token *n, const struct point *p)
{
	const struct part *dotted = calls_dotted(l, p);
	const char *word = points_without_counts(l, p);
	struct buf b = { 0 };

	if (word) {
		lower_fail_at(l, pmu, "$pmu[%.*s]: " POINTS_WITHOUT_COUNTS,
			      (int)n->len, n->s, word);
	} else if (dotted) {
		edit_copy(l, dotted[1].begin, dotted[1].end, &b);
		lower_fail_at(l, pmu, "$pmu[%.*s]: this probe point has its reading in %s; $pmu[N] are those of %.*s(\"%s\")",
			      (int)n->len, n->s, b.s ?: "",
			      (int)tok_len(l, dotted->begin),
			      tok_text(l, dotted->begin), b.s ?: "");
	} else {
		put_example(l, p, &b);
		lower_fail_at(l, pmu, "$pmu[%.*s]: this probe point counts nothing; write %s",
			      (int)n->len, n->s, b.s ?: "");
	}
	free(b.s);
}

/* Some probe point, or the function @probe is not there for, has no reading. */
static void fail_unread(struct lowering *l, const struct token *pmu,
			const struct token *n, const struct probe *probe)
{
	size_t k;

	for (k = 0; probe && k < probe->nr_points; k++) {
		struct range at = aliases_readings(l, &probe->points[k]);

		if (!at.max) {
			fail_without(l, pmu, n, &probe->points[k]);
			return;
		}
	}
	if (probe)
		lower_fail_at(l, pmu, "$pmu[%.*s]: not every probe point here has a startwatch; put .startwatch(\"EVENT\") there",
			      (int)n->len, n->s);
	else
		lower_fail_at(l, pmu, "$pmu[%.*s]: a function has no readings; give it this one as an argument",
			      (int)n->len, n->s);
}

/* Is there such a reading at all the probe points of a handler? */
static bool check_pmu(struct lowering *l, const struct tokens *t, size_t i,
		      const struct probe *probe, struct range have)
{
	const struct token *n = &t->tok[i + 2];
	long number = pmu_number(l, t, i);

	if (number < 0)
		return false;
	if (number < have.min)
		return true;
	if (have.mixed && number < have.max)
		lower_fail_at(l, &t->tok[i], "$pmu[%.*s]: the probe points of the alias have not all as many readings, so this number is not the same one for each; give them as many, or write the event's name in place of $pmu[%.*s]",
			      (int)n->len, n->s, (int)n->len, n->s);
	else if (!have.min)
		fail_unread(l, &t->tok[i], n, probe);
	else
		lower_fail_at(l, &t->tok[i], "$pmu[%.*s]: %s has %u startwatch component%s, so $pmu[%u] is the last",
			      (int)n->len, n->s,
			      have.max > have.min ? "a probe point here"
						  : "this probe point",
			      have.min, have.min == 1 ? "" : "s", have.min - 1);
	return false;
}

/* $pmu[N] becomes the variable of the same length. */
static void lower_pmu(struct lowering *l, size_t i, const struct probe *probe,
		      struct range have)
{
	const struct tokens *t = &l->s.raw;
	char name[32];
	long n;

	if (!check_pmu(l, t, i, probe, have))
		return;
	n = pmu_number(l, t, i);
	if (assigned(t, i, i + 4)) {
		lower_fail_at(l, &t->tok[i], "$pmu[%ld] is a reading, which cannot be set; use a variable of your own",
			      n);
		return;
	}
	snprintf(name, sizeof(name), "__sw_p%ld", n);
	if (edit_room(l, t, i, i + 4) < strlen(name)) {
		lower_fail_at(l, &t->tok[i], "write $pmu[%ld] without spaces", n);
		return;
	}
	edit_blank(l, t, i, i + 4);
	edit_put(l, t->tok[i].at, name);
}

/* $timestamp, unless the probed function has a variable of that name. */
static void lower_timestamp(struct lowering *l, size_t i, bool in_probe)
{
	edit_blank(l, &l->s.raw, i, i + 1);
	edit_put(l, l->s.raw.tok[i].at, in_probe ? "@__sw_ts" : "@__sw_now");
}

/* $current->a->b: a macro about the members. */
static void lower_current(struct lowering *l, size_t i, bool in_probe)
{
	const struct token *t = l->s.raw.tok;
	size_t end = i + 1;

	while (raw_is(l, end, "->") && token_is_name(&l->s.raw, end + 1))
		end += 2;
	/* the macro needs the length of `$current->', one more at the end */
	if (end == i + 1 || assigned(&l->s.raw, i, end) ||
	    t[i + 1].at != t[i].at + t[i].len ||
	    t[i + 2].at != t[i + 1].at + t[i + 1].len)
		return;
	memmove(l->text + t[i + 2].at - 1, l->text + t[i + 2].at,
		t[end - 1].at + t[end - 1].len - t[i + 2].at);
	edit_put(l, t[i].at, in_probe ? "@__sw_c( " : "@__sw_k( ");
	l->text[t[end - 1].at + t[end - 1].len - 1] = ')';
}

static bool is_thread_variable(const struct tokens *t, size_t i)
{
	return token_is(t, i, "$thread") && token_is(t, i + 1, "->") &&
	       token_is_name(t, i + 2);
}

static bool known_thread_name(const struct lowering *l, const struct token *t)
{
	size_t k;

	for (k = 0; k < l->thread_names.nr; k++)
		if (token_same_word(&l->thread_names.tok[k], t))
			return true;
	return false;
}

/* $thread->NAME is ours if NAME is set somewhere, by a macro too; else it is a
 * target variable of the function that is probed. */
static void find_thread_names(struct lowering *l, const struct tokens *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (is_thread_variable(t, i) && !t->tok[i].dead &&
		    assigned(t, i, i + 3) &&
		    !known_thread_name(l, &t->tok[i + 2]))
			tokens_add(&l->thread_names, &t->tok[i + 2]);
}

/* Is it one of the thread's names after the two characters PREFIX? */
static bool is_taken(const struct lowering *l, const struct token *t,
		     const char *prefix)
{
	struct token name = *t;

	if (t->len < 3 || memcmp(t->s, prefix, 2))
		return false;
	name.s += 2;
	name.len -= 2;
	return known_thread_name(l, &name);
}

/* Two characters that make none of the names one that the script has. */
static void thread_prefix(const struct lowering *l, char prefix[3])
{
	size_t i;
	char c;

	for (c = 'T'; ; c = c == 'Z' ? 'A' : c + 1) {
		bool taken = false;

		prefix[0] = '_';
		prefix[1] = c;
		prefix[2] = '\0';
		for (i = 0; i < l->s.raw.nr && !taken; i++)
			taken = is_taken(l, &l->s.raw.tok[i], prefix);
		/* each letter in turn, and then what comes: stap will say so */
		if (!taken || c == 'S')
			return;
	}
}

/* $thread->NAME becomes _TNAME[@__sw], which is as long. */
static void lower_thread(struct lowering *l, size_t i, const char *prefix)
{
	const struct token *t = &l->s.raw.tok[i];
	size_t len = t[2].len;
	char *to = l->text + t->at;

	if (t[1].at != t[0].at + t[0].len || t[2].at != t[1].at + t[1].len) {
		lower_fail_at(l, t, "write $thread->%.*s without spaces",
			      (int)len, t[2].s);
		return;
	}
	memcpy(to, prefix, 2);
	memcpy(to + 2, t[2].s, len);
	memcpy(to + 2 + len, "[@__sw]", 7);
}

static void declare_thread_names(struct lowering *l, const char *prefix)
{
	const struct token *name = l->thread_names.tok;
	size_t nr = l->thread_names.nr, k;

	if (!nr)
		return;
	buf_puts(&l->tail, "global");
	for (k = 0; k < nr; k++)
		buf_printf(&l->tail, "%s %s%.*s", k ? "," : "", prefix,
			   (int)name[k].len, name[k].s);
	edit_tail_line(l);
	buf_puts(&l->tail, "probe __sw_thread_gone {");
	for (k = 0; k < nr; k++)
		buf_printf(&l->tail, " delete %s%.*s[__sw_gone, __sw_gone_birth]",
			   prefix, (int)name[k].len, name[k].s);
	buf_puts(&l->tail, " }");
	edit_tail_line(l);
	for (k = 0; k < nr; k++)
		buf_printf(&l->explain, "%s: $thread->%.*s: one for each thread, until it exits\n",
			   l->name, (int)name[k].len, name[k].s);
}

/* After the body of the macro that @define in token I defines. */
static size_t macro_end(const struct lowering *l, size_t i)
{
	unsigned long depth = 0;

	while (i < l->s.raw.nr && !raw_is(l, i, "%("))
		i++;
	for (; i < l->s.raw.nr; i++) {
		if (raw_is(l, i, "%("))
			depth++;
		else if (raw_is(l, i, "%)") && !--depth)
			break;
	}
	return i;
}

/* What $pmu[N] can be in a handler: of all its probe points. */
static struct range readings_at(const struct lowering *l,
				const struct probe *probe)
{
	struct range have = { .min = UINT32_MAX };
	size_t k;

	for (k = 0; k < probe->nr_points; k++) {
		struct range n = aliases_readings(l, &probe->points[k]);

		if (n.min < have.min)
			have.min = n.min;
		if (n.max > have.max)
			have.max = n.max;
		have.mixed |= n.mixed;
	}
	return have;
}

/* Where a probe's handler is in the text. */
static bool stands_after(const struct lowering *l, const struct probe *probe,
			 size_t at)
{
	const struct token *last = &l->s.t.tok[probe->body_end - 1];

	return at >= last->at + last->span;
}

static bool is_inside(const struct lowering *l, const struct probe *probe,
		      size_t at)
{
	return probe->body < probe->body_end &&
	       at >= l->s.t.tok[probe->body - 1].at;
}

/* Whether all that the handler's histogram() is of are calls, of the probe's own. */
static bool has_only_calls(const struct probe *probe, struct range have)
{
	size_t k, i;

	if (have.mixed || have.min != have.max || !have.min ||
	    have.max > HISTOGRAM_MAX)
		return false;
	for (k = 0; k < probe->nr_points; k++) {
		const struct point *p = &probe->points[k];

		if (point_readings(p) != have.max)
			return false;
		for (i = 0; i < p->nr_parts; i++)
			if (p->parts[i].kind == PART_STARTWATCH)
				return false;
	}
	return true;
}

/* histogram() becomes the macro that adds as many readings to their histograms. */
static void lower_histogram(struct lowering *l, size_t i,
			    const struct probe *probe, struct range have)
{
	const struct tokens *t = &l->s.raw;
	char name[16];

	if (!has_only_calls(probe, have)) {
		lower_fail_at(l, &t->tok[i], "histogram() is of calls: each probe point here wants as many elapsed(\"EVENT\"), from 1 to %d, and no other reading",
			      HISTOGRAM_MAX);
		return;
	}
	if (!raw_is(l, i + 2, ")")) {
		lower_fail_at(l, &t->tok[i], "histogram() takes no argument: it is of the probe point's readings");
		return;
	}
	snprintf(name, sizeof(name), "@__sw_h%u", have.max);
	edit_blank(l, t, i, i + 3);
	edit_put(l, t->tok[i].at, name);
}

/* A made token has no place of its own where it could be replaced. */
static bool refuse_made(struct lowering *l, size_t i)
{
	const struct tokens *t = &l->s.raw;
	const struct token *member = &t->tok[i + 2];

	if (t->tok[i].made) {
		if (raw_is(l, i, "$pmu") && !raw_is(l, i + 1, "["))
			return false;
		lower_fail_at(l, &t->tok[i], "%.*s does not work in an argument; write it in the script",
			      (int)t->tok[i].len, t->tok[i].s);
		return true;
	}
	if ((raw_is(l, i, "$thread") || raw_is(l, i, "$current")) &&
	    raw_is(l, i + 1, "->") && i + 2 < t->nr &&
	    (member->made || *member->s == '@')) {
		lower_fail_at(l, &t->tok[i], "%.*s->NAME takes a name as it is, not out of a macro or an argument",
			      (int)t->tok[i].len, t->tok[i].s);
		return true;
	}
	return false;
}

/* Is it $pmu[N], and nothing that only a variable of the probed function's has? */
static bool is_reading(const struct tokens *t, size_t i)
{
	static const char *const follows[] = { "->", "[", "$", "$$" };
	size_t k;

	for (k = 0; k < sizeof(follows) / sizeof(*follows); k++)
		if (token_is(t, i + 4, follows[k]))
			return false;
	return token_is(t, i, "$pmu") && token_is(t, i + 1, "[") &&
	       i + 3 < t->nr && t->tok[i + 2].type == TOK_NUMBER &&
	       token_is(t, i + 3, "]") && !(i && token_is(t, i - 1, "&"));
}

static bool is_ours(const struct lowering *l, size_t i, bool any_readings)
{
	return raw_is(l, i, "$thread") || raw_is(l, i, "$current") ||
	       raw_is(l, i, "$timestamp") ||
	       (raw_is(l, i, "histogram") && raw_is(l, i + 1, "(")) ||
	       (raw_is(l, i, "$pmu") &&
		(any_readings || is_reading(&l->s.raw, i)));
}

static bool is_targetless(const struct lowering *l, const struct point *p)
{
	return points_without_counts(l, p) || begins_with(l, p, "timer");
}

/* Can a handler have no variable of what is probed?  A function has none either. */
static bool has_no_target(const struct lowering *l, const struct probe *probe)
{
	size_t k;

	for (k = 0; probe && k < probe->nr_points; k++)
		if (!is_targetless(l, &probe->points[k]))
			return false;
	return true;
}

/*
 * In a script without readings: can $pmu[N] be nothing but a reading that is missing?
 * A function that is probed may have an array of that name.
 */
static bool misses_reading(const struct lowering *l, const struct probe *probe)
{
	size_t k;

	for (k = 0; probe && k < probe->nr_points; k++)
		if (!is_targetless(l, &probe->points[k]) &&
		    !calls_dotted(l, &probe->points[k]))
			return false;
	return true;
}

/* What is written as ours, is not, and cannot be the probed function's. */
static void refuse_unset(struct lowering *l, size_t i)
{
	const struct tokens *t = &l->s.raw;
	const struct token *tok = &t->tok[i];

	if (is_thread_variable(t, i)) {
		if (!known_thread_name(l, &tok[2]))
			lower_fail_at(l, tok, "$thread->%.*s is set nowhere; set it in a handler, as in $thread->%.*s = 1",
				      (int)tok[2].len, tok[2].s,
				      (int)tok[2].len, tok[2].s);
	} else if (raw_is(l, i, "$thread")) {
		lower_fail_at(l, tok, "$thread wants a name: $thread->NAME");
	} else if (raw_is(l, i, "$timestamp")) {
		if (assigned(t, i, i + 1))
			lower_fail_at(l, tok, "$timestamp is the time, which cannot be set; use a variable of your own");
	} else if (raw_is(l, i, "$current") && !raw_is(l, i + 1, "->")) {
		lower_fail_at(l, tok, "$current wants a member, as in $current->pid");
	}
}

static void lower_word(struct lowering *l, size_t i, const char *prefix,
		       bool in_probe, const struct probe *probe,
		       struct range have)
{
	if (is_thread_variable(&l->s.raw, i)) {
		if (known_thread_name(l, &l->s.raw.tok[i + 2]))
			lower_thread(l, i, prefix);
	} else if (raw_is(l, i, "$timestamp")) {
		if (!raw_is(l, i + 1, "->") && !raw_is(l, i + 1, "[") &&
		    !assigned(&l->s.raw, i, i + 1))
			lower_timestamp(l, i, in_probe);
	} else if (raw_is(l, i, "$current")) {
		lower_current(l, i, in_probe);
	} else if (raw_is(l, i, "$pmu") && raw_is(l, i + 1, "[")) {
		lower_pmu(l, i, probe, have);
	}
}

/* Of macros that a handler uses: their $pmu[N] are this handler's.  What is given
 * to a macro stands in the handler itself. */
static void check_macros(struct lowering *l, const struct probe *probe,
			 bool any_readings, bool sure)
{
	const struct range have = readings_at(l, probe);
	const struct tokens *t = &l->s.t;
	size_t i;

	if (!any_readings && !(sure && misses_reading(l, probe)))
		return;
	for (i = probe->body; i < probe->body_end; i++) {
		const struct token *tok = &t->tok[i];
		const char *use = l->user + tok->at;

		if (tok->made && token_is(t, i, "$pmu") &&
		    token_is(t, i + 1, "[") &&
		    (any_readings || is_reading(t, i)) &&
		    !(tok->s >= use && tok->s < use + tok->span))
			check_pmu(l, t, i, probe, have);
	}
}

void handlers_lower(struct lowering *l, bool any_readings, bool sure)
{
	/* a macro's body is in whatever probe uses it */
	const struct range unknown = { .min = UINT32_MAX };
	const struct tokens *raw = &l->s.raw;
	struct range have = { 0 };
	size_t i, b = 0, of = SIZE_MAX, macro = 0;
	char prefix[3] = "";

	find_thread_names(l, raw);
	find_thread_names(l, &l->s.t);
	if (l->thread_names.nr)
		thread_prefix(l, prefix);
	for (i = 0; i < raw->nr; i++) {
		size_t at = raw->tok[i].at;
		const struct probe *probe;
		bool in_probe;

		if (raw->tok[i].dead)
			continue;
		if (raw_is(l, i, "@define"))
			macro = macro_end(l, i);
		if (!is_ours(l, i, any_readings))
			continue;
		while (b < l->s.nr_probes &&
		       stands_after(l, &l->s.probes[b], at))
			b++;
		in_probe = b < l->s.nr_probes &&
			   is_inside(l, &l->s.probes[b], at);
		if (in_probe && b != of) {
			have = readings_at(l, &l->s.probes[b]);
			of = b;
		}
		probe = in_probe ? &l->s.probes[b] : NULL;
		if (!any_readings && raw_is(l, i, "$pmu") &&
		    (i < macro || !sure || !misses_reading(l, probe)))
			continue;
		if (refuse_made(l, i))
			continue;
		if (raw_is(l, i, "histogram")) {
			if (in_probe && have.max && !l->counted[b].recorded &&
			    !l->s.probes[b].nr_names &&
			    readings_asked(l, &l->s.probes[b]))
				lower_histogram(l, i, &l->s.probes[b], have);
			continue;
		}
		if (sure && i >= macro && has_no_target(l, probe))
			refuse_unset(l, i);
		lower_word(l, i, prefix, in_probe || i < macro, probe,
			   i < macro ? unknown :
			   in_probe ? have : (struct range) { 0 });
	}
	for (b = 0; b < l->s.nr_probes; b++)
		check_macros(l, &l->s.probes[b], any_readings, sure);
	declare_thread_names(l, prefix);
}
