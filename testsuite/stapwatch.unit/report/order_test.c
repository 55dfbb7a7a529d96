/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records come in the order of time, and what that takes is bounded, whoever
 * wrote the trace: the compiler has trace_order.c and heap.c count the steps they
 * take, and the linker the bytes they move.
 */
#define _GNU_SOURCE	/* memfd_create() */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/input/trace_order.h"
#include "test.h"

#define RECORDS 20000u
#define LOG2 15u			/* of that, at least */
#define LARGE (5 * (ORDER_HELD / SW_TRACE_MAX_SIZE) / 4)

static uint64_t steps, moved;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

void *__real_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len)
{
	moved += len;
	return __real_memcpy(to, from, len);
}

void *__real_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len)
{
	moved += len;
	return __real_memmove(to, from, len);
}

/* ---- a stream */

struct stream {
	FILE *f;
	uint32_t seq;
	uint32_t samples;
};

static void put(struct stream *s, struct sw_trace_record *r, uint16_t type,
		uint32_t size, uint64_t time)
{
	*r = (struct sw_trace_record) { SW_TRACE_MARK, type, 0, size, s->seq++,
					time };
	fwrite(r, 1, size, s->f);
}

static void put_head(struct stream *s)
{
	struct {
		struct sw_trace_head h;
		char release[8];
	} head = { .h = { .version = SW_TRACE_VERSION,
			  .size = sizeof(struct sw_trace_head),
			  .page_size = 4096, .nr_cpus = 1 } };

	put(s, &head.h.r, SW_TRACE_HEAD, sizeof(head), 0);
}

/* Its pid is its number, by which it is known again. */
static void put_sample(struct stream *s, uint64_t time)
{
	struct sw_trace_sample sample = { .pid = s->samples++ };

	put(s, &sample.r, SW_TRACE_SAMPLE, sizeof(sample), time);
}

static void put_round(struct stream *s, uint64_t oldest)
{
	struct sw_trace_round round = { .oldest = oldest };

	put(s, &round.r, SW_TRACE_ROUND, sizeof(round), 0);
}

/* A record as long as can be. */
static void put_long(struct stream *s, uint64_t time)
{
	static union {
		struct sw_trace_mmap m;
		char bytes[SW_TRACE_MAX_SIZE];
	} map;

	map.m.pid = s->samples++;
	put(s, &map.m.r, SW_TRACE_MMAP, sizeof(map), time);
}

/* Below @most; the same at each run. */
static uint64_t chance(uint64_t most)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % most;
}

/* ---- what comes of it */

struct result {
	uint32_t nr;		/* records, each of another number */
	bool sorted;		/* by time, and then by number */
	uint64_t late;
	uint64_t bytes;		/* of the stream */
};

static void read_all(const char *path, struct result *result)
{
	static bool seen[RECORDS];
	struct buf why = { 0 };
	struct trace *t = trace_open(path, &why);
	const struct sw_trace_sample *r;
	struct loss loss = { 0 };
	uint64_t time = 0;
	uint32_t last = 0;
	struct order *o;

	memset(seen, 0, sizeof(seen));
	if (!t) {
		printf("%s\n", why.s);
		exit(1);
	}
	o = order_new(t, &loss);
	steps = moved = 0;
	while ((r = (const void *)order_next(o))) {
		if (r->pid >= RECORDS || seen[r->pid])
			exit(1);
		seen[r->pid] = true;
		result->sorted &= r->r.time > time || !result->nr ||
				  (r->r.time == time && r->pid > last);
		time = r->r.time;
		last = r->pid;
		result->nr++;
	}
	result->late = loss.late;
	order_free(o);
	trace_close(t);
	loss_free(&loss);
	free(why.s);
}

static struct result run(void (*write_it)(struct stream *))
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct stream s = { .f = fdopen(fd, "w") };
	struct result result = { .sorted = true };
	char path[64];

	put_head(&s);
	write_it(&s);
	fflush(s.f);
	result.bytes = ftell(s.f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path, &result);
	fclose(s.f);
	if (result.nr != s.samples)
		exit(1);
	return result;
}

/* ---- streams */

static void good(struct stream *s)
{
	uint32_t i;

	for (i = 1; i <= RECORDS; i++) {
		put_sample(s, i + chance(50));
		if (i % 100 == 0)
			put_round(s, i);
	}
}

static void same_time(struct stream *s)
{
	while (s->samples < RECORDS)
		put_sample(s, 1);
	put_round(s, 2);
}

/* Nothing may go, and it is asked for all the time. */
static void never(struct stream *s)
{
	while (s->samples < RECORDS) {
		put_sample(s, chance(UINT32_MAX));
		put_round(s, 0);
	}
}

static void backwards(struct stream *s)
{
	while (s->samples < RECORDS) {
		put_sample(s, RECORDS - s->samples);
		put_round(s, 0);
	}
}

/* All of it is there, and one after the other may go. */
static void one_by_one(struct stream *s)
{
	uint32_t i;

	while (s->samples < RECORDS / 2)
		put_sample(s, RECORDS / 2 - s->samples);
	for (i = 1; i <= RECORDS / 2; i++) {
		put_round(s, i);
		put_sample(s, RECORDS / 2 + i);
	}
}

static void late(struct stream *s)
{
	put_sample(s, 10);
	put_round(s, 20);
	put_sample(s, 5);
	put_sample(s, 4);
	put_sample(s, 30);
	put_round(s, 25);
	put_sample(s, 24);
}

/* More than is held at a time. */
static void large(struct stream *s)
{
	while (s->samples < LARGE)
		put_long(s, 1 + s->samples);
}

static void large_backwards(struct stream *s)
{
	while (s->samples < LARGE)
		put_long(s, 10000 - s->samples);
}

static void check(const char *name, void (*write_it)(struct stream *))
{
	const struct result r = run(write_it);
	char text[64];

	snprintf(text, sizeof(text), "%s: in order", name);
	TEST(text, r.sorted);
	snprintf(text, sizeof(text), "%s: none is late", name);
	TEST_EQUAL(text, r.late, 0);
	snprintf(text, sizeof(text), "%s: steps", name);
	TEST(text, steps && steps <= 24ull * r.nr * LOG2);
	snprintf(text, sizeof(text), "%s: bytes that are moved", name);
	TEST(text, moved && moved <= 4 * r.bytes);
	printf("%s: %llu steps, %llu bytes of %llu\n", name,
	       (unsigned long long)steps, (unsigned long long)moved,
	       (unsigned long long)r.bytes);
}

int main(void)
{
	struct result r;

	check("a good trace", good);
	check("all at the same time", same_time);
	check("rounds that let nothing go", never);
	check("backwards", backwards);
	check("rounds that let one go", one_by_one);
	check("more than is held", large);

	r = run(late);
	TEST("late ones: not in order", !r.sorted);
	TEST_EQUAL("late ones: are counted", r.late, 3);
	r = run(large_backwards);
	TEST("more than is held, backwards: is late", r.late > 0);
	TEST("more than is held, backwards: bytes that are moved",
	     moved <= 4 * r.bytes);
	return !!test_failures;
}
