/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What it costs to read the counters of a map, and the same from a text file.
 *
 *	map MAP TEXT
 *
 * Prints lines NAME VALUE, in instructions of the guest (see load.c) for all
 * counters together: all, by stapwatch_read_all(); each, by stapwatch_read();
 * text.  The counts must be the same.  Before that it calls getppid() on each
 * CPU, for a script that adds to the map's counters then.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "stapwatch.h"

#define COUNTERS 4096
#define ROUNDS 10

static struct stapwatch *sw;
static int text;
static int64_t sums[COUNTERS];

static void fill(void)
{
	cpu_set_t set;
	uint32_t cpu;

	for (cpu = 0; cpu < stapwatch_nr_cpus(sw); cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			err(1, "sched_setaffinity");
		syscall(SYS_getppid);
	}
}

static void read_all(void)
{
	if (stapwatch_refresh(sw) || stapwatch_read_all(sw, sums))
		errx(1, "map: %s", stapwatch_error());
}

static void read_each(void)
{
	size_t i;

	for (i = 0; i < COUNTERS; i++)
		if (stapwatch_read(sw, stapwatch_instance(sw, i)->number,
				   &sums[i]))
			errx(1, "map: %s", stapwatch_error());
}

/* A line's counts, after the name; returns the line's end. */
static const char *read_line(const char *s, int64_t *sum)
{
	*sum = 0;
	while (*s != ' ')
		s++;
	while (*s++ == ' ') {
		uint64_t v = 0;

		for (; *s >= '0' && *s <= '9'; s++)
			v = v * 10 + (*s - '0');
		*sum += v;
	}
	return s;
}

static void read_text(void)
{
	static char buf[1 << 20];
	size_t len = 0, i;
	const char *s = buf;
	ssize_t got;

	if (lseek(text, 0, SEEK_SET))
		err(1, "lseek");
	while ((got = read(text, buf + len, sizeof(buf) - 1 - len)) > 0)
		len += got;
	if (got < 0)
		err(1, "read");
	buf[len] = '\0';
	for (i = 0; i < COUNTERS && *s; i++)
		s = read_line(s, &sums[i]);
	if (i < COUNTERS || *s)
		errx(1, "text: not %d lines", COUNTERS);
}

static void measure(const char *what, void (*once)(void))
{
	unsigned long long start, took, least = -1;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		start = __rdtsc();
		once();
		took = __rdtsc() - start;
		if (took < least)
			least = took;
	}
	for (i = 0; i < COUNTERS; i++)
		if (sums[i] != (1000000000LL + i) * stapwatch_nr_cpus(sw))
			errx(1, "%s: counter %d is %lld", what, i,
			     (long long)sums[i]);
	printf("%s %llu\n", what, least);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "map MAP TEXT");
	sw = stapwatch_open(argv[1]);
	if (!sw)
		errx(1, "%s", stapwatch_error());
	if (stapwatch_nr(sw) != COUNTERS)
		errx(1, "the map has %zu counters", stapwatch_nr(sw));
	text = open(argv[2], O_RDONLY);
	if (text < 0)
		err(1, "%s", argv[2]);
	fill();
	measure("all", read_all);
	measure("each", read_each);
	measure("text", read_text);
	return 0;
}
