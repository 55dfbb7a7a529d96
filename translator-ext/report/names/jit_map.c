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

/* ---- which code is where: the last of those that say so */

struct code {
	uint64_t addr;
	uint64_t end;
	uint32_t name;
	uint32_t order;		/* of lines, which is that of code */
};

struct codes {
	struct code *all;
	size_t nr, size;
	/* those that have begun, a heap of their numbers: the last to come is at its top */
	uint32_t *open;
	size_t nr_open;
};

static int by_addr(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool is_later(const struct codes *c, size_t i, size_t than)
{
	return c->all[c->open[i]].order > c->all[c->open[than]].order;
}

static void exchange(struct codes *c, size_t i, size_t k)
{
	const uint32_t was = c->open[i];

	c->open[i] = c->open[k];
	c->open[k] = was;
}

static void open_code(struct codes *c, uint32_t code)
{
	size_t i = c->nr_open++;

	for (c->open[i] = code; i && is_later(c, i, (i - 1) / 2);
	     i = (i - 1) / 2)
		exchange(c, i, (i - 1) / 2);
}

static void close_top(struct codes *c)
{
	size_t i = 0, child;

	c->open[0] = c->open[--c->nr_open];
	for (;;) {
		child = 2 * i + 1;
		if (child + 1 < c->nr_open && is_later(c, child + 1, child))
			child++;
		if (child >= c->nr_open || !is_later(c, child, i))
			break;
		exchange(c, i, child);
		i = child;
	}
}

/* Code that goes on after what lay over it is a symbol once more. */
static void put_piece(struct symtab *tab, const struct code *code, uint64_t addr,
		      uint64_t end)
{
	struct symbol *last = tab->nr ? &tab->symbols[tab->nr - 1] : NULL;

	if (last && last->name == code->name && last->addr + last->size == addr)
		last->size += end - addr;
	else
		symtab_add(tab, &(struct symbol) {
			.addr = addr, .size = end - addr, .name = code->name,
		});
}

/* What has begun, from AT up to an address. */
static void put_pieces(struct codes *c, struct symtab *tab, uint64_t at,
		       uint64_t to)
{
	const struct code *top;
	uint64_t end;

	while (c->nr_open && at < to) {
		top = &c->all[c->open[0]];
		if (top->end <= at) {
			close_top(c);
			continue;
		}
		end = top->end < to ? top->end : to;
		put_piece(tab, top, at, end);
		at = end;
	}
}

static void put_codes(struct codes *c, struct symtab *tab)
{
	size_t i;

	if (!c->nr)
		return;
	qsort(c->all, c->nr, sizeof(*c->all), by_addr);
	c->open = xmalloc(c->nr * sizeof(*c->open));
	for (i = 0; i < c->nr; i++) {
		if (i)
			put_pieces(c, tab, c->all[i - 1].addr, c->all[i].addr);
		open_code(c, i);
	}
	put_pieces(c, tab, c->all[i - 1].addr, UINT64_MAX);
	free(c->open);
}

/*
 * START SIZE NAME, the numbers in hexadecimal; what is not that is no symbol.
 */
static void take_line(char *line, struct intern *texts, struct codes *c)
{
	struct code code = { .order = c->nr };
	char *at = line;
	uint64_t size;

	errno = 0;
	code.addr = strtoull(at, &at, 16);
	if (errno || at == line || *at != ' ')
		return;
	size = strtoull(at, &at, 16);
	if (errno || *at != ' ' || !at[1])
		return;
	code.end = size > UINT64_MAX - code.addr ? UINT64_MAX : code.addr + size;
	if (code.end == code.addr)
		return;
	code.name = intern_string(texts, at + 1);
	c->all = array_room(c->all, &c->size, c->nr + 1, sizeof(*c->all));
	c->all[c->nr++] = code;
}

bool jit_map_read(uint32_t pid, struct intern *texts, struct symtab *tab,
		  struct buf *why)
{
	struct buf text = { 0 };
	struct codes codes = { 0 };
	char *rest, *line;

	if (!read_map(pid, &text, why))
		return false;
	rest = text.s;
	while ((line = strsep(&rest, "\n")))
		take_line(line, texts, &codes);
	free(text.s);
	put_codes(&codes, tab);
	free(codes.all);
	return true;
}
