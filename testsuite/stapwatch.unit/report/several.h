/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An input as several traces: it is there three times, with heads that are of one boot,
 * twice, and of another one.
 */
#ifndef SEVERAL_H
#define SEVERAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/input/profile.h"
#include "../ensure.h"

#define SEVERAL 3

/* So long after the first trace's beginning the wall clock's time is that of the others'. */
static const uint64_t several_later[SEVERAL] = { 0, 5, 3000000 };

static inline void several_put(int fd, size_t at, uint64_t value, size_t size)
{
	ensure(pwrite(fd, &value, size, at) == (ssize_t)size);
}

static inline const char *several_path(const uint8_t *data, size_t size, int i)
{
	static char paths[SEVERAL][64];
	static int fds[SEVERAL];
	const uint64_t begin = 1700000000000000000;
	struct sw_trace_head h;

	if (!fds[i]) {
		fds[i] = memfd_create("input", MFD_CLOEXEC);
		snprintf(paths[i], sizeof(*paths), "/proc/self/fd/%d", fds[i]);
	}
	ensure(fds[i] > 0 && !ftruncate(fds[i], size));
	ensure(pwrite(fds[i], data, size, 0) == (ssize_t)size);
	if (size < sizeof(h))
		return paths[i];
	several_put(fds[i], offsetof(struct sw_trace_head, session), i,
		    sizeof(h.session));
	several_put(fds[i], offsetof(struct sw_trace_head, realtime),
		    begin + several_later[i], sizeof(h.realtime));
	several_put(fds[i], offsetof(struct sw_trace_head, stext), 1 + i / 2,
		    sizeof(h.stext));
	return paths[i];
}

/* They are in the order of time, if each of the traces says that it is. */
static inline void several_check(const struct profile *p)
{
	bool late = false;
	size_t i;

	for (i = 0; i < p->nr_traces; i++)
		late |= p->traces[i].loss.late;
	for (i = 1; i < p->nr_each && !late; i++)
		ensure(p->each[i - 1].time <= p->each[i].time);
}

/* NULL: they are none, or nothing aligns them. */
static inline struct profile *several_read(const uint8_t *data, size_t size,
					   unsigned int fields,
					   const struct profile_filter *filter)
{
	const char *paths[SEVERAL];
	struct buf why = { 0 };
	struct profile *p;
	int i;

	for (i = 0; i < SEVERAL; i++)
		paths[i] = several_path(data, size, i);
	p = profile_read(paths, SEVERAL, fields, filter, &why);
	ensure(!p == !!why.len);
	free(why.s);
	if (p)
		several_check(p);
	return p;
}

#endif
