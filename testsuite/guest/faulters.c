// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads of which each has page faults that the kernel counts: faulters THREADS PAGES.
 *
 * The first one makes the others, which wait until standard input ends; then each touches
 * that many times its number of pages, as does a child of the first one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static long pages;
static pthread_barrier_t are_there;

static void touch(long n)
{
	const long size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, n * size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long i;

	if (p == MAP_FAILED)
		exit(1);
	/* one fault a page */
	madvise(p, n * size, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		p[i * size] = 1;
}

static void *one(void *number)
{
	char c;

	pthread_barrier_wait(&are_there);
	while (read(0, &c, 1) > 0)
		;
	touch((long)number * pages);
	return NULL;
}

int main(int argc, char **argv)
{
	long i, n = argc > 2 ? atol(argv[1]) : 0;
	pthread_t *t = calloc(n + 1, sizeof(*t));

	if (n < 1 || !t)
		return 2;
	pages = atol(argv[2]);
	pthread_barrier_init(&are_there, NULL, n + 1);
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, one, (void *)(i + 1)))
			return 1;
	pthread_barrier_wait(&are_there);
	puts("there");
	fflush(stdout);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		touch(pages);
		_exit(0);
	}
	return wait(NULL) < 0;
}
