/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a map; stapwatch.h says what is wanted of it. */
#define _GNU_SOURCE	/* reallocarray() */
#define _FILE_OFFSET_BITS 64
#include "hist.h"
#include "map.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

_Static_assert(STAPWATCH_HIST_BUCKETS == PERFMAP_HIST_BUCKETS,
	       "one number of buckets");
_Static_assert(sizeof(struct perf_header) == 80, "no padding");

#define NAMES_MAX (256 << 20)	/* bytes of names that are believed */
#ifndef REFRESH_TRIES
#define REFRESH_TRIES 200	/* with a nap between each two */
#endif

/* What take() has to say besides success and failure. */
enum {
	TAKE_AGAIN = 1,
};

/* A list of instances, made aside and then put in place as a whole. */
struct names {
	char *text;		/* the names point into it */
	struct stapwatch_instance *list;
	size_t nr;
	size_t size;
};

struct stapwatch {
	int fd;
	int dir;
	struct perf_header head;	/* as it was found to be good */
	void *page;			/* the header itself */
	size_t page_size;
	void **extents;
	size_t extent_size;	/* of those that are mapped */
	uint32_t nr_mapped;
	struct names names;
};

static _Thread_local char error_text[512];

const char *stapwatch_error(void)
{
	return error_text;
}

int map_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error_text, sizeof(error_text), fmt, ap);
	va_end(ap);
	errno = err;
	return -1;
}

int map_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int fd;

	dir = slash ? strndup(path, slash - path + 1) : strdup(".");
	if (!dir)
		return map_fail(ENOMEM, "out of memory");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		map_fail(errno, "%s: %s", dir, strerror(errno));
	free(dir);
	return fd;
}

static void nap(long ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

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

static int check_sizes(const struct perf_header *h)
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

static int check_header(const struct perf_header *h, uint64_t size)
{
	uint64_t end;

	if (memcmp(h->magic, PERFMAP_MAGIC, sizeof(h->magic)))
		return map_fail(EINVAL, "map: not a map of counters");
	if (h->version != PERF_VERSION)
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
static bool same_map(const struct perf_header *a, const struct perf_header *b)
{
	return a->nr_cpus == b->nr_cpus && a->page_size == b->page_size &&
	       a->cpu_size == b->cpu_size && a->session == b->session &&
	       a->flag_offset == b->flag_offset &&
	       a->counters_offset == b->counters_offset &&
	       a->nr_extents <= b->nr_extents;
}

/* Word by word, since the writer may be writing. */
static void copy_header(const void *page, struct perf_header *h)
{
	union {
		uint32_t words[sizeof(*h) / sizeof(uint32_t)];
		struct perf_header head;
	} copy;
	const uint32_t *from = page;
	size_t i;

	for (i = 0; i < sizeof(*h) / sizeof(uint32_t); i++)
		copy.words[i] = MAP_LOAD(&from[i]);
	*h = copy.head;
}

/* ---- the names */

static void names_free(struct names *n)
{
	free(n->text);
	free(n->list);
	*n = (struct names) { 0 };
}

static char *read_all(int fd, size_t *len)
{
	size_t size = 1 << 16, used = 0;
	char *text = NULL, *more;
	ssize_t got;

	do {
		if (!text || used == size - 1) {
			if (text)
				size *= 2;
			more = size > NAMES_MAX ? NULL : realloc(text, size);
			if (!more) {
				map_fail(ENOMEM, "names: too long, or out of"
					 " memory");
				free(text);
				return NULL;
			}
			text = more;
		}
		got = read(fd, text + used, size - 1 - used);
		if (got > 0)
			used += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0) {
		map_fail(errno, "names: %s", strerror(errno));
		free(text);
		return NULL;
	}
	text[used] = '\0';
	*len = used;
	return text;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* In place; -1 for what no writer writes. */
static int unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		unsigned char c = *s;

		if (c <= ' ' || c == 0x7f)
			return -1;
		if (c == '\\') {
			if (s[1] != 'x' || hex(s[2]) < 0 || hex(s[3]) < 0)
				return -1;
			c = hex(s[2]) << 4 | hex(s[3]);
			if (!c)
				return -1;
			s += 3;
		}
		*to++ = c;
	}
	*to = '\0';
	return 0;
}

static uint32_t length_of(enum stapwatch_kind kind)
{
	return kind == STAPWATCH_HIST ? PERFMAP_HIST_COUNTERS : 1;
}

static int parse_number(char **line, uint32_t *number)
{
	char *s = *line;
	uint64_t v = 0;

	if (*s == '0' && s[1] != ' ')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (*s - '0');
		if (v > UINT32_MAX)
			return -1;
	}
	if (s == *line || *s != ' ')
		return -1;
	*number = v;
	*line = s + 1;
	return 0;
}

static int parse_kind(char **line, enum stapwatch_kind *kind)
{
	static const char *const kinds[] = {
		[STAPWATCH_COUNTER] = "counter ",
		[STAPWATCH_HIST] = "hist ",
	};
	size_t i, len;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		len = strlen(kinds[i]);
		if (!strncmp(*line, kinds[i], len)) {
			*line += len;
			*kind = i;
			return 0;
		}
	}
	return -1;
}

static int parse_line(struct names *n, char *line, const struct perf_header *h)
{
	struct stapwatch_instance in, *more;
	size_t size;
	uint32_t len;

	if (parse_number(&line, &in.number) || parse_kind(&line, &in.kind) ||
	    !*line || unescape(line))
		return map_fail(EINVAL, "names: a line is not NUMBER KIND"
				" NAME");
	in.name = line;
	len = length_of(in.kind);
	if (in.number >= h->nr_instances || h->nr_instances - in.number < len)
		return map_fail(EINVAL, "names: instance %u is not among the"
				" map's %u", in.number, h->nr_instances);
	if (len > h->cpu_counters ||
	    in.number % h->cpu_counters > h->cpu_counters - len)
		return map_fail(EINVAL, "names: instance %u is not in one"
				" extent", in.number);
	if (n->nr == n->size) {
		size = n->size ? n->size * 2 : 64;
		more = reallocarray(n->list, size, sizeof(*n->list));
		if (!more)
			return map_fail(ENOMEM, "out of memory");
		n->list = more;
		n->size = size;
	}
	n->list[n->nr++] = in;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct stapwatch_instance *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int by_name(const void *a, const void *b)
{
	const struct stapwatch_instance *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* No two names alike, no two instances over each other; sorts by number. */
static int check_names(struct names *n)
{
	const struct stapwatch_instance *in = n->list;
	size_t i;

	if (!n->nr)
		return 0;
	qsort(n->list, n->nr, sizeof(*n->list), by_name);
	for (i = 1; i < n->nr; i++)
		if (!by_name(&in[i - 1], &in[i]))
			return map_fail(EINVAL, "names: instances %u and %u"
					" have one name", in[i - 1].number,
					in[i].number);
	qsort(n->list, n->nr, sizeof(*n->list), by_number);
	for (i = 1; i < n->nr; i++)
		if (in[i].number - in[i - 1].number < length_of(in[i - 1].kind))
			return map_fail(EINVAL, "names: instances %u and %u"
					" overlap", in[i - 1].number,
					in[i].number);
	return 0;
}

static int read_names(int dir, const struct perf_header *h, struct names *n)
{
	char *line, *end;
	size_t len = 0;
	struct stat st;
	int fd;

	fd = openat(dir, "names", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return map_fail(errno, "names: %s", strerror(errno));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n->text = read_all(fd, &len);
	else
		map_fail(EINVAL, "names: not a file");
	close(fd);
	if (!n->text)
		return -1;
	if (strlen(n->text) != len || (len && n->text[len - 1] != '\n'))
		return map_fail(EINVAL, "names: not a text of whole lines");
	for (line = n->text; *line; line = end) {
		end = strchr(line, '\n');
		*end++ = '\0';
		if (parse_line(n, line, h))
			return -1;
	}
	return check_names(n);
}

/* ---- attaching */

static int map_extents(struct stapwatch *sw, const struct perf_header *h)
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
static int take_all(struct stapwatch *sw, const struct perf_header *h,
		    struct names *names)
{
	uint64_t size;

	if (file_size(sw->fd, &size) || check_header(h, size))
		return -1;
	if (sw->head.size && !same_map(&sw->head, h))
		return map_fail(EINVAL, "map: the header is another one than"
				" it was");
	return read_names(sw->dir, h, names);
}

/*
 * gen2 is looked at before anything else, and gen1 after it: what began before
 * the one, or after the other, would be seen.
 */
static int take(struct stapwatch *sw)
{
	const struct perf_header *live = sw->page;
	struct names names = { 0 };
	struct perf_header h;
	uint32_t gen;
	int rc;

	gen = MAP_LOAD(&live->gen2);
	if (MAP_LOAD(&live->gen1) != gen)
		return TAKE_AGAIN;
	copy_header(live, &h);
	rc = take_all(sw, &h, &names);
	/* whatever was found wrong, it may have been half of an update */
	if (MAP_LOAD(&live->gen1) != gen)
		rc = TAKE_AGAIN;
	/* extents only come, so mapping them needs no generation */
	if (!rc)
		rc = map_extents(sw, &h);
	if (rc) {
		names_free(&names);
		return rc;
	}
	names_free(&sw->names);
	sw->names = names;
	sw->head = h;
	return 0;
}

static int take_bounded(struct stapwatch *sw)
{
	int tries, rc;

	for (tries = 0; tries < REFRESH_TRIES; tries++) {
		rc = take(sw);
		if (rc != TAKE_AGAIN)
			return rc;
		nap(1000000);
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
	struct perf_header h;

	copy_header(sw->page, &h);
	if (memcmp(h.magic, PERFMAP_MAGIC, sizeof(h.magic)))
		return map_fail(EINVAL, "map: not a map of counters");
	if (h.version != PERF_VERSION)
		return bad_field("version", h.version, "not known here");
	return 0;
}

struct stapwatch *stapwatch_open(const char *path)
{
	struct stapwatch *sw = calloc(1, sizeof(*sw));
	int err;

	if (!sw) {
		map_fail(ENOMEM, "out of memory");
		return NULL;
	}
	sw->dir = -1;
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
	stapwatch_close(sw);
	errno = err;
	return NULL;
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
	names_free(&sw->names);
	if (sw->fd >= 0)
		close(sw->fd);
	if (sw->dir >= 0)
		close(sw->dir);
	free(sw);
}

int stapwatch_refresh(struct stapwatch *sw)
{
	const struct perf_header *live = sw->page;

	if (MAP_LOAD(&live->gen2) == sw->head.gen1 &&
	    MAP_LOAD(&live->gen1) == sw->head.gen1)
		return 0;
	return take_bounded(sw) ? -1 : 1;
}

/* ---- what is known of it */

enum stapwatch_state stapwatch_state(const struct stapwatch *sw)
{
	const struct perf_header *live = sw->page;

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
	size_t i;

	for (i = 0; i < sw->names.nr; i++)
		if (!strcmp(sw->names.list[i].name, name))
			return &sw->names.list[i];
	return NULL;
}

/* ---- values */

static int read_counter(const struct stapwatch *sw, uint32_t number,
			uint32_t cpu, uint64_t *value)
{
	const struct perf_header *h = &sw->head;
	void *extent = sw->extents[number / h->cpu_counters];
	const uint32_t *flag = map_flag(h, extent, cpu);
	const uint64_t *counter = map_counter(h, extent, cpu,
					      number % h->cpu_counters);
	int spins, naps;

	*value = 0;
	for (naps = 0; naps < MAP_NAPS; naps++) {
		for (spins = 0; spins < MAP_SPINS; spins++)
			if (map_try_counters(flag, counter, value, 1))
				return 0;
		nap(50000);
	}
	return map_fail(EBUSY, "map: busy: an update of instance %u on CPU %u"
			" does not end", number, cpu);
}

static int check_instance(const struct stapwatch *sw, uint32_t number,
			  enum stapwatch_kind kind)
{
	const struct stapwatch_instance key = { .number = number }, *in = NULL;

	if (sw->names.nr)
		in = bsearch(&key, sw->names.list, sw->names.nr,
			     sizeof(key), by_number);
	if (!in || in->kind != kind)
		return map_fail(ENOENT, "map: instance %u is no %s", number,
				kind == STAPWATCH_HIST ? "histogram" :
							 "counter");
	return 0;
}

int stapwatch_read_cpus(const struct stapwatch *sw, uint32_t number,
			int64_t *values)
{
	uint64_t value;
	uint32_t cpu;

	if (check_instance(sw, number, STAPWATCH_COUNTER))
		return -1;
	for (cpu = 0; cpu < sw->head.nr_cpus; cpu++) {
		if (read_counter(sw, number, cpu, &value))
			return -1;
		values[cpu] = value;
	}
	return 0;
}

int stapwatch_read(const struct stapwatch *sw, uint32_t number, int64_t *sum)
{
	uint64_t value, all = 0;
	uint32_t cpu;

	if (check_instance(sw, number, STAPWATCH_COUNTER))
		return -1;
	for (cpu = 0; cpu < sw->head.nr_cpus; cpu++) {
		if (read_counter(sw, number, cpu, &value))
			return -1;
		all += value;
	}
	*sum = all;
	return 0;
}

/* Adds the counters of one CPU whose numbers follow each other in an extent. */
static int add_run(const struct stapwatch *sw, uint32_t number, uint32_t cpu,
		   size_t nr, uint64_t *sums)
{
	const struct perf_header *h = &sw->head;
	void *extent = sw->extents[number / h->cpu_counters];
	const uint32_t *flag = map_flag(h, extent, cpu);
	const uint64_t *counters = map_counter(h, extent, cpu,
					       number % h->cpu_counters);
	uint64_t value;
	size_t i = 0;
	int got;

	while (i < nr) {
		got = nr - i < MAP_TOGETHER ? 0 :
		      map_try_counters(flag, &counters[i], &sums[i],
				       MAP_TOGETHER);
		i += got;
		if (got)
			continue;
		if (read_counter(sw, number + i, cpu, &value))
			return -1;
		sums[i++] += value;
	}
	return 0;
}

/*
 * How many of the instances from @i on add_run() can take at once.  Numbers
 * rise, and a histogram's successor by as many as it has counters: so if one is
 * as much above the first as it stands behind it, so are all between.
 */
static size_t run_length(const struct stapwatch *sw, size_t i)
{
	const struct stapwatch_instance *in = &sw->names.list[i];
	const uint32_t per = sw->head.cpu_counters;
	size_t in_extent = per - in->number % per;
	size_t left = sw->names.nr - i;
	size_t low = 0, high = left < in_extent ? left : in_extent, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (in[mid].number - in->number == mid &&
		    in[mid].kind == STAPWATCH_COUNTER)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int stapwatch_read_all(const struct stapwatch *sw, int64_t *sums)
{
	uint32_t cpu;
	size_t i, nr;

	for (i = 0; i < sw->names.nr; i += nr ?: 1) {
		nr = run_length(sw, i);
		memset(&sums[i], 0, (nr ?: 1) * sizeof(*sums));
		for (cpu = 0; nr && cpu < sw->head.nr_cpus; cpu++)
			if (add_run(sw, sw->names.list[i].number, cpu, nr,
				    (uint64_t *)&sums[i]))
				return -1;
	}
	return 0;
}

static int add_hist(const struct stapwatch *sw, uint32_t number, uint32_t cpu,
		    struct stapwatch_hist *hist)
{
	uint64_t value;
	uint32_t i;

	for (i = 0; i < PERFMAP_HIST_COUNTERS; i++) {
		if (read_counter(sw, number + i, cpu, &value))
			return -1;
		if (i == PERFMAP_HIST_SUM) {
			hist->sum = (uint64_t)hist->sum + value;
		} else if (i == PERFMAP_HIST_NEGATIVE) {
			hist->negative += value;
		} else {
			hist->buckets[i] += value;
			hist->count += value;
		}
	}
	return 0;
}

int stapwatch_read_hist(const struct stapwatch *sw, uint32_t number,
			struct stapwatch_hist *hist)
{
	uint32_t cpu;

	if (check_instance(sw, number, STAPWATCH_HIST))
		return -1;
	memset(hist, 0, sizeof(*hist));
	for (cpu = 0; cpu < sw->head.nr_cpus; cpu++)
		if (add_hist(sw, number, cpu, hist))
			return -1;
	return 0;
}

int stapwatch_read_hist_cpu(const struct stapwatch *sw, uint32_t number,
			    uint32_t cpu, struct stapwatch_hist *hist)
{
	if (check_instance(sw, number, STAPWATCH_HIST))
		return -1;
	if (cpu >= sw->head.nr_cpus)
		return map_fail(EINVAL, "map: there is no CPU %u", cpu);
	memset(hist, 0, sizeof(*hist));
	return add_hist(sw, number, cpu, hist);
}

/* ---- histograms */

unsigned int stapwatch_hist_bucket(uint64_t value)
{
	return hist_bucket(value);
}

uint64_t stapwatch_hist_low(unsigned int bucket)
{
	return bucket < PERFMAP_HIST_BUCKETS ? hist_low(bucket) : UINT64_MAX;
}

uint64_t stapwatch_hist_high(unsigned int bucket)
{
	return bucket < PERFMAP_HIST_BUCKETS ? hist_high(bucket) : UINT64_MAX;
}

uint64_t stapwatch_hist_quantile(const struct stapwatch_hist *hist, double q)
{
	uint64_t seen = 0, rank;
	unsigned int i;

	if (!hist->count)
		return 0;
	/* so that no rounding asks for more than there are */
	rank = q >= 1 ? hist->count - 1 : q > 0 ? q * hist->count : 0;
	if (rank >= hist->count)
		rank = hist->count - 1;
	for (i = 0; i < PERFMAP_HIST_BUCKETS - 1; i++) {
		seen += hist->buckets[i];
		if (seen > rank)
			break;
	}
	return hist_mid(i);
}
