/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that have a session of their own in a script's, in the guest.
 *
 *	control PATH counts	sets, targets, readings of which the values are known; each
 *				line is "WHAT: RESULT", of a failure its errno's name
 *	control PATH shared	a session that is passed on, and two of one target
 *	control PATH hold	open it, say "held", and wait until the script ends
 *	control PATH cost	ns of an empty system call, of a thread's own count, and
 *				of attaching to its parent and detaching, the medians of 15 times
 *	control PATH stopped COMMAND...	run it with a session that is attached to it, and stands still
 *	control PATH open	open it, once more, without capabilities, and as nobody
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

static void say_self(const char *what, struct stapwatch_control *c, uint64_t event)
{
	int64_t v = -1;
	const int rc = stapwatch_control_self(c, event, &v);

	if (rc)
		say(what, rc);
	else
		printf("%s: %lld\n", what, (long long)v);
}

/* ---- counts */

/* Until so many page faults are counted. */
static void await(struct stapwatch_control *c, uint64_t event,
		  enum stapwatch_target target, pid_t pid, int64_t all)
{
	struct stapwatch_step s[] = {
		{ .what = STAPWATCH_REFRESH },
		{ .what = STAPWATCH_READ, .target = target, .id = pid, .event = event },
	};
	int tries;

	for (tries = 0; tries < 3000; tries++) {
		if (stapwatch_control_run(c, s, 2) != 2)
			errx(1, "await: %s", stapwatch_error());
		if (!s[1].error && s[1].value >= all)
			return;
		usleep(1000);
	}
}

static void counts_of_self(struct stapwatch_control *c, uint64_t event)
{
	say("attach, stopped", stapwatch_control_attach(c, STAPWATCH_THREAD, 0,
							STAPWATCH_STOPPED));
	say("again", stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0));
	touch(100);
	say_self("stopped", c, event);
	say("start", stapwatch_control_start(c, STAPWATCH_THREAD, 0));
	touch(100);
	say("stop", stapwatch_control_stop(c, STAPWATCH_THREAD, 0));
	say_self("100 pages", c, event);
	touch(100);
	say_self("stopped again", c, event);
	say_count("by its number", c, event, STAPWATCH_THREAD, gettid());
	stapwatch_control_start(c, STAPWATCH_THREAD, 0);
	touch(30);
	say("detach", stapwatch_control_detach(c, STAPWATCH_THREAD, 0));
	touch(50);
	say_count("detached", c, event, STAPWATCH_THREAD, gettid());
	say("twice", stapwatch_control_detach(c, STAPWATCH_THREAD, 0));
	say("attach again", stapwatch_control_attach(c, STAPWATCH_THREAD, gettid(), 0));
	touch(7);
	say_count("goes on", c, event, STAPWATCH_THREAD, 0);
	say("detach again", stapwatch_control_detach(c, STAPWATCH_THREAD, 0));
	say("as 0", stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0));
	say("as its number", stapwatch_control_detach(c, STAPWATCH_THREAD, gettid()));
}

/* More processes than there are targets, each reaped before it is let go. */
static void reaped(struct stapwatch_control *c)
{
	int i, failed = 0;
	pid_t pid;

	for (i = 0; i < 70; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid)
			pause();
		failed += !!stapwatch_control_attach(c, STAPWATCH_PROCESS, pid, 0);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		failed += !!stapwatch_control_detach(c, STAPWATCH_PROCESS, pid);
	}
	printf("reaped, then detached: %d failed\n", failed);
	/* and of those that nobody detaches */
	for (i = failed = 0; i < 70; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid)
			pause();
		failed += !!stapwatch_control_attach(c, STAPWATCH_THREAD, pid, 0);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	printf("reaped, and left: %d failed\n", failed);
	/* one that sleeps meanwhile */
	for (i = failed = 0; i < 100; i++)
		failed += stapwatch_control_attach(c, STAPWATCH_PROCESS, getppid(), 0) ||
			  stapwatch_control_detach(c, STAPWATCH_PROCESS, getppid());
	printf("again and again: %d failed\n", failed);
}

static void counts_of_child(struct stapwatch_control *c, uint64_t event)
{
	int child, status;
	pid_t pid = child_that_touches(40, &child);

	/* what it shares with us from fork() on it has of its own after that */
	tell(child);
	say("attach, process", stapwatch_control_attach(c, STAPWATCH_PROCESS, pid, 0));
	tell(child);
	await(c, event, STAPWATCH_TREE, pid, 40);
	say_count("tree", c, event, STAPWATCH_TREE, pid);
	close(child);
	waitpid(pid, &status, 0);
	say_count("process that has ended", c, event, STAPWATCH_PROCESS, pid);
	say("detach, process", stapwatch_control_detach(c, STAPWATCH_PROCESS, pid));
	say("no process", stapwatch_control_attach(c, STAPWATCH_PROCESS, pid, 0));
}

static void counts_of_set(struct stapwatch_control *c)
{
	struct stapwatch_step s[] = {
		{ .what = STAPWATCH_MAKE_SET, .name = "b", .text = "context_switches" },
		{ .what = STAPWATCH_SET_PLACE, .name = "b", .value = 1 },
		{ .what = STAPWATCH_SET_EVERY, .name = "b", .text = "1ms" },
		{ .what = STAPWATCH_SET_EVERY, .name = "a", .text = "1ms" },
		{ .what = STAPWATCH_FIND, .name = "b", .text = "runs" },
		{ .what = STAPWATCH_FIND, .name = "a", .text = "ran_ns" },
		{ .what = STAPWATCH_FIND, .name = "b", .text = "active_ns" },
	};
	uint64_t runs, ran, active;
	int64_t all = 0, of_b = 0, n = 0;
	int tries;

	printf("steps: %d\n", stapwatch_control_run(c, s, 7));
	runs = s[4].event;
	ran = s[5].event;
	active = s[6].event;
	for (tries = 0; tries < 3000 && n < 20; tries++) {
		usleep(1000);
		if (stapwatch_control_read(c, runs, STAPWATCH_ALL, 0, &n))
			n = 0;
	}
	printf("runs: %d\n", n >= 20);
	/* of which there is none while a CPU is within a switch */
	while (stapwatch_control_read(c, active, STAPWATCH_ALL, 0, &of_b) &&
	       errno == ENODATA)
		usleep(1000);
	while (stapwatch_control_read(c, ran, STAPWATCH_ALL, 0, &all) &&
	       errno == ENODATA)
		usleep(1000);
	printf("its time is part of all: %d\n", of_b > 0 && of_b < all);
	say("delete", stapwatch_control_run(c, &(struct stapwatch_step) {
		.what = STAPWATCH_DELETE_SET, .name = "b" }, 1) != 1);
	say_count("a set that has gone", c, runs, STAPWATCH_ALL, 0);
	say_why("its event", stapwatch_control_find(c, "b", "runs", &runs));
}

static void counts(void)
{
	struct stapwatch_control *c = open_it();
	int64_t before = 0, after = 0;
	uint64_t event;

	say("make", stapwatch_control_make_set(c, "a", "page_faults,minor_faults"));
	event = word(c, "a", "page_faults");
	await_turn(c, "a");
	counts_of_self(c, event);
	counts_of_child(c, event);
	reaped(c);
	/* of the script's own, which always counts */
	say("attach to count", stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0));
	event = word(c, NULL, "page_faults");
	stapwatch_control_self(c, event, &before);
	touch(11);
	stapwatch_control_self(c, event, &after);
	printf("always counted: %lld\n", (long long)(after - before));
	counts_of_set(c);
	stapwatch_control_close(c);
}

/* ---- shared */

static void pass_on(int to, int fd)
{
	char room[CMSG_SPACE(sizeof(fd))] = "", byte = 'x';
	struct iovec io = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1,
			    .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) != 1)
		err(1, "sendmsg");
}

static int take_on(int from)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec io = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1,
			    .msg_control = room, .msg_controllen = sizeof(room) };
	int fd;

	if (recvmsg(from, &m, 0) != 1)
		err(1, "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* What is counted of ten. */
static int grown(struct stapwatch_control *c, uint64_t event)
{
	int64_t before = 0, after = 0;

	stapwatch_control_self(c, event, &before);
	touch(10);
	stapwatch_control_self(c, event, &after);
	return after - before;
}

static int grown_of_process(struct stapwatch_control *c, uint64_t event)
{
	int64_t before = 0, after = 0;

	stapwatch_control_read(c, event, STAPWATCH_PROCESS, 0, &before);
	touch(10);
	stapwatch_control_read(c, event, STAPWATCH_PROCESS, 0, &after);
	return after - before;
}

static void shared(void)
{
	struct stapwatch_control *one = open_it(), *two = open_it(), *passed;
	int sockets[2], status, fd;
	uint64_t event;
	pid_t pid;

	say("one makes", stapwatch_control_make_set(one, "a", "page_faults"));
	say_why("two makes the same", stapwatch_control_make_set(two, "a", "page_faults"));
	say_why("two deletes it", stapwatch_control_run(two, &(struct stapwatch_step) {
		.what = STAPWATCH_DELETE_SET, .name = "a" }, 1) == 1 ? 0 : -1);
	say_why("the script's", stapwatch_control_make_set(two, "script", "page_faults"));
	printf("two finds it: %d\n", !!word(two, "a", "page_faults"));
	event = word(two, NULL, "page_faults");
	say("one attaches", stapwatch_control_attach(one, STAPWATCH_THREAD, 0, 0));
	say("two attaches", stapwatch_control_attach(two, STAPWATCH_THREAD, 0, 0));
	printf("both count: %d\n", grown(two, event));
	say("one detaches", stapwatch_control_detach(one, STAPWATCH_THREAD, 0));
	printf("two is attached: %d\n", grown(two, event));
	say("two detaches", stapwatch_control_detach(two, STAPWATCH_THREAD, 0));
	printf("the script is: %d\n", grown(two, event));
	/* who stops it stops it for all, until that one is gone */
	stapwatch_control_attach(one, STAPWATCH_THREAD, 0, 0);
	stapwatch_control_attach(two, STAPWATCH_THREAD, 0, STAPWATCH_STOPPED);
	printf("two stops: %d\n", grown(one, event));
	say("one starts", stapwatch_control_start(one, STAPWATCH_THREAD, 0));
	printf("two has stopped: %d\n", grown(one, event));
	say("two detaches", stapwatch_control_detach(two, STAPWATCH_THREAD, 0));
	printf("one counts: %d\n", grown(one, event));
	say("two stops", stapwatch_control_stop(two, STAPWATCH_THREAD, 0));
	say("one detaches", stapwatch_control_detach(one, STAPWATCH_THREAD, 0));
	/* the script asks for its command */
	say("its process", stapwatch_control_attach(one, STAPWATCH_PROCESS, 0, STAPWATCH_STOPPED));
	printf("stopped: %d\n", grown_of_process(one, event));
	say("no more", stapwatch_control_detach(one, STAPWATCH_PROCESS, 0));
	printf("the script counts: %d\n", grown_of_process(one, event));
	/* by another process, which ends it */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		err(1, "socketpair");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		stapwatch_control_close(one);
		stapwatch_control_close(two);
		fd = take_on(sockets[1]);
		passed = stapwatch_control_of(fd);
		say("passed on", stapwatch_control_make_set(passed, "p", "page_faults"));
		fflush(stdout);
		stapwatch_control_close(passed);
		_exit(0);
	}
	pass_on(sockets[0], stapwatch_control_fd(one));
	stapwatch_control_close(one);
	waitpid(pid, &status, 0);
	say_why("its last descriptor is closed", stapwatch_control_find(two, "a", "page_faults", &event));
	stapwatch_control_close(two);
}

static void hold(void)
{
	struct stapwatch_control *c = open_it();
	uint64_t event;
	int64_t v;

	say("hold", stapwatch_control_make_set(c, "held", "page_faults"));
	say("hold", stapwatch_control_attach(c, STAPWATCH_PROCESS, 0, 0));
	puts("held");
	fflush(stdout);
	do
		usleep(10000);
	while (!stapwatch_control_self(c, 0, &v) || errno != ESHUTDOWN);
	say_why("ended", -1);
	say_why("find", stapwatch_control_find(c, "held", "page_faults", &event));
	say_why("attach", stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0));
	stapwatch_control_close(c);
}

/* ---- what it costs */

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static void median(const char *what, struct stapwatch_control *c, uint64_t event)
{
	long all[15], then;
	int64_t v;
	int i, k;

	for (i = 0; i < 15; i++) {
		then = now();
		for (k = 0; k < 200; k++)
			if (*what == 'e')
				syscall(SYS_getppid);
			else if (*what == 's')
				stapwatch_control_self(c, event, &v);
			else if (stapwatch_control_attach(c, STAPWATCH_THREAD, getppid(), 0) ||
				 stapwatch_control_detach(c, STAPWATCH_THREAD, getppid()))
				errx(1, "%s", stapwatch_error());
		all[i] = (now() - then) / 200;
	}
	qsort(all, 15, sizeof(*all), by_size);
	printf("%s %ld\n", what, all[7]);
}

static void cost(void)
{
	struct stapwatch_control *c = open_it();
	uint64_t event;

	if (stapwatch_control_make_set(c, "a", "page_faults") ||
	    stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0))
		errx(1, "%s", stapwatch_error());
	event = word(c, "a", "page_faults");
	median("empty", c, event);
	median("self", c, event);
	median("attach", c, event);
}

/* All that a session has is stopped. */
static int stopped(char **command)
{
	struct stapwatch_control *c = open_it();
	int status;

	if (stapwatch_control_make_set(c, "a", "page_faults") ||
	    stapwatch_control_attach(c, STAPWATCH_PROCESS, 0, STAPWATCH_STOPPED) ||
	    stapwatch_control_stop(c, STAPWATCH_ALL, 0))
		errx(1, "%s", stapwatch_error());
	if (!fork()) {
		execvp(*command, command);
		err(1, "%s", *command);
	}
	wait(&status);
	stapwatch_control_close(c);
	return status;
}

static void say_open(const char *who)
{
	struct stapwatch_control *c = stapwatch_control_open(path);

	printf("%s: %s\n", who, c ? "open" : strerrorname_np(errno));
	stapwatch_control_close(c);
}

static void opens(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { 0 };
	struct stapwatch_control *c = open_it();

	say_open("one more");
	stapwatch_control_close(c);
	say_open("alone");
	fflush(stdout);
	if (!fork()) {
		if (syscall(SYS_capset, &head, none))
			err(1, "capset");
		say_open("without capabilities");
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	if (setgid(65534) || setuid(65534))
		err(1, "setuid");
	say_open("nobody");
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	path = argv[1];
	if (!strcmp(what, "counts")) {
		counts();
	} else if (!strcmp(what, "shared")) {
		shared();
	} else if (!strcmp(what, "hold")) {
		hold();
	} else if (!strcmp(what, "cost")) {
		cost();
	} else if (!strcmp(what, "stopped") && argc > 3) {
		return !!stopped(argv + 3);
	} else if (!strcmp(what, "open")) {
		opens();
	} else {
		return 2;
	}
	return 0;
}
