/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching to a map; stapwatch.h says what is wanted of it. */
#define _GNU_SOURCE	/* reallocarray() */
#define _FILE_OFFSET_BITS 64
#include "lib/map_reader.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

_Static_assert(sizeof(struct perfmap_header) == 80, "no padding");

#ifndef REFRESH_TRIES
#define REFRESH_TRIES 200	/* with a nap between each two */
#endif

/* What take() has to say besides success and failure. */
enum {
	TAKE_AGAIN = 1,
};

/* ---- the header */

/*
 * What the file has; a file of /proc does not say, and there the module refuses
 * to map what it has not got.
 */
static int file_size(int fd, uint64_t *size)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st))
		return map_fail(errno, "map: fstat: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return map_fail(EINVAL, "map: not a file");
	*size = st.st_size;
	if (!st.st_size && !fstatfs(fd, &fs) &&
	    fs.f_type == PROC_SUPER_MAGIC)
		*size = UINT64_MAX;
	return 0;
}

static int bad_field(const char *field, uint64_t value, const char *why)
{
	return map_fail(EINVAL, "map: the header's %s is %llu: %s", field,
			(unsigned long long)value, why);
}

static int check_sizes(const struct perfmap_header *h)
{
	uint64_t machine = sysconf(_SC_PAGESIZE);

	if (h->size != sizeof(*h))
		return bad_field("size", h->size, "not that of this version");
	if (!h->nr_cpus)
		return bad_field("nr_cpus", h->nr_cpus, "no CPU");
	if (h->page_size < sizeof(*h) || h->page_size & (h->page_size - 1))
		return bad_field("page_size", h->page_size, "no page's size");
	if (h->page_size % machine)
		return bad_field("page_size", h->page_size,
				 "less than this machine's pages");
	if (!h->cpu_size || h->cpu_size % h->page_size)
		return bad_field("cpu_size", h->cpu_size, "not whole pages");
	if (h->flag_offset % sizeof(uint32_t))
		return bad_field("flag_offset", h->flag_offset, "not aligned");
	if (h->counters_offset % sizeof(uint64_t))
		return bad_field("counters_offset", h->counters_offset,
				 "not aligned");
	if (h->counters_offset >= h->cpu_size)
		return bad_field("counters_offset", h->counters_offset,
				 "not in the CPU's area");
	/* none of these can overflow any more */
	if (h->counters_offset < sizeof(uint32_t) ||
	    h->flag_offset > h->counters_offset - sizeof(uint32_t))
		return bad_field("flag_offset", h->flag_offset,
				 "not before the counters");
	if (h->cpu_counters !=
	    (h->cpu_size - h->counters_offset) / sizeof(uint64_t))
		return bad_field("cpu_counters", h->cpu_counters,
				 "not as many as fit");
	if (h->extent_size != (uint64_t)h->nr_cpus * h->cpu_size)
		return bad_field("extent_size", h->extent_size,
				 "not that of all CPUs' areas");
	if (h->extent_size > SIZE_MAX / 2)
		return bad_field("extent_size", h->extent_size,
				 "more than can be mapped here");
	return 0;
}

static int check_header(const struct perfmap_header *h, uint64_t size)
{
	uint64_t end;

	if (memcmp(h->magic, PERFMAP_MAGIC, sizeof(h->magic)))
		return map_fail(EINVAL, "map: not a map of counters");
	if (h->version != PERFMAP_VERSION)
		return bad_field("version", h->version, "not known here");
	if (check_sizes(h))
		return -1;
	if (h->state != PERFMAP_LIVE && h->state != PERFMAP_ENDED)
		return bad_field("state", h->state, "no such state");
	if (h->pad)
		return bad_field("pad", h->pad, "not 0");
	if (__builtin_mul_overflow(h->extent_size, h->nr_extents, &end) ||
	    __builtin_add_overflow(end, h->page_size, &end) || end > INT64_MAX)
		return bad_field("nr_extents", h->nr_extents, "too many");
	if (size != UINT64_MAX && end != size)
		return map_fail(EINVAL, "map: the file has %llu bytes, and by"
				" the header's nr_extents, extent_size and"
				" page_size %llu", (unsigned long long)size,
				(unsigned long long)end);
	if (h->nr_instances > (uint64_t)h->nr_extents * h->cpu_counters)
		return bad_field("nr_instances", h->nr_instances,
				 "more than the extents' counters");
	return 0;
}

/* What may never change while a reader is attached. */
static bool same_map(const struct perfmap_header *a, const struct perfmap_header *b)
{
	return a->nr_cpus == b->nr_cpus && a->page_size == b->page_size &&
	       a->cpu_size == b->cpu_size && a->session == b->session &&
	       a->flag_offset == b->flag_offset &&
	       a->counters_offset == b->counters_offset &&
	       a->nr_extents <= b->nr_extents &&
	       a->nr_instances <= b->nr_instances;
}

/* The first page as it stands at a time. */
struct front {
	struct perfmap_header head;
	struct perfmap_more more;
};

_Static_assert(sizeof(struct front) == 96, "no padding");

/* Word by word, since the writer may be writing. */
static void copy_front(const void *page, struct front *f)
{
	union {
		uint32_t words[sizeof(*f) / sizeof(uint32_t)];
		struct front front;
	} copy;
	const uint32_t *from = page;
	size_t i;

	for (i = 0; i < sizeof(*f) / sizeof(uint32_t); i++)
		copy.words[i] = MAP_LOAD(&from[i]);
	*f = copy.front;
}

static int check_more(const struct perfmap_more *more)
{
	if (more->size ? more->size < sizeof(*more) :
	    more->names || more->hist_counters)
		return map_fail(EINVAL, "map: %u bytes after the header are"
				" not enough", more->size);
	if (more->hist_counters && more->hist_counters < PERFMAP_HIST_FEWEST)
		return map_fail(EINVAL, "map: a histogram has more counters"
				" than %u", more->hist_counters);
	return 0;
}

/* ---- attaching */

static int map_extents(struct stapwatch *sw, const struct perfmap_header *h)
{
	void **more;
	void *at;
	uint64_t offset;

	while (sw->nr_mapped < h->nr_extents) {
		more = reallocarray(sw->extents, sw->nr_mapped + (size_t)1,
				    sizeof(*more));
		if (!more)
			return map_fail(ENOMEM, "out of memory");
		sw->extents = more;
		/* below INT64_MAX, which check_header() has seen to */
		offset = h->page_size + h->extent_size * sw->nr_mapped;
		at = mmap(NULL, h->extent_size, PROT_READ, MAP_SHARED, sw->fd,
			  offset);
		if (at == MAP_FAILED)
			return map_fail(errno, "map: extent %u cannot be"
					" mapped: %s", sw->nr_mapped,
					strerror(errno));
		sw->extents[sw->nr_mapped++] = at;
		sw->extent_size = h->extent_size;
	}
	return 0;
}

/* All that a new generation brings, taken between equal generations or not. */
static int take_all(struct stapwatch *sw, const struct front *f,
		    struct map_names *names)
{
	uint64_t size;

	if (file_size(sw->fd, &size) || check_header(&f->head, size) ||
	    check_more(&f->more))
		return -1;
	if (sw->head.size && !same_map(&sw->head, &f->head))
		return map_fail(EINVAL, "map: the header is another one than"
				" it was");
	if (names->fd < 0 &&
	    map_names_open(sw->dir, &f->head, &f->more, names))
		return -1;
	return map_names_read(&f->head, names);
}

/*
 * gen2 is looked at before anything else, and gen1 after it: what began before
 * the one, or after the other, would be seen.
 */
static int take(struct stapwatch *sw)
{
	const struct perfmap_header *live = sw->page;
	struct map_names fresh = MAP_NAMES_NONE, *names = &fresh;
	struct front f;
	uint32_t gen;
	int rc;

	gen = MAP_LOAD(&live->gen2);
	if (MAP_LOAD(&live->gen1) != gen)
		return TAKE_AGAIN;
	copy_front(live, &f);
	/* to that file, lines have only been added */
	if (f.more.names && f.more.names == sw->names.made)
		names = &sw->names;
	rc = take_all(sw, &f, names);
	/* whatever was found wrong, it may have been half of an update */
	if (MAP_LOAD(&live->gen1) != gen)
		rc = TAKE_AGAIN;
	/* extents only come, so mapping them needs no generation */
	if (!rc)
		rc = map_extents(sw, &f.head) ?: map_names_take(names);
	if (rc) {
		map_names_undo(names);
		map_names_free(&fresh);
		return rc;
	}
	if (names == &fresh) {
		map_names_free(&sw->names);
		sw->names = fresh;
	}
	sw->head = f.head;
	return 0;
}

static int take_bounded(struct stapwatch *sw)
{
	int tries, rc;

	for (tries = 0; tries < REFRESH_TRIES; tries++) {
		rc = take(sw);
		if (rc != TAKE_AGAIN)
			return rc;
		map_nap(1000000);
	}
	return map_fail(EBUSY, "map: busy: gen1 and gen2 say that an update is"
			" under way, and it does not end");
}

static int map_page(struct stapwatch *sw)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	uint64_t size;
	void *at;

	if (file_size(sw->fd, &size))
		return -1;
	if (size < page)
		return map_fail(EINVAL, "map: %llu bytes are not even a"
				" header's page", (unsigned long long)size);
	at = mmap(NULL, page, PROT_READ, MAP_SHARED, sw->fd, 0);
	if (at == MAP_FAILED)
		return map_fail(errno, "map: the header cannot be mapped: %s",
				strerror(errno));
	sw->page = at;
	sw->page_size = page;
	return 0;
}

/* Before the generations, which would mean nothing in some other file. */
static int check_magic(const struct stapwatch *sw)
{
	struct front f;

	copy_front(sw->page, &f);
	if (memcmp(f.head.magic, PERFMAP_MAGIC, sizeof(f.head.magic)))
		return map_fail(EINVAL, "map: not a map of counters");
	if (f.head.version != PERFMAP_VERSION)
		return bad_field("version", f.head.version, "not known here");
	return 0;
}

static bool is_replaced(int fd, const char *path)
{
	struct stat opened, there;

	return fd >= 0 && !fstat(fd, &opened) && !stat(path, &there) &&
	       (opened.st_dev != there.st_dev ||
		opened.st_ino != there.st_ino);
}

/* @replaced: whether another map has come to that path meanwhile */
static struct stapwatch *attach(const char *path, bool *replaced)
{
	struct stapwatch *sw = calloc(1, sizeof(*sw));
	int err;

	*replaced = false;
	if (!sw) {
		map_fail(ENOMEM, "out of memory");
		return NULL;
	}
	sw->dir = -1;
	sw->names.fd = -1;
	/* or a pipe of that name would keep us waiting */
	sw->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (sw->fd < 0) {
		map_fail(errno, "map: %s", strerror(errno));
		goto fail;
	}
	sw->dir = map_dir(path);
	if (sw->dir < 0 || map_page(sw) || check_magic(sw) || take_bounded(sw))
		goto fail;
	return sw;
fail:
	err = errno;
	*replaced = is_replaced(sw->fd, path);
	stapwatch_close(sw);
	errno = err;
	return NULL;
}

struct stapwatch *stapwatch_open(const char *path)
{
	struct stapwatch *sw = NULL;
	bool again = true;
	int tries;

	if (!path)
		map_fail(EINVAL, "map: no path");
	/* with a map that is replaced its names go */
	for (tries = 0; path && !sw && again && tries < REFRESH_TRIES; tries++)
		sw = attach(path, &again);
	return sw;
}

void stapwatch_close(struct stapwatch *sw)
{
	uint32_t i;

	if (!sw)
		return;
	for (i = 0; i < sw->nr_mapped; i++)
		munmap(sw->extents[i], sw->extent_size);
	if (sw->page)
		munmap(sw->page, sw->page_size);
	free(sw->extents);
	map_names_free(&sw->names);
	if (sw->fd >= 0)
		close(sw->fd);
	if (sw->dir >= 0)
		close(sw->dir);
	free(sw);
}

int stapwatch_refresh(struct stapwatch *sw)
{
	const struct perfmap_header *live = sw->page;

	if (MAP_LOAD(&live->gen2) == sw->head.gen1 &&
	    MAP_LOAD(&live->gen1) == sw->head.gen1)
		return 0;
	return take_bounded(sw) ? -1 : 1;
}

/* ---- what is known of it */

enum stapwatch_state stapwatch_state(const struct stapwatch *sw)
{
	const struct perfmap_header *live = sw->page;

	return MAP_LOAD(&live->state) == PERFMAP_LIVE ? STAPWATCH_LIVE :
						       STAPWATCH_ENDED;
}

uint32_t stapwatch_nr_cpus(const struct stapwatch *sw)
{
	return sw->head.nr_cpus;
}

uint64_t stapwatch_session(const struct stapwatch *sw)
{
	return sw->head.session;
}

size_t stapwatch_nr(const struct stapwatch *sw)
{
	return sw->names.nr;
}

const struct stapwatch_instance *stapwatch_instance(const struct stapwatch *sw,
						    size_t i)
{
	return i < sw->names.nr ? &sw->names.list[i] : NULL;
}

const struct stapwatch_instance *stapwatch_find(const struct stapwatch *sw,
						const char *name)
{
	return map_names_find(&sw->names, name);
}
