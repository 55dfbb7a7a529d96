/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf's notation for the events of a PMU: cpu/event=0x3c,umask=0x0/u.  Where
 * a term's bits go, the kernel says in sysfs; for the processor's own PMUs it
 * is known here too, for scripts that are made for another machine, or on one
 * that has no PMU.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event_notation.h"

#define MAX_FILE	4096	/* as long as sysfs lets a file be */
#define NR_CONFIGS	5	/* config, and config1 to config4 */

struct format {
	const char *name;
	const char *bits;	/* as in sysfs: "config:0-7,32-35" */
};

/* what perf has for any PMU */
static const struct format any_formats[] = {
	{ "config", "config:0-63" },
	{ "config1", "config1:0-63" },
	{ "config2", "config2:0-63" },
	{ "config3", "config3:0-63" },
	{ "config4", "config4:0-63" },
	{ NULL, NULL },
};

static const struct format x86_formats[] = {
	{ "event", "config:0-7" },
	{ "umask", "config:8-15" },
	{ "edge", "config:18" },
	{ "pc", "config:19" },
	{ "any", "config:21" },
	{ "inv", "config:23" },
	{ "cmask", "config:24-31" },
	{ "in_tx", "config:32" },
	{ "in_tx_cp", "config:33" },
	{ "ldlat", "config1:0-15" },
	{ "offcore_rsp", "config1:0-63" },
	{ "frontend", "config1:0-23" },
	{ NULL, NULL },
};

static const struct format armv8_formats[] = {
	{ "event", "config:0-15" },
	{ NULL, NULL },
};

struct pmu {
	char *name;
	uint32_t type;
	const struct format *formats;	/* NULL: they are in sysfs */
};

/* What is known of an event while its terms are read. */
struct reading {
	const struct pmu *pmu;
	uint64_t config[NR_CONFIGS];
	bool load_latency;
	bool in_alias;
	struct buf *why;
};

static const char *root = "/sys/bus/event_source/devices";

void event_sysfs_root(const char *dir)
{
	root = dir;
}

/* A file's text without its newline, to be freed; NULL if it has none. */
static char *read_text(const char *pmu, const char *dir, const char *file)
{
	struct buf path = { 0 };
	char text[MAX_FILE];
	ssize_t len;
	int fd;

	buf_printf(&path, "%s/%s/%s%s", root, pmu, dir, file);
	fd = open(path.s, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path.s);
	if (fd < 0)
		return NULL;
	len = read(fd, text, sizeof(text));
	close(fd);
	if (len <= 0 || memchr(text, '\0', len))
		return NULL;
	while (len && text[len - 1] == '\n')
		len--;
	return xstrndup(text, len);
}

/* Names that become part of a path, so nothing that leads elsewhere. */
static bool is_name(const char *s, size_t len)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t i;

	for (i = 0; i < len; i++)
		if (!strchr(first, s[i]) &&
		    (!i || (s[i] != '-' && s[i] != '.')))
			return false;
	return len > 0;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The entries of one of a PMU's directories, or of the root, sorted. */
static int scan(const char *pmu, const char *dir, struct dirent ***list)
{
	struct buf path = { 0 };
	int n;

	buf_printf(&path, "%s/%s/%s", root, pmu, dir);
	n = scandir(path.s, list, visible, alphasort);
	free(path.s);
	if (n >= 0)
		return n;
	*list = NULL;
	return 0;
}

static void offer_dir(struct suggest *s, const char *pmu, const char *dir)
{
	struct dirent **list;
	int n = scan(pmu, dir, &list), i;

	for (i = 0; i < n; i++) {
		suggest_offer(s, "", list[i]->d_name, 0);
		free(list[i]);
	}
	free(list);
}

static const struct format *known_formats(const char *name)
{
	static const char arm[] = "armv8_pmuv3";

	if (!strcmp(name, "cpu"))
		return x86_formats;
	if (!strncmp(name, arm, sizeof(arm) - 1))
		return armv8_formats;
	return NULL;
}

/* As perf tells a processor's PMU: by its name, or by its list of CPUs. */
static bool is_of_processor(const char *pmu)
{
	struct buf path = { 0 };
	bool is;

	if (!strcmp(pmu, "cpu") || !strcmp(pmu, "cpum_cf"))
		return true;
	buf_printf(&path, "%s/%s/cpus", root, pmu);
	is = !access(path.s, F_OK);
	free(path.s);
	return is;
}

/* Names those of this machine's processors; returns how many there are. */
static unsigned int put_processors(struct buf *b)
{
	unsigned int nr = 0;
	struct dirent **list;
	int n = scan("", "", &list), i;

	for (i = 0; i < n; i++) {
		if (is_of_processor(list[i]->d_name)) {
			buf_puts(b, nr++ ? ", " : "");
			event_quote(b, list[i]->d_name,
				    strlen(list[i]->d_name));
		}
		free(list[i]);
	}
	free(list);
	return nr;
}

/* The processor here has a PMU, but none of this name: its terms are others. */
static bool has_another(const struct pmu *p, struct buf *why)
{
	struct buf names = { 0 };
	unsigned int nr = put_processors(&names);

	if (nr) {
		buf_puts(why, "this machine has no PMU ");
		event_quote(why, p->name, strlen(p->name));
		buf_printf(why, "; of its processor %s %s",
			   nr == 1 ? "is" : "are", names.s);
	}
	free(names.s);
	return nr;
}

/* OTHER: the script is for a machine of which sysfs here says nothing. */
static int find_pmu(struct pmu *p, bool other, struct buf *why)
{
	char *type = other ? NULL : read_text(p->name, "", "type");
	struct suggest s;
	uint64_t value;
	bool ok;

	if (type) {
		ok = event_number(type, strlen(type), 10, &value) &&
		     value <= UINT32_MAX;
		free(type);
		if (ok) {
			p->type = value;
			return 0;
		}
	}
	p->formats = known_formats(p->name);
	if (p->formats) {
		if (!other && has_another(p, why))
			return -1;
		p->type = PERF_TYPE_RAW;
		return 0;
	}
	buf_puts(why, other ? "the terms of PMU " : "this machine has no PMU ");
	event_quote(why, p->name, strlen(p->name));
	if (other) {
		buf_puts(why, " are known only on a machine that has it");
		return -1;
	}
	suggest_begin(&s, p->name, strlen(p->name));
	offer_dir(&s, "", "");
	suggest_end(&s, why);
	return -1;
}

static const char *look_up(const struct format *f, const char *term)
{
	for (; f->name; f++)
		if (!strcmp(f->name, term))
			return f->bits;
	return NULL;
}

/* A format's bits; NULL if the PMU has no such term.  To be freed. */
static char *find_format(const struct pmu *p, const char *term)
{
	const char *bits = look_up(any_formats, term);

	if (!bits && !p->formats)
		return read_text(p->name, "format/", term);
	if (!bits)
		bits = look_up(p->formats, term);
	return bits ? xstrdup(bits) : NULL;
}

/* "0-7" or "18" at the front of the text; returns what follows, or NULL */
static const char *take_range(const char *s, unsigned int *low,
			      unsigned int *high)
{
	size_t len = strcspn(s, ",");
	size_t first = strcspn(s, "-,");
	uint64_t from, to;

	if (!event_number(s, first, 10, &from))
		return NULL;
	to = from;
	if (first < len &&
	    !event_number(s + first + 1, len - first - 1, 10, &to))
		return NULL;
	if (from > to || to > 63)
		return NULL;
	*low = from;
	*high = to;
	return s + len + (s[len] == ',');
}

/*
 * Put a value's bits where the format has them, the lowest ones first.
 * Returns how many bits there is room for, or -1 if the format is none.
 */
static int put_bits(const char *bits, uint64_t value, uint64_t *configs)
{
	static const char *const words[NR_CONFIGS] = {
		"config:", "config1:", "config2:", "config3:", "config4:"
	};
	uint64_t *to = NULL;
	unsigned int low, high, used = 0;
	size_t i;

	for (i = 0; i < NR_CONFIGS && !to; i++) {
		if (strncmp(bits, words[i], strlen(words[i])))
			continue;
		to = &configs[i];
		bits += strlen(words[i]);
	}
	if (!to || !*bits)
		return -1;
	while (*bits) {
		bits = take_range(bits, &low, &high);
		if (!bits)
			return -1;
		for (; low <= high; low++, used++) {
			*to &= ~(1ULL << low);
			if (used < 64)
				*to |= (value >> used & 1) << low;
		}
	}
	return used;
}

static int set_term(struct reading *r, const char *term, const char *bits,
		    uint64_t value)
{
	int room = put_bits(bits, value, r->config);

	if (room < 0) {
		buf_printf(r->why, "term \"%s\" of PMU \"%s\" has bits that an"
			   " event cannot set here: ", term, r->pmu->name);
		event_quote(r->why, bits, strlen(bits));
		return -1;
	}
	if (room < 64 && value >> room) {
		buf_printf(r->why, "%s=%#llx is too big: \"%s\" has %d bit%s",
			   term, (unsigned long long)value, term, room,
			   room == 1 ? "" : "s");
		return -1;
	}
	if (!strcmp(term, "ldlat"))
		r->load_latency = true;
	return 0;
}

static int unknown_term(struct reading *r, const char *term, size_t len)
{
	const struct format *f;
	struct suggest s;

	buf_printf(r->why, "PMU \"%s\" has no term ", r->pmu->name);
	event_quote(r->why, term, len);
	suggest_begin(&s, term, len);
	for (f = r->pmu->formats; f && f->name; f++)
		suggest_offer(&s, "", f->name, 0);
	if (!r->pmu->formats) {
		offer_dir(&s, r->pmu->name, "format");
		offer_dir(&s, r->pmu->name, "events");
	}
	suggest_end(&s, r->why);
	return -1;
}

static int read_terms(struct reading *r, const char *terms);

/* A name that sysfs has for several terms; those are terms of their own. */
static int read_alias(struct reading *r, const char *name, const char *terms)
{
	int rc;

	if (strchr(terms, '?')) {
		buf_printf(r->why, "\"%s\" of PMU \"%s\" wants values; write ",
			   name, r->pmu->name);
		event_quote(r->why, terms, strlen(terms));
		buf_puts(r->why, " with a number for each ?");
		return -1;
	}
	r->in_alias = true;
	rc = read_terms(r, terms);
	r->in_alias = false;
	return rc;
}

static int read_format(struct reading *r, const char *term, const char *value,
		       size_t len)
{
	char *bits = find_format(r->pmu, term);
	uint64_t number = 1;	/* of a term that stands alone */
	int rc;

	if (!bits)
		return unknown_term(r, term, strlen(term));
	if (value && !event_number(value, len, 0, &number)) {
		buf_printf(r->why, "%s=", term);
		event_quote(r->why, value, len);
		buf_puts(r->why, " is not a number of 64 bits");
		rc = -1;
	} else {
		rc = set_term(r, term, bits, number);
	}
	free(bits);
	return rc;
}

static int read_named(struct reading *r, const char *name, const char *value,
		      size_t len)
{
	char *alias = NULL;
	int rc;

	if (!strcmp(name, "name") && value)
		return 0;
	if (!strcmp(name, "period") || !strcmp(name, "freq")) {
		buf_printf(r->why, "%s= is not part of an event;"
			   " pmu_profile(\"EVENT:PERIOD\") takes it", name);
		return -1;
	}
	if (!value && !r->in_alias && !r->pmu->formats)
		alias = read_text(r->pmu->name, "events/", name);
	if (!alias)
		return read_format(r, name, value, len);
	rc = read_alias(r, name, alias);
	free(alias);
	return rc;
}

static int read_term(struct reading *r, const char *term, size_t len)
{
	const char *equals = memchr(term, '=', len);
	size_t name_len = equals ? (size_t)(equals - term) : len;
	char *name;
	int rc;

	if (!is_name(term, name_len))
		return unknown_term(r, term, name_len);
	name = xstrndup(term, name_len);
	rc = read_named(r, name, equals ? equals + 1 : NULL,
			equals ? len - name_len - 1 : 0);
	free(name);
	return rc;
}

static int read_terms(struct reading *r, const char *terms)
{
	size_t len;

	for (;;) {
		len = strcspn(terms, ",");
		if (read_term(r, terms, len))
			return -1;
		if (!terms[len])
			return 0;
		terms += len + 1;
	}
}

/*
 * On a processor's PMU perf's names for its events are those of any machine,
 * unless the kernel has something else for them.
 */
static bool is_generic(const struct pmu *p, const char *terms)
{
	char *alias;

	if (!known_formats(p->name) || !is_name(terms, strlen(terms)))
		return false;
	alias = p->formats ? NULL : read_text(p->name, "events/", terms);
	free(alias);
	return !alias;
}

static int read_event(const struct pmu *p, const char *terms,
		      struct event_attr *attr, struct buf *why)
{
	struct reading r = { .pmu = p, .why = why };

	if (is_generic(p, terms) &&
	    event_perf_name(terms, strlen(terms), attr, why) == EVENT_FOUND)
		return 0;
	if (read_terms(&r, terms))
		return -1;
	attr->type = p->type;
	attr->config = r.config[0];
	attr->config1 = r.config[1];
	attr->config2 = r.config[2];
	attr->config3 = r.config[3];
	attr->config4 = r.config[4];
	if (r.load_latency)
		attr->sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
				    PERF_SAMPLE_DATA_SRC;
	return 0;
}

enum event_found event_sysfs(const char *text, const char *pmu,
			     struct event *ev, struct buf *why)
{
	size_t len = strcspn(text, "/");
	const char *terms = text + len + 1;
	struct pmu p = { .name = NULL };
	const char *mods;
	char *copy;
	int rc;

	if (!text[len] || !is_name(text, len))
		return EVENT_NOT_MINE;
	mods = strchr(terms, '/');
	if (!mods) {
		event_quote(why, text, strlen(text));
		buf_puts(why, " lacks the / that ends its terms");
		return EVENT_WRONG;
	}
	p.name = xstrndup(text, len);
	copy = xstrndup(terms, mods - terms);
	mods++;
	rc = find_pmu(&p, pmu != NULL, why);
	if (!rc)
		rc = read_event(&p, copy, &ev->attr, why);
	/* the colon may stand there or not */
	if (!rc && *mods)
		rc = event_modifiers(mods + (*mods == ':'), text, mods - text,
				     &ev->attr, why);
	free(copy);
	free(p.name);
	ev->notation = EVENT_PERF;
	return rc ? EVENT_WRONG : EVENT_FOUND;
}

static void each_of_pmu(const char *pmu,
			void (*call)(void *arg, const char *name,
				     const char *terms), void *arg)
{
	struct dirent **list;
	int n = scan(pmu, "events", &list), i;
	struct buf name = { 0 };
	char *terms = NULL;

	for (i = 0; i < n; i++) {
		/* NAME.scale and the like tell of NAME */
		if (!strchr(list[i]->d_name, '.'))
			terms = read_text(pmu, "events/", list[i]->d_name);
		if (terms && !strchr(terms, '?')) {
			buf_printf(&name, "%s/%s/", pmu, list[i]->d_name);
			call(arg, name.s, terms);
			name.len = 0;
		}
		free(terms);
		terms = NULL;
		free(list[i]);
	}
	free(list);
	free(name.s);
}

void event_sysfs_each(void (*call)(void *arg, const char *name,
				   const char *terms), void *arg)
{
	struct dirent **list;
	int n = scan("", "", &list), i;

	for (i = 0; i < n; i++) {
		each_of_pmu(list[i]->d_name, call, arg);
		free(list[i]);
	}
	free(list);
}
