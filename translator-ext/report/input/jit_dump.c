/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit-PID.dump; jit_dump.h says what is wanted of it. */
#include "report/input/jit_dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/foreign.h"
#include "report/input/map_tree.h"

#define MAGIC 0x4a695444u
#define ARCH_TIME 1		/* a processor's counter, of whatever rate */
#define MOST_BYTES (4ULL << 30)
#define MOST_CODES (1u << 17)
#define LONGEST_NAME 4096
#define LARGEST (1ULL << 30)	/* bytes of a function */

struct header {
	uint32_t magic;
	uint32_t version;
	uint32_t size;
	uint32_t machine;
	uint32_t pad;
	uint32_t pid;
	uint64_t time;
	uint64_t flags;
};

enum { LOAD, MOVE };

struct record {
	uint32_t id;
	uint32_t size;		/* with this */
	uint64_t time;
};

struct load {
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t addr;
	uint64_t size;
	uint64_t index;
	/* its name and its bytes follow */
};

struct move {
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t from;
	uint64_t to;
	uint64_t size;
	uint64_t index;
};

struct jit_dump {
	struct jit_code *codes;
	uint32_t nr;
	size_t size;
	struct intern addrs;	/* of codes */
	uint32_t *last;		/* the last that was there, by their numbers */
	size_t size_last;
	uint32_t done;		/* codes that are in the last state */
	struct map_nodes maps;	/* of all states; an offset is a place */
	uint32_t *states;	/* trees; the first is empty */
	uint32_t nr_states;
	size_t size_states;
	uint64_t place;		/* the next function's */
	struct buf why;
};

bool jit_dump_is(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	name = name ? name + 1 : path;
	if (strncmp(name, "jit-", 4))
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && !strcmp(name + 4 + digits, ".dump");
}

/* ---- the file */

/* Anybody may put such a file somewhere: as jit_map.c has it. */
static FILE *open_dump(const char *path, uint32_t pid, struct buf *why)
{
	struct foreign_rule rule = {
		.most = MOST_BYTES, .no_link = true, .own = true,
	};
	char root[32], dir[32];
	struct stat process;
	FILE *f;
	int fd;

	snprintf(dir, sizeof(dir), "/proc/%u", pid);
	if (!stat(dir, &process))
		rule.also = process.st_uid;
	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	rule.root = root;
	fd = foreign_open(path, &rule);
	if (fd < 0) {
		/* it may have ended */
		rule.root = NULL;
		fd = foreign_open(path, &rule);
	}
	if (fd < 0) {
		buf_printf(why, "%s: %s", path, foreign_error(errno));
		return NULL;
	}
	f = fdopen(fd, "r");
	if (!f) {
		buf_printf(why, "%s: %s", path, strerror(errno));
		close(fd);
	}
	return f;
}

static const char *check_header(FILE *f)
{
	struct header h;

	if (fread(&h, sizeof(h), 1, f) != 1 ||
	    (h.magic != MAGIC && h.magic != __builtin_bswap32(MAGIC)))
		return "it is no dump of a JIT compiler's code";
	if (h.magic != MAGIC)
		return "it was written on a machine of another byte order";
	if (h.flags & ARCH_TIME)
		return "its times are a processor's own, and not CLOCK_MONOTONIC";
	if (h.size < sizeof(h) || fseeko(f, h.size, SEEK_SET))
		return "its header is damaged";
	return NULL;
}

static void add_code(struct jit_dump *d, const struct jit_code *code)
{
	const uint32_t at = intern(&d->addrs, &code->addr, sizeof(code->addr));

	d->last = array_room(d->last, &d->size_last, at + 1, sizeof(*d->last));
	d->last[at] = d->nr;
	d->codes = array_room(d->codes, &d->size, d->nr + 1,
			      sizeof(*d->codes));
	d->codes[d->nr++] = *code;
}

/* A name ends the part of the record that we read. */
static bool take_load(struct jit_dump *d, FILE *f, const struct record *r,
		      struct intern *texts)
{
	char name[LONGEST_NAME];
	struct load l;
	size_t n;

	if (r->size < sizeof(*r) + sizeof(l) ||
	    fread(&l, sizeof(l), 1, f) != 1 || !l.size || l.size > LARGEST ||
	    l.addr >= JIT_PLACES - l.size)
		return false;
	n = r->size - sizeof(*r) - sizeof(l);
	n = fread(name, 1, n < sizeof(name) ? n : sizeof(name), f);
	if (!memchr(name, 0, n) || !*name)
		return false;
	add_code(d, &(struct jit_code) {
		.time = r->time,
		.addr = l.addr,
		.size = l.size,
		.place = d->place,
		.name = intern_string(texts, name),
	});
	d->place += l.size;
	return true;
}

/* What is moved is what was loaded, or moved, there last. */
static bool take_move(struct jit_dump *d, FILE *f, const struct record *r)
{
	struct jit_code code;
	struct move m;
	uint32_t at;

	if (r->size < sizeof(*r) + sizeof(m) ||
	    fread(&m, sizeof(m), 1, f) != 1 ||
	    !intern_find(&d->addrs, &m.from, sizeof(m.from), &at))
		return false;
	code = d->codes[d->last[at]];
	if (m.to >= JIT_PLACES - code.size)
		return false;
	code.time = r->time;
	code.addr = m.to;
	add_code(d, &code);
	return true;
}

static void read_records(struct jit_dump *d, FILE *f, struct intern *texts)
{
	unsigned long damaged = 0;
	struct record r;
	bool taken;
	off_t at;
	size_t n;

	while ((n = fread(&r, 1, sizeof(r), f)) == sizeof(r)) {
		at = ftello(f);
		if (r.size < sizeof(r)) {
			buf_puts(&d->why, "a record is damaged, and all after it");
			return;
		}
		if (r.id <= MOVE && d->nr == MOST_CODES) {
			buf_printf(&d->why, "only its first %u functions are known",
				   MOST_CODES);
			return;
		}
		taken = r.id == LOAD ? take_load(d, f, &r, texts) :
			r.id == MOVE ? take_move(d, f, &r) : true;
		damaged += !taken;
		if (fseeko(f, at + r.size - sizeof(r), SEEK_SET))
			break;
	}
	if (n)
		buf_puts(&d->why, "it ends within a record");
	else if (damaged)
		buf_printf(&d->why, "records that are damaged: %lu", damaged);
}

/* The file's threads may have written one before the other. */
static int by_time(const void *a, const void *b)
{
	const struct jit_code *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->place < other->place ? -1 : one->place > other->place;
}

struct jit_dump *jit_dump_read(const char *path, uint32_t pid,
			       struct intern *texts)
{
	struct jit_dump *d = xmalloc(sizeof(*d));
	const char *wrong;
	FILE *f;

	*d = (struct jit_dump) { .nr_states = 1, .place = JIT_PLACES };
	d->states = array_room(NULL, &d->size_states, 1, sizeof(*d->states));
	f = open_dump(path, pid, &d->why);
	if (!f)
		return d;
	wrong = check_header(f);
	if (!wrong)
		read_records(d, f, texts);
	fclose(f);
	/* where they are is asked by trees from here on */
	intern_free(&d->addrs);
	free(d->last);
	if (d->nr)
		qsort(d->codes, d->nr, sizeof(*d->codes), by_time);
	if (wrong || d->why.len) {
		wrong = wrong ? xstrdup(wrong) : buf_take(&d->why);
		buf_printf(&d->why, "%s: %s", path, wrong);
		free((char *)wrong);
	}
	return d;
}

void jit_dump_free(struct jit_dump *d)
{
	if (!d)
		return;
	free(d->codes);
	map_nodes_free(&d->maps);
	free(d->states);
	free(d->why.s);
	free(d);
}

const char *jit_dump_why(const struct jit_dump *d)
{
	return d->why.s;
}

const struct jit_code *jit_dump_codes(const struct jit_dump *d, uint32_t *nr)
{
	*nr = d->nr;
	return d->codes;
}

/* ---- states */

uint32_t jit_dump_state(struct jit_dump *d, uint64_t time)
{
	uint32_t t = d->states[d->nr_states - 1];
	const uint32_t done = d->done;
	const struct jit_code *code;

	if (done == d->nr || d->codes[done].time > time)
		return d->nr_states - 1;
	/* the last state stays as it is */
	t = map_tree_copy(&d->maps, t);
	while (d->done < d->nr && d->codes[d->done].time <= time) {
		code = &d->codes[d->done++];
		t = map_tree_put(&d->maps, t, &(struct map) {
			.addr = code->addr,
			.end = code->addr + code->size,
			.offset = code->place,
		});
	}
	d->states = array_room(d->states, &d->size_states, d->nr_states + 1,
			       sizeof(*d->states));
	d->states[d->nr_states++] = t;
	return d->nr_states - 1;
}

bool jit_dump_find(const struct jit_dump *d, uint32_t state, uint64_t addr,
		   uint64_t *place)
{
	const struct map *m = map_tree_find(&d->maps, d->states[state], addr);

	if (!m || addr < m->addr)
		return false;
	*place = m->offset + (addr - m->addr);
	return true;
}
