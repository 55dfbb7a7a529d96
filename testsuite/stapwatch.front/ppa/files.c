/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ppa_files DIR [FAULT]: be the files of precise process accounting, two looks one
 * after the other, in pipes of DIR: one reader gets both.  FAULT spoils the second.
 * When somebody has had the first look there is DIR/looked; or DIR/early, if there was
 * DIR/ran before that.
 *
 * Long because all files of a session are this one's, which are read in one order.
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ppa/abi.h"

#define MS 1000000ULL		/* in ticks, of which there are 10^9 a second */

static const char *dir, *fault = "";
static int asked;		/* how many files were asked for */
static bool early;

static void pipe_at(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (mkfifo(path, 0600))
		err(1, "%s", path);
}

static bool is_there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

/* From here on whoever opens NAME gets the pipe NEXT, if there is one. */
static void turn(const char *name, const char *next)
{
	char from[256], to[256];

	snprintf(from, sizeof(from), "%s/%s", dir, next);
	snprintf(to, sizeof(to), "%s/%s", dir, name);
	rename(from, to);
}

static void put(const char *name, const void *header, const void *data,
		size_t len)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		err(1, "%s", path);
	/* the reader waits for this: a COMMAND that runs already came too early */
	if (!asked++)
		early = is_there("ran");
	if (write(fd, header, sizeof(struct ppa_header)) !=
			sizeof(struct ppa_header) ||
	    write(fd, data, len) != (ssize_t)len)
		err(1, "write");
	/* of one file alone: the next look's shall not stand after it */
	if (!strcmp(name, "rawsyscalls") || !strcmp(name, "rawlocks"))
		turn(name, "next");
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
		v[cpu][PPA_INTERRUPTCNT] = look * 400;
		v[cpu][PPA_TMRTSKLTTIME] = look * 12 * MS;
		v[cpu][PPA_TMRTSKLTCNT] = 3 + look * 60;
		/* more than there is */
		if (cpu)
			v[cpu][PPA_NTWKRXTIME] = look * 100 * MS;
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

/* What a later version may have more of each. */
#define MORE 2
#define PARTS (PPA_NR_PARTS + MORE)

struct lived {
	struct ppa_thread t;	/* up to its life */
	uint64_t life, parts[PARTS], waits[PARTS], longest[PARTS];
	uint64_t gone, gone_parts[PARTS];
};

/* A process of two threads, of whose others some have ended, and a process of one. */
static void lives_file(int look)
{
	struct ppa_header h = header(PPA_FILE_THREADS, look);
	const bool later = !strcmp(fault, "later");
	const unsigned int nr = later ? PARTS : PPA_NR_PARTS;
	const bool full = !strcmp(fault, "full");
	const bool ended = full || !strcmp(fault, "ended");
	struct lived l[7] = {
		{ .t = { .tid = 30, .tgid = 30, .comm = "slow", .born = 3,
			 .gone_nr = look } },
		{ .t = { .tid = 31, .tgid = 30, .comm = "sleeps", .born = 4 } },
		{ .t = { .tid = 40, .tgid = 40, .comm = "new", .born = 5 } },
		/* the sum of those whose records are others' */
		{ .t = { .comm = "[ended]", .flags = PPA_ENDED | PPA_SUM,
			 .gone_nr = look * 2 } },
		/* a process that was there, and then is one of these; a thread that
		 * ended before its process's first was read, which was the first
		 * itself until that called exec(); one that ended after */
		{ .t = { .tid = 50, .tgid = 50, .comm = "was", .born = 6 } },
		{ .t = { .tid = 30, .tgid = 30, .comm = "first", .born = 3,
			 .flags = PPA_ENDED | PPA_COUNTED, .gone_nr = 1 } },
		{ .t = { .tid = 33, .tgid = 30, .comm = "late", .born = 8,
			 .flags = PPA_ENDED | PPA_COUNTED, .gone_nr = 2 } },
	};
	const size_t words = 2 + 4 * nr, at = offsetof(struct ppa_thread, life);
	char data[sizeof(l)], *to = data;
	int i;

	for (i = 0; i < 2; i++)
		l[i].t.values[PPA_SCHEDACCUM] = look * MS;
	l[0].life = look * 2000 * MS;
	l[0].parts[PPA_PART_USER] = look * 300 * MS;
	l[0].parts[PPA_PART_SYSTEM] = look * 100 * MS;
	l[0].parts[PPA_PART_PREEMPTED] = look * 50 * MS;
	l[0].parts[PPA_PART_DISK] = look * 1000 * MS;
	l[0].parts[PPA_PART_FUTEX] = look * 549 * MS;
	l[0].parts[PPA_PART_PIPE] = look * 1 * MS;
	l[0].waits[PPA_PART_DISK] = 5 + look * 10;
	l[0].longest[PPA_PART_DISK] = 200 * MS;
	l[0].gone = look * 500 * MS;
	l[0].gone_parts[PPA_PART_POLL] = look * 500 * MS;
	l[1].life = look * 1000 * MS;
	l[1].parts[PPA_PART_SLEEP] = look * (later ? 900 : 1000) * MS;
	l[1].parts[PPA_NR_PARTS + 1] = look * 100 * MS;
	l[2].t.values[PPA_SCHEDACCUM] = 7 * MS;
	l[2].life = 10 * MS;
	l[2].parts[PPA_PART_USER] = 7 * MS;
	l[2].parts[PPA_PART_SOCKET] = 3 * MS;
	if (look && !strcmp(fault, "kernel")) {
		/* less time on CPUs, and more of it in the kernel */
		l[2].life += 200 * MS;
		l[2].parts[PPA_PART_SYSTEM] = 200 * MS;
	}
	h.stride = at + words * sizeof(uint64_t);
	/* of two threads, and a new process of that life */
	l[3].t.values[PPA_SCHEDACCUM] = look * 7 * MS;
	l[3].life = look * (150 + 50 + 7) * MS;
	l[3].parts[PPA_PART_SLEEP] = look * (150 + 50) * MS;
	l[3].parts[PPA_PART_USER] = look * 7 * MS;
	/* a thread of a process that is still there, which has it */
	l[3].gone = -(uint64_t)look * 50 * MS;
	l[3].gone_parts[PPA_PART_SLEEP] = -(uint64_t)look * 50 * MS;
	l[4].life = 100 * MS;
	l[4].parts[PPA_PART_SLEEP] = 100 * MS;
	l[5].life = look * 500 * MS;
	l[5].parts[PPA_PART_POLL] = look * 500 * MS;
	l[6].life = look * 500 * MS;
	l[6].parts[PPA_PART_PIPE] = look * 500 * MS;
	if (!strcmp(fault, "ours"))
		strcpy(l[0].t.comm, "stapio");
	if (!strncmp(fault, "competitors", 11))
		strcpy(l[1].t.comm, "hogs\033[31m");
	for (i = 0; i < (ended ? 7 : 3); i++) {
		if (i == (look ? 4 : 2) || (!look && i > 4))
			continue;
		memcpy(to, &l[i].t, at);
		memcpy(to + at, &l[i].life, 8);
		memcpy(to + at + 8, l[i].parts, nr * 8);
		memcpy(to + at + 8 * (1 + nr), l[i].waits, nr * 8);
		memcpy(to + at + 8 * (1 + 2 * nr), l[i].longest, nr * 8);
		memcpy(to + at + 8 * (1 + 3 * nr), &l[i].gone, 8);
		memcpy(to + at + 8 * (2 + 3 * nr), l[i].gone_parts, nr * 8);
		to += h.stride;
	}
	h.lost = full ? look * 37 : 0;
	h.nr_values = PPA_NR_THREAD_VALUES;
	h.parts_offset = at;
	h.nr_parts = nr;
	if (look && !strcmp(fault, "parts_at"))
		h.parts_offset = h.stride + 8;
	else if (look && !strcmp(fault, "parts_few"))
		h.parts_offset = 8;
	else if (look && !strcmp(fault, "parts_many"))
		h.nr_parts = 1 << 30;
	put("rawthreads", &h, data, to - data);
}

/* Of a later version: a bucket and a part more than are known. */
struct called {
	uint32_t nr, zero;
	uint64_t values[PPA_NR_CALL_VALUES];
	uint64_t buckets[PPA_NR_CALL_BUCKETS + 1];
	uint64_t parts[PPA_NR_PARTS + 1];
};

/* The bucket of so many ticks. */
static unsigned int bucket(uint64_t ticks)
{
	const unsigned int power = 63 - __builtin_clzll(ticks += 64);

	return (power - PPA_CALL_POWER) * 4 + ((ticks >> (power - 2)) & 3);
}

/* Calls, not in the order of their numbers: one that fails at times, one that takes
 * long, one of no name, those of no number, and exit(), from which none comes back. */
static void syscalls_file(int look)
{
	struct ppa_header h = header(PPA_FILE_SYSCALLS, look);
	struct called c[5] = {
		{ .nr = SYS_getppid, .values = { 0, 1 + look * 20, MS } },
		{ .nr = SYS_nanosleep, .values = { 0, 0, 400 * MS } },
		{ .nr = 4711, .values = { 0, 0, 5 } },
		{ .nr = PPA_CALL_OTHER, .values = { 0, 0, 3 * MS } },
		{ .nr = SYS_exit, .values = { look * 3 } },
	};
	const size_t len = (3 + 2 * look) * sizeof(c[0]);

	c[0].buckets[bucket(1000)] = 7 + look * 900;
	c[0].buckets[bucket(MS)] = look * 100;
	c[0].parts[PPA_PART_SYSTEM] = look * 50 * MS;
	c[0].parts[PPA_PART_INT] = look * 25 * MS;
	c[1].buckets[bucket(400 * MS)] = 1 + look * 2;
	c[1].parts[PPA_PART_SLEEP] = look * 790 * MS;
	c[1].parts[PPA_PART_WOKEN] = look * 10 * MS;
	c[2].buckets[0] = look;
	c[2].parts[PPA_PART_SYSTEM] = look * 5;
	c[3].buckets[PPA_NR_CALL_BUCKETS] = look;
	c[3].parts[PPA_NR_PARTS] = look * 3 * MS;
	h.stride = sizeof(c[0]);
	h.nr_values = PPA_NR_CALL_VALUES;
	h.latency_offset = offsetof(struct called, buckets);
	h.nr_buckets = PPA_NR_CALL_BUCKETS + 1;
	h.parts_offset = offsetof(struct called, parts);
	h.nr_parts = PPA_NR_PARTS + 1;
	h.lost = look * 77;
	if (look && !strcmp(fault, "calls_short"))
		h.stride += 8;
	else if (look && !strcmp(fault, "calls_at"))
		h.parts_offset = h.latency_offset - 8;
	else if (look && !strcmp(fault, "calls_buckets"))
		h.nr_buckets += 30;
	else if (look && !strcmp(fault, "calls_parts"))
		h.nr_parts = 1 << 31;
	put("rawsyscalls", &h, c, len);
}

/* Of a later version: a word more than is known. */
struct waited {
	struct ppa_lock lock;
	uint64_t later;
};

static struct waited waited(uint32_t kind, uint64_t lock, uint64_t space,
			    uint32_t holder, const char *name, const char *place)
{
	struct waited w = { .lock = {
		.kind = kind, .lock = lock, .space = space, .holder = holder,
		.nr_frames = 2, .comm = "wants\033[31m", .ip = { 0x1234, 0x5678 },
	} };

	strcpy(w.lock.name, name);
	strcpy(w.lock.places[0], place);
	return w;
}

/* A process that there cannot be: nobody knows what it has mapped. */
#define GONE 99999999

static void wakes(struct waited *w, unsigned int at, uint32_t tid,
		  uint64_t waits)
{
	w->lock.wakers[at] = (struct ppa_lock_waker) { .tid = tid, .waits = waits };
}

/* Rows that ended between the two looks: what they had is their process's now, or in the
 * first.  One of them has begun again. */
static void locks_ended_file(int look)
{
	struct ppa_header h = header(PPA_FILE_LOCKS, look);
	const struct {
		uint32_t kind;
		uint64_t lock, space, born, waits, blocked;
	} all[] = {
		{ PPA_LOCK_LOST, 0, 0, 0, 4, 40 },
		{ PPA_LOCK_LOST, 0, 5555, 2, 10, 100 },
		{ PPA_LOCK_FUTEX, 0x9000, GONE, 1, 100, 500 },
		{ PPA_LOCK_FUTEX, 0x9010, GONE, 1, 50, 250 },
		/* at the second look */
		{ PPA_LOCK_LOST, 0, 0, 0, 4 + 10 + 1, 40 + 100 + 2 },
		{ PPA_LOCK_LOST, 0, GONE, 5, 100 + 50 + 7, 500 + 250 + 35 },
		{ PPA_LOCK_FUTEX, 0x9010, GONE, 9, 3, 6 },
		{ PPA_LOCK_FUTEX, 0x9020, GONE, 9, 1, 1 },
	}, *at = all + look * 4;
	struct ppa_lock l[4];
	size_t i;

	for (i = 0; i < 4; i++, at++) {
		l[i] = waited(at->kind, at->lock, at->space, 0, "", "").lock;
		l[i].values[PPA_LOCK_WAITS] = at->waits;
		l[i].values[PPA_LOCK_BLOCKED] = at->blocked * MS;
		l[i].born = at->born;
	}
	h.stride = sizeof(*l);
	h.nr_values = PPA_NR_LOCK_VALUES;
	put("rawlocks", &h, l, sizeof(l));
}

/* Locks: one of two holders, one of which stands twice, one of a process, one that
 * spins, a file, what found no room, one that nobody waited for, and several futexes
 * of which the first is waited for alone, too. */
static void locks_file(int look)
{
	struct ppa_header h = header(PPA_FILE_LOCKS, look);
	struct waited w[] = {
		waited(PPA_LOCK_LOST, 0, 0, 0, "", ""),
		waited(PPA_LOCK_MUTEX, 0xffff0010, 0, 30, "big [mod]", "lock_big"),
		waited(PPA_LOCK_SPIN, 0xffff0020, 0, 0, "small", "lock_small"),
		waited(PPA_LOCK_MUTEX, 0xffff0010, 0, 4711, "big [mod]", "lock_big"),
		waited(PPA_LOCK_FUTEX, 0x7f10, GONE, 31, "", ""),
		waited(PPA_LOCK_MUTEX, 0xffff0010, 0, 30, "big [mod]", "lock_big"),
		waited(PPA_LOCK_READ, 0xffff0030, 30, 0, "", "fault"),
		waited(PPA_LOCK_FILE, 432, 0x800103, 0, "", ""),
		waited(PPA_LOCK_WRITE, 0xffff0040, 0, 0, "calm", "never"),
		waited(99, 0xffff0050, 0, 0, "", ""),
		waited(PPA_LOCK_FUTEXES, 0x7f10, GONE, 0, "", ""),
	};
	static const uint64_t more[][PPA_NR_LOCK_VALUES] = {
		{ 1, 2 * MS, 2 * MS },
		{ 4, 400 * MS, 200 * MS, 3, 3 * MS, 2 * MS },
		{ 0, 0, 0, 1000, 50 * MS, MS / 2 },
		{ 1, 100 * MS, 100 * MS },
		{ 2, 300 * MS + 1, 250 * MS },
		{ 1, 100 * MS, 100 * MS },
		{ 5, 5 * MS, 1 * MS },
		{ 1, 20 * MS, 20 * MS },
		{ 0 },
		{ 1, 1 * MS, 1 * MS },
		{ 3, 30 * MS, 30 * MS },
	};
	const size_t nr = sizeof(w) / sizeof(*w);
	static char old[sizeof(w)];
	size_t i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < PPA_NR_LOCK_VALUES; k++)
			w[i].lock.values[k] = 7 * MS + look * more[i][k];
	wakes(&w[1], 0, 30, 4 * look);
	wakes(&w[5], 0, 30, 5 + look);
	wakes(&w[5], 1, 31, 9);
	wakes(&w[6], 0, 4711, 5 + 5 * look);
	wakes(&w[7], 0, PPA_WAKER_IRQ, look);
	wakes(&w[10], 0, PPA_WAKER_SOFTIRQ, 1 + look);
	wakes(&w[10], 1, 30, 2 * look);
	/* of a row that stands twice, more than there is room for */
	for (i = 0; !strcmp(fault, "locks_wakers") && i < PPA_LOCK_WAKERS; i++) {
		wakes(&w[1], i, i < 4 ? 101 + i : i == 4 && look ? 205 : 0,
		      i < 4 ? 7 : i == 4 && look);
		wakes(&w[5], i, 201 + i, 1000);
	}
	if (!strcmp(fault, "locks_ours"))
		strcpy(w[4].lock.comm, "stapwatch");
	w[6].lock.what = PPA_LOCK_IS_MMAP;
	w[7].lock.what = GONE;
	h.stride = sizeof(w[0]);
	h.nr_values = PPA_NR_LOCK_VALUES;
	if (look && !strcmp(fault, "locks_short"))
		h.stride += 8;
	else if (look && !strcmp(fault, "locks_stride"))
		h.stride = 64;
	else if (look && !strcmp(fault, "locks_values"))
		h.nr_values--;
	if (!strcmp(fault, "locks_old")) {
		h.stride = offsetof(struct ppa_lock, wakers);
		for (i = 0; i < nr; i++)
			memcpy(old + i * h.stride, &w[i], h.stride);
		put("rawlocks", &h, old, nr * h.stride);
		return;
	}
	put("rawlocks", &h, w, sizeof(w));
}

/* Of a later version: a word more than is known. */
struct competed {
	struct ppa_competitors c;
	uint64_t later;
};

static void ran(struct competed *c, unsigned int at, uint32_t tid,
		uint64_t ticks)
{
	c->c.threads[at] = (struct ppa_competitor) { .tid = tid, .ticks = ticks };
}

/* Who ran while that process's first thread was ready, for 50 ms between the looks: of
 * those before two gave way, and one of these came again. */
static void competitors_file(int look)
{
	struct ppa_header h = header(PPA_FILE_COMPETITORS, look);
	struct competed c[3] = {
		{ .c = { .tid = 40, .born = 5 }, .later = -1ULL },
		{ .c = { .tid = 30, .born = 3 }, .later = -1ULL },
		/* that had its number before */
		{ .c = { .tid = 30, .born = 2 }, .later = -1ULL },
	};
	uint64_t *v = c[1].c.values;

	v[PPA_COMPETED_OTHERS] = (7 + look * 30) * MS;
	v[PPA_COMPETED_IDLE] = (3 + look) * MS;
	v[PPA_COMPETED_MOVED] = 2 * MS + look * MS / 2;
	v[PPA_COMPETED_UNKNOWN] = (1 + look) * MS;
	ran(&c[1], 1, 31, (100 + look * 40) * MS);
	ran(&c[1], 2, look ? 4711 : 77, look ? 4 * MS + MS / 2 : 20 * MS);
	ran(&c[1], 7, 50, look ? MS : 8 * MS);
	ran(&c[2], 0, 40, 900 * MS);
	if (look && !strcmp(fault, "competitors_idle")) {
		memset(c[1].c.threads, 0, sizeof(c[1].c.threads));
		v[PPA_COMPETED_OTHERS] = (7 + 128 + 50) * MS;
		v[PPA_COMPETED_IDLE] = (3 + 850) * MS;
		v[PPA_COMPETED_MOVED] = 2 * MS;
		v[PPA_COMPETED_UNKNOWN] = (1 + 100) * MS;
	} else if (look && !strcmp(fault, "competitors_moved")) {
		v[PPA_COMPETED_OTHERS] = 7 * MS;
		v[PPA_COMPETED_IDLE] = 3 * MS;
		v[PPA_COMPETED_MOVED] = (2 + 49) * MS;
		v[PPA_COMPETED_UNKNOWN] = 2 * MS;
		ran(&c[1], 1, 31, 100 * MS);
		ran(&c[1], 2, 77, 20 * MS);
		ran(&c[1], 7, 50, 8 * MS);
	}
	h.stride = sizeof(c[0]);
	h.nr_values = PPA_NR_COMPETED_VALUES;
	if (look && !strcmp(fault, "competitors_short"))
		h.stride += 8;
	else if (look && !strcmp(fault, "competitors_stride"))
		h.stride = sizeof(c[0].c) - 8;
	else if (look && !strcmp(fault, "competitors_values"))
		h.nr_values--;
	else if (look && !strcmp(fault, "competitors_more"))
		h.nr_values++;
	else if (look && !strcmp(fault, "competitors_kind"))
		h.file = PPA_FILE_LOCKS;
	put("rawcompetitors", &h, c,
	    strcmp(fault, "competitors_none") ? sizeof(c) : 0);
}

/* So many each of processes that are there, that have ended in the same cgroup, and
 * that have ended in one of their own. */
#define MANY 300

static void many_file(int look)
{
	struct ppa_header h = header(PPA_FILE_THREADS, look);
	static struct ppa_thread t[3 * MANY];
	int i;

	for (i = 0; i < 3 * MANY; i++) {
		t[i].tid = t[i].tgid = 1000 * (1 + i / MANY) + i % MANY;
		t[i].born = 1 + i;
		t[i].flags = i < MANY ? 0 : PPA_ENDED;
		t[i].cgroup = i < 2 * MANY ? 7 : (1ULL << 60) + i;
		t[i].life = t[i].parts[PPA_PART_USER] = look * MS;
	}
	h.stride = sizeof(t[0]);
	h.nr_values = PPA_NR_THREAD_VALUES;
	h.parts_offset = offsetof(struct ppa_thread, life);
	h.nr_parts = PPA_NR_PARTS;
	/* what has ended came and went between the looks */
	put("rawthreads", &h, t, (look ? 3 : 1) * MANY * sizeof(t[0]));
}

/* Four processes of a thread each, and three CPUs: by each order that there is they
 * stand otherwise. */
static void orders_threads_file(int look)
{
	static const struct {
		uint64_t cpu, system, woken, preempted, disk, futex, longest;
		uint64_t calls, late, wakeups, blocked, preempts, expired;
	} all[] = {
		{ 100, 10, 1, 2, 50, 5, 2, 7, 20, 1, 1, 1, 6 },
		{ 90, 40, 1, 0, 20, 40, 9, 5, 40, 8, 9, 0, 0 },
		{ 80, 20, 0, 4, 10, 45, 8, 9, 90, 9, 0, 4, 0 },
		{ 70, 30, 2, 0, 60, 20, 7, 8, 60, 2, 0, 0, 5 },
	};
	struct ppa_header h = header(PPA_FILE_THREADS, look);
	struct ppa_thread t[4] = { 0 };
	int i, k;

	for (i = 0; i < 4; i++) {
		t[i].tid = t[i].tgid = 10 + 10 * i;
		t[i].born = 1 + i;
		t[i].comm[0] = 'a' + i;
		t[i].values[PPA_SCHEDACCUM] = look * all[i].cpu * MS;
		t[i].values[PPA_SCACCUM] = look * all[i].system * MS;
		t[i].values[PPA_SYSCALLCNT] = look * all[i].calls;
		t[i].values[PPA_SCHLATACCUM] = look * all[i].late * MS;
		t[i].values[PPA_SCHLATCNT] = look * all[i].wakeups;
		t[i].values[PPA_SCHEDOUTCNT] = look * all[i].blocked;
		t[i].values[PPA_PRMPTPRICNT] = look * all[i].preempts;
		t[i].values[PPA_PRMPTCTXTCNT] = look * all[i].expired;
		t[i].parts[PPA_PART_USER] = look *
					    (all[i].cpu - all[i].system) * MS;
		t[i].parts[PPA_PART_SYSTEM] = look * all[i].system * MS;
		t[i].parts[PPA_PART_WOKEN] = look * all[i].woken * MS;
		t[i].parts[PPA_PART_PREEMPTED] = look * all[i].preempted * MS;
		t[i].parts[PPA_PART_DISK] = look * all[i].disk * MS;
		t[i].parts[PPA_PART_FUTEX] = look * all[i].futex * MS;
		t[i].longest[i % 2 ? PPA_PART_DISK : PPA_PART_FUTEX] =
			all[i].longest * MS;
		for (k = 0; k < PPA_NR_PARTS; k++)
			t[i].life += t[i].parts[k];
	}
	h.stride = sizeof(t[0]);
	h.nr_values = PPA_NR_THREAD_VALUES;
	h.parts_offset = offsetof(struct ppa_thread, life);
	h.nr_parts = PPA_NR_PARTS;
	put("rawthreads", &h, t, sizeof(t));
}

static void orders_system_file(int look)
{
	static const struct {
		uint64_t user, system, irq, irqs, timer, timers, net, nets, soft;
		uint64_t calls, late, wakeups, blocked, preempts, expired;
	} all[] = {
		{ 100, 100, 10, 5, 7, 100, 0, 0, 10, 5, 10, 1, 1, 1, 1 },
		{ 50, 200, 1, 90, 1, 1, 0, 0, 1, 1, 4, 2, 0, 0, 9 },
		{ 300, 10, 5, 20, 0, 0, 5, 3, 5, 9, 9, 3, 0, 4, 0 },
	};
	struct ppa_header h = header(PPA_FILE_SYSTEM, look);
	uint64_t v[3][PPA_NR_SYSTEM_VALUES] = { 0 };
	int i;

	for (i = 0; i < 3; i++) {
		v[i][PPA_ELAPSED] = (5 + 2 * look) * 1000 * MS;
		v[i][PPA_USRMODE] = look * all[i].user * MS;
		v[i][PPA_SYSMODE] = look * all[i].system * MS;
		v[i][PPA_INTERRUPTS] = look * all[i].irq * MS;
		v[i][PPA_INTERRUPTCNT] = look * all[i].irqs;
		v[i][PPA_TOTALSOFTIRQTIME] = look * all[i].soft * MS;
		v[i][PPA_TMRTSKLTTIME] = look * all[i].timer * MS;
		v[i][PPA_TMRTSKLTCNT] = look * all[i].timers;
		v[i][PPA_NTWKRXTIME] = look * all[i].net * MS;
		v[i][PPA_NTWKRXCNT] = look * all[i].nets;
		v[i][PPA_SYS_SYSCALLCNT] = look * all[i].calls;
		v[i][PPA_SYS_SCHLATACCUM] = look * all[i].late * MS;
		v[i][PPA_SYS_SCHLATCNT] = look * all[i].wakeups;
		v[i][PPA_SYS_SCHEDOUTCNT] = look * all[i].blocked;
		v[i][PPA_SYS_PRMPTPRICNT] = look * all[i].preempts;
		v[i][PPA_SYS_PRMPTCTXTCNT] = look * all[i].expired;
	}
	h.nr_arrays = 3;
	h.stride = sizeof(v[0]);
	h.nr_values = PPA_NR_SYSTEM_VALUES;
	put("rawsysppa", &h, v, sizeof(v));
}

static bool of_lives(void)
{
	return !strcmp(fault, "lives") || !strcmp(fault, "later") ||
	       !strcmp(fault, "ended") || !strcmp(fault, "kernel") ||
	       !strcmp(fault, "full") || !strcmp(fault, "ours") ||
	       !strncmp(fault, "parts", 5) ||
	       !strncmp(fault, "competitors", 11);
}

static void threads_file(int look)
{
	struct ppa_header h = header(PPA_FILE_THREADS, look);
	const bool born = !strcmp(fault, "born");
	struct ppa_thread t[8] = {
		{ .tid = 30, .tgid = 30, .comm = "busy" },
		{ .tid = 31, .tgid = 30, .comm = "calls\033[31m\"\\" },
		{ .tid = 40, .tgid = 40, .comm = "reused" },
		{ .tid = 50, .tgid = 50, .comm = "idle" },
		/* not ended by a NUL */
		{ .tid = 20, .tgid = 20, .comm = "0123456789abcdef" },
		{ .tid = 60, .tgid = 60, .comm = "n\303\251e\233" },
		/* what had the number 40, and what came and went */
		{ .tid = 40, .tgid = 40, .comm = "before", .flags = PPA_ENDED },
		{ .tid = 70, .tgid = 70, .comm = "short", .flags = PPA_ENDED },
	};
	size_t nr = !look ? 4 : born ? 8 : 6, len = nr * sizeof(t[0]), i;

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
	t[5].values[PPA_SCHEDACCUM] = 1 * MS;
	for (i = 0; born && i < 8; i++)
		t[i].born = 100 + i;
	if (born && look) {
		/* more of everything than what had its number */
		t[2].values[PPA_SCHEDACCUM] = 600 * MS;
		t[2].born = 200;
		t[6].values[PPA_SCHEDACCUM] = 510 * MS;
		t[6].born = 102;
		t[7].values[PPA_SCHEDACCUM] = 30 * MS;
	}
	h.stride = sizeof(t[0]);
	if (!strcmp(fault, "old")) {
		/* a file that does not tell */
		h.stride = offsetof(struct ppa_thread, born);
		len = nr * h.stride;
		for (i = 1; i < nr; i++)
			memmove((char *)t + i * h.stride, &t[i], h.stride);
	}
	h.nr_values = PPA_NR_THREAD_VALUES;
	if (look && !strcmp(fault, "stride"))
		h.stride = 8;
	if (look && !strcmp(fault, "short"))
		len -= 8;
	put("rawthreads", &h, t, len);
}

int main(int argc, char **argv)
{
	int look;

	if (argc < 2)
		errx(1, "usage: ppa_files DIR [FAULT]");
	dir = argv[1];
	if (argc > 2)
		fault = argv[2];
	pipe_at("rawsysppa");
	pipe_at("next");
	pipe_at("rawsyscalls");
	pipe_at("rawlocks");
	if (!strncmp(fault, "competitors", 11))
		pipe_at("rawcompetitors");
	pipe_at("rawthreads");
	for (look = 0; look < 2; look++) {
		if (!strncmp(fault, "calls", 5)) {
			syscalls_file(look);
			continue;
		}
		if (!strcmp(fault, "locks_ended"))
			locks_ended_file(look);
		else if (!strncmp(fault, "locks", 5))
			locks_file(look);
		else if (!strcmp(fault, "orders"))
			orders_system_file(look);
		else
			system_file(look);
		if (!strcmp(fault, "orders"))
			orders_threads_file(look);
		else if (!strcmp(fault, "many"))
			many_file(look);
		else if (of_lives())
			lives_file(look);
		else
			threads_file(look);
		if (!strncmp(fault, "competitors", 11))
			competitors_file(look);
		if (!look)
			pipe_at(early ? "early" : "looked");
	}
	return 0;
}
