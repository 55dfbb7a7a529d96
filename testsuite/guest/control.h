/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs share that have a session in a script's. */
#ifndef GUEST_CONTROL_H
#define GUEST_CONTROL_H

#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stapwatch.h"

static const char *path;

static const char *result(int rc)
{
	return rc ? strerrorname_np(errno) : "0";
}

static void say(const char *what, int rc)
{
	printf("%s: %s\n", what, result(rc));
}

static inline void say_why(const char *what, int rc)
{
	printf("%s: %s: %s\n", what, result(rc), rc ? stapwatch_error() : "");
}

static struct stapwatch_control *open_it(void)
{
	struct stapwatch_control *c = stapwatch_control_open(path);

	if (!c)
		errx(1, "%s", stapwatch_error());
	return c;
}

/* So many page faults. */
static void touch(int pages)
{
	char *m = mmap(NULL, pages * 4096L, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (m == MAP_FAILED || madvise(m, pages * 4096L, MADV_NOHUGEPAGE))
		err(1, "memory");
	for (i = 0; i < pages; i++)
		m[i * 4096L] = 1;
	munmap(m, pages * 4096L);
}

static inline uint64_t word(struct stapwatch_control *c, const char *set,
		     const char *event)
{
	uint64_t w = 0;

	if (stapwatch_control_find(c, set, event, &w))
		printf("find %s: %s\n", event, stapwatch_error());
	return w;
}

static inline void say_count(const char *what, struct stapwatch_control *c, uint64_t event,
		      enum stapwatch_target target, int64_t id)
{
	int64_t v = -1;
	const int rc = stapwatch_control_read(c, event, target, id, &v);

	if (rc)
		say(what, rc);
	else
		printf("%s: %lld\n", what, (long long)v);
}

/* Each CPU counts it, or has. */
static inline void await_turn(struct stapwatch_control *c, const char *set)
{
	const uint64_t runs = word(c, set, "runs");
	int64_t n;
	int cpu;

	for (cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		do
			usleep(1000);
		while (stapwatch_control_read(c, runs, STAPWATCH_CPU, cpu, &n) ?
		       errno == ENODATA : !n);
}

/* A child that touches so many pages each time that it is told to. */
static inline pid_t child_that_touches(int pages, int *child)
{
	int sockets[2];
	pid_t pid;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		err(1, "socketpair");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(sockets[1]);
		while (read(sockets[0], &c, 1) == 1) {
			touch(pages);
			if (write(sockets[0], &c, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(sockets[0]);
	*child = sockets[1];
	return pid;
}

/* It has done so when this returns. */
static inline void tell(int child)
{
	char c = 'x';

	if (write(child, &c, 1) != 1 || read(child, &c, 1) != 1)
		err(1, "child");
}

#endif
