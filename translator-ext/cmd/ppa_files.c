/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading what may be anything; ppa_files.h says what is wanted of it. */
#include "cmd/ppa_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILE (256 << 20)
#define MAX_CPUS 65536
/* the header, and of rawlocks the record, that the first version had */
#define HEADER_FIRST offsetof(struct ppa_header, parts_offset)
#define LOCK_FIRST offsetof(struct ppa_lock, wakers)

static bool
check_header(const char *data, size_t len, enum ppa_file file, size_t record,
	     unsigned int values, struct ppa_header *h, struct buf *why)
{
	*h = (struct ppa_header) { .size = HEADER_FIRST };
	if (len < HEADER_FIRST) {
		buf_puts(why, "it ends within its header");
		return false;
	}
	memcpy(h, data, HEADER_FIRST);
	if (h->size <= len)
		memcpy(h, data, h->size < sizeof(*h) ? h->size : sizeof(*h));
	if (memcmp(h->magic, PPA_MAGIC, sizeof(h->magic))) {
		buf_puts(why, "it is no file of ppa");
	} else if (h->version != PPA_VERSION) {
		buf_printf(why, "it is of version %u, and this reads %u",
			   h->version, PPA_VERSION);
	} else if (h->file != file || h->size < HEADER_FIRST || !h->tick_hz ||
		   h->offset < h->size || h->offset > len ||
		   h->offset % 8 || h->stride % 8 || h->stride < record ||
		   h->nr_values < values) {
		buf_puts(why, "its header makes no sense");
	} else {
		return true;
	}
	return false;
}

/*
 * A copy of the records, of which @size bytes each are known here; what the file
 * does not have is 0.
 */
static void *copy_records(const char *data, const struct ppa_header *h,
			  size_t nr, size_t size)
{
	char *records = xmalloc((nr + 1) * size);
	size_t i;

	memset(records, 0, (nr + 1) * size);
	for (i = 0; i < nr; i++)
		memcpy(records + i * size, data + h->offset + i * h->stride,
		       size < h->stride ? size : h->stride);
	return records;
}

bool ppa_parse_system(const char *data, size_t len, struct ppa_snapshot *s,
		      struct buf *why)
{
	struct ppa_header h;

	if (!check_header(data, len, PPA_FILE_SYSTEM, sizeof(*s->cpus),
			  PPA_NR_SYSTEM_VALUES, &h, why))
		return false;
	if (h.nr_arrays > MAX_CPUS ||
	    (len - h.offset) / h.stride < h.nr_arrays) {
		buf_puts(why, "it has fewer CPUs than it says");
		return false;
	}
	s->hz = h.tick_hz;
	s->now = h.now;
	s->nr_cpus = h.nr_arrays;
	s->cpus = copy_records(data, &h, s->nr_cpus, sizeof(*s->cpus));
	return true;
}

static bool parts_fit(const struct ppa_header *h)
{
	/* the life, three arrays, those that are gone, and an array of theirs */
	const uint64_t words = 2 + 4 * (uint64_t)h->nr_parts;

	return !h->parts_offset ||
	       (h->parts_offset >= offsetof(struct ppa_thread, born) &&
		h->parts_offset % 8 == 0 && h->parts_offset <= h->stride &&
		words <= (h->stride - h->parts_offset) / 8);
}

/* Parts that are not known here have no name, and are their part's still. */
static const char *
take_parts(const char *from, uint32_t nr, uint64_t *to, bool sum)
{
	uint64_t v;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		memcpy(&v, from + i * sizeof(v), sizeof(v));
		if (i < PPA_NR_PARTS)
			to[i] = v;
		else if (sum)
			to[PPA_PART_UNKNOWN] += v;
	}
	return from + nr * sizeof(v);
}

static void take_life(const char *from, const struct ppa_header *h,
		      struct ppa_thread *t)
{
	memset(&t->life, 0, sizeof(*t) - offsetof(struct ppa_thread, life));
	if (h->parts_offset < offsetof(struct ppa_thread, life)) {
		/* all that have ended are in what is gone */
		t->flags &= ~PPA_SUM;
		t->flags |= t->flags & PPA_ENDED && t->tid != t->tgid ?
			    PPA_COUNTED : 0;
		t->cgroup = 0;
		t->gone_nr = 0;
	}
	if (!h->parts_offset)
		return;
	from += h->parts_offset;
	memcpy(&t->life, from, sizeof(t->life));
	from = take_parts(from + sizeof(t->life), h->nr_parts, t->parts, true);
	from = take_parts(from, h->nr_parts, t->waits, true);
	from = take_parts(from, h->nr_parts, t->longest, false);
	memcpy(&t->gone, from, sizeof(t->gone));
	take_parts(from + sizeof(t->gone), h->nr_parts, t->gone_parts, true);
}

int ppa_by_identity(const void *a, const void *b)
{
	const struct ppa_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->born > y->born) - (x->born < y->born);
}

bool ppa_parse_threads(const char *data, size_t len, struct ppa_snapshot *s,
		       struct buf *why)
{
	struct ppa_header h;
	size_t i;

	if (!check_header(data, len, PPA_FILE_THREADS,
			  offsetof(struct ppa_thread, born),
			  PPA_NR_THREAD_VALUES, &h, why))
		return false;
	if ((len - h.offset) % h.stride || h.nr_buckets < PPA_NR_BUCKETS) {
		buf_puts(why, "it ends within a thread");
		return false;
	}
	if (!parts_fit(&h)) {
		buf_puts(why, "its header makes no sense");
		return false;
	}
	s->threads_lost = h.lost;
	s->nr_threads = (len - h.offset) / h.stride;
	s->threads = copy_records(data, &h, s->nr_threads,
				  sizeof(*s->threads));
	for (i = 0; i < s->nr_threads; i++)
		take_life(data + h.offset + i * h.stride, &h, &s->threads[i]);
	qsort(s->threads, s->nr_threads, sizeof(*s->threads),
	      ppa_by_identity);
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct ppa_syscall *x = a, *y = b;

	return (x->nr > y->nr) - (x->nr < y->nr);
}

static bool calls_fit(const struct ppa_header *h)
{
	const uint32_t buckets = h->latency_offset, parts = h->parts_offset;

	return buckets % 8 == 0 && parts % 8 == 0 &&
	       buckets >= offsetof(struct ppa_syscall, buckets) &&
	       parts >= buckets && parts <= h->stride && h->nr_parts &&
	       h->nr_buckets && h->nr_buckets <= (parts - buckets) / 8 &&
	       h->nr_parts <= (h->stride - parts) / 8;
}

static void take_call(const char *from, const struct ppa_header *h,
		      struct ppa_syscall *call)
{
	const char *at = from + h->latency_offset;
	uint64_t v;
	uint32_t i;

	*call = (struct ppa_syscall) { 0 };
	memcpy(call, from, offsetof(struct ppa_syscall, buckets));
	for (i = 0; i < h->nr_buckets; i++) {
		memcpy(&v, at + i * sizeof(v), sizeof(v));
		call->buckets[i < PPA_NR_CALL_BUCKETS ? i :
			      PPA_NR_CALL_BUCKETS - 1] += v;
	}
	take_parts(from + h->parts_offset, h->nr_parts, call->parts, true);
}

bool ppa_parse_syscalls(const char *data, size_t len, struct ppa_snapshot *s,
			struct buf *why)
{
	struct ppa_header h;
	size_t i;

	if (!check_header(data, len, PPA_FILE_SYSCALLS,
			  offsetof(struct ppa_syscall, buckets),
			  PPA_NR_CALL_VALUES, &h, why))
		return false;
	if (!calls_fit(&h)) {
		buf_puts(why, "its header makes no sense");
		return false;
	}
	if ((len - h.offset) % h.stride) {
		buf_puts(why, "it ends within a system call");
		return false;
	}
	s->hz = h.tick_hz;
	s->now = h.now;
	s->calls_lost = h.lost;
	s->nr_calls = (len - h.offset) / h.stride;
	s->calls = xmalloc((s->nr_calls + 1) * sizeof(*s->calls));
	for (i = 0; i < s->nr_calls; i++)
		take_call(data + h.offset + i * h.stride, &h, &s->calls[i]);
	qsort(s->calls, s->nr_calls, sizeof(*s->calls), by_number);
	return true;
}

const struct ppa_thread *ppa_thread_of(const struct ppa_snapshot *s,
				       uint32_t tid)
{
	const struct ppa_thread *last = NULL;
	size_t lo = 0, hi = s->nr_threads;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (s->threads[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->nr_threads && s->threads[lo].tid == tid; lo++)
		last = &s->threads[lo];
	return last;
}

/* ---- locks */

static int compare(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_its_lock(const struct ppa_lock *x, const struct ppa_lock *y)
{
	return compare(x->kind, y->kind) ?: compare(x->space, y->space) ?:
	       compare(x->lock, y->lock);
}

int ppa_by_lock(const void *a, const void *b)
{
	const struct ppa_lock *x = a, *y = b;
	uint32_t i;
	int rc;

	rc = by_its_lock(x, y) ?: compare(x->what, y->what) ?:
	     compare(x->holder, y->holder) ?:
	     compare(x->nr_frames, y->nr_frames);
	for (i = 0; !rc && i < x->nr_frames; i++)
		rc = compare(x->ip[i], y->ip[i]);
	return rc;
}

int ppa_by_lock_record(const void *a, const void *b)
{
	const struct ppa_lock *x = a, *y = b;

	return ppa_by_lock(x, y) ?: compare(x->born, y->born);
}

bool ppa_same_lock(const struct ppa_lock *a, const struct ppa_lock *b)
{
	return !by_its_lock(a, b);
}

/* One that there is no place for is not told; the row's waits have its own. */
static void add_waker(struct ppa_lock *l, const struct ppa_lock_waker *w)
{
	uint32_t i;

	for (i = 0; i < PPA_LOCK_WAKERS; i++) {
		if (l->wakers[i].tid && l->wakers[i].tid != w->tid)
			continue;
		l->wakers[i].tid = w->tid;
		l->wakers[i].waits += w->waits;
		return;
	}
}

static void add_lock(struct ppa_lock *to, const struct ppa_lock *l)
{
	uint32_t i;

	for (i = 0; i < PPA_NR_LOCK_VALUES; i++) {
		if (i != PPA_LOCK_LONGEST && i != PPA_LOCK_LONGEST_SPIN)
			to->values[i] += l->values[i];
		else if (l->values[i] > to->values[i])
			to->values[i] = l->values[i];
	}
	for (i = 0; i < PPA_LOCK_WAKERS; i++)
		if (l->wakers[i].tid)
			add_waker(to, &l->wakers[i]);
}

size_t ppa_merge_locks(struct ppa_lock *locks, size_t nr,
		       int (*by)(const void *, const void *))
{
	size_t i, n = 0;

	for (i = 0; i < nr; i++)
		if (n && !by(&locks[n - 1], &locks[i]))
			add_lock(&locks[n - 1], &locks[i]);
		else
			locks[n++] = locks[i];
	return n;
}

static void end_texts(struct ppa_lock *l)
{
	uint32_t i;

	if (l->nr_frames > PPA_LOCK_FRAMES)
		l->nr_frames = PPA_LOCK_FRAMES;
	l->name[sizeof(l->name) - 1] = '\0';
	for (i = 0; i < PPA_LOCK_FRAMES; i++)
		l->places[i][sizeof(l->places[i]) - 1] = '\0';
}

bool ppa_parse_locks(const char *data, size_t len, struct ppa_snapshot *s,
		     struct buf *why)
{
	struct ppa_header h;
	size_t i;

	if (!check_header(data, len, PPA_FILE_LOCKS, LOCK_FIRST,
			  PPA_NR_LOCK_VALUES, &h, why))
		return false;
	if ((len - h.offset) % h.stride) {
		buf_puts(why, "it ends within a lock");
		return false;
	}
	s->hz = h.tick_hz;
	s->now = h.now;
	s->nr_locks = (len - h.offset) / h.stride;
	s->locks = copy_records(data, &h, s->nr_locks, sizeof(*s->locks));
	for (i = 0; i < s->nr_locks; i++)
		end_texts(&s->locks[i]);
	qsort(s->locks, s->nr_locks, sizeof(*s->locks), ppa_by_lock_record);
	s->nr_locks = ppa_merge_locks(s->locks, s->nr_locks,
				      ppa_by_lock_record);
	return true;
}

/* ---- competitors */

static int by_thread(const void *a, const void *b)
{
	const struct ppa_competitors *x = a, *y = b;

	return compare(x->tid, y->tid) ?: compare(x->born, y->born);
}

const struct ppa_competitors *
ppa_competitors_of(const struct ppa_snapshot *s, const struct ppa_thread *t)
{
	const struct ppa_competitors key = { .tid = t->tid, .born = t->born };

	return !s->nr_competitors ? NULL :
	       bsearch(&key, s->competitors, s->nr_competitors, sizeof(key),
		       by_thread);
}

bool ppa_parse_competitors(const char *data, size_t len, struct ppa_snapshot *s,
			   struct buf *why)
{
	struct ppa_header h;

	if (!check_header(data, len, PPA_FILE_COMPETITORS,
			  sizeof(*s->competitors), PPA_NR_COMPETED_VALUES, &h,
			  why))
		return false;
	/* the threads come after them */
	if (h.nr_values != PPA_NR_COMPETED_VALUES) {
		buf_printf(why, "it has %u values of each thread, of which this version knows %d",
			   h.nr_values, PPA_NR_COMPETED_VALUES);
		return false;
	}
	if ((len - h.offset) % h.stride) {
		buf_puts(why, "it ends within a thread");
		return false;
	}
	s->has_competitors = true;
	s->nr_competitors = (len - h.offset) / h.stride;
	s->competitors = copy_records(data, &h, s->nr_competitors,
				      sizeof(*s->competitors));
	qsort(s->competitors, s->nr_competitors, sizeof(*s->competitors),
	      by_thread);
	return true;
}

/* ---- files */

static bool read_all(const char *path, struct buf *data)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char part[65536];
	ssize_t n = -1;

	if (fd < 0)
		return false;
	while ((n = read(fd, part, sizeof(part))) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			break;
		buf_add(data, part, n);
		if (data->len > MAX_FILE) {
			errno = EFBIG;
			n = -1;
			break;
		}
	}
	close(fd);
	return !n;
}

static bool
read_file(const char *dir, const char *name, struct ppa_snapshot *s,
	  bool (*parse)(const char *, size_t, struct ppa_snapshot *,
			struct buf *), struct buf *why)
{
	struct buf path = { 0 }, data = { 0 }, what = { 0 };
	bool ok;

	buf_printf(&path, "%s/%s", dir, name);
	ok = read_all(path.s, &data);
	if (!ok)
		buf_puts(&what, strerror(errno));
	else
		ok = parse(data.s ? data.s : "", data.len, s, &what);
	if (!ok)
		buf_printf(why, "%s: %s", path.s, what.s);
	free(path.s);
	free(data.s);
	free(what.s);
	return ok;
}

char *ppa_files_any(enum ppa_extra extra)
{
	static const char *const files[] = {
		[PPA_NO_EXTRA] = "/proc/systemtap/*/ppa/rawthreads",
		[PPA_EXTRA_SYSCALLS] = "/proc/systemtap/*/ppa/rawsyscalls",
		[PPA_EXTRA_LOCKS] = "/proc/systemtap/*/ppa/rawlocks",
		[PPA_EXTRA_COMPETITORS] =
			"/proc/systemtap/*/ppa/rawcompetitors",
	};
	char *dir = NULL;
	glob_t found;

	if (glob(files[extra], 0, NULL, &found))
		return NULL;
	dir = xstrdup(found.gl_pathv[0]);
	*strrchr(dir, '/') = '\0';
	globfree(&found);
	return dir;
}

bool ppa_snapshot_read(const char *dir, struct ppa_snapshot *s,
		       struct buf *why)
{
	*s = (struct ppa_snapshot) { 0 };
	if (read_file(dir, "rawsysppa", s, ppa_parse_system, why) &&
	    read_file(dir, "rawthreads", s, ppa_parse_threads, why))
		return true;
	ppa_snapshot_free(s);
	return false;
}

static bool is_there(const char *dir, const char *name)
{
	struct buf path = { 0 };
	bool is;

	buf_printf(&path, "%s/%s", dir, name);
	is = !access(path.s, F_OK);
	free(path.s);
	return is;
}

bool ppa_snapshot_competitors(const char *dir, struct ppa_snapshot *s,
			      struct buf *why)
{
	if (!ppa_snapshot_read(dir, s, why))
		return false;
	if (!is_there(dir, "rawcompetitors") ||
	    read_file(dir, "rawcompetitors", s, ppa_parse_competitors, why))
		return true;
	ppa_snapshot_free(s);
	return false;
}

bool ppa_snapshot_syscalls(const char *dir, struct ppa_snapshot *s,
			   struct buf *why)
{
	*s = (struct ppa_snapshot) { 0 };
	if (read_file(dir, "rawsyscalls", s, ppa_parse_syscalls, why))
		return true;
	ppa_snapshot_free(s);
	return false;
}

bool ppa_snapshot_locks(const char *dir, struct ppa_snapshot *s,
			struct buf *why)
{
	*s = (struct ppa_snapshot) { 0 };
	if (read_file(dir, "rawlocks", s, ppa_parse_locks, why) &&
	    read_file(dir, "rawthreads", s, ppa_parse_threads, why))
		return true;
	ppa_snapshot_free(s);
	return false;
}

void ppa_snapshot_free(struct ppa_snapshot *s)
{
	free(s->cpus);
	free(s->threads);
	free(s->calls);
	free(s->locks);
	free(s->competitors);
	*s = (struct ppa_snapshot) { 0 };
}

char *ppa_name(const char *comm)
{
	return xstrndup(comm, strnlen(comm, PPA_COMM));
}
