/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages that a script's handlers send; stapwatch.h says what there is. */
#include "lib/map.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message/abi.h"

_Static_assert(sizeof(struct sw_message) == 408, "no padding");
_Static_assert(sizeof(struct sw_message) < SW_MESSAGE_MAX_SIZE, "fits");

struct stapwatch_messages {
	int fd;
	bool ended;
	uint64_t lost;
	size_t at, end;		/* what was read, and is not taken yet */
	struct sw_message last;	/* whose names the caller has */
	char bytes[16 * SW_MESSAGE_MAX_SIZE];
};

struct stapwatch_messages *stapwatch_messages_open(const char *path)
{
	struct stapwatch_messages *m = path ? calloc(1, sizeof(*m)) : NULL;

	if (!m) {
		map_fail(path ? ENOMEM : EINVAL,
			 path ? "out of memory" : "messages: no path");
		return NULL;
	}
	m->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (m->fd < 0) {
		map_fail(errno, "%s: %s", path, strerror(errno));
		free(m);
		return NULL;
	}
	return m;
}

void stapwatch_messages_close(struct stapwatch_messages *m)
{
	if (!m)
		return;
	close(m->fd);
	free(m);
}

int stapwatch_messages_fd(const struct stapwatch_messages *m)
{
	return m->fd;
}

uint64_t stapwatch_messages_lost(const struct stapwatch_messages *m)
{
	return m->lost;
}

/* Have what there is in BYTES, where that is empty.  Return: 0, or -1. */
static int fill(struct stapwatch_messages *m)
{
	ssize_t n;

	if (m->at < m->end || m->ended)
		return 0;
	m->at = 0;
	m->end = 0;
	n = read(m->fd, m->bytes, sizeof(m->bytes));
	if (n > 0)
		m->end = n;
	else if (!n || errno == EIO)
		/* the file has gone with its session */
		m->ended = true;
	else if (errno != EAGAIN && errno != EINTR)
		return map_fail(errno, "messages: %s", strerror(errno));
	return 0;
}

/* A record of the file is not what it says: nothing after it can be found. */
static int bad_record(struct stapwatch_messages *m, const char *why)
{
	m->at = m->end;
	m->ended = true;
	return map_fail(EINVAL, "messages: a record %s", why);
}

/* The next record, of any kind.  Return: its size, 0 where there is none, or -1. */
static int take(struct stapwatch_messages *m)
{
	const size_t head = offsetof(struct sw_message, lost);
	const size_t left = m->end - m->at;
	struct sw_message *r = &m->last;
	size_t have;

	if (!left)
		return 0;
	if (left < head)
		return bad_record(m, "is cut off");
	memcpy(r, m->bytes + m->at, head);
	if (r->mark != SW_MESSAGE_MARK)
		return bad_record(m, "has no mark");
	if (r->size < head || r->size % 8 || r->size > SW_MESSAGE_MAX_SIZE)
		return bad_record(m, "has a size that none has");
	if (r->size > left)
		return bad_record(m, "is cut off");
	/* the first version ended with EVENT */
	if (r->kind == SW_MESSAGE_SENT &&
	    r->size < offsetof(struct sw_message, overflowed))
		return bad_record(m, "is too short for a message");
	have = r->size < sizeof(*r) ? r->size : sizeof(*r);
	memset(r, 0, sizeof(*r));
	memcpy(r, m->bytes + m->at, have);
	m->at += r->size;
	return r->size;
}

int stapwatch_messages_read(struct stapwatch_messages *m,
			    struct stapwatch_message *message)
{
	struct sw_message *r = &m->last;
	int size;

	do {
		if (fill(m))
			return -1;
		size = take(m);
	} while (size > 0 && r->kind != SW_MESSAGE_SENT);
	if (size < 0)
		return -1;
	if (!size)
		return m->ended ? map_fail(ESHUTDOWN,
					   "messages: the script has ended") :
				  0;
	if (memchr(r->set, 0, sizeof(r->set)) == NULL ||
	    memchr(r->event, 0, sizeof(r->event)) == NULL ||
	    memchr(r->overflowed, 0, sizeof(r->overflowed)) == NULL)
		return bad_record(m, "has a name without an end");
	m->lost = r->lost;
	*message = (struct stapwatch_message) {
		.ns = r->ns,
		.value = r->value,
		.ip = r->ip,
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->cpu,
		.set = r->set,
		.event = r->event,
		.overflowed = r->overflowed,
	};
	return 1;
}

int stapwatch_messages_wait(struct stapwatch_messages *m, int timeout_ms)
{
	struct pollfd p = { .fd = m->fd, .events = POLLIN };
	int n;

	if (m->at < m->end || m->ended)
		return 1;
	n = poll(&p, 1, timeout_ms);
	if (n < 0 && errno != EINTR)
		return map_fail(errno, "messages: poll: %s", strerror(errno));
	return n > 0;
}
