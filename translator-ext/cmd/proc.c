/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc tells of processes and threads; proc.h. */
#include "cmd/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"

bool proc_is_here(void)
{
	const char *release = getenv("SYSTEMTAP_RELEASE");
	struct utsname here;

	return !release || !*release || uname(&here) ||
	       !strcmp(release, here.release);
}

char *proc_path(const char *file)
{
	struct buf path = { 0 };

	buf_printf(&path, "%s/%s", getenv("STAPWATCH_PROC") ?: "/proc", file);
	return buf_take(&path);
}

/* /proc has each thread, though it lists processes only. */
char *proc_path_of(uint64_t id, const char *file)
{
	struct buf name = { 0 };
	char *path;

	buf_printf(&name, "%" PRIu64 "/%s", id, file);
	path = proc_path(name.s);
	free(name.s);
	return path;
}

/* Other users' processes may be hidden (hidepid), but not from a signal. */
static bool is_there(uint64_t id)
{
	char *path = proc_path_of(id, "status");
	const bool shown = !access(path, F_OK);

	free(path);
	return shown || !kill(id, 0) || errno != ESRCH;
}

/* The process of a thread; 0: nobody can tell. */
static uint64_t process_of(uint64_t id)
{
	char *path = proc_path_of(id, "status"), line[256];
	FILE *f = fopen(path, "re");
	uint64_t pid = 0;

	free(path);
	if (!f)
		return 0;
	while (!pid && fgets(line, sizeof(line), f))
		sscanf(line, "Tgid: %" SCNu64, &pid);
	fclose(f);
	return pid;
}

bool proc_is_in(const char *namespace)
{
	struct buf file = { 0 };
	char *path, text[64];
	ssize_t n;

	buf_printf(&file, "self/ns/%.*s", (int)strcspn(namespace, ":"),
		   namespace);
	path = proc_path(file.s);
	n = readlink(path, text, sizeof(text));
	free(path);
	free(file.s);
	return n == (ssize_t)strlen(namespace) && !memcmp(text, namespace, n);
}

/* The kernel's, in which -p and -t are numbers for the module. */
#define PID_NAMESPACE "pid:[4026531836]"

int proc_check_target(const char *who, uint64_t pid, uint64_t tid)
{
	uint64_t process = pid ? process_of(pid) : 0;

	if (!proc_is_here() || !proc_is_in(PID_NAMESPACE))
		return 0;
	if (pid && !is_there(pid))
		shown_line(stderr, "stapwatch %s: -p %" PRIu64 ": there is no such process",
			   who, pid);
	else if (process && process != pid)
		shown_line(stderr, "stapwatch %s: -p %" PRIu64 ": that is a thread of process %" PRIu64 "; give -p %" PRIu64 ", or -t for that thread alone",
			   who, pid, process, process);
	else if (tid && !is_there(tid))
		shown_line(stderr, "stapwatch %s: -t %" PRIu64 ": there is no such thread",
			   who, tid);
	else
		return 0;
	return -1;
}
