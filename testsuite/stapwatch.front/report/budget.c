/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: budget KIND BYTES >TRACE
 *	  budget run FILE COMMAND ARG...
 *
 * Traces that cost as much as they can, as a program that is recorded can have them
 * written; `usual' is what an honest one looks like.  Each is about as long as it is told.
 * `run' says in FILE what a command took: its milliseconds on CPUs, and the most KiB of
 * memory that it had.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/abi.h"

#define PAGE 4096u
#define BASE 0x7f0000000000u
#define MODULES 0xffffffffc0000000u

static uint64_t now = 1, written, most;
static uint32_t samples, seq[UINT16_MAX + 1];
static uint16_t cpu; /* that writes */

static void put(struct sw_trace_record *r, uint16_t type, size_t size,
		const char *text)
{
	static const char zeroes[8];
	const size_t len = text ? strlen(text) + 1 : 0;
	const size_t pad = -(size + len) & 7;

	*r = (struct sw_trace_record) { SW_TRACE_MARK, type, cpu,
					size + len + pad, seq[cpu]++, now++ };
	fwrite(r, 1, size, stdout);
	if (len)
		fwrite(text, 1, len, stdout);
	fwrite(zeroes, 1, pad, stdout);
	written += r->size;
}

static bool goes_on(void)
{
	return written < most;
}

/* SESSION: of those that are reported together, which are of one boot. */
static void put_head(uint32_t session)
{
	struct sw_trace_head head = {
		.version = SW_TRACE_VERSION, .size = sizeof(head),
		.machine = 62, .page_size = PAGE, .nr_cpus = UINT16_MAX,
		.session = session ?: 1, .stext = !!session,
	};
	struct sw_trace_event event = { .every = 1000 };

	put(&head.r, SW_TRACE_HEAD, sizeof(head), "6.1.0");
	put(&event.r, SW_TRACE_EVENT, sizeof(event), "cpu_clock");
}

static void put_end(void)
{
	struct sw_trace_end end = { .taken = samples, .written = samples };

	put(&end.r, SW_TRACE_END, sizeof(end), NULL);
}

static void put_comm(uint32_t pid, const char *comm)
{
	struct sw_trace_comm c = { .pid = pid, .tid = pid };

	snprintf(c.comm, sizeof(c.comm), "%s", comm);
	put(&c.r, SW_TRACE_COMM, sizeof(c), NULL);
}

static void put_map(uint32_t pid, uint64_t addr, uint64_t len, const char *path)
{
	struct sw_trace_mmap m = { .pid = pid, .tid = pid, .addr = addr,
				   .len = len };

	put(&m.r, SW_TRACE_MMAP, sizeof(m), path);
}

static void put_module(uint64_t addr, uint64_t len, const char *name)
{
	struct sw_trace_module m = { .addr = addr, .len = len };

	put(&m.r, SW_TRACE_MODULE, sizeof(m), name);
}

static void put_fork(uint32_t parent, uint32_t child)
{
	struct sw_trace_fork f = { .pid = child, .tid = child,
				   .parent_pid = parent, .parent_tid = parent };

	put(&f.r, SW_TRACE_FORK, sizeof(f), NULL);
}

static void put_sample(uint32_t pid, uint64_t ip, uint32_t ustack)
{
	struct sw_trace_sample s = { .pid = pid, .tid = pid, .ip = ip,
				     .period = 1, .flags = SW_TRACE_USER,
				     .ustack = ustack };

	samples++;
	put(&s.r, SW_TRACE_SAMPLE, sizeof(s), NULL);
}

static void put_kernel_sample(uint64_t ip, uint32_t kstack)
{
	struct sw_trace_sample s = { .pid = 1, .tid = 1, .ip = ip, .period = 1,
				     .kstack = kstack };

	samples++;
	put(&s.r, SW_TRACE_SAMPLE, sizeof(s), NULL);
}

static void put_any_stack(uint32_t stack, uint32_t flags, const uint64_t *ip,
			  uint32_t nr)
{
	struct {
		struct sw_trace_stack s;
		uint64_t ip[64];
	} s = { .s = { .stack = stack, .flags = flags, .nr = nr } };

	memcpy(s.ip, ip, nr * sizeof(*ip));
	put(&s.s.r, SW_TRACE_STACK, sizeof(s.s) + nr * sizeof(*ip), NULL);
}

static void put_stack(uint32_t stack, const uint64_t *ip, uint32_t nr)
{
	put_any_stack(stack, SW_TRACE_STACK_USER, ip, nr);
}

static void put_kernel_stack(uint32_t stack, const uint64_t *ip, uint32_t nr)
{
	put_any_stack(stack, 0, ip, nr);
}

/* ---- kinds */

/* A hundred processes of twenty maps each; a thousand stacks. */
static void usual(void)
{
	uint64_t ip[20];
	char name[32];
	uint32_t pid, i, stack;

	for (pid = 1; pid <= 100; pid++) {
		snprintf(name, sizeof(name), "prog%u", pid);
		put_comm(pid, name);
		for (i = 0; i < 20; i++) {
			snprintf(name, sizeof(name), "/usr/lib/lib%u.so", i);
			put_map(pid, BASE + i * 64 * PAGE, 64 * PAGE, name);
		}
	}
	for (stack = 1; stack <= 1000; stack++) {
		for (i = 0; i < 20; i++)
			ip[i] = BASE + (stack * 7919 + i * 104729) %
				       (1280 * PAGE);
		put_stack(stack, ip, 20);
	}
	for (i = 0; goes_on(); i++)
		put_sample(1 + i % 100, BASE + i * 7919ull % (1280 * PAGE),
			   1 + i % 1000);
}

/* A map for every two pages, from the lowest up, or down from the highest. */
static void put_row(int64_t step)
{
	uint64_t addr = BASE;

	for (; goes_on(); addr += step)
		put_map(1, addr, PAGE, "/tmp/x");
	put_sample(1, BASE, 0);
}

static void up(void)
{
	put_row(2 * PAGE);
}

static void down(void)
{
	put_row(-2 * (int64_t)PAGE);
}

/* Each of many maps is replaced after a sample. */
static void replaced(void)
{
	const uint64_t half = most / 2;
	uint64_t i, nr;

	for (nr = 0; written < half; nr++)
		put_map(1, BASE + nr * 2 * PAGE, PAGE, "/tmp/x");
	for (i = 0; goes_on(); i++) {
		put_sample(1, BASE + i % nr * 2 * PAGE, 0);
		put_map(1, BASE + i % nr * 2 * PAGE, PAGE,
			i / nr & 1 ? "/tmp/x" : "/tmp/y");
	}
}

/* So is each of many modules, after a sample that has a stack. */
static void modules(void)
{
	const uint64_t half = most / 2, ip[] = { MODULES, MODULES + PAGE * 2 };
	uint64_t i, nr;

	put_kernel_stack(1, ip, 2);
	for (nr = 0; written < half; nr++)
		put_module(MODULES + nr * 2 * PAGE, PAGE, "x");
	for (i = 0; goes_on(); i++) {
		put_kernel_sample(MODULES + i % nr * 2 * PAGE, 1);
		put_module(MODULES + i % nr * 2 * PAGE, PAGE,
			   i / nr & 1 ? "x" : "y");
	}
}

/* One map over a thousand small ones, again and again. */
static void covered(void)
{
	uint32_t i;

	while (goes_on()) {
		for (i = 0; i < 1000; i++)
			put_map(1, BASE + i * 2 * PAGE, PAGE, "/tmp/x");
		put_sample(1, BASE, 0);
		put_map(1, BASE, 2000 * PAGE, "/tmp/y");
	}
}

/* Each process has all maps of its parent, and one of its own. */
static void forked(void)
{
	uint32_t pid, i;

	for (i = 0; i < 2000; i++)
		put_map(1, BASE + i * 2 * PAGE, PAGE, "/tmp/x");
	for (pid = 1; goes_on(); pid++) {
		put_fork(pid, pid + 1);
		put_map(pid + 1, BASE - PAGE * (uint64_t)pid, PAGE, "/tmp/z");
		put_sample(pid + 1, BASE - PAGE * (uint64_t)pid, 0);
	}
}

/* Names that met in the table when it had no key. */
static uint32_t old_hash(const char *key, size_t len)
{
	uint64_t h = len, word;

	for (; len; len -= len < 8 ? len : 8, key += 8) {
		word = 0;
		memcpy(&word, key, len < 8 ? len : 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		if (len >= 8)
			h ^= h >> 32;
	}
	h ^= h >> 32;
	h *= 0xff51afd7ed558ccdu;
	return h >> 32;
}

static void alike(void)
{
	char name[12];
	uint64_t i, rest;
	unsigned int k;

	for (i = 0; goes_on(); i++) {
		for (k = 0, rest = i; k < 11; k++, rest >>= 5)
			name[k] = "abcdefghijklmnopqrstuvwxyz012345"[rest & 31];
		name[11] = 0;
		if (!(old_hash(name, 12) & 0xff000))
			put_comm(1, name);
	}
	put_sample(1, BASE, 0);
}

/* Each sample has a stack of its own. */
static void stacks(void)
{
	uint64_t ip[64];
	uint32_t stack, i;

	put_map(1, BASE, 1 << 30, "/tmp/x");
	for (stack = 1; goes_on(); stack++) {
		for (i = 0; i < 64; i++)
			ip[i] = BASE + (stack * 64ull + i) % (1 << 30);
		put_stack(stack, ip, 64);
		put_sample(1, ip[0], stack);
	}
}

/* Each sample is in a file of its own, which is not there. */
static void images(void)
{
	char name[32];
	uint32_t i;

	for (i = 0; goes_on(); i++) {
		snprintf(name, sizeof(name), "/tmp/%u", i);
		put_map(1, BASE + i * 2ull * PAGE, PAGE, name);
		put_sample(1, BASE + i * 2ull * PAGE, 0);
	}
}

/* ---- kinds of timelines */

#define SLICES 150 /* in a record */

struct slices {
	struct sw_trace_slices r;
	struct {
		struct sw_slice s;
		uint64_t more[2];
	} slice[SLICES];
};

/* Each slice has WORDS words more. */
static void put_slices(struct slices *b, uint32_t nr, uint32_t words)
{
	const size_t each = sizeof(struct sw_slice) + 8 * words;
	struct {
		struct sw_trace_slices r;
		char bytes[sizeof(b->slice)];
	} packed;
	uint32_t i;

	packed.r = b->r;
	for (i = 0; i < nr; i++)
		memcpy(packed.bytes + i * each, &b->slice[i], each);
	put(&packed.r.r, SW_TRACE_SLICES, sizeof(packed.r) + nr * each, NULL);
}

static void put_timeline(void)
{
	struct sw_trace_timeline head = { .hz = 1000000000, .tick = 1000 };

	put(&head.r, SW_TRACE_TIMELINE, sizeof(head), NULL);
}

/* Four CPUs of fifty threads each; a switch every microsecond, after 100 ns of waiting. */
static void switches(void)
{
	struct slices b = { .r = { .flags = SW_TRACE_SLICES_SINCE } };
	uint32_t i, nr = 0;

	put_timeline();
	for (;; nr += SLICES) {
		b.r.from = 1000 + nr * 1000ull;
		b.r.tid = nr ? 100 + (nr - 1) % 50 : 0;
		for (i = 0; i < SLICES; i++) {
			b.slice[i].s = (struct sw_slice) {
				.flags = SW_SLICE | SW_SLICE_WOKEN, .part = 10,
				.call = SW_SLICE_NO_CALL,
				.tid = 100 + (nr + i) % 50, .dt = 1000,
				.system = 100,
			};
			b.slice[i].more[0] = 100 | 101ull << 32;
		}
		for (cpu = 0; cpu < 4; cpu++) {
			put_slices(&b, SLICES, 1);
			b.r.tid += b.r.tid ? 50 : 0;
			for (i = 0; i < SLICES; i++)
				b.slice[i].s.tid += 50;
		}
		cpu = 0;
		if (!goes_on())
			return;
	}
}

/* A thread is born with each slice. */
static void births(void)
{
	struct slices b = { 0 };
	uint32_t i, nr = 0;

	put_timeline();
	while (goes_on()) {
		for (i = 0; i < SLICES; i++, nr++) {
			b.slice[i].s = (struct sw_slice) {
				.flags = SW_SLICE | SW_SLICE_BORN,
				.tid = nr + 1, .system = nr + 1,
			};
			b.slice[i].more[0] = 1000 + nr;
			b.slice[i].more[1] = 1 + nr;
		}
		put_slices(&b, SLICES, 2);
	}
}

/* So it is, and then all of them run, who was born last first. */
static void waits(void)
{
	const uint64_t all = most;
	struct slices b = { 0 };
	uint32_t i, nr;

	most = all / 2;
	births();
	most = all;
	nr = written / 33;
	b.r.flags = SW_TRACE_SLICES_SINCE;
	for (b.r.from = 1000 + nr; goes_on(); b.r.from += SLICES * 10) {
		for (i = 0; i < SLICES; i++)
			b.slice[i].s = (struct sw_slice) {
				.flags = SW_SLICE, .dt = 10,
				.tid = nr ? nr-- : 0, .call = 1, .part = 10,
			};
		put_slices(&b, SLICES, 0);
		b.r.tid = b.slice[SLICES - 1].s.tid;
	}
}

/* A CPU begins again and again, and nothing is known of before. */
static void gaps(void)
{
	struct slices b = { 0 };
	uint32_t i, nr = 0;

	put_timeline();
	while (goes_on()) {
		for (i = 0; i < SLICES; i++, nr++) {
			b.slice[i].s = (struct sw_slice) {
				.flags = SW_SLICE | SW_SLICE_BEGIN, .tid = 7,
			};
			b.slice[i].more[0] = 1000 + nr * 10ull;
		}
		put_slices(&b, SLICES, 1);
	}
}

/* As many CPUs as there can be, which have a slice each at a time. */
static void cpus(void)
{
	struct slices b = { .r = { .flags = SW_TRACE_SLICES_SINCE } };

	put_timeline();
	b.slice[0].s = (struct sw_slice) { .flags = SW_SLICE, .dt = 10,
					   .tid = 7 };
	while (goes_on()) {
		b.r.from = 1000 + now;
		cpu = (cpu + 1) % UINT16_MAX;
		put_slices(&b, 1, 0);
	}
	cpu = 0;
}

/* ---- counts of several traces */

static void put_count(uint16_t nr, const char *name)
{
	struct sw_trace_count c = { .count = nr };

	put(&c.r, SW_TRACE_COUNT, sizeof(c), name);
}

/* As many as there may be, and nothing else. */
static void names(void)
{
	char name[16];
	int i;

	for (i = 0; i < UINT8_MAX - 1; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		put_count(i, name);
	}
}

/* Of threads that have one sample each, with a count that has the last number of all. */
static void counts(void)
{
	struct {
		struct sw_trace_sample s;
		uint64_t count;
	} c = { .s = { .nr_counts = 1, .period = 1 } };

	put_count(0, "count");
	for (; goes_on(); c.s.tid++) {
		c.count = c.s.tid;
		samples++;
		put(&c.s.r, SW_TRACE_SAMPLE, sizeof(c), NULL);
	}
}

static const struct {
	const char *name;
	void (*put)(void);
} kinds[] = {
	{ "usual", usual }, { "up", up }, { "down", down },
	{ "replaced", replaced }, { "modules", modules }, { "covered", covered },
	{ "forked", forked }, { "alike", alike }, { "stacks", stacks },
	{ "images", images }, { "switches", switches }, { "births", births },
	{ "waits", waits }, { "gaps", gaps }, { "cpus", cpus },
	{ "names", names }, { "counts", counts },
};

/* ---- what a command takes */

static int run(const char *file, char **argv)
{
	struct rusage u;
	int status;
	pid_t pid;
	FILE *f;

	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		execv(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	if (wait4(pid, &status, 0, &u) != pid)
		err(2, "wait4");
	f = fopen(file, "w");
	if (!f)
		err(2, "%s", file);
	fprintf(f, "%ld %ld\n", u.ru_utime.tv_sec * 1000 +
		u.ru_utime.tv_usec / 1000 + u.ru_stime.tv_sec * 1000 +
		u.ru_stime.tv_usec / 1000, u.ru_maxrss);
	if (fclose(f))
		err(2, "%s", file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc > 3 && !strcmp(argv[1], "run"))
		return run(argv[2], argv + 3);
	if (argc != 3)
		errx(2, "KIND BYTES");
	most = strtoull(argv[2], NULL, 10);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		put_head(kinds[i].put == names ? 1 :
			 kinds[i].put == counts ? 2 : 0);
		kinds[i].put();
		put_end();
		return fclose(stdout) != 0;
	}
	errx(2, "%s: there is no such kind", argv[1]);
}
