/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch list: what can be counted, by whatever name, with what it means.
 */
#define _GNU_SOURCE	/* FNM_CASEFOLD */
#include "list.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event_notation.h"
#include "event_table.h"

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

static int open_event(const struct event_attr *e, bool exclude_kernel)
{
	struct perf_event_attr attr = {
		.type = e->type,
		.size = sizeof(attr),
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
	};
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
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
	if (err == ENOENT || err == EINVAL || err == EOPNOTSUPP ||
	    err == ENODEV)
		return false;
	if (err) {
		l->blind = true;
		fprintf(stderr, "stapwatch list: perf_event_open: %s; what this"
			" machine can count is not known\n", strerror(err));
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
		fputs("stapwatch list: nothing matches: ", stderr);
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	if (ev.derived ? !can_count_derived(l, ev.derived) :
	    !can_count(l, &ev.attr)) {
		fprintf(stderr, "stapwatch list: %s is known, but this machine"
			" cannot count it\n", ev.name);
		event_free(&ev);
		return 1;
	}
	add_attr(l, ev.notation, ev.name, ev.text ? ev.text : "", &ev.attr);
	event_free(&ev);
	return 0;
}

/* ---- what is printed */

static void print_lines(const struct list *l)
{
	const struct entry *e;
	size_t i, len;
	int width = 0;

	for (i = 0; i < l->nr; i++) {
		len = strlen(l->entries[i].name);
		if (len <= WIDEST_NAME && (int)len > width)
			width = len;
	}
	for (i = 0; i < l->nr; i++) {
		e = &l->entries[i];
		if (*e->text)
			printf("%-*s  %s\n", width, e->name, e->text);
		else
			printf("%s\n", e->name);
	}
}

static void print_string(const char *key, const char *s)
{
	printf("\"%s\": \"", key);
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_flag(const char *key, bool value)
{
	printf(", \"%s\": %s", key, value ? "true" : "false");
}

static void print_attr(const struct event_attr *a)
{
	printf(", \"type\": %u, \"config\": %llu, \"config1\": %llu,"
	       " \"config2\": %llu", a->type, (unsigned long long)a->config,
	       (unsigned long long)a->config1, (unsigned long long)a->config2);
	print_flag("exclude_user", a->exclude_user);
	print_flag("exclude_kernel", a->exclude_kernel);
	print_flag("exclude_hv", a->exclude_hv);
	print_flag("exclude_idle", a->exclude_idle);
	print_flag("exclude_host", a->exclude_host);
	print_flag("exclude_guest", a->exclude_guest);
	printf(", \"precise_ip\": %u, \"sample_type\": %llu", a->precise_ip,
	       (unsigned long long)a->sample_type);
}

static void print_derived(const struct event_derived *d)
{
	fputs(", ", stdout);
	print_string("numerator", d->numerator);
	fputs(", ", stdout);
	print_string("denominator", d->denominator);
	printf(", \"scale\": %u", d->scale);
}

static void print_json(const struct list *l)
{
	const struct entry *e;
	size_t i;

	putchar('[');
	for (i = 0; i < l->nr; i++) {
		e = &l->entries[i];
		fputs(i ? ",\n{" : "\n{", stdout);
		print_string("name", e->name);
		fputs(", ", stdout);
		print_string("notation", notation_names[e->notation]);
		fputs(", ", stdout);
		print_string("text", e->text);
		if (e->has_attr)
			print_attr(&e->attr);
		else
			fputs(", \"type\": null, \"config\": null", stdout);
		if (e->derived)
			print_derived(e->derived);
		putchar('}');
	}
	fputs("\n]\n", stdout);
}

static int finish_output(void)
{
	int failed = ferror(stdout);

	if (!fflush(stdout) && !failed)
		return 0;
	fprintf(stderr, "stapwatch list: cannot write: %s\n", strerror(errno));
	return 1;
}

/* ---- the command */

/* no characters, so that optopt tells a short option from these */
enum {
	OPTION_JSON = 256,
	OPTION_PMU,
};

static void say_option(char **argv, bool no_value)
{
	char letter[] = { '-', optopt, '\0' };
	const char *option = letter;
	struct buf said = { 0 };

	if (!optopt || optopt >= OPTION_JSON)
		option = argv[optind - 1];
	event_quote(&said, option, strlen(option));
	fprintf(stderr, "stapwatch list: option %s %s; there are --json and"
		" --pmu NAME\n", said.s,
		no_value ? "wants a value" : "is not known");
	free(said.s);
}

static int read_options(struct list *l, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "pmu", required_argument, NULL, OPTION_PMU },
		{ NULL, 0, NULL, 0 },
	};
	struct buf said = { 0 };
	int c;

	optind = 0;	/* the command line's own options were read before */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= 0) {
		switch (c) {
		case OPTION_JSON:
			l->json = true;
			break;
		case OPTION_PMU:
			l->pmu = optarg;
			break;
		default:
			say_option(argv, c == ':');
			return -1;
		}
	}
	if (argc - optind > 1) {
		event_quote(&said, argv[optind + 1], strlen(argv[optind + 1]));
		fprintf(stderr, "stapwatch list: one PATTERN is enough; %s is"
			" one more\n", said.s);
		free(said.s);
		return -1;
	}
	l->pattern = argv[optind];
	if (l->pmu && event_pfm_known(l->pmu, &said)) {
		fprintf(stderr, "stapwatch list: %s\n", said.s);
		free(said.s);
		return -1;
	}
	return 0;
}

static int list_all(struct list *l)
{
	add_table(l);
	add_derived(l);
	if (!l->pmu)
		event_sysfs_each(add_sysfs, l);
	event_pfm_each(l->pmu, add_pfm, l);
	if (!l->nr && l->pattern && add_named(l))
		return 1;
	if (!l->nr) {
		fputs("stapwatch list: this machine counts nothing\n", stderr);
		return 1;
	}
	if (l->json)
		print_json(l);
	else
		print_lines(l);
	return finish_output();
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
