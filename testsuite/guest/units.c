/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units that the simulated PMU counts (testsuite/guest/pmu).
 *
 *	units ask N [ADDRESS LATENCY]
 *				N units, on the CPU where this runs; says "at IP",
 *				of the system call's instruction
 *	units socket N	N units of the socket's, and then a marker
 *	units threads K N EACH BY
 *				K threads at once; the i-th asks, between two
 *				markers, for i * N units, EACH at once, and
 *				moves to another CPU or lets others run before
 *				the next.  Says "expect TID COUNT" of each, the
 *				BY-th part of its units.
 *
 * A marker is the system call getppid().
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned int units, each, by;
static long cpus;
static int pmu;

/* The system call has a name. */
extern const char ask_here[];
static __attribute__((noinline, noclone)) long
put(const char *line, unsigned long len)
{
	long done;

	asm volatile("ask_here: syscall"
		     : "=a" (done)
		     : "0" ((long)SYS_write), "D" ((long)pmu), "S" (line),
		       "d" (len)
		     : "rcx", "r11", "memory");
	return done;
}

static void ask(unsigned int n, const char *addr, const char *latency)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "user %u %s %s", n, addr,
			   latency);

	if (put(line, len) != len)
		errx(1, "/dev/simpmu does not take: %s", line);
}

static void elsewhere(unsigned int turn)
{
	cpu_set_t set;

	if (turn % 8) {
		sched_yield();
		return;
	}
	CPU_ZERO(&set);
	CPU_SET(turn / 8 % cpus, &set);
	/* it may be offline */
	sched_setaffinity(0, sizeof(set), &set);
}

static void *asks(void *arg)
{
	unsigned int left = units * (long)arg, n, turn = (long)arg;
	char line[64];
	int len;

	syscall(SYS_getppid);
	for (; left; left -= n) {
		n = left < each ? left : each;
		ask(n, "0", "0");
		elsewhere(turn++);
	}
	syscall(SYS_getppid);
	len = snprintf(line, sizeof(line), "expect %ld %lu\n",
		       syscall(SYS_gettid), units * (long)arg / by);
	/* one write, since others print too */
	if (write(1, line, len) != len)
		_exit(1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];
	long i, k;

	pmu = open("/dev/simpmu", O_WRONLY);
	if (pmu < 0)
		err(1, "/dev/simpmu");
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (argc >= 3 && !strcmp(argv[1], "ask")) {
		printf("at %#lx\n", (unsigned long)ask_here);
		ask(atoi(argv[2]), argc > 4 ? argv[3] : "0",
		    argc > 4 ? argv[4] : "0");
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "socket")) {
		if (dprintf(pmu, "socket %s", argv[2]) < 0)
			err(1, "/dev/simpmu");
		syscall(SYS_getppid);
		return 0;
	}
	if (argc != 6 || strcmp(argv[1], "threads"))
		errx(2, "ask N [ADDRESS LATENCY] | socket N | threads K N EACH BY");
	k = atoi(argv[2]);
	units = atoi(argv[3]);
	each = atoi(argv[4]);
	by = atoi(argv[5]);
	if (k < 1 || k > 64 || !each || !by)
		errx(2, "1 to 64 threads, and EACH and BY above 0");
	for (i = 0; i < k; i++)
		if (pthread_create(&thread[i], NULL, asks, (void *)(i + 1)))
			errx(1, "pthread_create");
	for (i = 0; i < k; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
