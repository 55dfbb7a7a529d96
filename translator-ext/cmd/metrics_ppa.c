/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accounting for the page of metrics; metrics_ppa.h says what is wanted of it. */
#include "cmd/metrics_ppa.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cmd/maps.h"
#include "cmd/ppa_json.h"

#define ROWS 20		/* the busiest threads; more are not read */
#define SECOND 900	/* ms; who asks each second may come a bit early */
#define OLD 10000	/* ms; before that nobody asked */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* The directory beside a map's: NAME/stapwatch/map has NAME/ppa. */
static char *beside(const char *map)
{
	static const char tail[] = "/stapwatch/map";
	const size_t len = strlen(map);
	struct buf path = { 0 };

	if (len < strlen(tail) || strcmp(map + len - strlen(tail), tail))
		return NULL;
	buf_add(&path, map, len - strlen(tail));
	buf_puts(&path, "/ppa");
	return buf_take(&path);
}

/* The first that has files; NULL if none does. */
static char *find(char *const *maps, int nr)
{
	char *map, *dir = NULL;
	int i;

	if (!nr)
		return ppa_files_any(false);
	for (i = 0; i < nr && !dir; i++) {
		map = maps_path(maps[i]);
		dir = beside(map);
		free(map);
		if (dir && access(dir, F_OK)) {
			free(dir);
			dir = NULL;
		}
	}
	return dir;
}

static void forget(struct metrics_ppa *p)
{
	ppa_interval_free(&p->in);
	p->in = (struct ppa_interval) { 0 };
	p->begun = false;
	p->json.len = 0;
}

/* A look at the files, and the interval since the one before. */
static void look(struct metrics_ppa *p, const char *dir, int64_t ms)
{
	struct ppa_snapshot new = { 0 };
	struct buf why = { 0 };
	const bool ok = ppa_snapshot_read(dir, &new, &why);

	free(why.s);
	/* another session's clock may stand before ours */
	if (!ok || (p->begun && (ms - p->looked > OLD ||
				 new.now <= p->in.now.now)))
		forget(p);
	if (!ok)
		return;
	ppa_snapshot_free(&p->in.before);
	p->in.before = p->in.now;
	p->in.now = new;
	p->looked = ms;
	if (!p->begun) {
		p->begun = true;
		return;
	}
	p->in.seconds = (double)(new.now - p->in.before.now) / new.hz;
	ppa_interval_rows(&p->in, 0);
	if (p->in.nr_rows > ROWS)
		p->in.nr_rows = ROWS;
	p->json.len = 0;
	ppa_json(&p->in, PPA_THREADS, 0, &p->json);
	/* it goes into another object, in one line */
	while (p->json.len && p->json.s[p->json.len - 1] == '\n')
		p->json.s[--p->json.len] = '\0';
}

void metrics_ppa(struct metrics_ppa *p, char *const *maps, int nr,
		 struct buf *out)
{
	const int64_t ms = now_ms();
	struct json j = { .out = out };
	char *dir;

	if (!p->begun || ms - p->looked >= SECOND) {
		dir = find(maps, nr);
		if (dir)
			look(p, dir, ms);
		else
			forget(p);
		free(dir);
	}
	json_document(&j);
	json_text(&j, "interval", p->json.len ? p->json.s : "null");
	json_end_document(&j);
}

void metrics_ppa_free(struct metrics_ppa *p)
{
	forget(p);
	free(p->json.s);
}
