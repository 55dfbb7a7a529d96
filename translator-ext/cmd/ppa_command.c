/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that runs meanwhile; ppa_command.h says what is wanted of it. */
#define _GNU_SOURCE	/* environ */
#include "cmd/ppa_command.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "stap/status.h"

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

bool ppa_command_is_there(const char *name)
{
	const char *dir = getenv("PATH") ?: "/usr/bin:/bin";
	struct buf path = { 0 };
	bool there = false;
	size_t len;

	if (strchr(name, '/'))
		return is_program(name);
	for (; !there; dir += len + 1) {
		len = strcspn(dir, ":");
		path.len = 0;
		buf_add(&path, len ? dir : ".", len ?: 1);
		buf_printf(&path, "/%s", name);
		there = is_program(path.s);
		if (!dir[len])
			break;
	}
	free(path.s);
	return there;
}

int ppa_command_start(struct ppa_command *c)
{
	posix_spawnattr_t attr;
	sigset_t held, old;
	int err;

	/* its end is waited for by sigtimedwait() */
	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	sigprocmask(SIG_BLOCK, &held, &old);
	fflush(NULL);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &old);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawnp(&c->pid, c->argv[0], NULL, &attr, c->argv, environ);
	posix_spawnattr_destroy(&attr);
	if (!err)
		return 0;
	c->pid = 0;
	shown_line(stderr, "stapwatch ppa: %s: %s", c->argv[0], strerror(err));
	/* as a shell has it */
	c->status = err == ENOENT ? 127 : RUN_CANNOT;
	return -1;
}

static void take_end(struct ppa_command *c, int options)
{
	int status;

	if (c->pid <= 0 || c->ended || waitpid(c->pid, &status, options) != c->pid)
		return;
	c->ended = true;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					  WEXITSTATUS(status);
}

void ppa_command_wait(struct ppa_command *c, double seconds)
{
	struct timespec now, end, left = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (seconds - (time_t)seconds) * 1e9;
	end.tv_sec += (time_t)seconds + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	for (take_end(c, WNOHANG); !c->ended; take_end(c, WNOHANG)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		left.tv_sec = end.tv_sec - now.tv_sec;
		left.tv_nsec = end.tv_nsec - now.tv_nsec;
		if (left.tv_nsec < 0) {
			left.tv_sec--;
			left.tv_nsec += 1000000000;
		}
		if (seconds && left.tv_sec < 0)
			return;
		/* a stap of ours may end, too; any other signal has its handler */
		if ((seconds ? sigtimedwait(&set, NULL, &left) :
			       sigwaitinfo(&set, NULL)) != SIGCHLD)
			return;
	}
}

void ppa_command_end(struct ppa_command *c)
{
	if (c->pid <= 0)
		return;
	take_end(c, WNOHANG);
	if (c->ended)
		return;
	kill(c->pid, SIGTERM);
	take_end(c, 0);
	if (c->status == 128 + SIGTERM)
		c->status = 0;
}
