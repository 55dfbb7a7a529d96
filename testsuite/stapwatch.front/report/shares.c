/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program, or a shared object, whose functions a trace has samples of.  It is
 * looked at, and run only for its own names of things.
 */
#include <stdio.h>

volatile unsigned long sink;

__attribute__((noinline)) void work_a(unsigned long n)
{
	while (n--)
		sink += n;
}

__attribute__((noinline)) static void work_b(unsigned long n)
{
	while (n--)
		if (n & 1)
			sink ^= n;
		else
			sink -= n;
}

__attribute__((noinline)) void caller(unsigned long n)
{
	work_a(n);
	work_b(n);
	sink++;
}

#ifndef SHARED
int main(int argc, char **argv)
{
	(void)argv;
	caller(argc);
	printf("%lu\n", sink);
	return 0;
}
#endif
