/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a trace; trace_read.h says what is wanted of it. */
#define _GNU_SOURCE	/* memmem() */
#include "report/input/trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (16 * SW_TRACE_MAX_SIZE)

struct trace {
	int fd;
	uint64_t length;	/* of a file; 0: not known */
	bool ended;
	bool between;		/* the bytes before were none of a record */
	size_t start, end;	/* what is in the buffer, not yet used */
	struct trace_skipped skipped;
	struct sw_trace_head *head;	/* with its text */
	union {
		uint64_t align;
		char bytes[SW_TRACE_MAX_SIZE];
	} record;		/* one that was not aligned */
	union {
		uint64_t align;
		char bytes[BUFFER];
	} buffer;
};

/* ---- is it a record? */

static bool text_ends(const struct sw_trace_record *r, size_t at)
{
	return memchr((const char *)r + at, '\0', r->size - at);
}

static bool sample_fits(const struct sw_trace_sample *s)
{
	size_t words = (size_t)s->nr_counts + 3 * (size_t)s->nr_branches;
	unsigned int has;

	if (s->has & ~(SW_TRACE_HAS_ADDR | SW_TRACE_HAS_LATENCY |
		       SW_TRACE_HAS_DATA_SRC | SW_TRACE_HAS_THREAD))
		return false;
	for (has = s->has; has; has &= has - 1)
		words++;
	return s->r.size == sizeof(*s) + words * sizeof(uint64_t);
}

static bool stack_fits(const struct sw_trace_stack *s)
{
	return s->stack &&
	       s->r.size == sizeof(*s) + (size_t)s->nr * sizeof(uint64_t);
}

static bool module_fits(const struct sw_trace_module *m)
{
	const size_t size = SW_TRACE_SECTIONS * sizeof(struct sw_trace_section);
	const struct sw_trace_section *s = (const void *)((const char *)m +
						       m->r.size - size);
	unsigned int i;

	if (m->addr + m->len < m->addr)
		return false;
	if (!(m->flags & SW_TRACE_MODULE_SECTIONS))
		return text_ends(&m->r, sizeof(*m));
	if (m->r.size < sizeof(*m) + size)
		return false;
	for (i = 0; i < SW_TRACE_SECTIONS; i++)
		if (!memchr(s[i].name, '\0', sizeof(s[i].name)))
			return false;
	return memchr(m->name, '\0', m->r.size - sizeof(*m) - size);
}

static bool thread_fits(const struct sw_trace_thread *t)
{
	return t->r.size == sizeof(*t) +
				    (size_t)t->nr_parts * sizeof(uint64_t) &&
	       memchr(t->comm, '\0', sizeof(t->comm));
}

static bool fits(const struct sw_trace_record *r)
{
	/* how long each is at least; 0: not known here */
	static const uint16_t least[] = {
		[SW_TRACE_HEAD] = sizeof(struct sw_trace_head),
		[SW_TRACE_EVENT] = sizeof(struct sw_trace_event),
		[SW_TRACE_COUNT] = sizeof(struct sw_trace_count),
		[SW_TRACE_SAMPLE] = sizeof(struct sw_trace_sample),
		[SW_TRACE_STACK] = sizeof(struct sw_trace_stack),
		[SW_TRACE_COMM] = sizeof(struct sw_trace_comm),
		[SW_TRACE_FORK] = sizeof(struct sw_trace_fork),
		[SW_TRACE_EXIT] = sizeof(struct sw_trace_exit),
		[SW_TRACE_MMAP] = sizeof(struct sw_trace_mmap),
		[SW_TRACE_MODULE] = sizeof(struct sw_trace_module),
		[SW_TRACE_ROUND] = sizeof(struct sw_trace_round),
		[SW_TRACE_END] = sizeof(struct sw_trace_end),
		[SW_TRACE_TIMELINE] = sizeof(struct sw_trace_timeline),
		[SW_TRACE_THREAD] = sizeof(struct sw_trace_thread),
		[SW_TRACE_SLICES] = sizeof(struct sw_trace_slices),
		[SW_TRACE_SLICES_END] = sizeof(struct sw_trace_slices_end),
		[SW_TRACE_NOTE] = sizeof(struct sw_trace_note),
	};
	const struct sw_trace_event *event = (const void *)r;
	const struct sw_trace_count *count = (const void *)r;
	const struct sw_trace_comm *comm = (const void *)r;
	const struct sw_trace_mmap *map = (const void *)r;
	const struct sw_trace_timeline *timeline = (const void *)r;

	if (r->type >= sizeof(least) / sizeof(*least))
		return r->type != 0;
	if (r->size < least[r->type])
		return false;
	switch (r->type) {
	case SW_TRACE_HEAD:
		return text_ends(r, sizeof(struct sw_trace_head));
	case SW_TRACE_EVENT:
		return event->event <= UINT16_MAX &&
		       text_ends(r, sizeof(*event));
	case SW_TRACE_COUNT:
		return count->count < UINT8_MAX && text_ends(r, sizeof(*count));
	case SW_TRACE_SAMPLE:
		return sample_fits((const void *)r);
	case SW_TRACE_STACK:
		return stack_fits((const void *)r);
	case SW_TRACE_COMM:
		return memchr(comm->comm, '\0', sizeof(comm->comm));
	case SW_TRACE_MMAP:
		return map->addr + map->len >= map->addr &&
		       text_ends(r, sizeof(*map));
	case SW_TRACE_MODULE:
		return module_fits((const void *)r);
	case SW_TRACE_TIMELINE:
		return timeline->hz;
	case SW_TRACE_THREAD:
		return thread_fits((const void *)r);
	case SW_TRACE_NOTE:
		return text_ends(r, sizeof(struct sw_trace_note));
	}
	return true;
}

/* What a header can say of itself. */
static bool plausible(const struct sw_trace_record *r)
{
	return r->mark == SW_TRACE_MARK && r->type &&
	       r->size >= sizeof(*r) && r->size <= SW_TRACE_MAX_SIZE &&
	       !(r->size % 8);
}

/* ---- the stream */

/* Returns whether there is anything more than there was. */
static bool fill(struct trace *t)
{
	ssize_t n;

	if (t->ended)
		return false;
	memmove(t->buffer.bytes, t->buffer.bytes + t->start,
		t->end - t->start);
	t->end -= t->start;
	t->start = 0;
	do
		n = read(t->fd, t->buffer.bytes + t->end, BUFFER - t->end);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		t->skipped.error = n ? errno : 0;
		t->ended = true;
		return false;
	}
	t->end += n;
	t->skipped.read += n;
	return true;
}

/* Returns whether @want bytes are there. */
static bool have(struct trace *t, size_t want)
{
	while (t->end - t->start < want)
		if (!fill(t))
			return false;
	return true;
}

static void skip(struct trace *t, size_t bytes)
{
	t->skipped.places += !t->between;
	t->between = true;
	t->skipped.bytes += bytes;
	t->start += bytes;
}

/* Goes on to what may be a mark; false at the end of the stream. */
static bool find_mark(struct trace *t)
{
	static const uint32_t mark = SW_TRACE_MARK;
	char *at, *found;
	size_t len;

	for (;;) {
		at = t->buffer.bytes + t->start;
		len = t->end - t->start;
		found = memmem(at, len, &mark, sizeof(mark));
		if (found) {
			if (found != at)
				skip(t, found - at);
			return true;
		}
		/* a mark may be cut by the end of the buffer */
		if (len >= sizeof(mark))
			skip(t, len - sizeof(mark) + 1);
		if (!fill(t)) {
			if (t->end != t->start)
				skip(t, t->end - t->start);
			return false;
		}
	}
}

/* The record of @size at the start; printed text may have moved it. */
static const struct sw_trace_record *aligned(struct trace *t, size_t size)
{
	const char *at = t->buffer.bytes + t->start;

	if (!(t->start % 8))
		return (const void *)at;
	memcpy(t->record.bytes, at, size);
	return (const void *)t->record.bytes;
}

/* The next record, of whatever type there may be; NULL at the end. */
static const struct sw_trace_record *next_record(struct trace *t)
{
	const struct sw_trace_record *r;
	struct sw_trace_record head;
	bool whole;

	while (find_mark(t)) {
		whole = have(t, sizeof(head));
		if (whole)
			memcpy(&head, t->buffer.bytes + t->start, sizeof(head));
		if (whole && plausible(&head)) {
			/* a size that is wrong may reach beyond the end */
			whole = have(t, head.size);
			r = whole ? aligned(t, head.size) : NULL;
			if (r && fits(r)) {
				t->between = false;
				t->skipped.cut = false;
				t->start += head.size;
				return r;
			}
		}
		t->skipped.cut = !whole;
		t->skipped.damaged += whole;
		skip(t, sizeof(head.mark));
	}
	return NULL;
}

static bool is_reversed(const struct trace *t)
{
	static const uint32_t mark = __builtin_bswap32(SW_TRACE_MARK);

	return memmem(t->buffer.bytes, t->end, &mark, sizeof(mark));
}

static int find_head(struct trace *t, struct buf *why)
{
	const struct sw_trace_record *r;
	const struct sw_trace_head *h;
	bool reversed;

	fill(t);
	reversed = is_reversed(t);
	r = next_record(t);
	if (t->skipped.error) {
		buf_puts(why, strerror(t->skipped.error));
		return -1;
	}
	if (!r && reversed) {
		buf_puts(why, "written on a machine of the other byte order; make the report on such a one");
		return -1;
	}
	if (!r || r->type != SW_TRACE_HEAD) {
		buf_puts(why, r ? "a trace without its head: it begins with what a profile's script prints" :
			 "not a trace of a profile");
		return -1;
	}
	h = (const void *)r;
	if (h->version != SW_TRACE_VERSION) {
		buf_printf(why, "version %u of the trace's format, and this stapwatch knows %u: make the report with the stapwatch that made the trace",
			   h->version, SW_TRACE_VERSION);
		return -1;
	}
	if (h->size != sizeof(*h) || !h->nr_cpus || h->nr_cpus > UINT16_MAX) {
		buf_puts(why, "the trace's head is damaged");
		return -1;
	}
	t->head = xmalloc(r->size);
	memcpy(t->head, r, r->size);
	return 0;
}

struct trace *trace_open(const char *path, struct buf *why)
{
	struct trace *t = xmalloc(sizeof(*t));
	struct stat st;

	/* the buffer needs no zeroes */
	memset(t, 0, offsetof(struct trace, record));
	t->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				    fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (t->fd < 0) {
		buf_puts(why, strerror(errno));
		free(t);
		return NULL;
	}
	if (!fstat(t->fd, &st) && S_ISREG(st.st_mode))
		t->length = st.st_size;
	if (!find_head(t, why))
		return t;
	trace_close(t);
	return NULL;
}

void trace_close(struct trace *t)
{
	close(t->fd);
	free(t->head);
	free(t);
}

const struct sw_trace_head *trace_head(const struct trace *t)
{
	return t->head;
}

const struct sw_trace_record *trace_next(struct trace *t)
{
	const struct sw_trace_head *h;
	const struct sw_trace_record *r;

	while (!t->skipped.second && (r = next_record(t))) {
		if (r->type > SW_TRACE_NOTE) {
			t->skipped.unknown++;
		} else if (r->type == SW_TRACE_HEAD) {
			h = (const void *)r;
			t->skipped.second = h->session != t->head->session;
		} else if (r->cpu >= t->head->nr_cpus) {
			t->skipped.damaged++;
			t->start -= r->size;
			skip(t, r->size);
		} else {
			return r;
		}
	}
	return NULL;
}

const struct trace_skipped *trace_skipped(const struct trace *t)
{
	return &t->skipped;
}

int trace_permille(const struct trace *t)
{
	if (!t->length)
		return -1;
	return t->skipped.read >= t->length ? 1000 : t->skipped.read * 1000 / t->length;
}
