/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One script, or one probe point, from end to end; lower.h says what of it. */
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "lower/lowering.h"

static bool has_word(const struct tokens *t, const char *word)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (token_is(t, i, word))
			return true;
	return false;
}

static bool any_of_ours(const struct lowering *l, bool *readings)
{
	bool any = false;
	size_t i, k;

	*readings = false;
	for (i = 0; i < l->s.nr_probes; i++) {
		for (k = 0; k < l->s.probes[i].nr_points; k++) {
			const struct point *p = &l->s.probes[i].points[k];

			any |= p->ours || p->in_group;
			*readings |= point_readings(p) > 0;
		}
	}
	/* a word of ours may also stand where it cannot */
	for (i = 0; i < l->s.raw.nr && !any; i++)
		any = token_is(&l->s.raw, i, "$pmu") ||
		      token_is(&l->s.raw, i, "startwatch") ||
		      token_is(&l->s.raw, i, "elapsed") ||
		      token_is(&l->s.raw, i, "$timestamp") ||
		      token_is(&l->s.raw, i, "$thread") ||
		      token_is(&l->s.raw, i, "$current");
	return any;
}

/* What goes after such a text would be lost in it. */
static bool is_open(struct lowering *l, const char *text, size_t len)
{
	size_t at = strnlen(text, len), i;
	struct token nul = { .line = 1, .column = 1 };

	if (l->s.raw.open.span) {
		lower_fail_at(l, &l->s.raw.open, "this comment has no end; close it by */");
		return true;
	}
	if (at == len)
		return false;
	for (i = 0; i < at; i++) {
		nul.column++;
		if (text[i] == '\n') {
			nul.line++;
			nul.column = 1;
		}
	}
	lower_fail_at(l, &nul, "a NUL byte ends the script for stap; delete it");
	return true;
}

/*
 * A macro, a conditional or C that has no end: stap refuses it, whatever else it is,
 * and says so best of the text as it is.
 */
static bool is_unfinished(const struct lowering *l)
{
	const struct token *last = l->s.raw.tok + l->s.raw.nr - 1;

	return l->s.t.broken ||
	       (l->s.raw.nr && last->type == TOK_EMBEDDED &&
		(last->len < 4 || memcmp(last->s + last->len - 2, "%}", 2)));
}

/* Of an alias nobody knows how those who use it go on. */
static void check_calls(struct lowering *l, const struct probe *probe)
{
	size_t k;

	for (k = 0; !probe->nr_names && k < probe->nr_points; k++)
		calls_check(l, &probe->points[k],
			    aliases_readings(l, &probe->points[k]).elapsed);
}

static void finish(struct lowering *l, size_t len, struct lowered *out)
{
	bool newline = len && l->text[len - 1] != '\n' && l->tail.len;
	unsigned int lines = l->s.raw.lines;
	struct buf text = { 0 };
	size_t k;

	buf_add(&text, l->text, len);
	if (newline)
		buf_puts(&text, "\n");
	buf_add(&text, l->tail.s ?: "", l->tail.len);
	*out = (struct lowered) {
		.len = text.len,
		.user_lines = lines,
		.aliases = l->aliases,
		.nr_aliases = l->nr_aliases,
		.nr_natives = l->nr_natives,
	};
	out->text = buf_take(&text);
	out->changed = out->len != len ||
		       (len && memcmp(out->text, l->user, len));
	out->explain = buf_take(&l->explain);
	for (k = 0; k < out->nr_aliases; k++)
		out->aliases[k].line += lines + 1;
}

static void free_aliases(struct lowered_alias *aliases, size_t nr)
{
	size_t k;

	for (k = 0; k < nr; k++) {
		free(aliases[k].name);
		free(aliases[k].first);
	}
	free(aliases);
}

static void free_natives(struct lowering *l)
{
	unsigned int n;

	for (n = 0; n < l->nr_natives; n++)
		free((char *)l->natives[n].of_set);
	free(l->natives);
}

int lower_script(const char *name, const char *text, size_t len,
		 const struct lower_options *opt, struct lowered *out,
		 FILE *err)
{
	struct lowering l = {
		.name = name, .opt = opt, .err = err, .user = text,
		.letter = opt->index ? 'a' + (opt->index - 1) % 26 : '\0',
	};
	bool readings, undecided, guarded;
	size_t i, k;

	parse(text, len, &opt->args, opt->facts, &l.s);
	/* stap decides then what of the script there is */
	undecided = has_word(&l.s.t, "%(");
	/* the script may ask for a variable before it uses it */
	guarded = has_word(&l.s.raw, "@defined") ||
		  has_word(&l.s.raw, "@choose_defined");
	l.counted = xmalloc(l.s.nr_probes * sizeof(*l.counted));
	for (i = 0; i < l.s.nr_probes; i++)
		l.counted[i] = (struct counted) { 0 };
	l.text = xmalloc(len + 1);
	if (len)
		memcpy(l.text, text, len);
	if ((any_of_ours(&l, &readings) || sets_asked(&l)) &&
	    !is_unfinished(&l) &&
	    !is_open(&l, text, len)) {
		globals_collect(&l.s.t, false, &l.globals);
		for (i = 0; i < l.s.nr_probes; i++) {
			const unsigned int before = l.errors;

			if (record_lower(&l, i))
				continue;
			for (k = 0; k < l.s.probes[i].nr_points; k++) {
				const struct probe *probe = &l.s.probes[i];

				if (probe->points[k].ours ||
				    probe->points[k].in_group)
					points_lower(&l, probe,
						     &probe->points[k]);
			}
			if (l.errors == before && !undecided)
				check_calls(&l, &l.s.probes[i]);
		}
		sets_lower(&l);
		handlers_lower(&l, readings, !undecided && !guarded);
	}
	if (l.errors > LOWER_MAX_ERRORS)
		shown_line(err, "%s: %u more errors", name,
			   l.errors - LOWER_MAX_ERRORS);
	if (!l.errors) {
		finish(&l, len, out);
	} else {
		free_aliases(l.aliases, l.nr_aliases);
		free(l.explain.s);
	}
	free(l.text);
	free(l.counted);
	lower_globals_free(&l.globals);
	free(l.tail.s);
	free_natives(&l);
	tokens_free(&l.thread_names);
	outline_free(&l.s);
	return l.errors ? -1 : 0;
}

void lowered_free(struct lowered *out)
{
	free(out->text);
	free(out->explain);
	free_aliases(out->aliases, out->nr_aliases);
	*out = (struct lowered) { 0 };
}

/* What stap lists for a point of ours. */
static void put_listed(struct lowering *l, const struct point *p, struct buf *b)
{
	bool kernel = begins_with(l, p, "kernel"), begun = false;
	size_t k;

	if (!points_check(l, p))
		return;
	if (point_has(p, PART_RUNQSLOWER)) {
		buf_puts(b, "ppa.runqslower");
		return;
	}
	if (point_has(p, PART_PROFILE) || point_has(p, PART_TIME)) {
		sampling_put(l, p, b);
		return;
	}
	for (k = 0; k < p->nr_parts; k++) {
		const struct part *part = &p->parts[k];
		struct reading r;

		if (part->kind == PART_OTHER) {
			buf_puts(b, begun ? "." : "");
			begun = true;
			edit_copy(l, part->begin, part->end, b);
			continue;
		}
		if (reading_of(l, part, &r))
			return;
		if (kernel && r.ev.table_name)
			buf_printf(b, ".%s%s.%s",
				   part->prefixed ? "virtual." : "",
				   part->kind == PART_ELAPSED
					? "elapsed" : "startwatch",
				   r.ev.table_name);
		event_free(&r.ev);
	}
}

char *lower_point(const char *point, const struct lower_options *opt, FILE *err)
{
	struct lowering l = {
		.name = "<probe point>", .opt = opt, .err = err, .user = point,
	};
	struct buf b = { 0 };
	size_t i, k, to = 0;

	parse_points(point, strlen(point), &opt->args, opt->facts, &l.s);
	for (i = 0; i < l.s.nr_probes; i++) {
		for (k = 0; k < l.s.probes[i].nr_points; k++) {
			const struct point *p = &l.s.probes[i].points[k];
			const struct token *t = l.s.t.tok;

			if (!p->ours && !p->in_group)
				continue;
			/* what a macro makes stands in one place */
			if (t[p->begin].at > to)
				buf_add(&b, point + to, t[p->begin].at - to);
			put_listed(&l, p, &b);
			to = t[p->end - 1].at + t[p->end - 1].span;
		}
	}
	buf_puts(&b, point + to);
	free(l.tail.s);
	free(l.explain.s);
	free_natives(&l);
	outline_free(&l.s);
	if (!l.errors)
		return buf_take(&b);
	free(b.s);
	return NULL;
}
