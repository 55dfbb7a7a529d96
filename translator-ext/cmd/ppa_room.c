/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for threads; ppa_room.h says what is wanted of it. */
#include "cmd/ppa_room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/proc.h"

/* The tapset's ppa_threads, if nobody says another. */
#define ROOM_ANYWAY 4096

/* All of this machine; 0: nobody can tell. */
static uint64_t threads_there_are(void)
{
	char *path = proc_path("loadavg");
	FILE *f = fopen(path, "re");
	uint64_t nr = 0;

	free(path);
	if (!f)
		return 0;
	/* the loads, how many run, and how many there are */
	if (fscanf(f, "%*s %*s %*s %*u/%" SCNu64, &nr) != 1)
		nr = 0;
	fclose(f);
	return nr;
}

uint64_t ppa_room_wanted(void)
{
	const uint64_t there = threads_there_are(), wanted = there + there / 2;

	if (there >= PPA_ROOM_MOST || wanted > PPA_ROOM_MOST)
		return PPA_ROOM_MOST;
	return wanted > ROOM_ANYWAY ? wanted : 0;
}

static size_t count_recorded(const struct ppa_snapshot *s)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr_threads; i++)
		nr += !(s->threads[i].flags & PPA_ENDED);
	return nr;
}

void ppa_room_put(const struct ppa_interval *p, const char *eol,
		  struct buf *out)
{
	uint64_t there;

	if (!p->now.threads_lost)
		return;
	there = threads_there_are();
	buf_printf(out, "%" PRIu64 " threads found no room since accounting began: no row but [others] has what they did; %zu",
		   p->now.threads_lost, count_recorded(&p->now));
	if (there)
		buf_printf(out, " of %" PRIu64, there);
	buf_printf(out, " threads have a record, and --threads N has room for more%s",
		   eol);
}
