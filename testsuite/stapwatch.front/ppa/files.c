/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ppa_files DIR [FAULT]: be the files of precise process accounting, two looks one
 * after the other, in pipes of DIR: one reader gets both.  FAULT spoils the second.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppa_abi.h"

#define MS 1000000ULL		/* in ticks, of which there are 10^9 a second */

static const char *dir, *fault = "";

static void put(const char *name, const void *header, const void *data,
		size_t len)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		err(1, "%s", path);
	if (write(fd, header, sizeof(struct ppa_header)) !=
			sizeof(struct ppa_header) ||
	    write(fd, data, len) != (ssize_t)len)
		err(1, "write");
	close(fd);
}

static struct ppa_header header(enum ppa_file file, int look)
{
	struct ppa_header h = {
		.magic = PPA_MAGIC, .version = PPA_VERSION, .size = sizeof(h),
		.file = file, .nr_cpus = 2, .tick_hz = 1000 * MS,
		.now = (7 + 2 * look) * 1000 * MS, .offset = sizeof(h),
		.nr_buckets = PPA_NR_BUCKETS,
	};

	if (!look)
		return h;
	if (!strcmp(fault, "magic"))
		h.magic[0] = 'x';
	else if (!strcmp(fault, "version"))
		h.version++;
	else if (!strcmp(fault, "file"))
		h.file = 77;
	else if (!strcmp(fault, "offset"))
		h.offset = 1 << 30;
	else if (!strcmp(fault, "hz"))
		h.tick_hz = 0;
	return h;
}

static void system_file(int look)
{
	struct ppa_header h = header(PPA_FILE_SYSTEM, look);
	uint64_t v[3][PPA_NR_SYSTEM_VALUES] = { 0 };
	int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		v[cpu][PPA_ELAPSED] = (5 + 2 * look) * 1000 * MS;
		v[cpu][PPA_USRMODE] = (100 + look * 500) * MS;
		v[cpu][PPA_SYSMODE] = (100 + look * 300) * MS;
		v[cpu][PPA_INTERRUPTS] = look * 100 * MS;
		v[cpu][PPA_TOTALSOFTIRQTIME] = look * 20 * MS;
		v[cpu][PPA_IDLE] = (4800 + look * 1080) * MS;
		v[cpu][PPA_SYS_SYSCALLCNT] = 10 + look * 2000 * (cpu + 1);
		v[cpu][PPA_SYS_SCHLATACCUM] = look * MS;
		v[cpu][PPA_SYS_SCHLATCNT] = look * 10;
	}
	h.nr_arrays = 3;
	h.stride = sizeof(v[0]);
	h.nr_values = PPA_NR_SYSTEM_VALUES;
	if (look && !strcmp(fault, "arrays"))
		h.nr_arrays = 1 << 30;
	put("rawsysppa", &h, v, sizeof(v));
}

static void threads_file(int look)
{
	struct ppa_header h = header(PPA_FILE_THREADS, look);
	struct ppa_thread t[5] = {
		{ .tid = 30, .tgid = 30, .comm = "busy" },
		{ .tid = 31, .tgid = 30, .comm = "calls\033[31m\"\\" },
		{ .tid = 40, .tgid = 40, .comm = "reused" },
		{ .tid = 50, .tgid = 50, .comm = "idle" },
		/* not ended by a NUL */
		{ .tid = 20, .tgid = 20, .comm = "0123456789abcdef" },
	};
	size_t len = (look ? 5 : 4) * sizeof(t[0]);

	t[0].values[PPA_SCHEDACCUM] = (900 + look * 400) * MS;
	t[0].values[PPA_SCACCUM] = look * 100 * MS;
	t[0].values[PPA_PRMPTCTXTCNT] = look * 7;
	t[1].values[PPA_SCHEDACCUM] = look * 50 * MS;
	t[1].values[PPA_SCACCUM] = look * 40 * MS;
	t[1].values[PPA_SYSCALLCNT] = 5 + look * 1234;
	t[1].values[PPA_SCHLATACCUM] = look * 3 * MS;
	t[1].values[PPA_SCHLATCNT] = look * 2;
	t[1].latency[3] = look * 2;
	/* an earlier thread of that number had more */
	t[2].values[PPA_SCHEDACCUM] = look ? 10 * MS : 500 * MS;
	t[3].values[PPA_SCHEDACCUM] = 77 * MS;
	t[4].values[PPA_SCHEDACCUM] = 1 * MS;
	h.stride = sizeof(t[0]);
	h.nr_values = PPA_NR_THREAD_VALUES;
	if (look && !strcmp(fault, "stride"))
		h.stride = 8;
	if (look && !strcmp(fault, "short"))
		len -= 8;
	put("rawthreads", &h, t, len);
}

int main(int argc, char **argv)
{
	char path[256];
	int look;

	if (argc < 2)
		errx(1, "usage: ppa_files DIR [FAULT]");
	dir = argv[1];
	if (argc > 2)
		fault = argv[2];
	snprintf(path, sizeof(path), "%s/rawsysppa", dir);
	if (mkfifo(path, 0600))
		err(1, "%s", path);
	snprintf(path, sizeof(path), "%s/rawthreads", dir);
	if (mkfifo(path, 0600))
		err(1, "%s", path);
	for (look = 0; look < 2; look++) {
		system_file(look);
		threads_file(look);
	}
	return 0;
}
