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
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	int err;

	/* whoever ignores its children is not told how they ended, nor when */
	sigaction(SIGCHLD, &plain, NULL);
	fflush(NULL);
	err = posix_spawnp(&c->pid, c->argv[0], NULL, NULL, c->argv, environ);
	if (!err)
		return 0;
	c->pid = 0;
	shown_line(stderr, "stapwatch ppa: %s: %s", c->argv[0], strerror(err));
	/* as a shell has it */
	c->status = err == ENOENT ? 127 : RUN_CANNOT;
	return -1;
}

static void take_end(struct ppa_command *c)
{
	int status;

	if (c->pid <= 0 || c->ended || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	c->ended = true;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					  WEXITSTATUS(status);
}

void ppa_command_wait(struct ppa_command *c, double seconds,
		      volatile sig_atomic_t *stopped)
{
	struct timespec now, end, left = { 0 };
	sigset_t set, old;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* none comes between a look for it and the wait */
	sigprocmask(SIG_BLOCK, &set, &old);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (seconds - (time_t)seconds) * 1e9;
	end.tv_sec += (time_t)seconds + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	for (take_end(c); !c->ended && !*stopped; take_end(c)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		left.tv_sec = end.tv_sec - now.tv_sec;
		left.tv_nsec = end.tv_nsec - now.tv_nsec;
		if (left.tv_nsec < 0) {
			left.tv_sec--;
			left.tv_nsec += 1000000000;
		}
		if (seconds && left.tv_sec < 0)
			break;
		/* a stap of ours may end, too, and Ctrl-Z with fg ends the call */
		sig = seconds ? sigtimedwait(&set, NULL, &left) :
				sigwaitinfo(&set, NULL);
		if (sig == SIGINT || sig == SIGTERM)
			*stopped = 1;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

void ppa_command_end(struct ppa_command *c)
{
	volatile sig_atomic_t stopped = 0;

	if (c->pid <= 0)
		return;
	take_end(c);
	if (c->ended)
		return;
	kill(c->pid, SIGTERM);
	kill(c->pid, SIGCONT);
	ppa_command_wait(c, 2, &stopped);
	if (!c->ended)
		shown_line(stderr, "stapwatch ppa: %s: SIGTERM did not end it; it goes on as process %d",
			   c->argv[0], (int)c->pid);
	if (c->status == 128 + SIGTERM)
		c->status = 0;
}
