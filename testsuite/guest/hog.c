/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keep a CPU from all others, at the highest priority but the kernel's own.
 *
 *	hog CPU		until it is killed; says "keeps" when it has the CPU
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 99 };
	cpu_set_t cpus;

	if (argc != 2)
		return 2;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) ||
	    sched_setscheduler(0, SCHED_FIFO, &param))
		err(1, "hog");
	if (write(1, "keeps\n", 6) != 6)
		return 1;
	for (;;)
		;
}
