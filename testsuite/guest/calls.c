/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of known numbers, that nobody else in a guest makes, so many of them;
 * says how long the sleeps took, by the clock.
 *
 *	calls CALLS ERRORS SLEEPS MS	sched_get_priority_max() so many times, of which
 *					ERRORS fail; nanosleep() of MS milliseconds;
 *					and three threads that end by exit()
 *	calls forks CHILDREN CALLS	processes one after the other, each with so many
 *					calls of getppid()
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void *end(void *unused)
{
	/* the thread alone, and never back */
	syscall(SYS_exit, 0);
	return unused;
}

static int forks(int children, int calls)
{
	pid_t child;
	int i, status;

	while (children--) {
		child = fork();
		if (!child) {
			for (i = 0; i < calls; i++)
				syscall(SYS_getppid);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int calls, errors, sleeps, i;
	struct timespec ts = { 0 };
	pthread_t thread;
	uint64_t start;

	if (argc == 4 && !strcmp(argv[1], "forks"))
		return forks(atoi(argv[2]), atoi(argv[3]));
	if (argc != 5)
		return 2;
	calls = atoi(argv[1]);
	errors = atoi(argv[2]);
	sleeps = atoi(argv[3]);
	ts.tv_nsec = atoi(argv[4]) * 1000000L;
	for (i = 0; i < calls; i++)
		if ((syscall(SYS_sched_get_priority_max,
			     i < errors ? 99 : SCHED_FIFO) < 0) != (i < errors))
			return 1;
	start = now();
	for (i = 0; i < sleeps; i++)
		if (syscall(SYS_nanosleep, &ts, NULL))
			return 1;
	printf("slept %" PRIu64 "\n", now() - start);
	for (i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, end, NULL) ||
		    pthread_join(thread, NULL))
			return 1;
	return 0;
}
