/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lives of threads and processes went to in an interval: the parts of
 * precise process accounting, which sum to the life.
 */
#ifndef STAPWATCH_PPA_WHY_H
#define STAPWATCH_PPA_WHY_H

#include "cmd/ppa_interval.h"

struct ppa_process {
	uint32_t pid;
	uint64_t born;		/* of its first thread; 0: that is not known */
	char comm[PPA_COMM];
	size_t threads;		/* that are there */
	uint64_t ended;		/* how many are not */
	bool sum;		/* of many that have ended, and whose records are others' */
	uint64_t cgroup;	/* its number; 0: that is not known */
	uint64_t life;		/* ticks, of all its threads */
	uint64_t parts[PPA_NR_PARTS];
};

/** ppa_part_name - of an enum ppa_part, as reports and JSON have it */
const char *ppa_part_name(unsigned int part);

/**
 * ppa_processes - what processes did in an interval, sorted
 * @pid: of the one that is wanted; 0: all
 * @nr: how many there are
 * @withheld: how many are left out, as the record of an ended thread of theirs was
 *	taken while the file was read
 * Return: to be freed
 */
struct ppa_process *ppa_processes(const struct ppa_interval *p, uint64_t pid,
				  size_t *nr, size_t *withheld);

/** ppa_all_processes - the same of all, those too that waited all the time; any order */
struct ppa_process *ppa_all_processes(const struct ppa_interval *p, size_t *nr,
				      size_t *withheld);

/** ppa_on_cpus - of parts, those on CPUs */
uint64_t ppa_on_cpus(const uint64_t *parts);

/** ppa_put_number - of a thread or process, in a column; a SUM of many has none */
void ppa_put_number(uint32_t number, bool sum, struct buf *out);

#define PPA_NAME_WIDTH 15

/** ppa_put_name - a name, in that many columns */
void ppa_put_name(const char *comm, struct buf *out);

/**
 * ppa_put_life - the end of a row: how long the life is, what of it was on CPUs and
 * for CPUs; and the causes that it was blocked for, the one of most time first, but
 * those below a thousandth
 * @t: a thread, for how often, and who ran while it was ready; or NULL
 * @whose: what is named before the causes; or NULL
 *
 * Return: false for a thread that was ready for long, and nobody knows who ran
 */
bool ppa_put_life(const struct ppa_interval *p, const uint64_t *parts,
		  uint64_t life, const struct ppa_thread *t, const char *whose,
		  struct buf *out);

/** ppa_put_withheld - a line, if there are such processes */
void ppa_put_withheld(size_t nr, struct buf *out);

/** ppa_why_table - threads, each with what its life went to */
void ppa_why_table(const struct ppa_interval *p, struct buf *out);

/** ppa_process_table - the same of processes */
void ppa_process_table(const struct ppa_interval *p, uint64_t pid,
		       struct buf *out);

#endif
