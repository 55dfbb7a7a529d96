/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stap that runs beside us; ppa_session.h says what is wanted of it. */
#include "cmd/ppa_session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/ppa_room.h"
#include "stap/find.h"
#include "stap/own.h"

#define MODULES "/proc/systemtap"

static pid_t child;

static char *dir_of(const char *module)
{
	struct buf path = { 0 };

	buf_printf(&path, MODULES "/%s/ppa", module);
	return buf_take(&path);
}

/* What its globals are, as stap's -G has them. */
static int put_globals(char **args, int n, enum ppa_extra extra,
		       uint64_t threads)
{
	static const char *const options[] = {
		[PPA_EXTRA_SYSCALLS] = "ppa_syscalls=1",
		[PPA_EXTRA_LOCKS] = "ppa_locks=8192",
		[PPA_EXTRA_COMPETITORS] = "ppa_competitors=1",
	};
	struct buf room = { 0 };

	if (extra) {
		args[n++] = "-G";
		args[n++] = (char *)options[extra];
	}
	if (threads) {
		buf_printf(&room, "ppa_threads=%" PRIu64, threads);
		args[n++] = "-G";
		args[n++] = room.s;
	}
	return n;
}

static void become_stap(const char *path, const char *module, enum ppa_extra extra,
			uint64_t threads, pid_t parent)
{
	char *args[12];
	int n = 0;

	args[n++] = "-m";
	args[n++] = (char *)module;
	n = put_globals(args, n, extra, threads);
	args[n++] = "-e";
	args[n++] = "probe begin { if (ppa_cpu_elapsed_us(0) < -1) exit() }";
	args[n] = NULL;
	/* its output is not ours */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	own_stap(path, args, parent, SIGINT);
}

/* Until its files are there, or it has failed, or nobody wants it any more. */
static bool wait_for(const char *dir, const volatile sig_atomic_t *stopped)
{
	const struct timespec nap = { 0, 20000000 };
	struct buf path = { 0 };
	bool there = false;

	buf_printf(&path, "%s/rawthreads", dir);
	while (!there && !*stopped) {
		if (waitpid(child, NULL, WNOHANG) == child) {
			child = 0;
			break;
		}
		there = !access(path.s, R_OK);
		if (!there)
			nanosleep(&nap, NULL);
	}
	free(path.s);
	return there;
}

static char *
start_own(enum ppa_extra extra, uint64_t threads,
	  const volatile sig_atomic_t *stopped)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	char *path = find_our_stap(true, NULL), *dir;
	const pid_t self = getpid();
	char module[32];

	if (!path)
		return NULL;
	/* where children are ignored, there is none to wait for */
	sigaction(SIGCHLD, &plain, NULL);
	snprintf(module, sizeof(module), "stapwatch_ppa_%d", self);
	dir = dir_of(module);
	fflush(NULL);
	child = fork();
	if (!child)
		become_stap(path, module, extra,
			    threads ?: ppa_room_wanted(), self);
	free(path);
	if (child > 0 && wait_for(dir, stopped))
		return dir;
	if (!*stopped)
		shown_line(stderr, "stapwatch ppa: no accounting (stap's message is above)");
	ppa_session_end();
	free(dir);
	return NULL;
}

char *ppa_session_begin(const char *named, enum ppa_extra extra,
			uint64_t threads,
			const volatile sig_atomic_t *stopped)
{
	char *dir = NULL;

	if (named)
		return strchr(named, '/') ? xstrdup(named) : dir_of(named);
	if (!threads)
		dir = ppa_files_any(extra);
	/* what threads did is in any; only who ran meanwhile is not */
	if (!threads && !dir && extra == PPA_EXTRA_COMPETITORS)
		dir = ppa_files_any(PPA_NO_EXTRA);
	return dir ? dir : start_own(extra, threads, stopped);
}

void ppa_session_end(void)
{
	if (child <= 0)
		return;
	if (!kill(child, SIGINT))
		waitpid(child, NULL, 0);
	child = 0;
}
