/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++ functions that exceptions leave, or not.
 *
 *	throws N	N calls of each; says how many came home, and how many were caught
 *
 * Of three calls of thrower(), passer() and rethrower() the third is left by an exception;
 * catcher() and chooser() return always.  After these a call of leaver() is left, and one
 * returns, out of the same frame; between them is a system call that nobody else in a guest
 * makes.
 */
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <stdexcept>

#define FUNCTION extern "C" __attribute__((noinline, used))

static volatile long seen;

struct cleaner {
	~cleaner()
	{
		seen++;
	}
};

FUNCTION int thrower(int n)
{
	seen++;
	if (n % 3 == 2)
		throw std::runtime_error("each third");
	return n;
}

FUNCTION int passer(int n)
{
	cleaner c;
	int got = thrower(n);

	seen++;
	return got + 1;
}

FUNCTION int rethrower(int n)
{
	try {
		return passer(n) + 1;
	} catch (const std::exception &) {
		seen++;
		throw;
	}
}

FUNCTION int catcher(int n)
{
	try {
		return rethrower(n) + 1;
	} catch (const std::exception &) {
		seen++;
		return -1;
	}
}

FUNCTION void leaver(bool leaves)
{
	seen++;
	if (leaves)
		throw std::runtime_error("once");
	seen++;
}

/* A switch, by a table. */
FUNCTION void chooser(int n)
{
	switch (n % 8) {
	case 0: seen += 3; break;
	case 1: seen *= 5; break;
	case 2: seen -= 7; break;
	case 3: seen |= 9; break;
	case 4: seen ^= 1; break;
	case 5: seen <<= 1; break;
	case 6: seen >>= 1; break;
	}
	seen++;
}

int main(int, char **argv)
{
	int i, n = atoi(argv[1]), home = 0, caught = 0;

	for (i = 0; i < n; i++) {
		chooser(i);
		if (catcher(i) < 0)
			caught++;
		else
			home++;
	}
	for (i = 0; i < 2; i++) {
		try {
			leaver(!i);
		} catch (const std::exception &) {
			sched_get_priority_max(SCHED_OTHER);
		}
	}
	printf("home %d caught %d\n", home, caught);
}
