/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lower.h"
#include "buf.h"
#include "event.h"
#include "parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the runtime's reserved numbers are: see runtime/pmu.h and anchor.h. */
#define NATIVE_ANCHOR 0x5700000000008000ULL
#define NATIVE_SAMPLING 0x57000000U	/* its config is the number */
#define NATIVE_MAX 64
#define NATIVE_PER_SCRIPT 16
#define NO_VALUE "-9223372036854775807"

#define MAX_ERRORS 20
#define MAX_ALIAS_DEPTH 100

/* One reading at the beginning of a handler: $pmu[N]. */
struct reading {
	const struct part *part;
	struct event ev;
	int native;		/* its number, where the table lacks it */
};

/* An event that the table lacks.  One that is sampled may bring its period. */
struct native {
	struct event_attr attr;
	bool counted;
	int64_t period;		/* samples a second, if negative */
	uint64_t random;
};

struct range {
	unsigned int min, max;
};

/* How many readings an alias of the script's brings. */
struct counted {
	enum { NOT_COUNTED, COUNTING, COUNTED } state;
	struct range sum;
};

struct lowering {
	const char *name;
	const struct lower_options *opt;
	FILE *err;
	unsigned int errors;
	struct script s;
	struct counted *counted;	/* for each probe */
	char *text;		/* the user's, with what was replaced */
	struct buf tail;	/* what goes behind it */
	struct buf explain;
	unsigned int tail_lines;
	struct lowered_alias *aliases;
	size_t nr_aliases;
	struct native *natives;
	unsigned int nr_natives;
	bool sampling;
	const char **thread_names;	/* $thread->NAME: not terminated */
	size_t *thread_lens;
	size_t nr_thread_names;
	size_t *globals;		/* tokens */
	size_t nr_globals;
	char letter;
};

static const char *tok_text(const struct lowering *l, size_t i)
{
	return l->s.t.text + l->s.t.tok[i].offset;
}

static size_t tok_len(const struct lowering *l, size_t i)
{
	return l->s.t.tok[i].len;
}

static bool is(const struct lowering *l, size_t i, const char *s)
{
	return token_is(&l->s.t, i, s);
}

static void __attribute__((format(printf, 3, 4)))
fail(struct lowering *l, size_t i, const char *fmt, ...)
{
	const struct token *t = &l->s.t.tok[i];
	va_list args;

	if (++l->errors > MAX_ERRORS)
		return;
	fprintf(l->err, "%s:%u:%u: ", l->name, t->line, t->column);
	va_start(args, fmt);
	vfprintf(l->err, fmt, args);
	va_end(args);
	putc('\n', l->err);
}

/* ---- replacing in place */

/* Whatever stands in tokens BEGIN to END, but for comments and line ends. */
static void blank(struct lowering *l, size_t begin, size_t end)
{
	size_t i, k;

	for (i = begin; i < end; i++) {
		const struct token *t = &l->s.t.tok[i];

		for (k = t->offset; k < t->offset + t->len; k++)
			if (l->text[k] != '\n')
				l->text[k] = ' ';
	}
}

static void put(struct lowering *l, size_t offset, const char *s)
{
	memcpy(l->text + offset, s, strlen(s));
}

/* How much room there is from token I on, on its line, up to token END. */
static size_t room_at(const struct lowering *l, size_t i, size_t end)
{
	const struct token *first = &l->s.t.tok[i];
	size_t to = first->offset + first->len;

	for (i++; i < end; i++) {
		const struct token *t = &l->s.t.tok[i];

		/* comments stay, so tokens must touch */
		if (t->offset != to)
			break;
		to = t->offset + t->len;
	}
	return to - first->offset;
}

static void tail_line(struct lowering *l)
{
	buf_puts(&l->tail, "\n");
	l->tail_lines++;
}

/* Tokens BEGIN to END as one line without comments. */
static void copy_tokens(const struct lowering *l, size_t begin, size_t end,
			struct buf *b)
{
	size_t i, k;

	for (i = begin; i < end; i++) {
		const struct token *t = &l->s.t.tok[i];

		if (i > begin && t->offset != t[-1].offset + t[-1].len)
			buf_puts(b, " ");
		for (k = 0; k < t->len; k++) {
			char c = l->s.t.text[t->offset + k];

			buf_add(b, c == '\n' ? " " : &c, 1);
		}
	}
}

/* ---- the words of our components */

/*
 * The string in a part's parentheses, by its value; NULL after an error.
 * $1 and @1 are the script's arguments.
 */
static char *string_argument(struct lowering *l, const struct part *part,
			     const char *what)
{
	size_t i = part->argument, k, len;
	struct buf b = { 0 };
	const char *s;

	if (i + 1 >= part->end || !is(l, i + 1, ")") || i + 2 != part->end) {
		fail(l, part->begin, "%s takes one string, as in %s(\"cpu_cycles%s\")",
		     what, what, part->kind == PART_PROFILE ? ":1000000" : "");
		return NULL;
	}
	s = tok_text(l, i);
	len = tok_len(l, i);
	if (*s == '@' && len > 1 && isdigit((unsigned char)s[1])) {
		unsigned long n = strtoul(s + 1, NULL, 10);

		if (n < 1 || n > l->opt->nr_args) {
			fail(l, i, "%.*s: there is no such argument; %zu %s given",
			     (int)len, s, l->opt->nr_args,
			     l->opt->nr_args == 1 ? "was" : "were");
			return NULL;
		}
		return xstrdup(l->opt->args[n - 1]);
	}
	if (*s != '"' || len < 2 || s[len - 1] != '"') {
		fail(l, i, "%s takes an event's name in quotes", what);
		return NULL;
	}
	for (k = 1; k < len - 1; k++) {
		if (s[k] == '\\' && k + 1 < len - 1)
			k++;
		if (s[k])
			buf_add(&b, s + k, 1);
	}
	return buf_take(&b);
}

static bool resolve(struct lowering *l, size_t i, const char *text,
		    struct event *ev)
{
	char why[512];

	if (!event_resolve(text, l->opt->pmu, ev, why, sizeof(why)))
		return true;
	fail(l, i, "%s", why);
	return false;
}

static bool same_attr(const struct event_attr *a, const struct event_attr *b)
{
	return a->type == b->type && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2 &&
	       a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv &&
	       a->exclude_idle == b->exclude_idle &&
	       a->exclude_host == b->exclude_host &&
	       a->exclude_guest == b->exclude_guest &&
	       a->precise_ip == b->precise_ip &&
	       a->sample_type == b->sample_type;
}

enum {
	FLAG_EXCLUDE_USER = 1,
	FLAG_EXCLUDE_KERNEL = 2,
	FLAG_EXCLUDE_HV = 4,
	FLAG_EXCLUDE_IDLE = 8,
	FLAG_EXCLUDE_HOST = 16,
	FLAG_EXCLUDE_GUEST = 32,
	FLAG_PRECISE_SHIFT = 6,		/* two bits */
};

/* As struct sw_event of runtime/pmu.h has them. */
static unsigned int attr_flags(const struct event_attr *a)
{
	return a->exclude_user * FLAG_EXCLUDE_USER |
	       a->exclude_kernel * FLAG_EXCLUDE_KERNEL |
	       a->exclude_hv * FLAG_EXCLUDE_HV |
	       a->exclude_idle * FLAG_EXCLUDE_IDLE |
	       a->exclude_host * FLAG_EXCLUDE_HOST |
	       a->exclude_guest * FLAG_EXCLUDE_GUEST |
	       a->precise_ip << FLAG_PRECISE_SHIFT;
}

static void put_string(struct buf *b, const char *s)
{
	buf_puts(b, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_puts(b, "\\");
		buf_add(b, isprint((unsigned char)*s) ? s : "?", 1);
	}
	buf_puts(b, "\"");
}

/*
 * The number by which the runtime will know an event; the tail declares it.
 * Return: -1 after an error.
 */
static int native_event(struct lowering *l, size_t i, const char *name,
			const struct native *want)
{
	const struct event_attr *attr = &want->attr;
	unsigned int number = l->opt->index * NATIVE_PER_SCRIPT, n;

	for (n = 0; n < l->nr_natives; n++, number++) {
		const struct native *have = &l->natives[n];

		if (same_attr(&have->attr, attr) &&
		    have->counted == want->counted &&
		    have->period == want->period &&
		    have->random == want->random)
			return number;
	}
	if (n == NATIVE_PER_SCRIPT || number >= NATIVE_MAX) {
		fail(l, i, "%s: a script can have at most %d events that the event table lacks",
		     name, NATIVE_PER_SCRIPT);
		return -1;
	}
	l->natives = xrealloc(l->natives, (n + 1) * sizeof(*l->natives));
	l->natives[n] = *want;
	l->nr_natives++;

	buf_printf(&l->tail, "probe begin(-9223372036854775806) { __sw_native_event(%u, ",
		   number);
	put_string(&l->tail, name);
	buf_printf(&l->tail, ", %" PRIu32 ", %" PRId64 ", %" PRId64 ", %" PRId64
		   ", %u, %" PRId64 ", %" PRId64 ")", attr->type,
		   (int64_t)attr->config, (int64_t)attr->config1,
		   (int64_t)attr->config2, attr_flags(attr),
		   (int64_t)attr->sample_type, want->period);
	if (want->random)
		buf_printf(&l->tail, "; __sw_native_random(%u, %" PRIu64 ")",
			   number, want->random);
	buf_puts(&l->tail, " }");
	tail_line(l);
	if (want->counted) {
		buf_printf(&l->tail,
			   "probe perf.type(1).config(9).sample(0x%llx) { __sw_anchor() }",
			   NATIVE_ANCHOR | number);
		tail_line(l);
	}
	return number;
}

static void explain_attr(struct lowering *l, const struct event_attr *a)
{
	buf_printf(&l->explain, "type %" PRIu32 ", config 0x%" PRIx64, a->type,
		   a->config);
	if (a->config1)
		buf_printf(&l->explain, ", config1 0x%" PRIx64, a->config1);
	if (a->config2)
		buf_printf(&l->explain, ", config2 0x%" PRIx64, a->config2);
	if (a->exclude_user)
		buf_puts(&l->explain, ", exclude_user");
	if (a->exclude_kernel)
		buf_puts(&l->explain, ", exclude_kernel");
	if (a->exclude_hv)
		buf_puts(&l->explain, ", exclude_hv");
	if (a->exclude_idle)
		buf_puts(&l->explain, ", exclude_idle");
	if (a->exclude_host)
		buf_puts(&l->explain, ", exclude_host");
	if (a->exclude_guest)
		buf_puts(&l->explain, ", exclude_guest");
	if (a->precise_ip)
		buf_printf(&l->explain, ", precise_ip %u", a->precise_ip);
	if (a->sample_type)
		buf_printf(&l->explain, ", sample_type 0x%" PRIx64,
			   a->sample_type);
}

/* ---- readings */

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
	buf_printf(b, "__sw_ratio(%u, ", d->scale);
	put_read(b, r->part, of_process, d->numerator, 0);
	buf_puts(b, ", ");
	put_read(b, r->part, of_process, d->denominator, 0);
	buf_puts(b, ")");
}

static int read_part(struct lowering *l, const struct part *part,
		     struct reading *r)
{
	const char *what = part->kind == PART_ELAPSED ? "elapsed"
						      : "startwatch";
	char *text = string_argument(l, part, what);

	*r = (struct reading) { .part = part };
	if (!text)
		return -1;
	if (!resolve(l, part->argument, text, &r->ev)) {
		free(text);
		return -1;
	}
	free(text);
	if (r->ev.derived || r->ev.table_name)
		return 0;
	r->native = native_event(l, part->argument, r->ev.name,
				 &(struct native) {
					.attr = r->ev.attr, .counted = true
				 });
	if (r->native >= 0)
		return 0;
	event_free(&r->ev);
	return -1;
}

/* ---- aliases of the script's own */

static bool parts_are_name(const struct lowering *l, const struct point *p,
			   const struct probe *alias, size_t *matched)
{
	size_t i = alias->name, k = p->begin;

	for (; i < alias->name_end; i++, k++)
		if (k >= p->end || tok_len(l, k) != tok_len(l, i) ||
		    memcmp(tok_text(l, k), tok_text(l, i), tok_len(l, i)))
			return false;
	if (k < p->end && !is(l, k, "."))
		return false;
	*matched = k - p->begin;
	return true;
}

static struct range count_readings(const struct lowering *l,
				   const struct point *p, unsigned int depth);

/* Once for each alias; one that stands for itself is for stap to refuse. */
static struct range count_alias(const struct lowering *l, size_t probe,
				unsigned int depth)
{
	const struct probe *alias = &l->s.probes[probe];
	struct counted *c = &l->counted[probe];
	size_t k;

	if (c->state != NOT_COUNTED)
		return c->sum;
	c->state = COUNTING;
	for (k = 0; k < alias->nr_points; k++) {
		struct range n = count_readings(l, &alias->points[k], depth);

		if (!k || n.min < c->sum.min)
			c->sum.min = n.min;
		if (!k || n.max > c->sum.max)
			c->sum.max = n.max;
	}
	c->state = COUNTED;
	return c->sum;
}

/* A wildcard may stand for any alias; then it is stap that knows. */
static bool has_wildcard(const struct lowering *l, const struct point *p)
{
	size_t i, k;

	for (k = 0; k < p->nr_parts; k++)
		for (i = p->parts[k].begin;
		     i < p->parts[k].end && !is(l, i, "("); i++)
			if (is(l, i, "*"))
				return true;
	return false;
}

/* How many readings a point has: its own and those of the alias it uses. */
static struct range count_readings(const struct lowering *l,
				   const struct point *p, unsigned int depth)
{
	struct range sum = { 0, 0 };
	size_t longest = 0, matched, used = 0, i, k;

	for (i = 0; depth < MAX_ALIAS_DEPTH && i < l->s.nr_probes; i++) {
		const struct probe *alias = &l->s.probes[i];

		if (alias->name == alias->name_end ||
		    !parts_are_name(l, p, alias, &matched) ||
		    matched <= longest)
			continue;
		longest = matched;
		used = i;
	}
	if (longest)
		sum = count_alias(l, used, depth + 1);
	for (k = 0; k < p->nr_parts; k++) {
		if (p->parts[k].kind == PART_STARTWATCH ||
		    p->parts[k].kind == PART_ELAPSED) {
			sum.min++;
			sum.max++;
		}
	}
	return sum;
}

/* ---- probe points */

static bool has_part(const struct point *p, enum part_kind kind)
{
	size_t k;

	for (k = 0; k < p->nr_parts; k++)
		if (p->parts[k].kind == kind)
			return true;
	return false;
}

/* The parts before the first of ours; where that is the first, the next other
 * one.  Returns how many parts the alias takes in. */
static size_t cut(const struct point *p, size_t *first, size_t *last)
{
	size_t k = 0;

	while (k < p->nr_parts && p->parts[k].kind == PART_OTHER)
		k++;
	if (k) {
		*first = 0;
		*last = k;
		while (k < p->nr_parts && p->parts[k].kind != PART_OTHER)
			k++;
		return k;
	}
	while (k < p->nr_parts && p->parts[k].kind != PART_OTHER)
		k++;
	*first = k;
	*last = k < p->nr_parts ? k + 1 : k;
	return *last;
}

static bool begins_with(const struct lowering *l, const struct point *p,
			size_t part, const char *word)
{
	return part < p->nr_parts && is(l, p->parts[part].begin, word);
}

static bool is_word_alone(const struct lowering *l, const struct part *part,
			  const char *word)
{
	return part->end == part->begin + 1 && is(l, part->begin, word);
}

/* What is sampled, and how often. */
struct sampling {
	struct event_profile parts;
	struct event_attr attr;
};

/* Perf's number for software events. */
#define TYPE_SOFTWARE 1

static bool can_sample(struct lowering *l, const struct part *part,
		       const struct event *ev)
{
	if (ev->derived) {
		fail(l, part->argument, "%s is computed from two events, and nothing interrupts for that; sample %s or %s",
		     ev->name, ev->derived->numerator, ev->derived->denominator);
		return false;
	}
	if (ev->table_name && !strcmp(ev->table_name, "tsc")) {
		fail(l, part->argument, "tsc interrupts nobody; sample cpu_clock, or cpu_cycles where there is a PMU");
		return false;
	}
	if (part->prefixed && ev->attr.type == TYPE_SOFTWARE) {
		fail(l, part->begin, "%s comes from a timer or from the kernel itself, never by NMI; leave out .nmi, or sample cpu_cycles",
		     ev->name);
		return false;
	}
	return true;
}

/* pmu_profile("event:period") */
static int read_profile(struct lowering *l, const struct part *part,
			struct sampling *s)
{
	char *text = string_argument(l, part, "pmu_profile"), why[512];
	struct event ev;
	bool ok;

	if (!text)
		return -1;
	if (event_profile_split(text, &s->parts, why, sizeof(why))) {
		fail(l, part->argument, "%s", why);
		free(text);
		return -1;
	}
	free(text);
	if (!resolve(l, part->argument, s->parts.event, &ev))
		return -1;
	if (s->parts.precise >= 0)
		ev.attr.precise_ip = s->parts.precise;
	s->attr = ev.attr;
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

	if (i + 2 == part->end && is(l, i + 1, ")") && len < sizeof(number)) {
		memcpy(number, tok_text(l, i), len);
		if (*number == '$') {
			unsigned long n = strtoul(number + 1, NULL, 10);

			*number = '\0';
			if (n >= 1 && n <= l->opt->nr_args)
				snprintf(number, sizeof(number), "%s",
					 l->opt->args[n - 1]);
		}
	}
	ms = strtoull(number, &end, 0);
	if (!isdigit((unsigned char)*number) || *end || ms < 1 || ms > 3600000) {
		fail(l, part->begin, "time_ms takes a number of milliseconds from 1 to 3600000, as in kernel.time_ms(10)");
		return -1;
	}
	s->parts.event = xstrdup("cpu_clock");
	s->attr = (struct event_attr) { .type = TYPE_SOFTWARE };
	s->parts.period = ms * 1000000;
	return 0;
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
	buf_puts(&l->explain, ": ");
	explain_attr(l, &s->attr);
	buf_puts(&l->explain, "\n");
	if (!process && !parts->random && same_attr(&plain, &s->attr) &&
	    s->attr.config <= INT64_MAX) {
		/* which may fail, and then the runtime says what would not */
		if (!l->sampling && plain.type != TYPE_SOFTWARE) {
			buf_puts(&l->tail, "probe begin(-9223372036854775806) { __sw_sampling() }");
			tail_line(l);
			l->sampling = true;
		}
		buf_printf(b, "perf.type(%" PRIu32 ").config(%" PRIu64
			   ").%s(%" PRIu64 ")", plain.type, plain.config,
			   parts->freq ? "hz" : "sample", parts->period);
		return 0;
	}
	native = native_event(l, i, parts->event, &(struct native) {
		.attr = s->attr,
		.period = parts->freq ? -(int64_t)parts->period :
					(int64_t)parts->period,
		.random = parts->random,
	});
	if (native < 0)
		return -1;
	buf_printf(b, "perf.type(%u).config(%d).", NATIVE_SAMPLING, native);
	if (process)
		copy_tokens(l, process->begin, process->end, b);
	else
		buf_puts(b, "sample(1)");
	return 0;
}

/*
 * What the alias of a sampled point stands for.  Before our parts there may be
 * `kernel', or the process to be sampled.
 */
static int put_sampled(struct lowering *l, const struct point *p, struct buf *b)
{
	const struct part *sampled = NULL, *process = NULL;
	const char *example = has_part(p, PART_TIME) ? "time_ms(N)"
				: "pmu_profile(\"EVENT:PERIOD\")";
	struct sampling s = { 0 };
	size_t k;
	int rc;

	for (k = 0; k < p->nr_parts; k++) {
		const struct part *part = &p->parts[k];

		if (part->kind == PART_PROFILE || part->kind == PART_TIME) {
			if (sampled) {
				fail(l, part->begin, "one probe point samples one thing; write two, with a comma");
				return -1;
			}
			sampled = part;
		} else if (part->kind == PART_ELAPSED) {
			fail(l, part->begin, "elapsed counts from a call to its return, and a sample is neither; use startwatch");
			return -1;
		} else if (part->kind == PART_OTHER && !k &&
			   is(l, part->begin, "process")) {
			process = part;
		} else if (part->kind == PART_OTHER &&
			   (k || !is_word_alone(l, part, "kernel"))) {
			fail(l, part->begin, "samples are taken of the kernel or of a process: kernel.%s or process(\"PATH\").%s, with nothing else but startwatch",
			     example, example);
			return -1;
		}
	}
	rc = sampled->kind == PART_TIME ? read_time(l, sampled, &s)
					: read_profile(l, sampled, &s);
	if (!rc)
		rc = put_sampling(l, sampled->begin, &s, process, b);
	free(s.parts.event);
	return rc;
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

/* Once: each reading asks for them. */
static void find_globals(struct lowering *l)
{
	size_t i, room = 0;
	bool global = false;

	for (i = 0; i < l->s.t.nr; i++) {
		if (!token_is_name(&l->s.t, i))
			continue;
		if (is(l, i, "global"))
			global = true;
		else if (is(l, i, "probe") || is(l, i, "function"))
			global = false;
		if (!global)
			continue;
		if (l->nr_globals == room) {
			room = room ? 2 * room : 64;
			l->globals = xrealloc(l->globals,
					      room * sizeof(*l->globals));
		}
		l->globals[l->nr_globals++] = i;
	}
}

static bool is_global(const struct lowering *l, const char *name)
{
	size_t k;

	for (k = 0; k < l->nr_globals; k++)
		if (is(l, l->globals[k], name))
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

/*
 * The handler of the alias: take the readings, and do not go on without.  An
 * event whose name is one is a variable too, if the handler asks for it.
 */
static int put_readings(struct lowering *l, const struct probe *probe,
			const struct point *p, unsigned int n, struct buf *b)
{
	bool of_process = is(l, p->begin, "process");
	struct reading r;
	size_t k;

	for (k = 0; k < p->nr_parts; k++) {
		const struct part *part = &p->parts[k];

		if (part->kind != PART_STARTWATCH && part->kind != PART_ELAPSED)
			continue;
		if (read_part(l, part, &r))
			return -1;
		buf_printf(b, "__sw_p%u = ", n);
		put_reading(b, &r, of_process);
		buf_printf(b, "; if (__sw_p%u < " NO_VALUE ") next; ", n);
		if (is_identifier(r.ev.name) && body_names(l, probe, r.ev.name) &&
		    !is_global(l, r.ev.name))
			buf_printf(b, "%s = __sw_p%u; ", r.ev.name, n);
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

/* The place for the alias's name: where all of it was, if it fits there. */
static size_t name_place(const struct lowering *l, const struct point *p,
			 size_t parts, size_t len)
{
	size_t end = p->parts[parts - 1].end, k;

	if (room_at(l, p->begin, end) >= len)
		return l->s.t.tok[p->begin].offset;
	for (k = 0; k < parts; k++)
		if (p->parts[k].kind != PART_OTHER &&
		    room_at(l, p->parts[k].argument - 2, end) >= len)
			return l->s.t.tok[p->parts[k].argument - 2].offset;
	return SIZE_MAX;
}

static void explain_point(struct lowering *l, const struct point *p)
{
	const struct token *t = &l->s.t.tok[p->begin];

	buf_printf(&l->explain, "%s:%u:%u: ", l->name, t->line, t->column);
	copy_tokens(l, p->begin, p->end, &l->explain);
	buf_puts(&l->explain, "\n");
}

static void explain_became(struct lowering *l, const struct point *p,
			   const char *stands_for, size_t parts)
{
	size_t k;

	buf_printf(&l->explain, "\tprobed: %s", stands_for);
	for (k = parts; k < p->nr_parts; k++) {
		if (p->parts[k].kind != PART_OTHER)
			continue;
		buf_puts(&l->explain, ".");
		copy_tokens(l, p->parts[k].begin, p->parts[k].end, &l->explain);
	}
	buf_puts(&l->explain, "\n");
}

/* Parts of ours behind the alias's name vanish, each with the dot before it. */
static void blank_rest(struct lowering *l, const struct point *p, size_t parts)
{
	size_t k;

	for (k = parts; k < p->nr_parts; k++)
		if (p->parts[k].kind != PART_OTHER)
			blank(l, p->parts[k].begin - 1, p->parts[k].end);
}

static bool check_point(struct lowering *l, const struct point *p)
{
	static const char *const without[] = { "begin", "end", "error", "never" };
	size_t k;

	if (p->in_group) {
		fail(l, p->in_group, "this does not work within { } or behind %%( %%); write the probe points out, with commas");
		return false;
	}
	for (k = 0; k < sizeof(without) / sizeof(*without); k++) {
		if (begins_with(l, p, 0, without[k]) &&
		    (has_part(p, PART_STARTWATCH) || has_part(p, PART_ELAPSED))) {
			fail(l, p->begin, "%s has no counts: counting begins after the begin probes and ends before the end probes; read them in another probe",
			     without[k]);
			return false;
		}
	}
	return true;
}

static void lower_point_of(struct lowering *l, const struct probe *probe,
			   const struct point *p)
{
	struct range before = count_readings(l, p, 0);
	struct buf stands_for = { 0 }, body = { 0 };
	struct lowered_alias *alias;
	size_t first, last, parts, k, place;
	bool sampled = has_part(p, PART_PROFILE) || has_part(p, PART_TIME);
	unsigned int own = 0;
	char name[32];

	if (!check_point(l, p))
		return;
	explain_point(l, p);
	for (k = 0; k < p->nr_parts; k++)
		own += p->parts[k].kind == PART_STARTWATCH ||
		       p->parts[k].kind == PART_ELAPSED;
	parts = sampled ? p->nr_parts : cut(p, &first, &last);
	if (!sampled && first == last) {
		fail(l, p->begin, "what is to be probed is missing: kernel.%s.function(\"NAME\")",
		     has_part(p, PART_ELAPSED) ? "elapsed(\"EVENT\")" : "startwatch(\"EVENT\")");
		return;
	}
	if (sampled) {
		if (put_sampled(l, p, &stands_for))
			goto out;
	} else {
		copy_tokens(l, p->parts[first].begin, p->parts[last - 1].end,
			    &stands_for);
	}
	if (put_readings(l, probe, p, before.max - own, &body))
		goto out;
	explain_became(l, p, stands_for.s ?: "", parts);

	if (l->letter)
		snprintf(name, sizeof(name), "__sw%c%zu", l->letter,
			 l->nr_aliases);
	else
		snprintf(name, sizeof(name), "__sw%zu", l->nr_aliases);
	place = name_place(l, p, parts, strlen(name));
	if (place == SIZE_MAX) {
		fail(l, p->begin, "put startwatch(\"EVENT\") and its parenthesis on one line");
		goto out;
	}
	blank(l, p->begin, p->parts[parts - 1].end);
	put(l, place, name);
	blank_rest(l, p, parts);

	l->aliases = xrealloc(l->aliases,
			      (l->nr_aliases + 1) * sizeof(*l->aliases));
	alias = &l->aliases[l->nr_aliases++];
	*alias = (struct lowered_alias) {
		.name = xstrdup(name),
		.line = l->tail_lines,
		.column = strlen("probe  = ") + strlen(name) + 1,
		.user_line = l->s.t.tok[p->begin].line,
		.user_column = l->s.t.tok[p->begin].column,
		.first = xstrndup(tok_text(l, p->begin), tok_len(l, p->begin)),
	};
	buf_printf(&l->tail, "probe %s = %s { %s}", name, stands_for.s ?: "",
		   body.s ?: "");
	tail_line(l);
out:
	free(stands_for.s);
	free(body.s);
}

/* ---- what stands in handlers */

/* Is what begins in token I and ends before AFTER set, in whatever way? */
static bool assigned(const struct lowering *l, size_t i, size_t after)
{
	static const char *const ops[] = {
		"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=",
		"|=", ".=", "<<<", "++", "--",
	};
	size_t k;

	for (k = 0; k < sizeof(ops) / sizeof(*ops); k++)
		if (is(l, after, ops[k]))
			return true;
	return i && (is(l, i - 1, "++") || is(l, i - 1, "--") ||
		     is(l, i - 1, "delete"));
}

/*
 * $pmu[N] becomes the variable of the same length.  Where the script has no
 * readings at all it is stap's, a target variable.
 */
static void lower_pmu(struct lowering *l, size_t i, struct range have,
		      bool any)
{
	unsigned long n;
	char name[32];
	size_t k;

	if (!any || !is(l, i + 1, "["))
		return;
	if (i + 3 >= l->s.t.nr || l->s.t.tok[i + 2].type != TOK_NUMBER ||
	    !is(l, i + 3, "]") || tok_len(l, i + 2) > 4) {
		fail(l, i, "$pmu[N] takes a number: the startwatch components of the probe point count from 0");
		return;
	}
	n = strtoul(tok_text(l, i + 2), NULL, 10);
	for (k = 0; k < tok_len(l, i + 2); k++)
		if (!isdigit((unsigned char)tok_text(l, i + 2)[k]))
			n = ULONG_MAX;
	if (n >= have.min) {
		if (!have.min)
			fail(l, i, "$pmu[%.*s]: %s; put .startwatch(\"EVENT\") there",
			     (int)tok_len(l, i + 2), tok_text(l, i + 2),
			     have.max ? "not every probe point here has a startwatch"
				      : "this probe point has no startwatch");
		else
			fail(l, i, "$pmu[%.*s]: %s has %u startwatch component%s, so $pmu[%u] is the last",
			     (int)tok_len(l, i + 2), tok_text(l, i + 2),
			     have.max > have.min ? "a probe point here"
						 : "this probe point",
			     have.min, have.min == 1 ? "" : "s", have.min - 1);
		return;
	}
	if (assigned(l, i, i + 4)) {
		fail(l, i, "$pmu[%lu] is a reading, which cannot be set; use a variable of your own",
		     n);
		return;
	}
	snprintf(name, sizeof(name), "__sw_p%lu", n);
	if (room_at(l, i, i + 4) < strlen(name)) {
		fail(l, i, "write $pmu[%lu] without spaces", n);
		return;
	}
	blank(l, i, i + 4);
	put(l, l->s.t.tok[i].offset, name);
}

/* $timestamp, unless the probed function has a variable of that name. */
static void lower_timestamp(struct lowering *l, size_t i, bool in_probe)
{
	blank(l, i, i + 1);
	put(l, l->s.t.tok[i].offset, in_probe ? "@__sw_ts" : "@__sw_now");
}

/* $current->a->b: a macro about the members. */
static void lower_current(struct lowering *l, size_t i, bool in_probe)
{
	const struct token *t = l->s.t.tok;
	size_t end = i + 1;

	while (is(l, end, "->") && token_is_name(&l->s.t, end + 1))
		end += 2;
	/* the macro needs the length of `$current->', one more at the end */
	if (end == i + 1 || assigned(l, i, end) ||
	    t[i + 1].offset != t[i].offset + t[i].len ||
	    t[i + 2].offset != t[i + 1].offset + t[i + 1].len)
		return;
	memmove(l->text + t[i + 2].offset - 1, l->text + t[i + 2].offset,
		t[end - 1].offset + t[end - 1].len - t[i + 2].offset);
	put(l, t[i].offset, in_probe ? "@__sw_c( " : "@__sw_k( ");
	l->text[t[end - 1].offset + t[end - 1].len - 1] = ')';
}

static bool is_thread_variable(const struct lowering *l, size_t i)
{
	return is(l, i, "$thread") && is(l, i + 1, "->") &&
	       token_is_name(&l->s.t, i + 2);
}

static bool known_thread_name(const struct lowering *l, size_t i)
{
	size_t k;

	for (k = 0; k < l->nr_thread_names; k++)
		if (l->thread_lens[k] == tok_len(l, i) &&
		    !memcmp(l->thread_names[k], tok_text(l, i), tok_len(l, i)))
			return true;
	return false;
}

/* $thread->NAME is ours if NAME is set somewhere; else it is a target variable
 * of the function that is probed. */
static void find_thread_names(struct lowering *l)
{
	size_t i, n;

	for (i = 0; i < l->s.t.nr; i++) {
		if (!is_thread_variable(l, i) ||
		    !assigned(l, i, i + 3) ||
		    known_thread_name(l, i + 2))
			continue;
		n = l->nr_thread_names++;
		l->thread_names = xrealloc(l->thread_names,
					   (n + 1) * sizeof(*l->thread_names));
		l->thread_lens = xrealloc(l->thread_lens,
					  (n + 1) * sizeof(*l->thread_lens));
		l->thread_names[n] = tok_text(l, i + 2);
		l->thread_lens[n] = tok_len(l, i + 2);
	}
}

/* Two characters that make none of the names one that the script has. */
static void thread_prefix(const struct lowering *l, char prefix[3])
{
	size_t i, k;
	char c;

	for (c = 'T'; ; c = c == 'Z' ? 'A' : c + 1) {
		bool taken = false;

		prefix[0] = '_';
		prefix[1] = c;
		prefix[2] = '\0';
		for (i = 0; i < l->s.t.nr && !taken; i++) {
			if (tok_len(l, i) < 3 || memcmp(tok_text(l, i), prefix, 2))
				continue;
			for (k = 0; k < l->nr_thread_names; k++)
				if (l->thread_lens[k] == tok_len(l, i) - 2 &&
				    !memcmp(l->thread_names[k],
					    tok_text(l, i) + 2,
					    l->thread_lens[k]))
					taken = true;
		}
		/* each letter in turn, and then what comes: stap will say so */
		if (!taken || c == 'S')
			return;
	}
}

/* $thread->NAME becomes _TNAME[@__sw], which is as long. */
static void lower_thread(struct lowering *l, size_t i, const char *prefix)
{
	const struct token *t = l->s.t.tok;
	size_t len = t[i + 2].len;
	char *to = l->text + t[i].offset;

	if (t[i + 1].offset != t[i].offset + t[i].len ||
	    t[i + 2].offset != t[i + 1].offset + t[i + 1].len) {
		fail(l, i, "write $thread->%.*s without spaces", (int)len,
		     tok_text(l, i + 2));
		return;
	}
	memcpy(to, prefix, 2);
	memcpy(to + 2, tok_text(l, i + 2), len);
	memcpy(to + 2 + len, "[@__sw]", 7);
}

static void declare_thread_names(struct lowering *l, const char *prefix)
{
	size_t k;

	if (!l->nr_thread_names)
		return;
	buf_puts(&l->tail, "global");
	for (k = 0; k < l->nr_thread_names; k++)
		buf_printf(&l->tail, "%s %s%.*s", k ? "," : "", prefix,
			   (int)l->thread_lens[k], l->thread_names[k]);
	tail_line(l);
	buf_puts(&l->tail, "probe __sw_thread_gone {");
	for (k = 0; k < l->nr_thread_names; k++)
		buf_printf(&l->tail, " delete %s%.*s[__sw_gone, __sw_gone_birth]", prefix,
			   (int)l->thread_lens[k], l->thread_names[k]);
	buf_puts(&l->tail, " }");
	tail_line(l);
	for (k = 0; k < l->nr_thread_names; k++)
		buf_printf(&l->explain, "%s: $thread->%.*s: one for each thread, until it exits\n",
			   l->name, (int)l->thread_lens[k], l->thread_names[k]);
}

/* Behind the body of the macro that @define in token I defines. */
static size_t macro_end(const struct lowering *l, size_t i)
{
	unsigned long depth = 0;

	while (i < l->s.t.nr && !is(l, i, "%("))
		i++;
	for (; i < l->s.t.nr; i++) {
		if (is(l, i, "%("))
			depth++;
		else if (is(l, i, "%)") && !--depth)
			break;
	}
	return i;
}

/* What $pmu[N] can be in a handler: of all its probe points.  A macro's body is
 * in whatever probe uses it. */
static struct range readings_at(const struct lowering *l,
				const struct probe *probe, bool in_probe)
{
	struct range have = { in_probe ? UINT32_MAX : 0, 0 };
	size_t k;

	for (k = 0; in_probe && probe && k < probe->nr_points; k++) {
		struct range n = count_readings(l, &probe->points[k], 0);

		if (has_wildcard(l, &probe->points[k]))
			continue;
		if (n.min < have.min)
			have.min = n.min;
		if (n.max > have.max)
			have.max = n.max;
	}
	return have;
}

static void lower_handlers(struct lowering *l, bool any_readings)
{
	size_t i, b = 0, macro = 0;
	char prefix[3] = "";

	find_thread_names(l);
	if (l->nr_thread_names)
		thread_prefix(l, prefix);
	for (i = 0; i < l->s.t.nr; i++) {
		const struct probe *probe;
		bool in_probe;

		while (b < l->s.nr_probes && i >= l->s.probes[b].body_end)
			b++;
		probe = b < l->s.nr_probes ? &l->s.probes[b] : NULL;
		in_probe = probe && i >= probe->body;
		if (is(l, i, "@define"))
			macro = macro_end(l, i);
		/* which is read where it is used, by whatever probe */
		if (i < macro) {
			probe = NULL;
			in_probe = true;
		}
		if (is_thread_variable(l, i) && known_thread_name(l, i + 2)) {
			lower_thread(l, i, prefix);
		} else if (is(l, i, "$timestamp") && !is(l, i + 1, "->") &&
			   !is(l, i + 1, "[") &&
			   !assigned(l, i, i + 1)) {
			lower_timestamp(l, i, in_probe);
		} else if (is(l, i, "$current")) {
			lower_current(l, i, in_probe);
		} else if (is(l, i, "$pmu")) {
			lower_pmu(l, i, readings_at(l, probe, in_probe),
				  any_readings);
		}
	}
	declare_thread_names(l, prefix);
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
			*readings |= has_part(p, PART_STARTWATCH) ||
				     has_part(p, PART_ELAPSED);
		}
	}
	for (i = 0; i < l->s.t.nr && !any; i++)
		any = is(l, i, "$timestamp") || is(l, i, "$thread") ||
		      is(l, i, "$current");
	return any;
}

static void finish(struct lowering *l, size_t len, struct lowered *out)
{
	bool newline = len && l->text[len - 1] != '\n' && l->tail.len;
	unsigned int lines = l->s.t.lines;
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
	};
	out->text = buf_take(&text);
	out->changed = out->len != len ||
		       memcmp(out->text, l->s.t.text, len);
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

int lower_script(const char *name, const char *text, size_t len,
		 const struct lower_options *opt, struct lowered *out,
		 FILE *err)
{
	struct lowering l = {
		.name = name, .opt = opt, .err = err,
		.letter = opt->index ? 'a' + (opt->index - 1) % 26 : '\0',
	};
	bool readings;
	size_t i, k;

	parse(text, len, &l.s);
	l.counted = xmalloc(l.s.nr_probes * sizeof(*l.counted));
	for (i = 0; i < l.s.nr_probes; i++)
		l.counted[i] = (struct counted) { 0 };
	l.text = xmalloc(len + 1);
	if (len)
		memcpy(l.text, text, len);
	if (any_of_ours(&l, &readings)) {
		find_globals(&l);
		for (i = 0; i < l.s.nr_probes; i++)
			for (k = 0; k < l.s.probes[i].nr_points; k++) {
				const struct probe *probe = &l.s.probes[i];

				if (probe->points[k].ours ||
				    probe->points[k].in_group)
					lower_point_of(&l, probe,
						       &probe->points[k]);
			}
		lower_handlers(&l, readings);
	}
	if (l.errors > MAX_ERRORS)
		fprintf(err, "%s: %u more errors\n", name,
			l.errors - MAX_ERRORS);
	if (!l.errors) {
		finish(&l, len, out);
	} else {
		free_aliases(l.aliases, l.nr_aliases);
		free(l.explain.s);
	}
	free(l.text);
	free(l.counted);
	free(l.globals);
	free(l.tail.s);
	free(l.natives);
	free(l.thread_names);
	free(l.thread_lens);
	script_free(&l.s);
	return l.errors ? -1 : 0;
}

void lowered_free(struct lowered *out)
{
	free(out->text);
	free(out->explain);
	free_aliases(out->aliases, out->nr_aliases);
	*out = (struct lowered) { 0 };
}

char *lower_point(const char *point, const struct lower_options *opt, FILE *err)
{
	struct lowering l = { .name = "<probe point>", .opt = opt, .err = err };
	struct buf b = { 0 };
	size_t i, k;

	parse_points(point, strlen(point), &l.s);
	for (i = 0; i < l.s.probes[0].nr_points; i++) {
		const struct point *p = &l.s.probes[0].points[i];
		bool kernel = begins_with(&l, p, 0, "kernel"), begun = false;

		if (i)
			buf_puts(&b, ", ");
		if (!p->ours) {
			copy_tokens(&l, p->begin, p->end, &b);
			continue;
		}
		if (!check_point(&l, p))
			break;
		if (has_part(p, PART_PROFILE) || has_part(p, PART_TIME)) {
			put_sampled(&l, p, &b);
			continue;
		}
		for (k = 0; k < p->nr_parts; k++) {
			const struct part *part = &p->parts[k];
			struct reading r;

			if (part->kind == PART_OTHER) {
				buf_puts(&b, begun ? "." : "");
				begun = true;
				copy_tokens(&l, part->begin, part->end, &b);
				continue;
			}
			if (read_part(&l, part, &r))
				break;
			if (kernel && r.ev.table_name)
				buf_printf(&b, ".%s%s.%s",
					   part->prefixed ? "virtual." : "",
					   part->kind == PART_ELAPSED
						? "elapsed" : "startwatch",
					   r.ev.table_name);
			event_free(&r.ev);
		}
	}
	free(l.tail.s);
	free(l.explain.s);
	free(l.natives);
	script_free(&l.s);
	if (!l.errors)
		return buf_take(&b);
	free(b.s);
	return NULL;
}
