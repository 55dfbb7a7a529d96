/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that wait, each for one cause and under its name.
 *
 *	waits TIMES MS DISK	for each cause a process w-CAUSE, one after the other,
 *				that waits TIMES times, MS milliseconds at least; the
 *				disk takes as long as it takes, and "-" is none
 *
 * A time may be over before its waiter is off the CPU, on a machine that stands
 * still for that long: such a wait is none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"

#define PAGE 4096

static int times, ms;
static const char *disk;

static void nap(void)
{
	struct timespec ts = { 0, ms * 1000000L };

	nanosleep(&ts, NULL);
}

/* A process that does for us what the others wait for. */
static pid_t helper(void (*run)(int), int arg)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_NAME, "helper");
	run(arg);
	_exit(0);
}

/* A machine that stood still for a while does not make it late. */
static void nap_while_it_sleeps(void)
{
	await(getppid(), 'S');
	nap();
}

static void write_late(int fd)
{
	int i;

	for (i = 0; i < times; i++) {
		nap_while_it_sleeps();
		if (write(fd, "", 1) != 1)
			_exit(1);
	}
}

static void read_all(int fds[2])
{
	pid_t child = helper(write_late, fds[1]);
	char c;
	int i;

	for (i = 0; i < times; i++)
		if (read(fds[0], &c, 1) != 1)
			_exit(1);
	/* it is gone already, or about to be: no wait that counts */
	while (kill(child, 0) == 0 && waitpid(child, NULL, WNOHANG) == 0)
		;
}

/* How often this process went off its CPU by itself. */
static long blocked(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw;
}

/* So many waits that were some. */
static void wait_often(void (*wait_once)(void))
{
	int waited = 0;

	while (waited < times) {
		long before = blocked();

		wait_once();
		waited += blocked() > before;
	}
}

static void futex_once(void)
{
	static int word;
	struct timespec ts = { 0, ms * 1000000L };

	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ts, NULL, 0);
}

static void wait_futex(void)
{
	wait_often(futex_once);
}

static void wait_sleep(void)
{
	wait_often(nap);
}

static void poll_once(void)
{
	poll(NULL, 0, ms);
}

static void wait_poll(void)
{
	wait_often(poll_once);
}

static void wait_pipe(void)
{
	int fds[2];

	if (pipe(fds))
		_exit(1);
	read_all(fds);
}

static void wait_socket(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		_exit(1);
	read_all(fds);
}

static void nap_once(int unused)
{
	(void)unused;
	nap_while_it_sleeps();
}

static void wait_child(void)
{
	int i;

	for (i = 0; i < times; i++)
		waitpid(helper(nap_once, 0), NULL, 0);
}

static void go_on(int pid)
{
	int i;

	for (i = 0; i < times; i++) {
		await(pid, 'T');
		nap();
		kill(pid, SIGCONT);
	}
}

static void wait_stopped(void)
{
	int i;

	helper(go_on, getpid());
	for (i = 0; i < times; i++)
		raise(SIGSTOP);
}

static void hold_lock(int go)
{
	int fd = open("locked", O_RDWR | O_CREAT, 0600), i;

	for (i = 0; i < times; i++) {
		flock(fd, LOCK_EX);
		if (write(go, "", 1) != 1)
			_exit(1);
		nap_while_it_sleeps();
		flock(fd, LOCK_UN);
		/* the other has it once, and then asks for the next */
		if (read(go, &(char){ 0 }, 1) != 1)
			_exit(1);
	}
}

static void wait_lock(void)
{
	int fd = open("locked", O_RDWR | O_CREAT, 0600), i, fds[2];
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		_exit(1);
	helper(hold_lock, fds[1]);
	for (i = 0; i < times; i++) {
		while (recv(fds[0], &c, 1, MSG_DONTWAIT) != 1)
			;
		flock(fd, LOCK_EX);
		flock(fd, LOCK_UN);
		if (write(fds[0], "", 1) != 1)
			_exit(1);
	}
}

static int disk_fd;
static void *disk_page;

static void disk_once(void)
{
	if (read(disk_fd, disk_page, PAGE) != PAGE)
		_exit(1);
}

static void wait_disk(void)
{
	disk_fd = open(disk, O_RDONLY | O_DIRECT);
	if (disk_fd < 0 || posix_memalign(&disk_page, PAGE, PAGE))
		_exit(1);
	wait_often(disk_once);
}

/* Of the disk, which nobody has touched yet. */
static volatile char *next_page;

static void page_once(void)
{
	(void)*next_page;
	next_page += PAGE;
}

static void wait_page(void)
{
	int fd = open(disk, O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED || madvise(map, size, MADV_RANDOM))
		_exit(1);
	next_page = map;
	wait_often(page_once);
}

static const struct {
	const char *name;
	void (*run)(void);
} causes[] = {
	{ "w-futex", wait_futex },
	{ "w-sleep", wait_sleep },
	{ "w-poll", wait_poll },
	{ "w-pipe", wait_pipe },
	{ "w-socket", wait_socket },
	{ "w-child", wait_child },
	{ "w-stopped", wait_stopped },
	{ "w-lock", wait_lock },
	{ "w-disk", wait_disk },
	{ "w-page", wait_page },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int status, failed = 0;

	if (argc != 4)
		return 2;
	times = atoi(argv[1]);
	ms = atoi(argv[2]);
	disk = argv[3];
	for (i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		pid_t child;

		if (*disk == '-' && strstr("w-disk w-page", causes[i].name))
			continue;
		child = fork();
		if (!child) {
			prctl(PR_SET_NAME, causes[i].name);
			causes[i].run();
			_exit(0);
		}
		waitpid(child, &status, 0);
		if (status) {
			printf("%s failed\n", causes[i].name);
			failed = 1;
		}
	}
	return failed;
}
