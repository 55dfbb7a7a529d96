/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an update costs in user space, by threads on CPUs of their own as far as
 * there are any: of a counter of statctr.h, and of one shared atomic.
 *
 *	statctr
 *
 * Prints lines NAME VALUE: statctr_N and atomic_N, nanoseconds of a thread's
 * CPU time for each update with N threads at it, and ratio_N, the second by the
 * first.  CPU time has what threads wait for a cache line, and not what they
 * wait for a CPU.  Each figure is the median of several rounds: the best would
 * be one whose threads missed each other.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include "store/statctr.h"

#define MAX_THREADS 8
#define ROUNDS 7
/* about as long for each */
#define LOOPS_COUNTER 40000000
#define LOOPS_ATOMIC 4000000

static statctr_t counter;
static unsigned long shared __attribute__((aligned(128)));
static pthread_barrier_t barrier;

struct worker {
	pthread_t thread;
	int number;
	bool atomic;
	double took;
};

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* The N-th of the CPUs that this program may use, counted round. */
static void run_on(int n)
{
	cpu_set_t may, one;
	int cpu = -1;

	if (sched_getaffinity(0, sizeof(may), &may))
		err(1, "sched_getaffinity");
	n %= CPU_COUNT(&may);
	do
		cpu++;
	while (!CPU_ISSET(cpu, &may) || n--);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "sched_setaffinity");
}

static void *run(void *arg)
{
	struct worker *w = arg;
	double start;
	int i;

	run_on(w->number);
	statctr_add(&counter, 0);
	pthread_barrier_wait(&barrier);
	start = cpu_time();
	if (w->atomic)
		for (i = 0; i < LOOPS_ATOMIC; i++)
			__atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
	else
		for (i = 0; i < LOOPS_COUNTER; i++)
			statctr_inc(&counter);
	w->took = cpu_time() - start;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double measure(int threads, bool atomic)
{
	struct worker w[MAX_THREADS];
	double sum[ROUNDS] = { 0 };
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		pthread_barrier_init(&barrier, NULL, threads);
		for (i = 0; i < threads; i++) {
			w[i].number = i;
			w[i].atomic = atomic;
			if (pthread_create(&w[i].thread, NULL, run, &w[i]))
				errx(1, "no thread");
		}
		for (i = 0; i < threads; i++) {
			pthread_join(w[i].thread, NULL);
			sum[round] += w[i].took;
		}
		pthread_barrier_destroy(&barrier);
	}
	qsort(sum, ROUNDS, sizeof(sum[0]), compare);
	return sum[ROUNDS / 2] / threads /
	       (atomic ? LOOPS_ATOMIC : LOOPS_COUNTER);
}

int main(void)
{
	int threads;

	if (statctr_init(&counter, 0))
		errx(1, "no memory");
	for (threads = 1; threads <= MAX_THREADS; threads *= 2) {
		double own = measure(threads, false);
		double one = measure(threads, true);

		printf("statctr_%d %.2f\n", threads, own);
		printf("atomic_%d %.2f\n", threads, one);
		printf("ratio_%d %.1f\n", threads, one / own);
	}
	return 0;
}
