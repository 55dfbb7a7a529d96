/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To wait for a thread that blocks.
 *
 * Its state alone does not tell: a thread says that it sleeps before it goes, and one
 * that is woken in between has not waited.  The kernel names the place where a thread
 * waits once that is off its CPU.
 */
#ifndef GUEST_AWAIT_H
#define GUEST_AWAIT_H

#include <err.h>
#include <stdio.h>
#include <sys/types.h>

static inline FILE *await_file(pid_t tid, const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	f = fopen(path, "re");
	if (!f)
		err(1, "%s", path);
	return f;
}

/* Until the thread TID is off its CPU in that STATE, a letter of /proc/PID/stat's. */
static inline void await(pid_t tid, char state)
{
	char place, now;
	FILE *f;

	do {
		place = now = 0;
		f = await_file(tid, "wchan");
		if (fscanf(f, "%c", &place) != 1)
			place = '0';
		fclose(f);
		f = await_file(tid, "stat");
		if (fscanf(f, "%*d (%*[^)]) %c", &now) != 1)
			errx(1, "thread %d has no state", tid);
		fclose(f);
	} while (place == '0' || now != state);
}

#endif
