/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /tmp/perf-PID.map; jit_map.h says what is wanted of it. */
#include "jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"

/* The number that the process has in its own namespace: the last of them. */
static uint32_t inner_pid(uint32_t pid)
{
	char path[64], line[256];
	unsigned long inner = pid;
	char *last;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	if (!f)
		return pid;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		if (last)
			inner = strtoul(last + 1, NULL, 10);
	}
	fclose(f);
	return inner ? inner : pid;
}

/*
 * Anybody can put a file there for who reports as root.  It is to be a file, and
 * root's, one's own, or that of the process's owner if it is still there.
 */
static FILE *open_file(const char *path, uint32_t pid)
{
	struct stat st, process;
	char dir[32];
	FILE *f;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	snprintf(dir, sizeof(dir), "/proc/%u", pid);
	f = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (!st.st_uid || st.st_uid == geteuid() || stat(dir, &process) ||
	     st.st_uid == process.st_uid) ? fdopen(fd, "r") : NULL;
	if (!f)
		close(fd);
	return f;
}

static FILE *open_map(uint32_t pid)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid,
		 inner_pid(pid));
	f = open_file(path, pid);
	if (f)
		return f;
	/* it may have ended */
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	return open_file(path, pid);
}

/*
 * START SIZE NAME, the numbers in hexadecimal; what is not that is no symbol.
 */
static void take_line(char *line, uint32_t order, struct intern *texts,
		      struct symtab *tab)
{
	struct symbol s = { .rank = order };
	char *at = line;

	line[strcspn(line, "\n")] = '\0';
	errno = 0;
	s.addr = strtoull(at, &at, 16);
	if (errno || at == line || *at != ' ')
		return;
	s.size = strtoull(at, &at, 16);
	if (errno || *at != ' ' || !s.size || !at[1])
		return;
	s.name = intern_string(texts, at + 1);
	symtab_add(tab, &s);
}

bool jit_map_read(uint32_t pid, struct intern *texts, struct symtab *tab)
{
	FILE *f = open_map(pid);
	char *line = NULL;
	uint32_t order = 0;
	size_t size = 0;

	if (!f)
		return false;
	/* code that took the place of other code comes later */
	while (getline(&line, &size, f) >= 0)
		take_line(line, order++, texts, tab);
	free(line);
	fclose(f);
	symtab_sort(tab);
	return true;
}
