/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A script that a program starts, and that ends with the program.
 *
 * Between the program and the command that runs the script there is a supervisor, a child of
 * fork(): it has none of the program's files but the end of a pipe, and learns that the
 * script is to end by a byte from there, by the pipe's end at exec(), or by the program's
 * own end, whatever ended it.
 */
#define _GNU_SOURCE
#include "lib/map.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 10000000

struct stapwatch_script {
	pid_t supervisor;
	int pipe[2];		/* a byte there: the script is to end */
	char path[];		/* of the module's control file */
};

/* ---- the supervisor: what it calls is safe after fork(), in a program of threads, too */

/* What the program does in signals it does there only; and SIGINT ends the command. */
static void forget_handlers(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, was;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		if (sig == SIGINT || (!sigaction(sig, NULL, &was) &&
				      was.sa_handler != SIG_IGN))
			sigaction(sig, &plain, NULL);
}

/* All signals are blocked, so one that comes before exec() is not lost. */
static pid_t run_command(const char *const argv[], const sigset_t *signals)
{
	const pid_t pid = fork();

	if (pid)
		return pid;
	/* if somebody kills the supervisor */
	prctl(PR_SET_PDEATHSIG, SIGINT);
	forget_handlers();
	sigprocmask(SIG_SETMASK, signals, NULL);
	execvp(argv[0], (char *const *)argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Until the command ends, or is to. */
static int supervise(int told, pid_t program, pid_t command)
{
	struct pollfd fds[] = {
		{ .fd = syscall(SYS_pidfd_open, command, 0), .events = POLLIN },
		{ .fd = syscall(SYS_pidfd_open, program, 0), .events = POLLIN },
		{ .fd = told, .events = POLLIN },
	};
	int status = 0;

	/* a program that has ended is nobody's parent, whoever has its number by now; one in
	 * another namespace has none here */
	if (getppid() == program || !getppid())
		while (poll(fds, 3, -1) < 0 && errno == EINTR)
			;
	if (!fds[0].revents)
		kill(command, SIGINT);
	while (waitpid(command, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

_Noreturn static void
be_supervisor(const int pipe[2], pid_t program, const char *const argv[],
	      const sigset_t *signals)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	pid_t command;

	/* or nobody could wait for the command */
	sigaction(SIGCHLD, &plain, NULL);
	/* the program's end of the pipe, and its sessions, whose last descriptors it is to
	 * close */
	close(pipe[1]);
	if (dup2(pipe[0], 3) < 0 || syscall(SYS_close_range, 4, ~0U, 0))
		_exit(126);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	command = run_command(argv, signals);
	_exit(command < 0 ? 126 : supervise(3, program, command));
}

/* Return: as fork() does, in the program. */
static pid_t
start_supervisor(const int pipe[2], const char *const argv[])
{
	const pid_t program = getpid();
	sigset_t all, signals;
	pid_t pid;
	int err;

	/* no handler of the program's runs in a child */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &signals);
	pid = fork();
	err = errno;
	if (!pid)
		be_supervisor(pipe, program, argv, &signals);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	errno = err;
	return pid;
}

/* ---- the program */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static struct stapwatch_script *script_new(const char *module)
{
	struct stapwatch_script *s;
	const size_t size = sizeof(*s) + strlen(module) + 40;

	s = malloc(size);
	if (!s) {
		map_fail(ENOMEM, "out of memory");
		return NULL;
	}
	snprintf(s->path, size - sizeof(*s), "/proc/systemtap/%s/control", module);
	return s;
}

static bool is_module(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!(name[i] >= 'a' && name[i] <= 'z') &&
		    !(name[i] >= 'A' && name[i] <= 'Z') &&
		    !(name[i] >= '0' && name[i] <= '9') && name[i] != '_')
			return false;
	/* as a module's name is limited */
	return i && i < 56;
}

/* As a script's is whose stapio was killed, without files. */
static bool is_loaded(const char *module)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	return !access(path, F_OK);
}

/* Its session is there, and answers.  Return: 0, or an errno. */
static int has_begun(const struct stapwatch_script *s)
{
	struct stapwatch_step step = { .what = STAPWATCH_REFRESH };
	struct stapwatch_control *c = stapwatch_control_open(s->path);
	int err = 0;

	if (!c)
		return errno == EUSERS ? 0 : errno;
	if (stapwatch_control_run(c, &step, 1) != 1)
		err = errno;
	stapwatch_control_close(c);
	return err;
}

/* The command's status, which is taken once. */
static int end_it(struct stapwatch_script *s)
{
	int status = 0;
	ssize_t n;

	/* not closed only, as a child of fork() has it, too; and no SIGPIPE, as this one
	 * reads there */
	do
		n = write(s->pipe[1], "", 1);
	while (n < 0 && errno == EINTR);
	close(s->pipe[0]);
	close(s->pipe[1]);
	while (waitpid(s->supervisor, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int ended_early(const char *command, int status)
{
	if (status == 127)
		return map_fail(ENOENT, "script: there is no command %s", command);
	if (status < 0)
		return map_fail(ECANCELED, "script: %s ended before the script began",
				command);
	return map_fail(ECANCELED, "script: %s ended with status %d before the script began",
			command, status);
}

/* Return: 0: it has begun; or -1: it has ended, or is to. */
static int await_begin(struct stapwatch_script *s, const char *command, int timeout_ms)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const int64_t end = now_ms() + timeout_ms;
	siginfo_t info;
	int err;

	for (;;) {
		info.si_pid = 0;
		/* or the program has others wait for its children */
		if (waitid(P_PID, s->supervisor, &info, WEXITED | WNOHANG | WNOWAIT) ?
		    errno == ECHILD : info.si_pid)
			return ended_early(command, end_it(s));
		err = has_begun(s);
		if (!err)
			return 0;
		if (err != ENOENT && err != ESHUTDOWN) {
			end_it(s);
			return map_fail(err, "%s: %s", s->path, strerror(err));
		}
		if (timeout_ms >= 0 && now_ms() >= end) {
			end_it(s);
			return map_fail(ETIMEDOUT, "%s is not there after %d ms",
					s->path, timeout_ms);
		}
		nanosleep(&nap, NULL);
	}
}

struct stapwatch_script *
stapwatch_script_start(const char *module, const char *const argv[], int timeout_ms)
{
	struct stapwatch_script *s;

	if (!module || !is_module(module) || !argv || !argv[0]) {
		map_fail(EINVAL, "script: a module's name has letters, digits and _, and a command a word");
		return NULL;
	}
	s = script_new(module);
	if (!s)
		return NULL;
	if (is_loaded(module)) {
		map_fail(EEXIST, "script: module %s is there already; staprun -d %s unloads it if its script has ended",
			 module, module);
		free(s);
		return NULL;
	}
	if (pipe2(s->pipe, O_CLOEXEC)) {
		map_fail(errno, "script: %s", strerror(errno));
		free(s);
		return NULL;
	}
	s->supervisor = start_supervisor(s->pipe, argv);
	if (s->supervisor < 0) {
		map_fail(errno, "script: %s", strerror(errno));
		close(s->pipe[0]);
		close(s->pipe[1]);
	} else if (!await_begin(s, argv[0], timeout_ms)) {
		return s;
	}
	free(s);
	return NULL;
}

const char *stapwatch_script_control(const struct stapwatch_script *s)
{
	return s->path;
}

int stapwatch_script_stop(struct stapwatch_script *s)
{
	int status;

	if (!s)
		return 0;
	status = end_it(s);
	free(s);
	return status;
}
