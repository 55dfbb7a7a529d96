/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are called as often as the command line says, and that end in each
 * way that a function can.
 *
 *	user N		N calls of leaf(), and of tail(), whose end is a jump to
 *			leaf(); deep(), N deep; nap() of N ms
 *	user jump N	N calls of jumps(), which longjmp() ends, then one that returns
 *	user hop N	N calls of jumps() that longjmp() ends, each of a frame above that
 *			of the one before, then one that returns
 *	user exit N	N processes and N threads that end within ends()
 *	user fork N	N calls of forks(), from which two processes return
 *	user crowd N	N threads in nap() at once: none is out before all are in
 *	user stay N	N calls of leaf(), and of a system call that nobody else in a guest
 *			makes; says "stay PID N", and ends when standard input does
 *	user brief N	N processes, one after the other, each with one such call of both
 *	user again N	a process with N such calls of both, and after its end another one
 *			of the same number with N + 1; says "again PID"
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone, used))

static jmp_buf back;
static volatile long seen;
static pthread_barrier_t all_in;

FUNCTION long leaf(int fd, long n)
{
	seen += n;
	return fd + n;
}

FUNCTION long tail(int fd, long n)
{
	seen++;
	return leaf(fd, n);
}

FUNCTION long deep(long n)
{
	long below = n > 1 ? deep(n - 1) : 0;

	seen++;
	return below + 1;
}

FUNCTION void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	/* of no length: one of a crowd */
	if (!ms)
		pthread_barrier_wait(&all_in);
	while (nanosleep(&t, &t))
		;
	seen++;
}

FUNCTION void jumps(int does)
{
	seen++;
	if (does)
		longjmp(back, 1);
	seen++;
}

FUNCTION void ends(void)
{
	seen++;
	if (getpid() == gettid())
		_exit(0);
	pthread_exit(NULL);
}

FUNCTION int forks(void)
{
	int child = fork();

	seen++;
	return child;
}

static void *ending(void *data)
{
	(void)data;
	ends();
	return NULL;
}

static void *napping(void *unused)
{
	(void)unused;
	nap(0);
	return NULL;
}

static void plain(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		leaf(-1, i);
		tail(2, i);
	}
	deep(n);
	nap(n);
}

static void jump(long n)
{
	volatile long i;

	for (i = 0; i < n; i++)
		if (!setjmp(back))
			jumps(1);
	jumps(0);
}

static __attribute__((noinline)) void hop_from(long deep)
{
	volatile char frame[deep];

	frame[0] = 1;
	jumps(1);
	seen += frame[0];
}

static void hop(volatile long n)
{
	for (; n > 0; n--)
		if (!setjmp(back))
			hop_from(64 * n);
	jumps(0);
}

static void end(long n)
{
	pthread_t thread;
	long i;

	for (i = 0; i < n; i++) {
		if (!fork())
			ends();
		wait(NULL);
		pthread_create(&thread, NULL, ending, NULL);
		pthread_join(thread, NULL);
	}
}

static void fork_all(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		if (!forks())
			_exit(0);
		wait(NULL);
	}
}

static void crowd(long n)
{
	pthread_t threads[1024];
	long i;

	if (n > 1024 || pthread_barrier_init(&all_in, NULL, n))
		return;
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, napping, NULL);
	while (i--)
		pthread_join(threads[i], NULL);
}

static void both(long n)
{
	while (n--) {
		leaf(-1, n);
		sched_get_priority_max(SCHED_OTHER);
	}
}

static void stay(long n)
{
	char c;

	both(n);
	printf("stay %d %ld\n", getpid(), n);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
}

/* A process that does this; its number. */
static pid_t brief(long n)
{
	pid_t child = fork();

	if (!child) {
		both(n);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return child;
}

/* The kernel gives the number after this one, unless another process is faster. */
static pid_t again(long n)
{
	pid_t first = brief(n), child;

	do {
		FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");

		if (!last || fprintf(last, "%d", first - 1) < 0 || fclose(last))
			return -1;
		child = fork();
		if (!child) {
			if (getpid() == first)
				both(n + 1);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	} while (child != first);
	return first;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const long n = argc > 1 ? atol(argv[argc - 1]) : 1;
	long i;

	if (!strcmp(what, "jump"))
		jump(n);
	else if (!strcmp(what, "hop"))
		hop(n);
	else if (!strcmp(what, "exit"))
		end(n);
	else if (!strcmp(what, "fork"))
		fork_all(n);
	else if (!strcmp(what, "crowd"))
		crowd(n);
	else if (!strcmp(what, "stay"))
		stay(n);
	else if (!strcmp(what, "brief"))
		for (i = 0; i < n; i++)
			brief(1);
	else if (!strcmp(what, "again"))
		printf("again %d\n", again(n));
	else
		plain(n);
	return 0;
}
