/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cgroups did in an interval: their processes, as they belong to them at its end. */
#ifndef STAPWATCH_PPA_CGROUP_H
#define STAPWATCH_PPA_CGROUP_H

#include "cmd/ppa_why.h"

struct ppa_cgroup {
	char *path;		/* "?": nobody can tell any more; "[ended]": of many */
	size_t processes;
	size_t threads;
	uint64_t ended;
	uint64_t life;		/* ticks, of all threads */
	uint64_t parts[PPA_NR_PARTS];
};

/**
 * ppa_cgroups - cgroups, sorted as ppa_processes() has them
 * @withheld: as ppa_processes() has it
 * Return: to be given to ppa_cgroups_free()
 */
struct ppa_cgroup *ppa_cgroups(const struct ppa_interval *p, size_t *nr,
			       size_t *withheld);
void ppa_cgroups_free(struct ppa_cgroup *all, size_t nr);

/** ppa_cgroup_of - the cgroup that /proc/PID/cgroup tells of, to be freed; or NULL */
char *ppa_cgroup_of(const char *text);

/** ppa_cgroup_table - a row for each */
void ppa_cgroup_table(const struct ppa_interval *p, struct buf *out);

#endif
