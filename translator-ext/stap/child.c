/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that stands for this process; child.h says what is wanted of it. */
#define _GNU_SOURCE	/* pipe2() */
#include "stap/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/shown.h"
#include "stap/status.h"

/* How long a line may stand without an end: it may be a prompt. */
#define PARTIAL_MS 200
/*
 * timeout(1) sends its signal to us and then to our group, stap among it; and
 * at the third one stap gives up without cleaning.  So of those that end it and
 * come close together only one is passed on.
 */
#define REPEAT_MS 200

struct stream {
	int from;		/* -1: at its end */
	int to;
	struct diag *filter;
	struct buf out;		/* filtered */
	size_t sent;		/* of out */
};

static sigset_t old_mask;
static struct sigaction old_pipe, old_chld;

static void held_signals(sigset_t *set)
{
	static const int held[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
		SIGTSTP, SIGCONT, SIGCHLD,
	};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++)
		sigaddset(set, held[i]);
}

void child_hold_signals(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t set;

	held_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &old_mask);
	/* whoever reads our stderr may be gone: that is for stap to learn */
	sigaction(SIGPIPE, &ignore, &old_pipe);
	/* where children are ignored, there is none to wait for */
	sigaction(SIGCHLD, &plain, &old_chld);
}

bool child_has_colors(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb"));
}

static void release_signals(void)
{
	sigaction(SIGPIPE, &old_pipe, NULL);
	sigaction(SIGCHLD, &old_chld, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A child's pipe; its end for the child is *theirs. */
static int make_pipe(struct stream *s, int *theirs)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	s->from = fds[0];
	*theirs = fds[1];
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool has_output(const struct stream *s)
{
	return s->sent < s->out.len;
}

static void drop_output(struct stream *s)
{
	free(s->out.s);
	s->out = (struct buf) { 0 };
	s->sent = 0;
}

/* No more at once than a pipe that poll() finds writable takes without waiting. */
static void send_some(struct stream *s)
{
	size_t left = s->out.len - s->sent;
	ssize_t n = write(s->to, s->out.s + s->sent,
			  left < PIPE_BUF ? left : PIPE_BUF);

	if (n >= 0) {
		s->sent += n;
	} else if (errno != EAGAIN && errno != EINTR) {
		/* the child will find its pipe closed, as we did */
		close_fd(&s->from);
		s->sent = s->out.len;
	}
	if (!has_output(s))
		drop_output(s);
}

#define READ_BYTES 16384
/* in so many reads the greatest pipe that anyone may have is empty */
#define DRAIN_TURNS ((1 << 20) / READ_BYTES)

/* Some bytes of the child's, if there are any; false: not now. */
static bool receive(struct stream *s)
{
	char bytes[READ_BYTES];
	ssize_t n;

	if (s->from < 0)
		return false;
	n = read(s->from, bytes, sizeof(bytes));
	if (n < 0)
		return errno == EINTR;
	if (n)
		diag_feed(s->filter, bytes, n, &s->out);
	else
		close_fd(&s->from);
	return n > 0;
}

static void flush(struct stream *s)
{
	if (diag_pending(s->filter))
		diag_flush(s->filter, &s->out);
}

/* As the shell that started us expects of its job. */
static void stop_self(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Each of the others is a request of its own: SIGUSR2 is stap's next output file. */
static bool is_end(int sig)
{
	return sig == SIGHUP || sig == SIGINT || sig == SIGQUIT ||
	       sig == SIGTERM;
}

static void pass_on(pid_t pid, const struct signalfd_siginfo *si)
{
	static long last[_NSIG];
	long now = now_ms();

	/* from a process, not from the kernel for a terminal */
	if (si->ssi_code > 0)
		return;
	if (is_end(si->ssi_signo) && last[si->ssi_signo] &&
	    now - last[si->ssi_signo] < REPEAT_MS)
		return;
	last[si->ssi_signo] = now;
	kill(pid, si->ssi_signo);
}

/* True if the child has ended, with its *status. */
static bool take_signals(int fd, pid_t pid, int *status)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			if (waitpid(pid, status, WNOHANG) == pid)
				return true;
			continue;
		}
		pass_on(pid, &si);
		if (si.ssi_signo == SIGTSTP)
			stop_self();
	}
	return false;
}

/* While the child lives no write may wait: signals would wait with it. */
static int follow(int signals, pid_t pid, struct stream *streams, int nr)
{
	struct pollfd fds[3] = { { signals, POLLIN, 0 } };
	int status, i, n;
	bool partial;

	for (;;) {
		partial = false;
		for (i = 0; i < nr; i++) {
			fds[i + 1] = has_output(&streams[i]) ?
				(struct pollfd) { streams[i].to, POLLOUT, 0 } :
				(struct pollfd) { streams[i].from, POLLIN, 0 };
			partial |= !has_output(&streams[i]) &&
				   diag_pending(streams[i].filter);
		}
		n = poll(fds, nr + 1, partial ? PARTIAL_MS : -1);
		for (i = 0; i < nr; i++) {
			if (!n && !has_output(&streams[i]))
				flush(&streams[i]);
			else if (n > 0 && fds[i + 1].revents &&
				 has_output(&streams[i]))
				send_some(&streams[i]);
			else if (n > 0 && fds[i + 1].revents)
				receive(&streams[i]);
		}
		if (n > 0 && fds[0].revents &&
		    take_signals(signals, pid, &status))
			return status;
	}
}

/* No child is left that a signal could be for: what ends programs ends this. */
static bool is_ended(int fd)
{
	struct signalfd_siginfo si;
	bool ended = false;

	while (read(fd, &si, sizeof(si)) == sizeof(si)) {
		ended |= is_end(si.ssi_signo);
		if (si.ssi_signo == SIGTSTP)
			stop_self();
	}
	return ended;
}

/* SIGNALS: -1 if they are not held.  False: one of them ends this. */
static bool send_all(struct stream *s, int signals)
{
	struct pollfd fds[2] = { { s->to, POLLOUT, 0 }, { signals, POLLIN, 0 } };

	while (has_output(s)) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents && is_ended(signals))
			return false;
		if (fds[0].revents)
			send_some(s);
	}
	return true;
}

/*
 * What the child wrote is in the pipes.  Something that it left running, a
 * flight recorder or a command of -c in the background, may write there later:
 * then somebody has to stay and read.
 */
static void drain(int signals, struct stream *streams, int nr)
{
	struct pollfd fds[2];
	bool open = false;
	int i, turns;

	for (i = 0; i < nr; i++) {
		/* no more than a pipe can have: who is left may write on and on */
		turns = DRAIN_TURNS;
		if (streams[i].from >= 0)
			fcntl(streams[i].from, F_SETFL, O_NONBLOCK);
		do {
			if (!send_all(&streams[i], signals))
				return;
		} while (receive(&streams[i]) && --turns);
		flush(&streams[i]);
		if (!send_all(&streams[i], signals))
			return;
		open |= streams[i].from >= 0;
	}
	if (!open || fork())
		return;
	release_signals();
	/* whoever reads the end of these shall not wait for this process */
	close(STDIN_FILENO);
	if (nr < 2)
		close(STDOUT_FILENO);
	while (open) {
		open = false;
		for (i = 0; i < nr; i++)
			fds[i] = (struct pollfd) { streams[i].from, POLLIN, 0 };
		poll(fds, nr, -1);
		for (i = 0; i < nr; i++) {
			receive(&streams[i]);
			send_all(&streams[i], -1);
			open |= streams[i].from >= 0;
		}
	}
	for (i = 0; i < nr; i++) {
		flush(&streams[i]);
		send_all(&streams[i], -1);
	}
	_exit(0);
}

/* stap has 1 for all that fails. */
static int with_command(const struct child *child, int status)
{
	const int ended = diag_ended(child->err);

	if (child->ours && ended && WIFEXITED(status) && WEXITSTATUS(status) == 1)
		return W_EXITCODE(ended, 0);
	/* and 0 for output that is lost */
	if (!status && diag_unwritten(child->err))
		return W_EXITCODE(1, 0);
	return status;
}

void child_ends_with(pid_t parent, int sig)
{
	prctl(PR_SET_PDEATHSIG, sig);
	/* who had died before that tells nobody */
	if (getppid() != parent)
		_exit(RUN_CANNOT);
}

static void __attribute__((noreturn))
become(const struct child *child, pid_t parent, int out, int err)
{
	FILE *message = fdopen(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), "w");

	/* should we be killed: the end that stap knows how to make */
	child_ends_with(parent, SIGTERM);
	release_signals();
	if (child->in >= 0)
		dup2(child->in, STDIN_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execv(child->path, child->argv);
	if (message) {
		shown_line(message, "stapwatch: %s: %s", child->path,
			   strerror(errno));
		fflush(message);
	}
	_exit(RUN_CANNOT);
}

int child_run(const struct child *child)
{
	struct stream streams[2] = {
		{ .from = -1, .to = STDERR_FILENO, .filter = child->err },
		{ .from = -1, .to = STDOUT_FILENO, .filter = child->out },
	};
	int nr = child->out ? 2 : 1, status = -1, signals;
	int err = -1, out = -1;
	pid_t self = getpid(), pid = -1;
	sigset_t set;

	held_signals(&set);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals >= 0 && !make_pipe(&streams[0], &err) &&
	    (!child->out || !make_pipe(&streams[1], &out)))
		pid = fork();
	if (pid < 0) {
		shown_line(stderr, "stapwatch: %s: %s", child->path,
			   strerror(errno));
	} else if (!pid) {
		become(child, self, out, err);
	} else {
		close_fd(&err);
		close_fd(&out);
		status = follow(signals, pid, streams, nr);
		drain(signals, streams, nr);
		status = with_command(child, status);
	}
	close_fd(&err);
	close_fd(&out);
	close_fd(&signals);
	for (int i = 0; i < nr; i++) {
		close_fd(&streams[i].from);
		drop_output(&streams[i]);
	}
	return status;
}

int child_end(int status)
{
	const struct rlimit no_core = { 0, 0 };
	sigset_t set;
	int sig;

	release_signals();
	if (status == -1)
		return RUN_CANNOT;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* a core of ours would say nothing */
	sig = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	fflush(NULL);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + sig;
}
