/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is measured, from outside.  The guest's time-stamp counter counts guest
 * instructions, so a difference of two readings is a number of instructions.
 *
 *	load tsc		the counter, now
 *	load calls		instructions per getppid()
 *	load switch [watched]	instructions per switch between two threads;
 *				`watched': each calls getppid() before
 *	load threads N		N threads call getppid() and sleep; then, with
 *				all of them there, getuid()
 *	load faults		instructions per page fault of a page touched anew
 *	load read FILE		instructions per read() of a byte
 *	load direct FILE	the same of a page, past the cache
 *	load pipe		instructions per write() and read() of a byte
 *	load wait		instructions per wait of a thread for another one
 *	load nap		sleeps 200 times, for a millisecond each
 *	load exec		instructions per program that is executed, itself
 *	load profile		the instructions of a second's work, half of it
 *				in the kernel, 20 calls deep
 *	load run PROGRAM ARG...	instructions until the program has ended, on a guest
 *				of one CPU that is not idle meanwhile
 *
 * Each other figure is the best of several rounds that are shorter than a timer
 * tick.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROUNDS 40
#define LOOPS 500

static int loops = LOOPS;
static int watched;
static volatile int done;
static sem_t called;

static unsigned long long best(void (*once)(void))
{
	unsigned long long start, took, least = -1;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		start = __rdtsc();
		for (i = 0; i < loops; i++)
			once();
		took = __rdtsc() - start;
		if (took < least)
			least = took;
	}
	return least / loops;
}

static void call(void)
{
	syscall(SYS_getppid);
}

static void yield(void)
{
	syscall(SYS_sched_yield);
}

static void *partner(void *unused)
{
	if (watched)
		call();
	while (!done)
		yield();
	return NULL;
}

/* At the same real-time priority, every sched_yield() is a switch. */
static unsigned long long switches(void)
{
	struct sched_param param = { .sched_priority = 1 };
	unsigned long long both;
	pthread_t thread;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		err(1, "sched_setscheduler");
	if (pthread_create(&thread, NULL, partner, NULL))
		errx(1, "pthread_create");
	if (watched)
		call();
	both = best(yield);
	done = 1;
	pthread_join(thread, NULL);
	return both / 2;
}

/* ---- files and pipes */

static int file, to[2], back[2];
static char page[4096] __attribute__((aligned(4096)));

static void must(int ok, const char *what)
{
	if (!ok)
		err(1, "%s", what);
}

static void read_byte(void)
{
	must(pread(file, page, 1, 0) == 1, "pread");
}

static void read_page(void)
{
	must(pread(file, page, sizeof(page), 0) == sizeof(page), "pread");
}

static void through(const int from[2], const int by[2])
{
	must(write(by[1], page, 1) == 1 && read(from[0], page, 1) == 1, "pipe");
}

static void through_pipe(void)
{
	through(to, to);
}

static void there_and_back(void)
{
	through(back, to);
}

static void *echo(void *unused)
{
	while (read(to[0], page, 1) == 1)
		must(write(back[1], page, 1) == 1, "pipe");
	return NULL;
}

/* Each waits for the other one, whose turn it is. */
static unsigned long long waits(void)
{
	unsigned long long both;
	pthread_t thread;

	must(!pipe(to) && !pipe(back), "pipe");
	must(!pthread_create(&thread, NULL, echo, NULL), "pthread_create");
	both = best(there_and_back);
	close(to[1]);
	pthread_join(thread, NULL);
	return both / 2;
}

static void nap(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < 200; i++)
		nanosleep(&ms, NULL);
}

static void execute(void)
{
	static char *const tsc[] = { "load", "nothing", NULL };
	pid_t pid = vfork();
	int status;

	if (!pid) {
		execv("/proc/self/exe", tsc);
		_exit(1);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "exec");
}

static void *sleeper(void *unused)
{
	call();
	sem_post(&called);
	pause();
	return NULL;
}

static void threads(int count)
{
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	sem_init(&called, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (i = 0; i < count; i++)
		if (pthread_create(&thread, &attr, sleeper, NULL))
			errx(1, "pthread_create");
	for (i = 0; i < count; i++)
		sem_wait(&called);
	syscall(SYS_getuid);
}

/* The next page of many; when all are there they go, which is one call of LOOPS. */
static void touch(void)
{
	static unsigned int at = LOOPS;
	static char *pages;

	if (!pages) {
		pages = mmap(NULL, LOOPS * 4096UL, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			err(1, "mmap");
		if (madvise(pages, LOOPS * 4096UL, MADV_NOHUGEPAGE))
			err(1, "madvise");
	}
	if (at == LOOPS) {
		madvise(pages, LOOPS * 4096UL, MADV_DONTNEED);
		at = 0;
	}
	pages[at++ * 4096UL] = 1;
}

/* A billion instructions, more or less. */
static void work(void)
{
	static char zeros[1 << 20];
	int fd = open("/dev/zero", O_RDONLY), i;
	unsigned long turns;

	if (fd < 0)
		err(1, "/dev/zero");
	for (i = 0; i < 500; i++) {
		unsigned long long start = __rdtsc();

		while (__rdtsc() - start < 1000000)
			if (read(fd, zeros, sizeof(zeros)) < 0)
				err(1, "read");
		turns = 500000;
		asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
	}
	close(fd);
}

/* Who asks for its frame's address has a frame. */
static __attribute__((noinline)) int deep(int depth)
{
	asm volatile("" : : "r"(__builtin_frame_address(0)));
	if (depth)
		return deep(depth - 1) + depth;
	work();
	return 0;
}

static unsigned long long profiled(void)
{
	unsigned long long start = __rdtsc();

	deep(20);
	return __rdtsc() - start;
}

static unsigned long long run(char **argv)
{
	unsigned long long start = __rdtsc();
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		errx(1, "%s failed", argv[0]);
	return __rdtsc() - start;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "tsc")) {
		printf("%llu\n", (unsigned long long)__rdtsc());
	} else if (!strcmp(what, "calls")) {
		printf("%llu\n", best(call));
	} else if (!strcmp(what, "switch")) {
		watched = argc > 2;
		printf("%llu\n", switches());
	} else if (!strcmp(what, "faults")) {
		printf("%llu\n", best(touch));
	} else if (!strcmp(what, "threads") && argc > 2) {
		threads(atoi(argv[2]));
	} else if (!strcmp(what, "read") && argc > 2) {
		file = open(argv[2], O_RDONLY);
		printf("%llu\n", best(read_byte));
	} else if (!strcmp(what, "direct") && argc > 2) {
		file = open(argv[2], O_RDONLY | O_DIRECT);
		loops = LOOPS / 10;
		printf("%llu\n", best(read_page));
	} else if (!strcmp(what, "pipe")) {
		must(!pipe(to), "pipe");
		printf("%llu\n", best(through_pipe));
	} else if (!strcmp(what, "wait")) {
		printf("%llu\n", waits());
	} else if (!strcmp(what, "nap")) {
		nap();
	} else if (!strcmp(what, "exec")) {
		loops = LOOPS / 100;
		printf("%llu\n", best(execute));
	} else if (!strcmp(what, "nothing")) {
		return 0;
	} else if (!strcmp(what, "profile")) {
		printf("%llu\n", profiled());
	} else if (!strcmp(what, "run") && argc > 2) {
		printf("%llu\n", run(argv + 2));
	} else {
		errx(2, "tsc, calls, switch [watched], faults, threads N, read FILE, direct FILE, pipe, wait, nap, exec, profile or run PROGRAM");
	}
	return 0;
}
