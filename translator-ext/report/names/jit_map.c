/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /tmp/perf-PID.map; jit_map.h says what is wanted of it. */
#include "report/names/jit_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/foreign.h"

#define LONGEST (64 << 20)	/* bytes of a file */

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
 * Anybody can put a file there for who reports as root.  It is to be root's,
 * one's own or that of the process's owner; who that was, once the process is
 * gone, nobody knows.
 */
static bool read_map(uint32_t pid, struct buf *text, struct buf *why)
{
	struct foreign_rule rule = {
		.most = LONGEST, .no_link = true, .own = true,
	};
	char root[32], path[64], dir[32];
	struct stat process;

	snprintf(dir, sizeof(dir), "/proc/%u", pid);
	if (!stat(dir, &process))
		rule.also = process.st_uid;
	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	rule.root = root;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", inner_pid(pid));
	if (!foreign_read(path, &rule, text))
		return true;
	/* it may have ended */
	rule.root = NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	if (!foreign_read(path, &rule, text))
		return true;
	if (errno != ENOENT)
		buf_printf(why, "%s: %s", path, foreign_error(errno));
	return false;
}

/*
 * START SIZE NAME, the numbers in hexadecimal; what is not that is no symbol.
 */
static void take_line(char *line, uint32_t order, struct intern *texts,
		      struct symtab *tab)
{
	struct symbol s = { .rank = order };
	char *at = line;

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

bool jit_map_read(uint32_t pid, struct intern *texts, struct symtab *tab,
		  struct buf *why)
{
	struct buf text = { 0 };
	uint32_t order = 0;
	char *rest, *line;

	if (!read_map(pid, &text, why))
		return false;
	/* code that took the place of other code comes later */
	rest = text.s;
	while ((line = strsep(&rest, "\n")))
		take_line(line, order++, texts, tab);
	free(text.s);
	return true;
}
