/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a map into a file; stapwatch.h says what is wanted of it. */
#define _GNU_SOURCE	/* asprintf() */
#define _FILE_OFFSET_BITS 64
#include "lib/map_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* A table that never moves lets adjust() do without a lock. */
#define MAX_EXTENTS 4096
#define MAX_CPU_SIZE (1U << 30)
/* far more than there are, and few enough for a file to have room for them */
#define MAX_CPUS 65536

/* What is mapped, and what the numbers in it are: 1 + their kind; 0: nobody's, or inside
 * a histogram. */
struct extent {
	void *at;
	uint8_t is[];
};

struct stapwatch_map {
	pthread_mutex_t lock;	/* of all but the counters */
	int fd;
	int dir;
	struct perfmap_header *page;
	struct perfmap_header head;	/* what of it does not change */
	uint32_t next;			/* number */
	struct map_list list;
	struct extent *extents[MAX_EXTENTS];
	uint32_t nr_extents;
	unsigned int forks;		/* as of its beginning */
};

/* ---- fork() */

/* A child of fork() has its parent's map, whose list it has a copy of only. */
static unsigned int forks;
static int watches_forks;	/* errno */

static void count_fork(void)
{
	forks++;
}

static void watch_forks(void)
{
	watches_forks = pthread_atfork(NULL, NULL, count_fork);
}

/* Has this process made the map? */
static bool is_ours(const struct stapwatch_map *map)
{
	return map->forks == forks;
}

static int begin_forks(struct stapwatch_map *map)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	map->forks = forks;
	if (!watches_forks)
		return 0;
	return map_fail(watches_forks, "pthread_atfork: %s",
			strerror(watches_forks));
}

/* Before its lock, which another thread of the parent's may have held. */
static int lock_ours(struct stapwatch_map *map)
{
	if (!is_ours(map))
		return map_fail(EPERM, "map: only the process that made it adds"
				" and hides instances");
	pthread_mutex_lock(&map->lock);
	return 0;
}

/* ---- growth */

static int grow(struct stapwatch_map *map)
{
	const size_t size = map->head.extent_size;
	struct extent *e;
	uint64_t offset;
	int err;

	if (map->nr_extents == MAX_EXTENTS)
		return map_fail(ENOSPC, "map: no more than %d extents",
				MAX_EXTENTS);
	e = calloc(1, sizeof(*e) + map->head.cpu_counters);
	if (!e)
		return map_fail(ENOMEM, "out of memory");
	offset = map->head.page_size + (uint64_t)size * map->nr_extents;
	/* a full disk must not be found out by a store */
	err = posix_fallocate(map->fd, offset, size);
	if (!err) {
		e->at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			     map->fd, offset);
		if (e->at == MAP_FAILED)
			err = errno;
	}
	if (err) {
		free(e);
		/* a reader goes by the size; if this fails it says so */
		if (ftruncate(map->fd, offset))
			return map_fail(err, "map: the file cannot be made"
					" short again: %s", strerror(errno));
		return map_fail(err, "map: %s", strerror(err));
	}
	MAP_STORE(&map->extents[map->nr_extents], e);
	map->nr_extents++;
	MAP_STORE(&map->page->nr_extents, map->nr_extents);
	return 0;
}

/* ---- instances */

static struct perfmap_more *more_of(struct perfmap_header *page)
{
	return (struct perfmap_more *)(page + 1);
}

/*
 * So much of the update as readers can see, between gen1 and gen2: that @in has
 * come or, if it is deleted, gone.
 */
static int publish(struct stapwatch_map *map, uint32_t next,
		   const struct map_named *in)
{
	struct perfmap_header *page = map->page;
	int rc = 0;

	if (in->deleted && map_list_prepare(&map->list))
		return -1;
	__atomic_store_n(&page->gen1, page->gen1 + 1, __ATOMIC_SEQ_CST);
	while (!rc && next > (uint64_t)map->nr_extents * map->head.cpu_counters)
		rc = grow(map);
	if (!rc)
		rc = in->deleted ? map_list_place(&map->list) :
				   map_list_append(&map->list, in);
	if (!rc) {
		map->next = next;
		MAP_STORE(&page->nr_instances, next);
		MAP_STORE(&more_of(page)->names, map->list.made);
	}
	/* of what failed, nothing is left to be seen */
	__atomic_store_n(&page->gen2, page->gen2 + 1, __ATOMIC_SEQ_CST);
	map_list_unprepare(&map->list);
	return rc;
}

static int64_t add_again(struct stapwatch_map *map, struct map_named *in,
			 enum stapwatch_kind kind)
{
	if (in->kind != kind)
		return map_fail(EEXIST, "map: %s is of the other kind",
				in->name);
	if (in->deleted) {
		in->deleted = false;
		if (publish(map, map->next, in)) {
			in->deleted = true;
			return -1;
		}
	}
	return in->number;
}

static int64_t add_new(struct stapwatch_map *map, const char *name,
		       enum stapwatch_kind kind)
{
	const uint32_t per = map->head.cpu_counters;
	const uint32_t len = kind == STAPWATCH_HIST ? PERFMAP_HIST_COUNTERS : 1;
	uint64_t number = map->next;
	struct map_named *in;

	/* an instance is in one extent */
	if (number % per > per - len)
		number += per - number % per;
	if (number + len > UINT32_MAX)
		return map_fail(ENOSPC, "map: no more numbers");
	in = map_list_new(&map->list, name, number, kind);
	if (!in)
		return -1;
	if (publish(map, number + len, in)) {
		map_list_drop(&map->list);
		return -1;
	}
	MAP_STORE(&map->extents[number / per]->is[number % per], 1 + kind);
	return number;
}

static int64_t add(struct stapwatch_map *map, const char *name,
		   enum stapwatch_kind kind)
{
	struct map_named *in;
	int64_t number;

	if (!name || !*name)
		return map_fail(EINVAL, "map: an empty name");
	if (lock_ours(map))
		return -1;
	in = map_list_find(&map->list, name);
	number = in ? add_again(map, in, kind) : add_new(map, name, kind);
	pthread_mutex_unlock(&map->lock);
	return number;
}

int64_t stapwatch_map_add(struct stapwatch_map *map, const char *name)
{
	return add(map, name, STAPWATCH_COUNTER);
}

int64_t stapwatch_map_add_hist(struct stapwatch_map *map, const char *name)
{
	return add(map, name, STAPWATCH_HIST);
}

int stapwatch_map_del(struct stapwatch_map *map, uint32_t number)
{
	struct map_named *in;
	int rc;

	if (lock_ours(map))
		return -1;
	in = map_list_get(&map->list, number);
	if (in && !in->deleted) {
		in->deleted = true;
		rc = publish(map, map->next, in);
		if (rc)
			in->deleted = false;
	} else {
		rc = map_fail(ENOENT, "map: there is no instance %u", number);
	}
	pthread_mutex_unlock(&map->lock);
	return rc;
}

/* ---- counters */

/* Nobody else writes it. */
static uint64_t own_value(const uint64_t *counter)
{
	uint64_t value;

	memcpy(&value, counter, sizeof(value));
	return value;
}

static void store_to(uint32_t *flag, uint64_t *counter, uint64_t value)
{
#if MAP_WHOLE
	(void)flag;
	MAP_STORE(counter, value);
#else
	uint32_t *half = (uint32_t *)counter;
	const union {
		uint64_t whole;
		uint32_t half[2];
	} v = { .whole = value };

	MAP_STORE(flag, *flag + 1);
	MAP_STORE(&half[0], v.half[0]);
	MAP_STORE(&half[1], v.half[1]);
	MAP_STORE(flag, *flag - 1);
#endif
}

/* What an instance has of a CPU, and its flag; -1: there is no such, said. */
static int counter_of(struct stapwatch_map *map, uint32_t number,
		      enum stapwatch_kind kind, uint32_t cpu, uint32_t **flag,
		      uint64_t **counter)
{
	const struct perfmap_header *h = &map->head;
	const uint32_t nr = number / h->cpu_counters;
	const uint32_t index = number % h->cpu_counters;
	struct extent *e = NULL;

	if (nr < MAX_EXTENTS)
		e = MAP_LOAD(&map->extents[nr]);
	if (!e || MAP_LOAD(&e->is[index]) != 1 + kind || cpu >= h->nr_cpus)
		return map_fail(EINVAL, "map: there is no %s %u, or no CPU %u",
				kind == STAPWATCH_HIST ? "histogram" :
				"counter", number, cpu);
	*flag = map_flag(h, e->at, cpu);
	*counter = map_counter(h, e->at, cpu, index);
	return 0;
}

static void add_to(uint32_t *flag, uint64_t *counter, uint64_t delta)
{
	store_to(flag, counter, own_value(counter) + delta);
}

int stapwatch_map_adjust(struct stapwatch_map *map, uint32_t number,
			 uint32_t cpu, int64_t delta)
{
	uint64_t *counter;
	uint32_t *flag;

	if (counter_of(map, number, STAPWATCH_COUNTER, cpu, &flag, &counter))
		return -1;
	add_to(flag, counter, delta);
	return 0;
}

int stapwatch_map_record(struct stapwatch_map *map, uint32_t number,
			 uint32_t cpu, int64_t value)
{
	uint64_t *hist;		/* its counters are beside each other */
	uint32_t *flag;

	if (counter_of(map, number, STAPWATCH_HIST, cpu, &flag, &hist))
		return -1;
	if (value < 0) {
		add_to(flag, hist + PERFMAP_HIST_NEGATIVE, 1);
		return 0;
	}
	if ((uint64_t)value > own_value(hist + PERFMAP_HIST_MAX))
		store_to(flag, hist + PERFMAP_HIST_MAX, value);
	add_to(flag, hist + stapwatch_hist_bucket(value), 1);
	add_to(flag, hist + PERFMAP_HIST_SUM, value);
	return 0;
}

/* ---- the map */

static int fill_header(struct perfmap_header *h, uint32_t nr_cpus,
		       uint32_t capacity)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t size;

	size = PERFMAP_COUNTERS_OFFSET + sizeof(uint64_t) * (uint64_t)capacity;
	size = (size + page - 1) / page * page;
	if (!nr_cpus || nr_cpus > MAX_CPUS || !capacity ||
	    size > MAX_CPU_SIZE || size * nr_cpus > SIZE_MAX / 2)
		return map_fail(EINVAL, "map: not for %u CPUs and %u counters",
				nr_cpus, capacity);
	*h = (struct perfmap_header) {
		.version = PERFMAP_VERSION,
		.size = sizeof(*h),
		.nr_cpus = nr_cpus,
		.page_size = page,
		.state = PERFMAP_LIVE,
		.cpu_size = size,
		.cpu_counters = PERFMAP_COUNTERS(size),
		.flag_offset = PERFMAP_FLAG_OFFSET,
		.counters_offset = PERFMAP_COUNTERS_OFFSET,
		.extent_size = size * nr_cpus,
	};
	memcpy(h->magic, PERFMAP_MAGIC, sizeof(h->magic));
	if (getrandom(&h->session, sizeof(h->session), 0) !=
	    sizeof(h->session))
		return map_fail(errno, "getrandom: %s", strerror(errno));
	return 0;
}

/* What stands where a map is to be made, and whose names go with it. */
struct former {
	bool is_map;
	struct perfmap_header head;
	struct perfmap_more more;
};

static void look_at_former(struct former *f, int dir, const char *base)
{
	const size_t size = sizeof(f->head) + sizeof(f->more);
	char front[sizeof(f->head) + sizeof(f->more)];
	int fd;

	*f = (struct former) { 0 };
	fd = openat(dir, base, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (pread(fd, front, size, 0) == (ssize_t)size) {
		memcpy(&f->head, front, sizeof(f->head));
		memcpy(&f->more, front + sizeof(f->head), sizeof(f->more));
		f->is_map = !memcmp(f->head.magic, PERFMAP_MAGIC,
				    sizeof(f->head.magic));
	}
	close(fd);
}

static void *map_first_page(const struct stapwatch_map *map)
{
	int err = posix_fallocate(map->fd, 0, map->head.page_size);
	void *at;

	if (err) {
		errno = err;
		return NULL;
	}
	at = mmap(NULL, map->head.page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		  map->fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

/*
 * In a new file, since an older one may be mapped by its readers.  The names are
 * there before the map is, and those of the older one until it has gone.
 */
static int make_file(struct stapwatch_map *map, const char *base,
		     const char *new_base)
{
	struct former former;
	int err;

	map->fd = openat(map->dir, new_base,
			 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (map->fd < 0)
		return map_fail(errno, "%s: %s", new_base, strerror(errno));
	map->page = map_first_page(map);
	if (!map->page) {
		err = errno;
		unlinkat(map->dir, new_base, 0);
		return map_fail(err, "%s: %s", base, strerror(err));
	}
	*map->page = map->head;
	*more_of(map->page) = (struct perfmap_more) {
		.size = sizeof(struct perfmap_more),
		.names = map->list.made,
		.hist_counters = PERFMAP_HIST_COUNTERS,
	};
	look_at_former(&former, map->dir, base);
	if (renameat(map->dir, new_base, map->dir, base)) {
		err = errno;
		unlinkat(map->dir, new_base, 0);
		return map_fail(err, "%s: %s", base, strerror(err));
	}
	map_list_link(&map->list, former.is_map && !former.more.names);
	if (former.is_map && former.more.names)
		map_list_remove(map->dir, former.head.session);
	return 0;
}

static int make(struct stapwatch_map *map, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *new_base;
	int rc;

	if (!*base || !strcmp(base, "names"))
		return map_fail(EINVAL, "%s: not a path for a map", path);
	map->dir = map_dir(path);
	if (map->dir < 0 ||
	    map_list_begin(&map->list, map->dir, map->head.session))
		return -1;
	/* another one may be on its way to that path */
	if (asprintf(&new_base, ".%s.%016llx.new", base,
		     (unsigned long long)map->head.session) < 0) {
		rc = map_fail(ENOMEM, "out of memory");
	} else {
		rc = make_file(map, base, new_base);
		free(new_base);
	}
	if (rc)
		map_list_remove(map->dir, map->head.session);
	return rc;
}

static void release(struct stapwatch_map *map)
{
	uint32_t i;

	for (i = 0; i < map->nr_extents; i++) {
		munmap(map->extents[i]->at, map->head.extent_size);
		free(map->extents[i]);
	}
	if (map->page)
		munmap(map->page, map->head.page_size);
	/* in a child of fork() another thread's change of the list may never end */
	if (!pthread_mutex_trylock(&map->lock)) {
		map_list_free(&map->list);
		pthread_mutex_unlock(&map->lock);
	}
	if (map->fd >= 0)
		close(map->fd);
	if (map->dir >= 0)
		close(map->dir);
	pthread_mutex_destroy(&map->lock);
	free(map);
}

struct stapwatch_map *stapwatch_map_create(const char *path, uint32_t nr_cpus,
					   uint32_t capacity)
{
	struct stapwatch_map *map = path ? calloc(1, sizeof(*map)) : NULL;
	int err;

	if (!map) {
		map_fail(path ? ENOMEM : EINVAL,
			 path ? "out of memory" : "map: no path");
		return NULL;
	}
	map->fd = -1;
	map->dir = -1;
	pthread_mutex_init(&map->lock, NULL);
	if (!begin_forks(map) && !fill_header(&map->head, nr_cpus, capacity) &&
	    !make(map, path))
		return map;
	err = errno;
	release(map);
	errno = err;
	return NULL;
}

void stapwatch_map_close(struct stapwatch_map *map)
{
	if (!map)
		return;
	if (is_ours(map))
		MAP_STORE(&map->page->state, PERFMAP_ENDED);
	release(map);
}
