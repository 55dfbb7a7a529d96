/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of requests whose cost is known.
 *
 *	requests TIMES N [KINDS]	TIMES requests of each of three kinds, or of so
 *				many; kind K takes K * N iterations of two instructions
 *				each, with a mutex held
 *
 * Where sys/sdt.h is, a request is also between two marks (USDT) of the provider
 * "requests": begin, with the kind, and end.
 */
#include <pthread.h>
#include <stdlib.h>
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE(provider, name)
#define DTRACE_PROBE1(provider, name, argument)
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void spin(unsigned long n)
{
#if defined(__x86_64__)
	asm volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
#else
	asm volatile("1: subs %0, %0, 1; b.ne 1b" : "+r"(n) : : "cc");
#endif
}

__attribute__((noinline)) int request(int kind, unsigned long n)
{
	DTRACE_PROBE1(requests, begin, kind);
	pthread_mutex_lock(&mutex);
	spin(kind * n);
	pthread_mutex_unlock(&mutex);
	DTRACE_PROBE(requests, end);
	return kind;
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[1]) : 1;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;
	int kinds = argc > 3 ? atoi(argv[3]) : 3, i, kind;

	for (i = 0; i < times; i++)
		for (kind = 1; kind <= kinds; kind++)
			if (request(kind, n) != kind)
				return 1;
	return 0;
}
