/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server with a lock that is held too long.
 *
 *	server REQUESTS		a thread "worker" answers so many requests: each looks two
 *				fresh pages up with the table's mutex held, and waits a
 *				millisecond for its client.  Meanwhile a thread "reloader"
 *				takes the mutex, and sleeps 60 ms with it, over and over,
 *				with 20 ms between.
 *
 * It says how many requests there were, how often and how long one waited for the mutex,
 * and how long the first thread waited for the other one to end, by its own clock.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PAGES 2

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;
static long waits, waited_ns;

static void nap(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void lock_table(void)
{
	long since;

	if (!pthread_mutex_trylock(&table))
		return;
	since = now();
	pthread_mutex_lock(&table);
	waited_ns += now() - since;
	waits++;
}

__attribute__((noinline)) int handle_request(long size)
{
	volatile char *pages;
	int found = 0;

	lock_table();
	pages = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages != MAP_FAILED) {
		for (int i = 0; i < PAGES; i++)
			found += pages[i * size] = 1;
		munmap((void *)pages, PAGES * size);
	}
	pthread_mutex_unlock(&table);
	return found;
}

__attribute__((noinline)) void reload_config(void)
{
	/* it never waits for a request, so who lets those go that wait is known */
	while (pthread_mutex_trylock(&table))
		nap(1);
	nap(60);
	pthread_mutex_unlock(&table);
}

static void *reloads(void *unused)
{
	prctl(PR_SET_NAME, "reloader");
	while (!over) {
		nap(20);
		reload_config();
	}
	return unused;
}

int main(int argc, char **argv)
{
	long requests = argc > 1 ? atol(argv[1]) : 1000;
	long size = sysconf(_SC_PAGESIZE);
	pthread_t reloader;
	long since;

	prctl(PR_SET_NAME, "worker");
	if (pthread_create(&reloader, NULL, reloads, NULL))
		return 1;
	for (long i = 0; i < requests; i++) {
		if (handle_request(size) != PAGES)
			return 1;
		nap(1);
	}
	over = true;
	since = now();
	pthread_join(reloader, NULL);
	printf("requests %ld waits %ld us %ld end %ld\n", requests, waits,
	       waited_ns / 1000, (now() - since) / 1000);
	return 0;
}
