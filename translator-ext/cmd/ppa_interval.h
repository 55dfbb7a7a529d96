/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CPUs and threads did between two looks at the files of precise process
 * accounting.
 */
#ifndef STAPWATCH_PPA_INTERVAL_H
#define STAPWATCH_PPA_INTERVAL_H

#include "cmd/ppa_files.h"

/* Which rows come first. */
enum ppa_sort {
	PPA_BY_DEFAULT,		/* time on CPUs; of system calls all their time */
	PPA_BY_CPU,
	PPA_BY_SYSTEM,
	PPA_BY_SYSCALLS,
	PPA_BY_LATENCY,
	PPA_BY_SWITCHES,
};

/* Whose the rows are. */
enum ppa_by { PPA_THREADS, PPA_PROCESSES, PPA_CGROUPS, PPA_CPUS };

/*
 * What CPUs did for threads that have no row: those that found no room.  CPUs and
 * threads are read one after the other, so it is not exact.
 */
struct ppa_others {
	uint64_t user, system;	/* ticks */
	uint64_t syscalls;
	size_t ended;		/* how many that were there are not any more */
};

struct ppa_interval {
	struct ppa_snapshot before, now;
	double seconds;		/* between these */
	enum ppa_sort sort;	/* of all kinds of rows */
	struct ppa_thread *rows;	/* differences */
	size_t nr_rows;
	struct ppa_others others;
};

/**
 * ppa_interval_rows - the threads that did anything, sorted
 * @pid: of a process or a thread, whose rows there are in any case; 0: of all
 */
void ppa_interval_rows(struct ppa_interval *p, uint64_t pid);
void ppa_interval_free(struct ppa_interval *p);

/** ppa_us - ticks in microseconds */
static inline double ppa_us(const struct ppa_interval *p, double ticks)
{
	return ticks * 1e6 / p->now.hz;
}

/** ppa_mean - 0 of nothing */
static inline double ppa_mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / n : 0;
}

#endif
