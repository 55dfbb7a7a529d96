/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits whose number and place are known.
 *
 *	off_cpu TIMES MS	TIMES sleeps of 20 ms in naps(), as many reads in reads()
 *				of a pipe that nobody writes to for 20 ms, and MS
 *				milliseconds on a CPU in spins()
 *
 *	off_cpu hang FIFO	until it is killed: one thread computes, and others wait: for
 *				good, in a futex and for a pipe; for good once FIFO has had
 *				a byte; and until then, to end
 *	off_cpu preempted -	it is about to sleep, with the module of way/, when a thread
 *				of a higher priority takes its CPU for 20 ms, and wakes it
 *	off_cpu crowd N		the same: N threads wait for a pipe
 *
 * It says how long each of the first took by its own clocks, which is more than the waits
 * in it, and all of them between two calls of getppid(), and that the others are waiting.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"

static int times, ms;
static int fds[2];

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The C library's functions have no frames, and their callers none to be found by: so
 * there is one function more. */
static __attribute__((noinline)) void nap(void)
{
	struct timespec ts = { 0, 20000000 };

	syscall(SYS_nanosleep, &ts, NULL);
	__asm__ volatile("");
}

static __attribute__((noinline)) void get(void)
{
	char c;

	if (syscall(SYS_read, fds[0], &c, 1) != 1)
		exit(1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void naps(void)
{
	int i;

	for (i = 0; i < times; i++)
		nap();
}

static __attribute__((noinline)) void reads(void)
{
	int i;

	for (i = 0; i < times; i++)
		get();
}

static __attribute__((noinline)) void spins(void)
{
	const uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ULL;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static pid_t writer(void)
{
	const pid_t reader = getpid(), child = fork();
	int i;

	if (child)
		return child;
	for (i = 0; i < times; i++) {
		await(reader, 'S');
		nap();
		if (write(fds[1], "", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static __attribute__((noinline)) void rounds(void)
{
	uint64_t begin = now(CLOCK_MONOTONIC);
	pid_t child;

	naps();
	printf("naps %llu\n", (unsigned long long)now(CLOCK_MONOTONIC) - begin);
	fflush(stdout);
	if (pipe(fds))
		exit(1);
	child = writer();
	printf("writer %d\n", child);
	fflush(stdout);
	begin = now(CLOCK_MONOTONIC);
	reads();
	printf("reads %llu\n", (unsigned long long)now(CLOCK_MONOTONIC) - begin);
	waitpid(child, NULL, 0);
	spins();
}

/* ---- a wait that was none */

static int way;

static void tell_way(char c)
{
	if (pwrite(way, &c, 1, 0) != 1)
		exit(1);
}

static void *preempts(void *unused)
{
	const struct sched_param first = { .sched_priority = 10 };
	char has = 0;
	uint64_t end;

	(void)unused;
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		exit(1);
	while (has != 'w') {
		nap();
		if (pread(way, &has, 1, 0) != 1)
			exit(1);
	}
	tell_way('W');
	for (end = now(CLOCK_MONOTONIC) + 20000000; now(CLOCK_MONOTONIC) < end;)
		;
	tell_way('g');
	return NULL;
}

static __attribute__((noinline)) void is_preempted(void)
{
	pthread_t thread;

	way = open("/proc/way", O_RDWR);
	if (way < 0 || pthread_create(&thread, NULL, preempts, NULL))
		exit(1);
	tell_way('w');
	pthread_join(thread, NULL);
}

/* ---- waits that do not end */

static int never[2], turn[2];
static uint32_t word;

static __attribute__((noinline)) void futex_wait(void)
{
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	__asm__ volatile("");
}

static __attribute__((noinline)) void byte_wait(int fd)
{
	char c;

	syscall(SYS_read, fd, &c, 1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void hangs_in_futex(void)
{
	for (;;)
		futex_wait();
}

static __attribute__((noinline)) void hangs_in_pipe(void)
{
	for (;;)
		byte_wait(never[0]);
}

static void *in_futex(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "w-futex");
	hangs_in_futex();
	return NULL;
}

static void *in_pipe(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "w-pipe");
	hangs_in_pipe();
	return NULL;
}

static void *on_fifo(void *fd)
{
	prctl(PR_SET_NAME, "w-later");
	byte_wait(*(int *)fd);
	if (write(turn[1], "", 1) != 1)
		exit(1);
	hangs_in_futex();
	return NULL;
}

static void *on_turn(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "w-ends");
	byte_wait(turn[0]);
	return NULL;
}

static void *(*const hangs[])(void *) = { in_futex, in_pipe, on_fifo, on_turn };

static void begin(void *(*what)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	if (pthread_create(&thread, &attr, what, arg))
		exit(1);
	pthread_attr_destroy(&attr);
}

/* Until all but this thread do. */
static void await_others(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	pid_t tid;

	while (dir && (entry = readdir(dir))) {
		tid = atoi(entry->d_name);
		if (tid && tid != getpid())
			await(tid, 'S');
	}
	closedir(dir);
	printf("waiting\n");
	fflush(stdout);
}

static int hang(const char *fifo)
{
	unsigned int i;
	int fd = open(fifo, O_RDWR);

	if (fd < 0 || pipe(never) || pipe(turn))
		return 1;
	for (i = 0; i < sizeof(hangs) / sizeof(*hangs); i++)
		begin(hangs[i], &fd);
	await_others();
	for (;;)
		__asm__ volatile("");
}

static int crowd(int nr)
{
	if (pipe(never))
		return 1;
	while (nr--)
		begin(in_pipe, NULL);
	await_others();
	for (;;)
		pause();
}

/* All of it, between two calls that nothing else here makes. */
static void all_rounds(void)
{
	uint64_t begin, end;

	syscall(SYS_getppid);
	begin = now(CLOCK_MONOTONIC);
	rounds();
	end = now(CLOCK_MONOTONIC);
	syscall(SYS_getppid);
	printf("clock %llu\n", (unsigned long long)end - begin);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	if (!strcmp(argv[1], "hang"))
		return hang(argv[2]);
	if (!strcmp(argv[1], "crowd"))
		return crowd(atoi(argv[2]));
	if (!strcmp(argv[1], "preempted")) {
		is_preempted();
		return 0;
	}
	times = atoi(argv[1]);
	ms = atoi(argv[2]);
	all_rounds();
	printf("cpu %llu\n",
	       (unsigned long long)now(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
