/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an input costs: bytes of malloc()'s that are there at once, of whichever
 * library.  A reader may take some to begin with, and then so many for each byte
 * that it is given.  More is a file that costs its reader what its maker did not pay.
 *
 * It is counted by ASan; without it nothing is.
 */
#ifndef COST_H
#define COST_H

#include <stdio.h>
#include <stdlib.h>

#ifndef COST_EACH
#define COST_EACH 200		/* for each byte of an input */
#endif

int __sanitizer_install_malloc_and_free_hooks(
	void (*malloc_hook)(const volatile void *, size_t),
	void (*free_hook)(const volatile void *)) __attribute__((weak));
size_t __sanitizer_get_allocated_size(const volatile void *p)
	__attribute__((weak));

/* A compiler takes it that malloc() changes no variable. */
static volatile long long cost_now, cost_most;

static void cost_of_malloc(const volatile void *p, size_t size)
{
	(void)p;
	cost_now += size;
	if (cost_most < cost_now)
		cost_most = cost_now;
}

static void cost_of_free(const volatile void *p)
{
	if (p)
		cost_now -= __sanitizer_get_allocated_size(p);
}

/* Counts from here on. */
static inline void cost_begin(void)
{
	static int counted;

	if (!counted++ && __sanitizer_install_malloc_and_free_hooks)
		__sanitizer_install_malloc_and_free_hooks(cost_of_malloc,
							  cost_of_free);
	cost_now = 0;
	cost_most = 0;
}

/* An input of SIZE bytes is done; FIRST is what its reader may take to begin with. */
static inline void cost_end(size_t size, size_t first)
{
	if (cost_most <= (long long)(first + COST_EACH * size))
		return;
	fprintf(stderr, "broken: %lld bytes at once, for an input of %zu\n",
		cost_most, size);
	abort();
}

#endif
