/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits whose number and place are known.
 *
 *	off_cpu TIMES MS	TIMES sleeps of 20 ms in naps(), as many reads in reads()
 *				of a pipe that nobody writes to for 20 ms, and MS
 *				milliseconds on a CPU in spins()
 *
 * It says how long each took by its own clocks, which is more than the waits in it.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	times = atoi(argv[1]);
	ms = atoi(argv[2]);
	rounds();
	printf("cpu %llu\n",
	       (unsigned long long)now(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
