/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch list: what can be counted, by whatever name, with what it means.
 */
#define _GNU_SOURCE	/* FNM_CASEFOLD */
#include "cmd/cmd.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/json.h"
#include "base/shown.h"
#include "cmd/line.h"
#include "event/event_notation.h"
#include "event/event_table.h"

#define WIDEST_NAME	40	/* longer ones push their text aside */

static const char *const notation_names[] = {
	[EVENT_TABLE] = "table",
	[EVENT_PFM] = "native",
	[EVENT_PERF] = "perf",
	[EVENT_RAW] = "raw",
	[EVENT_DERIVED] = "derived",
};

struct entry {
	enum event_notation notation;
	char *name;
	char *text;
	const struct event_derived *derived;
	bool has_attr;
	struct event_attr attr;
};

struct list {
	const char *pattern;
	const char *pmu;
	bool json;
	bool blind;		/* what can be counted cannot be tried */
	struct entry *entries;
	size_t nr;
	size_t size;
};

/* ---- what this machine can count */

/* Where perf_event_open(2) has config3 and config4, which older headers lack. */
#define WORD_CONFIG3	16
#define WORD_CONFIG4	17

static int open_event(const struct event_attr *e, bool exclude_kernel)
{
	union {
		struct perf_event_attr attr;
		uint64_t words[WORD_CONFIG4 + 1];
	} u = { .attr = {
		.type = e->type,
		/* an older kernel takes it where what it lacks is 0 */
		.size = sizeof(u),
		.config = e->config,
		.config1 = e->config1,
		.config2 = e->config2,
		.disabled = 1,
		.exclude_user = e->exclude_user && !exclude_kernel,
		.exclude_kernel = e->exclude_kernel || exclude_kernel,
		.exclude_hv = e->exclude_hv,
		.exclude_idle = e->exclude_idle,
		.exclude_host = e->exclude_host,
		.exclude_guest = e->exclude_guest,
	} };
	int fd;

	u.words[WORD_CONFIG3] = e->config3;
	u.words[WORD_CONFIG4] = e->config4;
	fd = syscall(SYS_perf_event_open, &u.attr, 0, -1, -1,
		     PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool is_refusal(int err)
{
	return err == EACCES || err == EPERM;
}

/*
 * An errno that does not speak of the event, as when there are no file
 * descriptors, leaves open whether it can be counted.
 */
static bool can_count(struct list *l, const struct event_attr *attr)
{
	int err;

	if (l->pmu || l->blind)
		return true;
	err = open_event(attr, false);
	/* who may not look into the kernel may still learn of the hardware */
	if (is_refusal(err))
		err = open_event(attr, true);
	/* E2BIG: the kernel has no such config */
	if (err == ENOENT || err == EINVAL || err == EOPNOTSUPP ||
	    err == ENODEV || err == E2BIG)
		return false;
	if (err) {
		l->blind = true;
		shown_line(stderr, "stapwatch list: perf_event_open: %s; what this machine can count is not known",
			   strerror(err));
	}
	return true;
}

static bool can_count_name(struct list *l, const struct event_name *e)
{
	const struct event_attr attr = event_table_attr(e);

	return event_table_is_tsc(e) || can_count(l, &attr);
}

static bool can_count_derived(struct list *l, const struct event_derived *d)
{
	const struct event_name *n, *m;

	n = event_table_find(d->numerator, strlen(d->numerator));
	m = event_table_find(d->denominator, strlen(d->denominator));
	return n && m && can_count_name(l, n) && can_count_name(l, m);
}

/* ---- the entries */

static bool contains(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; *text; text++)
		if (!strncasecmp(text, part, len))
			return true;
	return !len;
}

static bool matches(const struct list *l, const char *name, const char *text)
{
	if (!l->pattern || !strcmp(l->pattern, name))
		return true;
	if (strpbrk(l->pattern, "*?["))
		return !fnmatch(l->pattern, name, FNM_CASEFOLD);
	return contains(name, l->pattern) || contains(text, l->pattern);
}

/* Descriptions of others' may have line breaks; ours to print is one line. */
static char *one_line(const char *text)
{
	struct buf out = { 0 };
	bool gap = false;

	for (; *text; text++) {
		if ((unsigned char)*text <= ' ' || *text == 0x7f) {
			gap = true;
			continue;
		}
		if (gap && out.len)
			buf_puts(&out, " ");
		gap = false;
		buf_add(&out, text, 1);
	}
	return buf_take(&out);
}

static struct entry *add(struct list *l, enum event_notation notation,
			 const char *name, const char *text)
{
	struct entry *e;

	if (l->nr == l->size) {
		l->size = l->size ? l->size * 2 : 64;
		l->entries = xrealloc(l->entries,
				      l->size * sizeof(*l->entries));
	}
	e = &l->entries[l->nr++];
	*e = (struct entry) {
		.notation = notation,
		.name = xstrdup(name),
		.text = one_line(text),
	};
	return e;
}

static void add_attr(struct list *l, enum event_notation notation,
		     const char *name, const char *text,
		     const struct event_attr *attr)
{
	struct entry *e = add(l, notation, name, text);

	e->has_attr = attr;
	if (attr)
		e->attr = *attr;
}

static void add_table(struct list *l)
{
	const struct event_name *e;
	struct event_attr attr;
	size_t i;

	for (i = 0; (e = event_table_get(i)); i++) {
		if (!matches(l, e->name, e->text) || !can_count_name(l, e))
			continue;
		attr = event_table_attr(e);
		add_attr(l, EVENT_TABLE, e->name, e->text, &attr);
	}
}

static char *formula(const struct event_derived *d)
{
	struct buf out = { 0 };

	buf_printf(&out, "%u * %s / %s", d->scale, d->numerator,
		   d->denominator);
	return buf_take(&out);
}

static void add_one_derived(struct list *l, const struct event_derived *d)
{
	struct buf text = { 0 };
	char *how = formula(d);

	buf_printf(&text, "%s = %s", d->text, how);
	if (matches(l, d->name, text.s) && can_count_derived(l, d))
		add(l, EVENT_DERIVED, d->name, text.s)->derived = d;
	free(text.s);
	free(how);
}

static void add_derived(struct list *l)
{
	const struct event_derived *d;
	size_t i;

	for (i = 0; (d = event_derived_get(i)); i++)
		add_one_derived(l, d);
}

static void add_sysfs(void *arg, const char *name, const char *terms)
{
	struct list *l = arg;
	struct buf text = { 0 };
	struct event ev;
	char why[64];

	buf_printf(&text, "the kernel's name for %s", terms);
	if (matches(l, name, text.s) &&
	    !event_resolve(name, NULL, &ev, why, sizeof(why))) {
		add_attr(l, EVENT_PERF, name, text.s, &ev.attr);
		event_free(&ev);
	}
	free(text.s);
}

static void add_pfm(void *arg, const char *name, const char *text,
		    const struct event_attr *attr)
{
	struct list *l = arg;

	if (matches(l, name, text))
		add_attr(l, EVENT_PFM, name, text, attr);
}

/*
 * Names that no list could hold: cpu/event=0x3c/, cycles:u.  Returns the exit
 * status.
 */
static int add_named(struct list *l)
{
	struct event ev;
	char why[512];

	if (event_resolve(l->pattern, l->pmu, &ev, why, sizeof(why))) {
		shown_line(stderr, "stapwatch list: nothing matches: %s", why);
		return 1;
	}
	if (ev.derived ? !can_count_derived(l, ev.derived) :
	    !can_count(l, &ev.attr)) {
		shown_line(stderr, "stapwatch list: %s is known, but this machine cannot count it",
			   ev.name);
		event_free(&ev);
		return 1;
	}
	add_attr(l, ev.notation, ev.name, ev.text ? ev.text : "", &ev.attr);
	event_free(&ev);
	return 0;
}

/* ---- what is printed */

static void put_lines(const struct list *l, struct buf *out)
{
	struct buf name = { 0 };
	const struct entry *e;
	size_t i;
	int width = 0, w;

	for (i = 0; i < l->nr; i++) {
		name.len = 0;
		shown_text(&name, l->entries[i].name);
		w = name.len ? shown_width(name.s) : 0;
		if (w <= WIDEST_NAME && w > width)
			width = w;
	}
	for (i = 0; i < l->nr; i++) {
		e = &l->entries[i];
		name.len = 0;
		shown_text(&name, e->name);
		shown_pad(out, name.len ? name.s : "", *e->text ? -width : 0);
		if (*e->text)
			buf_puts(out, "  ");
		shown_text(out, e->text);
		buf_puts(out, "\n");
	}
	free(name.s);
}

static void put_attr(struct json *j, const struct event_attr *a)
{
	json_uint(j, "type", a->type);
	json_uint(j, "config", a->config);
	json_uint(j, "config1", a->config1);
	json_uint(j, "config2", a->config2);
	json_uint(j, "config3", a->config3);
	json_uint(j, "config4", a->config4);
	json_bool(j, "exclude_user", a->exclude_user);
	json_bool(j, "exclude_kernel", a->exclude_kernel);
	json_bool(j, "exclude_hv", a->exclude_hv);
	json_bool(j, "exclude_idle", a->exclude_idle);
	json_bool(j, "exclude_host", a->exclude_host);
	json_bool(j, "exclude_guest", a->exclude_guest);
	json_uint(j, "precise_ip", a->precise_ip);
	json_uint(j, "sample_type", a->sample_type);
}

static void put_derived(struct json *j, const struct event_derived *d)
{
	json_string(j, "numerator", d->numerator);
	json_string(j, "denominator", d->denominator);
	json_uint(j, "scale", d->scale);
}

static void put_entry(struct json *j, const struct entry *e)
{
	json_document(j);
	json_string(j, "event", e->name);
	json_string(j, "notation", notation_names[e->notation]);
	json_string(j, "text", e->text);
	if (e->has_attr) {
		put_attr(j, &e->attr);
	} else {
		json_null(j, "type");
		json_null(j, "config");
	}
	if (e->derived)
		put_derived(j, e->derived);
	json_end_object(j);
}

static void put_json(const struct list *l, struct buf *out)
{
	struct json j = { .out = out };
	size_t i;

	json_array(&j, NULL);
	for (i = 0; i < l->nr; i++) {
		json_break(&j);
		put_entry(&j, &l->entries[i]);
	}
	json_line(&j);
	json_end_array(&j);
	json_line(&j);
}

static int write_out(const struct buf *out)
{
	fwrite(out->s, 1, out->len, stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	shown_line(stderr, "stapwatch list: cannot write: %s", strerror(errno));
	return 1;
}

/* ---- the command */

enum {
	OPTION_JSON = 256,
	OPTION_PMU,
};

static int read_options(struct list *l, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "pmu", required_argument, NULL, OPTION_PMU },
		{ NULL, 0, NULL, 0 },
	};
	struct cmd_line line = {
		.letters = ":",
		.names = options,
		.argc = argc,
		.argv = argv,
	};
	struct buf said = { 0 };
	int c;

	while ((c = cmd_line_next(&line)) != CMD_LINE_END) {
		switch (c) {
		case OPTION_JSON:
			l->json = true;
			break;
		case OPTION_PMU:
			l->pmu = optarg;
			break;
		default:
			return -1;
		}
	}
	if (argc - optind > 1)
		return cmd_line_say("list", "one PATTERN is enough",
				    argv[optind + 1]);
	l->pattern = argv[optind];
	if (l->pmu && event_pfm_known(l->pmu, &said)) {
		shown_line(stderr, "stapwatch list: %s", said.s);
		free(said.s);
		return -1;
	}
	return 0;
}

static int list_all(struct list *l)
{
	struct buf out = { 0 };
	int status;

	add_table(l);
	add_derived(l);
	if (!l->pmu)
		event_sysfs_each(add_sysfs, l);
	event_pfm_each(l->pmu, add_pfm, l);
	if (!l->nr && l->pattern && add_named(l))
		return 1;
	if (!l->nr) {
		shown_line(stderr, "stapwatch list: this machine counts nothing");
		return 1;
	}
	if (l->json)
		put_json(l, &out);
	else
		put_lines(l, &out);
	status = write_out(&out);
	free(out.s);
	return status;
}

int cmd_list(int argc, char **argv)
{
	struct list l = { .pattern = NULL };
	size_t i;
	int rc;

	if (read_options(&l, argc, argv))
		return 1;
	rc = list_all(&l);
	for (i = 0; i < l.nr; i++) {
		free(l.entries[i].name);
		free(l.entries[i].text);
	}
	free(l.entries);
	return rc;
}
