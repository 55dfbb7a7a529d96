/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch list on a machine that is made up, for events.exp.  SYSFS is where
 * its PMUs are described.  PERF says what perf_event_open(2) does:
 *	soft	only software events can be counted
 *	all	everything can
 *	user	everything, but nobody may look into the kernel
 *	none	nobody may do anything
 *	old	everything, by a kernel whose perf_event_attr has 128 bytes
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "event/event_notation.h"

long __wrap_syscall(long number, ...);

static int refuse(int err)
{
	errno = err;
	return -1;
}

/* What the kernel does not know of must be 0. */
static bool is_longer(const struct perf_event_attr *attr)
{
	const char *bytes = (const char *)attr;
	size_t i;

	for (i = PERF_ATTR_SIZE_VER7; i < attr->size; i++)
		if (bytes[i])
			return true;
	return false;
}

long __wrap_syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	const char *perf = getenv("PERF");
	va_list args;
	int pid, cpu;

	va_start(args, number);
	attr = va_arg(args, const struct perf_event_attr *);
	pid = va_arg(args, int);
	cpu = va_arg(args, int);
	va_end(args);
	if (number != SYS_perf_event_open || pid || cpu != -1 ||
	    !attr->disabled || (attr->exclude_user && attr->exclude_kernel))
		abort();
	if (!strcmp(perf, "none") ||
	    (!strcmp(perf, "user") && !attr->exclude_kernel))
		return refuse(EACCES);
	if (!strcmp(perf, "soft") && attr->type != PERF_TYPE_SOFTWARE)
		return refuse(ENOENT);
	if (!strcmp(perf, "old") && is_longer(attr))
		return refuse(E2BIG);
	return dup(STDERR_FILENO);
}

int main(int argc, char **argv)
{
	event_sysfs_root(getenv("SYSFS"));
	argv[0] = "list";
	return cmd_list(argc, argv);
}
