/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CPUs and threads did between two looks at the files of precise process
 * accounting.
 */
#ifndef STAPWATCH_PPA_INTERVAL_H
#define STAPWATCH_PPA_INTERVAL_H

#include <stdbool.h>

#include "cmd/ppa_files.h"
#include "cmd/ppa_sort.h"

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
	bool one_thread;	/* of a PID only that thread is asked for */
	enum ppa_sort sort;	/* of all kinds of rows but CPUs */
	enum ppa_sort cpu_sort;	/* PPA_BY_DEFAULT: by their numbers */
	struct ppa_thread *rows;	/* differences */
	size_t nr_rows;
	struct ppa_others others;
};

/**
 * ppa_interval_rows - the threads that did anything, sorted
 * @pid: of a process or a thread, whose rows there are in any case; 0: of all
 */
void ppa_interval_rows(struct ppa_interval *p, uint64_t pid);

/**
 * ppa_interval_cpus - the numbers of CPUs that were there, sorted
 * @nr: how many
 * Return: to be freed
 */
size_t *ppa_interval_cpus(const struct ppa_interval *p, size_t *nr);
void ppa_interval_free(struct ppa_interval *p);

/** ppa_cpu_value - what was added to an enum ppa_system_value of a CPU */
static inline uint64_t ppa_cpu_value(const struct ppa_interval *p, size_t cpu,
				     int value)
{
	return p->now.cpus[cpu].v[value] -
	       (cpu < p->before.nr_cpus ? p->before.cpus[cpu].v[value] : 0);
}

/** ppa_us - ticks in microseconds */
static inline double ppa_us(const struct ppa_interval *p, double ticks)
{
	return ticks * 1e6 / p->now.hz;
}

/** ppa_ns - ticks in nanoseconds */
uint64_t ppa_ns(uint64_t ticks, uint64_t hz);

/**
 * ppa_parts_ns - parts in nanoseconds, which sum to their sum in nanoseconds
 * @nr: of both arrays
 */
void ppa_parts_ns(const uint64_t *ticks, uint64_t *ns, size_t nr, uint64_t hz);

/** ppa_thread_name - what a thread is called, to be freed; empty if nobody knows */
struct buf ppa_thread_name(const struct ppa_interval *p, uint32_t tid);

/** ppa_put_thread - add "name (7)", or the number alone */
void ppa_put_thread(const struct ppa_interval *p, uint32_t tid,
		    struct buf *out);

/** ppa_mean - 0 of nothing */
static inline double ppa_mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / n : 0;
}

#endif
