/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of maps; metrics_collect.h says what is wanted of it. */
#define _GNU_SOURCE	/* tdestroy() */
#include "cmd/metrics_collect.h"

#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/maps.h"
#include "cmd/metrics_json.h"
#include "cmd/metrics_name.h"

#define NO_SCRIPTS SIZE_MAX	/* the family of what is told of maps */

/* A name that lines of a family begin with, so that no other's may. */
struct claim {
	char *name;
	size_t family;
};

static void skip(struct metrics *m, const char *name, const char *why,
		 struct metrics_log *log)
{
	struct buf out = { 0 };

	shown_name(&out, name);
	metrics_log_say(log, "%s: skipped: %s", out.s ?: "", why);
	free(out.s);
	m->skipped++;
}

static int by_claim(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_string(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void free_claim(void *p)
{
	struct claim *c = p;

	free(c->name);
	free(c);
}

static void *must(void *node)
{
	if (!node) {
		fputs("stapwatch: out of memory\n", stderr);
		exit(1);
	}
	return node;
}

static const char *const suffixes[2][5] = {
	[STAPWATCH_COUNTER] = { "", "_total", "_created" },
	[STAPWATCH_HIST] = { "", "_bucket", "_count", "_sum", "_created" },
};

/* Whether any line of a family NAME could be taken for another family's. */
static bool clashes(struct metrics *m, const char *name,
		    enum stapwatch_kind kind)
{
	struct claim key;
	struct buf full = { 0 };
	bool found = false;
	size_t i;

	for (i = 0; i < 5 && suffixes[kind][i] && !found; i++) {
		full.len = 0;
		buf_printf(&full, "%s%s", name, suffixes[kind][i]);
		key.name = full.s;
		found = tfind(&key, &m->claims, by_claim);
	}
	free(full.s);
	return found;
}

static void claim_one(struct metrics *m, const char *name, const char *suffix,
		      size_t family)
{
	struct claim *c = xmalloc(sizeof(*c));
	struct buf full = { 0 };

	buf_printf(&full, "%s%s", name, suffix);
	*c = (struct claim) { buf_take(&full), family };
	must(tsearch(c, &m->claims, by_claim));
}

static void claim(struct metrics *m, size_t family)
{
	const struct metrics_family *f = &m->families[family];
	size_t i;

	for (i = 0; i < 5 && suffixes[f->kind][i]; i++)
		claim_one(m, f->name, suffixes[f->kind][i], family);
}

/* Returns -1 if the name is taken by something else. */
static int find_family(struct metrics *m, const struct metrics_name *p,
		       enum stapwatch_kind kind, size_t *family)
{
	const struct claim key = { .name = p->family };
	struct claim **found = tfind(&key, &m->claims, by_claim);
	struct metrics_family *f;

	if (found && (*found)->family == NO_SCRIPTS)
		return -1;
	if (found) {
		f = &m->families[(*found)->family];
		*family = (*found)->family;
		return strcmp(f->name, p->family) || f->kind != kind ? -1 : 0;
	}
	if (clashes(m, p->family, kind))
		return -1;
	m->families = xrealloc(m->families,
			       (m->nr_families + 1) * sizeof(*m->families));
	m->families[m->nr_families] = (struct metrics_family) {
		xstrdup(p->family), xstrdup(p->shown), kind,
	};
	*family = m->nr_families++;
	claim(m, *family);
	return 0;
}

/* Returns whether it is the first of this family and these labels. */
static bool is_first(struct metrics *m, const struct metrics_name *p,
		     const char *labels)
{
	struct buf key = { 0 };
	char **node, *s;

	buf_printf(&key, "%s{%s}", p->family, labels);
	s = buf_take(&key);
	node = must(tsearch(s, &m->keys, by_string));
	if (*node == s)
		return true;
	free(s);
	return false;
}

static int add_instance(struct metrics *m, const struct stapwatch *sw,
			const struct stapwatch_instance *in, int64_t value,
			struct metrics_log *log)
{
	struct metric new = { .value = value };
	const char *why = NULL;
	struct metrics_name p;

	if (in->kind == STAPWATCH_HIST) {
		new.hist = xmalloc(sizeof(*new.hist));
		if (stapwatch_read_hist(sw, in->number, new.hist)) {
			free(new.hist);
			return -1;
		}
	}
	metrics_name_parse(in->name, in->kind, &p);
	new.labels = metrics_name_labels(&p);
	if (!new.hist && new.value < 0)
		why = "negative, which no counter of OpenMetrics is";
	else if (find_family(m, &p, in->kind, &new.family))
		why = "another kind of metric has this name";
	else if (!is_first(m, &p, new.labels))
		why = "another one has this name and these labels";
	metrics_name_free(&p);
	if (why) {
		skip(m, in->name, why, log);
		free(new.labels);
		free(new.hist);
		return 0;
	}
	/* doubled, as there may be many */
	if (!(m->nr & (m->nr - 1)))
		m->metrics = xrealloc(m->metrics, (m->nr ? m->nr * 2 : 1) *
						  sizeof(*m->metrics));
	m->metrics[m->nr++] = new;
	return 0;
}

/* A map that is named twice has one line. */
static void add_up(struct metrics *m, const char *path, bool up)
{
	size_t i;

	for (i = 0; i < m->nr_maps; i++)
		if (!strcmp(m->maps[i].path, path))
			return;
	m->maps = xrealloc(m->maps, (m->nr_maps + 1) * sizeof(*m->maps));
	m->maps[m->nr_maps++] = (struct metrics_map) { xstrdup(path), up };
}

static int add_map(struct metrics *m, const char *path,
		   struct metrics_log *log)
{
	struct stapwatch *sw = stapwatch_open(path);
	const struct stapwatch_instance *in;
	int64_t *sums;
	int rc = -1;
	size_t i;

	if (sw) {
		sums = xmalloc(stapwatch_nr(sw) * sizeof(*sums));
		rc = stapwatch_read_all(sw, sums);
		for (i = 0; !rc && i < stapwatch_nr(sw); i++) {
			in = stapwatch_instance(sw, i);
			rc = add_instance(m, sw, in, sums[i], log);
		}
		free(sums);
	}
	if (rc)
		metrics_log_say(log, "%s: %s", path, stapwatch_error());
	stapwatch_close(sw);
	add_up(m, path, !rc);
	return rc;
}

static int by_family(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return strcmp(x->labels, y->labels);
}

static void metrics_free(struct metrics *m)
{
	size_t i;

	for (i = 0; i < m->nr; i++) {
		free(m->metrics[i].labels);
		free(m->metrics[i].hist);
	}
	for (i = 0; i < m->nr_families; i++) {
		free(m->families[i].name);
		free(m->families[i].shown);
	}
	for (i = 0; i < m->nr_maps; i++)
		free(m->maps[i].path);
	free(m->maps);
	free(m->metrics);
	free(m->families);
	tdestroy(m->claims, free_claim);
	tdestroy(m->keys, free);
}

int metrics_collect(struct buf *out, enum metrics_format format,
		    char *const *maps, int nr, struct metrics_log *log)
{
	struct map_paths all = { 0 };
	struct metrics m = { 0 };
	char *path;
	int rc = 0;
	size_t k;
	int i;

	metrics_log_begin(log);
	claim_one(&m, METRICS_MAP_UP, "", NO_SCRIPTS);
	for (i = 0; i < nr; i++) {
		path = maps_path(maps[i]);
		rc |= add_map(&m, path, log);
		free(path);
	}
	if (!nr)
		maps_all(&all);
	for (k = 0; k < all.nr; k++)
		rc |= add_map(&m, all.paths[k], log);
	if (m.skipped)
		metrics_log_say(log, "skipped in all: %zu", m.skipped);
	if (m.nr)
		qsort(m.metrics, m.nr, sizeof(*m.metrics), by_family);
	if (format == METRICS_HISTOGRAMS)
		metrics_json(out, &m);
	else
		metrics_text(out, &m, format);
	nr = m.nr_maps;
	maps_free(&all);
	metrics_free(&m);
	return rc ? -1 : nr;
}
