/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes by their cgroups; ppa_cgroup.h says what is wanted of it.
 *
 * The files of precise process accounting have cgroups' numbers; /proc has their paths,
 * of what runs.  What has ended meanwhile is where it was seen the last time, or in the
 * cgroup of its number, whose path is that of others in it or the file system's.
 */
#define _GNU_SOURCE	/* open_by_handle_at(), qsort_r() */
#include "cmd/ppa_cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/shown.h"
#include "cmd/cgroups.h"
#include "cmd/ppa_room.h"
#include "cmd/proc.h"

/* Where a process was seen. */
struct seen {
	uint32_t pid;
	uint64_t born;
	char *path;		/* NULL: nowhere */
};

static struct seen *last;
static size_t nr_last;

#define ENDED "[ended]"
#define UNKNOWN "?"

static char *line_of(const char *text, const char *prefix)
{
	const char *end;

	for (; *text; text = end + !!*end) {
		end = text + strcspn(text, "\n");
		if (!strncmp(text, prefix, strlen(prefix)))
			return xstrndup(text + strlen(prefix),
					end - text - strlen(prefix));
	}
	return NULL;
}

/* Lines are ID:CONTROLLERS:PATH; the hierarchy of version 2 has 0 and none. */
char *ppa_cgroup_of(const char *text)
{
	char *path = line_of(text, "0::"), *named;
	const char *old;

	/* a mixed hierarchy has all in its root, and services in an old one */
	if (path && strcmp(path, "/"))
		return path;
	old = strstr(text, ":name=systemd:");
	named = old ? line_of(old, ":name=systemd:") : NULL;
	if (!named)
		return path;
	free(path);
	return named;
}

static char *read_cgroup(uint32_t pid)
{
	char *file = proc_path_of(pid, "cgroup"), *path = NULL, some[512];
	FILE *f = fopen(file, "re");
	struct buf text = { 0 };

	free(file);
	if (!f)
		return NULL;
	while (fgets(some, sizeof(some), f))
		buf_puts(&text, some);
	fclose(f);
	if (text.s)
		path = ppa_cgroup_of(text.s);
	free(text.s);
	return path;
}

static int by_process(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->born > y->born) - (x->born < y->born);
}

/* Where a process is, or was the last time. */
static char *path_of(const struct ppa_process *p)
{
	const struct seen key = { .pid = p->pid, .born = p->born };
	const struct seen *s;
	char *path = p->threads ? read_cgroup(p->pid) : NULL;

	if (path)
		return path;
	s = nr_last ? bsearch(&key, last, nr_last, sizeof(*last), by_process)
		    : NULL;
	return s && s->path ? xstrdup(s->path) : NULL;
}

/* What a cgroup's number says. */
struct place {
	char *path;
	bool many;		/* one number has many in the root of version 2 */
	bool asked;		/* the file system, too */
};

/* All of an interval, each looked up once. */
struct places {
	struct intern numbers;
	struct place *all;
	size_t size;
	int root;		/* of the file system; -1: there is none */
	char mount[PATH_MAX];
};

static struct place *place_of(struct places *p, uint64_t cgroup)
{
	const uint32_t nr = intern(&p->numbers, &cgroup, sizeof(cgroup));

	p->all = array_room(p->all, &p->size, nr + 1, sizeof(*p->all));
	return &p->all[nr];
}

/* A path that somebody of this number has. */
static void take_place(struct places *p, uint64_t cgroup, const char *path)
{
	struct place *place = place_of(p, cgroup);

	if (!place->path)
		place->path = xstrdup(path);
	else if (strcmp(place->path, path))
		place->many = true;
}

/* The kernel's: a cgroup's number is its directory's handle. */
#define CGROUP_HANDLE 0xfe

static char *path_by_number(const struct places *p, uint64_t cgroup)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + sizeof(cgroup)];
	} handle = { .h.handle_bytes = sizeof(cgroup),
		     .h.handle_type = CGROUP_HANDLE };
	const size_t skip = strlen(p->mount);
	char name[64], path[PATH_MAX];
	ssize_t n;
	int fd;

	if (p->root < 0)
		return NULL;
	memcpy(handle.h.f_handle, &cgroup, sizeof(cgroup));
	fd = open_by_handle_at(p->root, &handle.h, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, path, sizeof(path) - 1);
	close(fd);
	if (n < 0 || (size_t)n < skip || memcmp(path, p->mount, skip))
		return NULL;
	path[n] = '\0';
	return xstrdup(path[skip] ? path + skip : "/");
}

static const char *path_of_ended(struct places *places,
				 const struct ppa_process *p)
{
	struct place *place;

	if (p->sum || !p->cgroup)
		return NULL;
	place = place_of(places, p->cgroup);
	if (!place->path && !place->asked)
		place->path = path_by_number(places, p->cgroup);
	place->asked = true;
	return place->many ? NULL : place->path;
}

static void places_free(struct places *p)
{
	uint32_t i;

	for (i = 0; i < p->numbers.nr; i++)
		free(p->all[i].path);
	free(p->all);
	intern_free(&p->numbers);
	if (p->root >= 0)
		close(p->root);
}

static void forget(void)
{
	size_t i;

	for (i = 0; i < nr_last; i++)
		free(last[i].path);
	free(last);
	last = NULL;
	nr_last = 0;
}

static int by_path(const void *a, const void *b)
{
	const struct ppa_cgroup *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct ppa_cgroup *x = a, *y = b;
	const enum ppa_sort by = *(enum ppa_sort *)sort;
	const uint64_t p = ppa_sort_parts(x->parts, by);
	const uint64_t q = ppa_sort_parts(y->parts, by);

	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(x->path, y->path);
}

static void add(struct ppa_cgroup *g, const struct ppa_cgroup *other)
{
	size_t i;

	g->processes += other->processes;
	g->threads += other->threads;
	g->ended += other->ended;
	g->life += other->life;
	for (i = 0; i < PPA_NR_PARTS; i++)
		g->parts[i] += other->parts[i];
}

/* Of those that have one path, one that has all. */
static size_t merge(struct ppa_cgroup *all, size_t nr)
{
	size_t i, k = 0;

	qsort(all, nr, sizeof(*all), by_path);
	for (i = 0; i < nr; i++) {
		if (!k || strcmp(all[k - 1].path, all[i].path)) {
			all[k++] = all[i];
			continue;
		}
		add(&all[k - 1], &all[i]);
		free(all[i].path);
	}
	return k;
}

static struct ppa_cgroup cgroup_of(const struct ppa_process *p,
				   const char *path)
{
	struct ppa_cgroup g = {
		.path = xstrdup(path),
		.processes = p->sum ? 0 : 1,
		.threads = p->threads,
		.ended = p->ended,
		.life = p->life,
	};

	memcpy(g.parts, p->parts, sizeof(g.parts));
	return g;
}

struct ppa_cgroup *ppa_cgroups(const struct ppa_interval *p, size_t *nr,
			       size_t *withheld)
{
	size_t nr_processes, i;
	struct ppa_process *processes = ppa_all_processes(p, &nr_processes,
							  withheld);
	struct ppa_cgroup *all = xmalloc((nr_processes + 1) * sizeof(*all));
	struct seen *now = xmalloc((nr_processes + 1) * sizeof(*now));
	struct places places = { 0 };

	places.root = cgroups_open(places.mount);
	for (i = 0; i < nr_processes; i++) {
		const struct ppa_process *one = &processes[i];

		now[i] = (struct seen) {
			one->pid, one->born, path_of(one),
		};
		if (now[i].path)
			take_place(&places, one->cgroup, now[i].path);
	}
	for (i = 0; i < nr_processes; i++) {
		const struct ppa_process *one = &processes[i];
		const char *path = NULL;

		if (!now[i].path)
			path = path_of_ended(&places, one);
		if (path)
			now[i].path = xstrdup(path);
		all[i] = cgroup_of(one, now[i].path ? now[i].path :
				    one->sum ? ENDED : UNKNOWN);
	}
	places_free(&places);
	forget();
	last = now;
	nr_last = nr_processes;
	qsort(last, nr_last, sizeof(*last), by_process);
	free(processes);
	*nr = merge(all, nr_processes);
	qsort_r(all, *nr, sizeof(*all), by_key, (void *)&p->sort);
	return all;
}

void ppa_cgroups_free(struct ppa_cgroup *all, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(all[i].path);
	free(all);
}

void ppa_cgroup_table(const struct ppa_interval *p, struct buf *out)
{
	size_t nr, withheld, i;
	struct ppa_cgroup *all = ppa_cgroups(p, &nr, &withheld);

	buf_printf(out, "%9s %7s %10s %6s %6s  %s\n", "PROCESSES", "THREADS",
		   "LIFEms", "CPU%", "READY%", "CGROUP: BLOCKED");
	for (i = 0; i < nr; i++) {
		buf_printf(out, "%9zu %7zu", all[i].processes, all[i].threads);
		ppa_put_life(p, all[i].parts, all[i].life, NULL, all[i].path,
			     out);
	}
	ppa_put_withheld(withheld, out);
	ppa_room_put(p, "\n", out);
	ppa_cgroups_free(all, nr);
}
