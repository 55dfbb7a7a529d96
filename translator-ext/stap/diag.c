/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stap says of a lowered script, said of the user's own.
 *
 * A message is a line with a place in it, "... at FILE:LINE:COLUMN".  FILE is
 * left out where it is that of the message before.  A line "source: ..." and one
 * with a caret follow.  Places and tokens may be in colours.
 */
#include "stap/diag.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "stap/ended.h"
#include "stap/headers.h"
#include "stap/span.h"
#include "stap/uncounted.h"

/* A line that is longer goes on as it comes. */
#define LINE_LIMIT 65536
#define SOURCE "source: "
#define ELLIPSIS " ... "

/* Where a message is, in stap's terms and in the user's. */
struct place {
	const struct diag_file *file;
	unsigned int line;
	unsigned int column;
	const struct lowered_alias *alias;	/* in whose definition it is */
	unsigned int user_line;
	unsigned int user_column;
};

enum expect {
	EXPECT_ANY,
	EXPECT_SOURCE,
	EXPECT_CARET,
	EXPECT_NO_SOURCE,	/* nor a caret */
};

struct diag {
	const struct diag_file *files;
	size_t nr;
	bool names_only;
	bool explains_pmu;
	const char *output;	/* what begins our line if that is not written, or NULL */
	struct buf line;	/* that has no end yet */
	bool inside;		/* the line's beginning has been flushed */
	enum expect expect;
	struct place place;	/* of the message that the source belongs to */
	const struct diag_file *last;	/* the file of the message before */
	size_t align;		/* what stands before "source: " */
	bool shifted;		/* the source has an ellipsis before that */
	struct ended ended;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Line number @nr, from 1, without its end. */
static struct span line_of(const char *text, size_t len, unsigned int nr)
{
	struct span t = { text, len };
	const char *end;

	for (;;) {
		end = t.len ? memchr(t.s, '\n', t.len) : NULL;
		if (nr-- <= 1)
			return first(t, end ? (size_t)(end - t.s) : t.len);
		if (!end)
			return rest(t, t.len);
		t = rest(t, end - t.s + 1);
	}
}

static struct span user_line(const struct place *p)
{
	return line_of(p->file->text, p->file->len, p->user_line);
}

static struct span lowered_line(const struct place *p)
{
	return line_of(p->file->lowered->text, p->file->lowered->len, p->line);
}

/* The alias that a line after the user's last one defines. */
static const struct lowered_alias *alias_at(const struct lowered *low,
					    unsigned int line)
{
	if (line <= low->user_lines)
		return NULL;
	for (size_t i = 0; i < low->nr_aliases; i++)
		if (low->aliases[i].line == line)
			return &low->aliases[i];
	return NULL;
}

/* Line and column in the user's text; the beginning of the probe point for
 * what the user has not written.
 */
static void map_place(struct place *p)
{
	struct span ours, users;
	size_t offset, i;

	p->alias = alias_at(p->file->lowered, p->line);
	p->user_line = p->line;
	p->user_column = p->column;
	if (!p->alias)
		return;
	p->user_line = p->alias->user_line;
	p->user_column = p->alias->user_column;
	if (p->column < p->alias->column)
		return;
	offset = p->column - p->alias->column;
	ours = rest(lowered_line(p), p->alias->column - 1);
	users = rest(user_line(p), p->user_column - 1);
	for (i = 0; i <= offset; i++)
		if (i >= ours.len || i >= users.len || ours.s[i] != users.s[i])
			return;
	p->user_column += offset;
}

/* ":LINE:COLUMN"; returns its length, or 0 */
static size_t scan_place(struct span t, struct place *p)
{
	unsigned int *number[] = { &p->line, &p->column };
	size_t i = 0, digits;

	for (int n = 0; n < 2; n++) {
		if (i >= t.len || t.s[i++] != ':')
			return 0;
		*number[n] = 0;
		for (digits = 0; digits < 9 && i < t.len &&
				 isdigit((unsigned char)t.s[i]);
		     digits++)
			*number[n] = *number[n] * 10 + (t.s[i++] - '0');
		if (!digits || !*number[n])
			return 0;
	}
	return i;
}

/* Is it the name that stap knows the file by? */
static bool is_file(struct span t, const struct diag_file *f)
{
	size_t len = strlen(f->stap_name);

	if (t.len < len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (f->random && i >= f->random && i < f->random + 6) {
			if (!isalnum((unsigned char)t.s[i]))
				return false;
		} else if (t.s[i] != f->stap_name[i]) {
			return false;
		}
	}
	return true;
}

static const struct diag_file *find_file(const struct diag *d, struct span t)
{
	for (size_t i = 0; i < d->nr; i++)
		if (is_file(t, &d->files[i]))
			return &d->files[i];
	return NULL;
}

/* The user's words for a name of the lowering's; returns its length, or 0 */
static size_t put_word(const struct diag *d, struct span t, struct buf *out)
{
	size_t len = 0, i, k;

	if (!starts(t, "__sw"))
		return 0;
	while (len < t.len && is_word(t.s[len]))
		len++;
	for (i = 0; i < d->nr; i++) {
		const struct lowered *low = d->files[i].lowered;

		for (k = 0; k < low->nr_aliases; k++) {
			const char *name = low->aliases[k].name;

			if (!same(first(t, len),
				  (struct span) { name, strlen(name) }))
				continue;
			buf_puts(out, low->aliases[k].first);
			return len;
		}
	}
	if (!starts(t, "__sw_p") || len == strlen("__sw_p"))
		return 0;
	for (i = strlen("__sw_p"); i < len; i++)
		if (!isdigit((unsigned char)t.s[i]))
			return 0;
	buf_puts(out, "$pmu[");
	put(out, rest(first(t, len), strlen("__sw_p")));
	buf_puts(out, "]");
	return len;
}

static void put_place(const struct place *p, struct buf *out)
{
	buf_printf(out, ":%u:%u", p->user_line, p->user_column);
}

/* Is this a place in some file that is none of ours?  t begins a word. */
static bool is_foreign(struct span t)
{
	struct place p;

	for (size_t i = 0; i < t.len && !isspace((unsigned char)t.s[i]); i++)
		if (i && t.s[i] == ':' && scan_place(rest(t, i), &p))
			return true;
	return false;
}

/* After "at " and perhaps a colour.  Returns how much of @t was dealt with. */
static size_t put_at(struct diag *d, struct span t, struct place *found,
		     struct buf *out)
{
	struct place p = { 0 };
	size_t len;

	if (!find_file(d, t)) {
		p.file = d->last;
		len = scan_place(t, &p);
		if (len && p.file) {
			map_place(&p);
			put_place(&p, out);
			*found = p;
			return len;
		}
		if (is_foreign(t))
			*found = (struct place) { 0 };
	}
	return 0;
}

/*
 * A line, or a part of one, with the names and places in it turned into the
 * user's.  @found: the last place, unless its file is none of ours.
 */
static void put_line(struct diag *d, struct span t, struct place *found,
		     struct buf *out)
{
	const struct diag_file *f;
	struct place p;
	size_t i = 0, len;

	while (i < t.len) {
		if (!d->names_only && starts(rest(t, i), " at ")) {
			len = 4 + colours(rest(t, i + 4));
			put(out, first(rest(t, i), len));
			i += len;
			i += put_at(d, rest(t, i), found, out);
			continue;
		}
		f = find_file(d, rest(t, i));
		if (f) {
			i += strlen(f->stap_name);
			buf_puts(out, f->name);
			p = (struct place) { .file = f };
			len = scan_place(rest(t, i), &p);
			if (!len || d->names_only)
				continue;
			i += len;
			map_place(&p);
			put_place(&p, out);
			*found = p;
			continue;
		}
		len = 0;
		if (!d->names_only && (!i || !is_word(t.s[i - 1])))
			len = put_word(d, rest(t, i), out);
		if (!len)
			buf_add(out, t.s + i, 1);
		i += len ?: 1;
	}
}

/*
 * "saw: keyword at FILE:LINE:COLUMN", where that is what begins after the user's
 * text: for the user the file ends there.  False if it is no such line.
 */
static bool put_end(struct diag *d, struct span t, struct buf *out)
{
	static const char saw[] = "saw: ", keyword[] = "keyword", at[] = " at ";
	const struct diag_file *f;
	struct place p;
	size_t i = 0, head;

	while (i < t.len && isspace((unsigned char)t.s[i]))
		i++;
	if (!starts(rest(t, i), saw))
		return false;
	i += strlen(saw);
	head = i;
	i += colours(rest(t, i));
	if (!starts(rest(t, i), keyword))
		return false;
	i += strlen(keyword);
	i += colours(rest(t, i));
	if (!starts(rest(t, i), at))
		return false;
	i += strlen(at);
	i += colours(rest(t, i));
	f = find_file(d, rest(t, i));
	if (!f || !scan_place(rest(t, i + strlen(f->stap_name)), &p) ||
	    p.line <= f->lowered->user_lines || p.column != 1)
		return false;
	put(out, first(t, head));
	buf_printf(out, "%s EOF", f->name);
	d->expect = EXPECT_NO_SOURCE;
	return true;
}

/*
 * stap leaves out the file of the message before.  Where tokens of a parse
 * error or a macro's expansion are told of, on lines of their own, indented,
 * the file always stands, and does not count.
 */
static void put_message(struct diag *d, struct span t, struct buf *out)
{
	static const struct diag_file nothing;
	struct place found = { .file = &nothing };

	put_line(d, t, &found, out);
	if (found.file == &nothing)
		return;
	d->place = found;
	if (t.len && !isspace((unsigned char)*t.s))
		d->last = found.file;
	d->expect = found.file ? EXPECT_SOURCE : EXPECT_ANY;
}

/* How much to mark of the user's line for the token that stap marks. */
static size_t marked(struct span users, struct span token)
{
	const char *end;
	size_t i = 0;

	if (users.len >= token.len && same(first(users, token.len), token))
		return token.len;
	if (starts(users, "$pmu")) {
		end = memchr(users.s, ']', users.len);
		return end ? (size_t)(end - users.s) + 1 : strlen("$pmu");
	}
	while (i < users.len && is_word(users.s[i]))
		i++;
	return i ?: 1;
}

/* The user's line, marked as the lowered one is; @shown is what stap shows from
 * the caret's column on.
 */
static void put_marked(struct diag *d, struct span shown, struct buf *out)
{
	struct span users = user_line(&d->place), token, tail;
	size_t column = d->place.user_column - 1, len;

	put(out, first(users, column));
	users = rest(users, column);
	len = colours(shown);
	if (!len) {
		put(out, users);
		return;
	}
	put(out, first(shown, len));
	token = rest(shown, len);
	for (len = 0; len < token.len && token.s[len] != '\033'; len++)
		;
	tail = rest(token, len);
	token = first(token, len);
	len = marked(users, token);
	put(out, first(users, len));
	put(out, first(tail, colours(tail)));
	put(out, rest(users, len));
}

/*
 * A token that is not in the source as it stands is shown between ellipses, in
 * front of the source's rest.
 */
static bool put_inserted(struct diag *d, struct span shown, struct span lowered,
			 struct buf *out)
{
	struct span users = user_line(&d->place), tail;
	size_t column = d->place.user_column - 1;
	struct place none;

	if (!starts(shown, ELLIPSIS) ||
	    shown.len < lowered.len + 2 * strlen(ELLIPSIS))
		return false;
	tail = rest(shown, shown.len - lowered.len - strlen(ELLIPSIS));
	if (!starts(tail, ELLIPSIS) ||
	    !same(rest(tail, strlen(ELLIPSIS)), lowered))
		return false;
	put(out, first(users, column));
	put_line(d, first(shown, tail.s - shown.s), &none, out);
	buf_puts(out, ELLIPSIS);
	put(out, rest(users, column));
	return true;
}

/* False if it is no such line. */
static bool put_source(struct diag *d, struct span t, struct buf *out)
{
	struct span lowered = lowered_line(&d->place), shown = t, before;
	struct span users = user_line(&d->place);

	while (shown.len && isspace((unsigned char)*shown.s))
		shown = rest(shown, 1);
	if (!starts(shown, SOURCE))
		return false;
	d->align = shown.s - t.s;
	d->expect = EXPECT_ANY;
	shown = rest(shown, strlen(SOURCE));
	before = first(lowered, d->place.column - 1);
	if ((same(lowered, users) && !d->place.alias) ||
	    !same(first(shown, before.len), before)) {
		put(out, t);
		return true;
	}
	put(out, first(t, d->align + strlen(SOURCE)));
	shown = rest(shown, before.len);
	lowered = rest(lowered, before.len);
	d->shifted = put_inserted(d, shown, lowered, out);
	if (!d->shifted)
		put_marked(d, shown, out);
	d->expect = EXPECT_CARET;
	return true;
}

/* White space with tabs as in the source, so that the caret stands right. */
static bool put_caret(struct diag *d, struct span t, struct buf *out)
{
	struct span users = user_line(&d->place);
	size_t column = d->place.user_column - 1, at = 0;

	d->expect = EXPECT_ANY;
	while (at < t.len && isspace((unsigned char)t.s[at]))
		at++;
	if (!starts(rest(t, at + colours(rest(t, at))), "^"))
		return false;
	if (d->shifted)
		column += strlen(ELLIPSIS);
	put(out, first(t, d->align + strlen(SOURCE)));
	for (size_t i = 0; i < column; i++)
		buf_add(out, i < users.len && users.s[i] == '\t' ? "\t" : " ",
			1);
	put(out, rest(t, at));
	return true;
}

static bool is_detail(struct span t)
{
	while (t.len && *t.s == ' ')
		t = rest(t, 1);
	return starts(t, "thrown from: ");
}

/* Is it what stands below a message: its source, or a caret? */
static bool is_below(struct span t)
{
	while (t.len && isspace((unsigned char)*t.s))
		t = rest(t, 1);
	t = rest(t, colours(t));
	return starts(t, SOURCE) || starts(t, "^");
}

/* In the words of who wrote the script. */
static bool put_unwritten(struct diag *d, struct span t, struct buf *out)
{
	const char *why = ended_unwritten(t.s, t.len);

	if (!why || !d->output || d->inside)
		return false;
	buf_printf(out, "%s: %.*s: it is cut off", d->output,
		   (int)(t.s + t.len - why), why);
	return true;
}

static void put_whole_line(struct diag *d, struct span t, struct buf *out)
{
	struct place none;

	ended_note(&d->ended, t.s, t.len);
	if (put_unwritten(d, t, out))
		return;
	if (d->inside || d->names_only) {
		put_line(d, t, &none, out);
		d->inside = false;
		return;
	}
	if (d->expect == EXPECT_SOURCE && put_source(d, t, out))
		return;
	if (d->expect == EXPECT_CARET && put_caret(d, t, out))
		return;
	if (!is_detail(t))
		d->expect = EXPECT_ANY;
	if (!put_end(d, t, out))
		put_message(d, t, out);
	headers_put(t.s, t.len, out);
	if (d->explains_pmu)
		uncounted_put(t.s, t.len, out);
}

static bool is_dropped(const struct diag *d, struct span t)
{
	if (d->expect == EXPECT_NO_SOURCE && is_below(t))
		return true;
	/* once is enough */
	return d->ended.unwritten && !d->inside && ended_unwritten(t.s, t.len);
}

struct diag *diag_new(const struct diag_file *files, size_t nr, bool names_only)
{
	struct diag *d = xmalloc(sizeof(*d));

	*d = (struct diag) {
		.files = files,
		.nr = nr,
		.names_only = names_only,
	};
	return d;
}

void diag_free(struct diag *d)
{
	if (!d)
		return;
	free(d->line.s);
	free(d);
}

void diag_explain_pmu(struct diag *d)
{
	d->explains_pmu = true;
}

void diag_feed(struct diag *d, const char *bytes, size_t len, struct buf *out)
{
	const char *end;
	struct span line;

	while (len && (end = memchr(bytes, '\n', len))) {
		buf_add(&d->line, bytes, end - bytes);
		line = (struct span) { d->line.s, d->line.len };
		if (!is_dropped(d, line)) {
			put_whole_line(d, line, out);
			buf_puts(out, "\n");
		}
		d->line.len = 0;
		len -= end + 1 - bytes;
		bytes = end + 1;
	}
	buf_add(&d->line, bytes, len);
	if (d->line.len > LINE_LIMIT)
		diag_flush(d, out);
}

void diag_name_output(struct diag *d, const char *output)
{
	d->output = output;
}

bool diag_unwritten(const struct diag *d)
{
	return d->ended.unwritten;
}

int diag_ended(const struct diag *d)
{
	return d->ended.status;
}

bool diag_pending(const struct diag *d)
{
	return d->line.len > 0;
}

void diag_flush(struct diag *d, struct buf *out)
{
	struct place none;

	put_line(d, (struct span) { d->line.s, d->line.len }, &none, out);
	d->line.len = 0;
	d->inside = true;
}
