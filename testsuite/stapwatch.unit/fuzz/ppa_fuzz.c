/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the files of precise process accounting say, the command reads them or
 * says why not, and what it prints is a table of whole lines, and JSON.
 *
 * An input spoils sound files, four bytes for each fault: where, how and by what.
 * So every input comes far.  libFuzzer calls LLVMFuzzerTestOneInput(); so does
 * mutate.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/utf8.h"
#include "cmd/ppa_interval.h"
#include "cmd/ppa_cgroup.h"
#include "cmd/ppa_irqs.h"
#include "cmd/ppa_json.h"
#include "cmd/ppa_locks.h"
#include "cmd/ppa_syscalls.h"
#include "cmd/ppa_table.h"
#include "cmd/ppa_why.h"
#include "../ensure.h"
#include "../executions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* for mutate.c */
extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"\001\001\001\001", "\020\001\001\377", "\044\001\003\001",
	"\060\001\002\200", "\377\001\001\001", "",
	NULL
};

#define CPUS 2
#define THREADS 6
#define CALLS 4
#define LOCKS 4
#define WAITED 3
#define FILES 5

/* Two looks at the files. */
struct look {
	struct {
		struct ppa_header h;
		uint64_t v[CPUS][PPA_NR_SYSTEM_VALUES];
	} system;
	struct {
		struct ppa_header h;
		struct ppa_thread t[THREADS];
	} threads;
	struct {
		struct ppa_header h;
		struct ppa_syscall c[CALLS];
	} calls;
	struct {
		struct ppa_header h;
		struct ppa_lock l[LOCKS];
	} locks;
	struct {
		struct ppa_header h;
		struct ppa_competitors c[WAITED];
	} competitors;
	size_t len[FILES];
};

static void sound(struct look *l, int nr)
{
	struct ppa_header h = {
		.magic = PPA_MAGIC, .version = PPA_VERSION, .size = sizeof(h),
		.nr_cpus = CPUS, .tick_hz = 1000000000, .now = nr * 2000000000ULL,
		.offset = sizeof(h), .nr_buckets = PPA_NR_BUCKETS,
	};
	int i;

	memset(l, 0, sizeof(*l));
	l->system.h = h;
	l->system.h.file = PPA_FILE_SYSTEM;
	l->system.h.nr_arrays = CPUS;
	l->system.h.stride = sizeof(l->system.v[0]);
	l->system.h.nr_values = PPA_NR_SYSTEM_VALUES;
	for (i = 0; i < CPUS; i++) {
		l->system.v[i][PPA_ELAPSED] = h.now;
		l->system.v[i][PPA_USRMODE] = h.now / 2;
		l->system.v[i][PPA_IDLE] = h.now / 2;
	}
	l->threads.h = h;
	l->threads.h.file = PPA_FILE_THREADS;
	l->threads.h.stride = sizeof(l->threads.t[0]);
	l->threads.h.nr_values = PPA_NR_THREAD_VALUES;
	l->threads.h.parts_offset = offsetof(struct ppa_thread, life);
	l->threads.h.nr_parts = PPA_NR_PARTS;
	l->threads.h.lost = nr;
	for (i = 0; i < THREADS; i++) {
		l->threads.t[i].tid = 10 + i / 2;
		l->threads.t[i].tgid = 10;
		l->threads.t[i].born = i + (i == 5) * nr;
		l->threads.t[i].flags = i == 3 ? PPA_ENDED : 0;
		l->threads.t[i].values[PPA_SCHEDACCUM] = h.now / (i + 1);
		l->threads.t[i].values[PPA_SYSCALLCNT] = nr * i;
		memcpy(l->threads.t[i].comm, "thread", 7);
		l->threads.t[i].life = h.now;
		l->threads.t[i].parts[i] = h.now;
		l->threads.t[i].waits[i] = nr;
		l->threads.t[i].longest[i] = h.now / 2;
		l->threads.t[i].gone = l->threads.t[i].gone_parts[0] = nr;
	}
	l->calls.h = h;
	l->calls.h.file = PPA_FILE_SYSCALLS;
	l->calls.h.stride = sizeof(l->calls.c[0]);
	l->calls.h.nr_values = PPA_NR_CALL_VALUES;
	l->calls.h.latency_offset = offsetof(struct ppa_syscall, buckets);
	l->calls.h.nr_buckets = PPA_NR_CALL_BUCKETS;
	l->calls.h.parts_offset = offsetof(struct ppa_syscall, parts);
	l->calls.h.nr_parts = PPA_NR_PARTS;
	l->calls.h.lost = nr;
	for (i = 0; i < CALLS; i++) {
		l->calls.c[i].nr = i == 3 ? PPA_CALL_OTHER : (uint32_t)(i * nr);
		l->calls.c[i].errors = nr * i;
		l->calls.c[i].longest = h.now;
		l->calls.c[i].buckets[i * 40] = nr * 3;
		l->calls.c[i].parts[i] = h.now;
	}
	l->locks.h = h;
	l->locks.h.file = PPA_FILE_LOCKS;
	l->locks.h.stride = sizeof(l->locks.l[0]);
	l->locks.h.nr_values = PPA_NR_LOCK_VALUES;
	for (i = 0; i < LOCKS; i++) {
		struct ppa_lock *lock = &l->locks.l[i];

		lock->kind = i * 4;
		lock->lock = lock->space = i / 2;
		lock->holder = 10 + i;
		lock->nr_frames = i * 3;
		lock->values[PPA_LOCK_WAITS] = nr;
		lock->values[PPA_LOCK_BLOCKED] = h.now;
		memcpy(lock->name, "name", 5);
		memset(lock->places, 'x', sizeof(lock->places));
	}
	l->competitors.h = h;
	l->competitors.h.file = PPA_FILE_COMPETITORS;
	l->competitors.h.stride = sizeof(l->competitors.c[0]);
	l->competitors.h.nr_values = PPA_NR_COMPETED_VALUES;
	for (i = 0; i < WAITED; i++) {
		struct ppa_competitors *c = &l->competitors.c[i];

		c->tid = 10 + i;
		c->born = i * 2;
		c->values[i] = h.now;
		c->threads[i].tid = 10 + nr;
		c->threads[i].ticks = h.now;
		c->threads[i + 4].tid = 10;
		c->threads[i + 4].ticks = nr;
	}
	l->len[0] = sizeof(l->system);
	l->len[1] = sizeof(l->threads);
	l->len[2] = sizeof(l->calls);
	l->len[3] = sizeof(l->locks);
	l->len[4] = sizeof(l->competitors);
}

static char *file_at(struct look *l, size_t i)
{
	return !i ? (char *)&l->system :
	       i == 1 ? (char *)&l->threads :
	       i == 2 ? (char *)&l->calls :
	       i == 3 ? (char *)&l->locks : (char *)&l->competitors;
}

static void spoil(struct look *l, const uint8_t *fault)
{
	const size_t whole = l->len[0] + l->len[1] + l->len[2] + l->len[3] +
			     l->len[4];
	size_t at = (fault[0] | fault[1] << 8) * 4UL + fault[3] % 4, i = 0, rest;
	char *file;

	if (!whole)
		return;
	at %= whole;
	while (at >= l->len[i])
		at -= l->len[i++];
	/* what the headers say goes for all of it */
	if (fault[2] & 4)
		at %= sizeof(struct ppa_header);
	if (at >= l->len[i])
		return;
	file = file_at(l, i);
	rest = l->len[i] - at;
	switch (fault[2] % 4) {
	case 0:
		l->len[i] = at;
		break;
	case 1:
		memset(file + at, fault[3], rest < 8 ? rest : 8);
		break;
	case 2:
		file[at] ^= fault[3];
		break;
	default:
		file[at] = fault[3];
	}
}

#ifdef __SANITIZE_ADDRESS__
/* Exactly as long as it is said to be, so that the sanitizer sees the end. */
static void *exact(size_t i, const void *data, size_t len)
{
	void *copy = malloc(len ?: 1);

	(void)i;
	ensure(copy);
	memcpy(copy, data, len);
	return copy;
}

static void exact_free(void *copy)
{
	free(copy);
}
#else
#define ROOM 65536

/* Up to a page that nobody can read, but for what would make addresses odd: ten
 * times as fast. */
static void *exact(size_t i, const void *data, size_t len)
{
	static char *ends[FILES];
	char *copy;

	if (!ends[i]) {
		copy = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ensure(copy != MAP_FAILED);
		ends[i] = copy + ROOM;
		ensure(!mprotect(ends[i], ROOM, PROT_NONE));
	}
	ensure(len < ROOM);
	copy = ends[i] - (len + 7) / 8 * 8;
	memcpy(copy, data, len);
	return copy;
}

static void exact_free(void *copy)
{
	(void)copy;
}
#endif

static bool read_look(struct look *l, struct ppa_snapshot *s)
{
	char *file[FILES];
	struct buf why = { 0 };
	bool ok;
	size_t i;

	for (i = 0; i < FILES; i++)
		file[i] = exact(i, file_at(l, i), l->len[i]);
	ok = ppa_parse_system(file[0], l->len[0], s, &why) &&
	     ppa_parse_threads(file[1], l->len[1], s, &why) &&
	     ppa_parse_syscalls(file[2], l->len[2], s, &why) &&
	     ppa_parse_locks(file[3], l->len[3], s, &why) &&
	     ppa_parse_competitors(file[4], l->len[4], s, &why);
	ensure(ok == !why.len);
	for (i = 0; i < FILES; i++)
		exact_free(file[i]);
	free(why.s);
	return ok;
}

/* Lines that a terminal may be given. */
static void is_text(const struct buf *out)
{
	size_t i;

	ensure(out->len && out->s[out->len - 1] == '\n');
	for (i = 0; i < out->len; i++)
		ensure(out->s[i] == '\n' || (uint8_t)out->s[i] >= ' ');
}

/* By the input's size, as users say what they want to see. */
static void show(struct ppa_interval *p, size_t size)
{
	struct ppa_names *names = ppa_names_new();
	struct buf out = { 0 };

	ppa_table(p, true, false, size % 3, size % 2, size % 7, &out);
	is_text(&out);
	ppa_why_table(p, &out);
	ppa_process_table(p, size % 3 ? 0 : 10, &out);
	ppa_cgroup_table(p, &out);
	ppa_irqs_table(p, &out);
	ppa_irqs_json(p, &out);
	ppa_syscalls_table(p, &out);
	ppa_syscalls_json(p, &out);
	ppa_locks_table(p, names, &out);
	ppa_locks_json(p, names, &out);
	ppa_names_free(names);
	is_text(&out);
	out.len = 0;
	ppa_json(p, size % (PPA_CPUS + 1), size % 5 ? 0 : 10, &out);
	is_text(&out);
	ensure(memchr(out.s, '\n', out.len) == out.s + out.len - 1);
	ensure(out.s[0] == '{');
	free(out.s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct look sounds[2];
	struct ppa_interval p = { .seconds = 2 };
	struct look before, now;
	size_t i;

	if (!sounds[0].len[0]) {
		sound(&sounds[0], 1);
		sound(&sounds[1], 2);
	}
	before = sounds[0];
	now = sounds[1];
	for (i = 0; i + 4 <= size && i < 4 * 16; i += 4)
		spoil(i % 8 ? &now : &before, data + i);
	if (read_look(&before, &p.before) && read_look(&now, &p.now)) {
		p.sort = p.cpu_sort = size % PPA_NR_SORTS;
		ppa_interval_rows(&p, size % 2 ? 10 : 0);
		if (executions_all_of(data, size))
			show(&p, size);
	}
	ppa_interval_free(&p);
	executions_add();
	return 0;
}
