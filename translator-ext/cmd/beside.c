/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stap beside us, and what its script says through a pipe; beside.h. */
#include "cmd/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "stap/find.h"
#include "stap/headers.h"
#include "stap/own.h"
#include "stap/status.h"

struct session {
	const struct beside *with;
	struct buf text;		/* of which no line is whole yet */
	int command;			/* COMMAND's status; -1: nobody has told */
};

/* Who asks us to end means the script, which has something to say then. */
static volatile sig_atomic_t asked;

static void on_signal(int sig)
{
	asked = sig;
}

static bool take_command(struct session *s, const char *line)
{
	int status;

	if (sscanf(line, "command %d", &status) != 1)
		return false;
	s->command = status;
	return true;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

/* stap has 1 for all that fails, where COMMAND shares its terminal. */
static int with_command(const struct session *s, int status)
{
	return status == 1 && s->command > 0 ? shell_status(s->command) : status;
}

/*
 * What is there to read; 0, or what on_line() said.  Where it has said so before, what
 * still comes is dropped: who writes it is not to wait for us.
 */
static int take(struct session *s, int fd, int rc)
{
	char part[4096], *line, *end;
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0)
		if (!rc)
			buf_add(&s->text, part, n);
	for (line = s->text.s; line && !rc; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		*end = '\0';
		if (!take_command(s, line))
			rc = s->with->on_line(s->with->data, line);
	}
	if (line && line != s->text.s) {
		s->text.len -= line - s->text.s;
		memmove(s->text.s, line, s->text.len + 1);
	}
	return rc;
}

static void become_stap(const struct beside *with, const char *path, char *fifo,
			pid_t parent)
{
	char **args;
	int n = 0, i;

	for (i = 0; with->args[i]; i++)
		;
	args = xmalloc((i + 5) * sizeof(*args));
	args[n++] = "-o";
	args[n++] = fifo;
	for (i = 0; with->args[i]; i++)
		args[n++] = with->args[i];
	args[n++] = "-e";
	args[n++] = (char *)with->script;
	args[n] = NULL;
	own_stap(path, args, parent, SIGTERM);
}

/* Until stap has ended; returns its status, or 1. */
static int follow(struct session *s, int fd, pid_t child)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };
	bool told = false, stopped = false;
	int status, rc = 0;

	for (;;) {
		if (asked) {
			stopped = true;
			kill(child, asked);
			asked = 0;
		}
		poll(&wanted, 1, 50);
		rc = take(s, fd, rc);
		/* once: stap gives up, and leaves things behind, at the third */
		if (rc && !told)
			kill(child, SIGINT);
		told |= rc;
		if (waitpid(child, &status, WNOHANG) == child)
			break;
	}
	/* also by who has asked when there was none to ask any more */
	if (s->with->stopped)
		*s->with->stopped = stopped || asked;
	rc = take(s, fd, rc);
	if (rc < 0)
		return 1;
	if (rc)
		return 0;
	return with_command(s, shell_status(status));
}

static bool with_stopped(const struct beside *with)
{
	if (with->stopped)
		*with->stopped = true;
	return with->stopped;
}

static int run(struct session *s, const char *dir)
{
	const char *who = s->with->who;
	struct sigaction act = { .sa_handler = on_signal };
	struct sigaction plain = { .sa_handler = SIG_DFL };
	pid_t child, self = getpid();
	char *path = find_our_stap(true, NULL);
	struct buf fifo = { 0 };
	int fd = -1, status = 1;

	if (!path)
		return RUN_NO_STAP;
	buf_printf(&fifo, "%s/out", dir);
	if (!mkfifo(fifo.s, 0600))
		/* for writing as well: it does not end before there is a writer */
		fd = open(fifo.s, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		shown_line(stderr, "stapwatch %s: %s: %s", who, fifo.s,
			   strerror(errno));
	if (fd >= 0 && asked && with_stopped(s->with)) {
		/* after the run before this one */
		close(fd);
		status = 0;
	} else if (fd >= 0) {
		sigaction(SIGINT, &act, NULL);
		sigaction(SIGTERM, &act, NULL);
		sigaction(SIGHUP, &act, NULL);
		/* where children are ignored, there is none to wait for */
		sigaction(SIGCHLD, &plain, NULL);
		fflush(NULL);
		child = fork();
		if (!child)
			become_stap(s->with, path, fifo.s, self);
		if (child > 0)
			status = follow(s, fd, child);
		else
			shown_line(stderr, "stapwatch %s: fork: %s", who,
				   strerror(errno));
		close(fd);
	}
	if (status && own_has_terminal(s->with->args))
		headers_tell(stderr);
	unlink(fifo.s);
	free(fifo.s);
	free(path);
	return status;
}

int beside_run(const struct beside *with)
{
	const char *tmp = getenv("TMPDIR");
	struct session s = { .with = with, .command = -1 };
	struct buf dir = { 0 };
	int status = 1;

	buf_printf(&dir, "%s/stapwatch.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(dir.s)) {
		status = run(&s, dir.s);
		rmdir(dir.s);
	} else {
		shown_line(stderr, "stapwatch %s: %s: %s", with->who, dir.s,
			   strerror(errno));
	}
	free(s.text.s);
	free(dir.s);
	return status;
}
