/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: jit_test FILE ROUNDS
 * Functions that take each other's places, in a dump that is read again: each state
 * has at each address what a plain table of addresses has.  Then the same dumps with a
 * byte that is another one: whatever they say, nothing breaks.  FILE's name is that
 * of a dump.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ensure.h"
#include "report/input/jit_dump.h"

#define SPACE 4096
#define MOST 200

struct code {
	uint64_t addr;
	uint64_t size;
};

static struct code codes[MOST];
static uint16_t owner[MOST + 1][SPACE];	/* 0: nobody; else a code plus 1 */
static unsigned int nr;
static uint64_t state = 88172645463325252u;

static unsigned int draw(unsigned int below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % below;
}

static void put(FILE *f, const void *bytes, size_t len)
{
	ensure(fwrite(bytes, 1, len, f) == len);
}

static void put_code(FILE *f, unsigned int i)
{
	char name[16];
	const uint32_t len = snprintf(name, sizeof(name), "f%u", i) + 1;
	const uint32_t head[2] = { 0, 16 + 40 + len }, who[2] = { 7, 7 };
	const uint64_t time = i + 1, load[4] = {
		codes[i].addr, codes[i].addr, codes[i].size, i
	};

	put(f, head, sizeof(head));
	put(f, &time, sizeof(time));
	put(f, who, sizeof(who));
	put(f, load, sizeof(load));
	put(f, name, len);
}

static void make(const char *path, int damaged)
{
	const uint32_t header[10] = { 0x4a695444, 1, sizeof(header), 62 };
	FILE *f = fopen(path, "w+");
	unsigned int i, at;

	ensure(f);
	put(f, header, sizeof(header));
	nr = 1 + draw(MOST);
	for (i = 0; i < nr; i++) {
		codes[i].size = 1 + draw(draw(2) ? 16 : 96);
		codes[i].addr = draw(SPACE - 96);
		memcpy(owner[i + 1], owner[i], sizeof(*owner));
		for (at = 0; at < codes[i].size; at++)
			owner[i + 1][codes[i].addr + at] = i + 1;
		put_code(f, i);
	}
	if (damaged) {
		ensure(!fseek(f, draw(ftell(f)), SEEK_SET));
		fputc(draw(256), f);
	}
	ensure(!fclose(f));
}

/* A state of after TIME codes. */
static void compare(const struct jit_dump *d, uint32_t st, unsigned int time)
{
	const struct jit_code *all;
	unsigned int at, who;
	uint64_t place;
	uint32_t known;

	all = jit_dump_codes(d, &known);
	ensure(known == nr && !jit_dump_why(d));
	for (at = 0; at < SPACE; at++) {
		who = owner[time][at];
		ensure(jit_dump_find(d, st, at, &place) == !!who);
		ensure(!who || place == all[who - 1].place +
					(at - codes[who - 1].addr));
	}
}

static void round_of(const char *path, int damaged)
{
	uint32_t states[MOST + 1] = { 0 }, times[MOST + 1] = { 0 };
	unsigned int n = 0, time = 0, i;
	struct intern texts = { 0 };
	struct jit_dump *d;

	make(path, damaged);
	d = jit_dump_read(path, 4194311, &texts);
	while (time < nr) {
		time += 1 + draw(3);
		if (time > nr)
			time = nr;
		times[++n] = time;
		states[n] = jit_dump_state(d, time);
	}
	/* each stays what it was, whatever came later */
	for (i = 0; !damaged && i <= n; i++)
		compare(d, states[i], times[i]);
	jit_dump_free(d);
	intern_free(&texts);
}

int main(int argc, char **argv)
{
	int rounds, i;

	if (argc != 3)
		return 2;
	rounds = atoi(argv[2]);
	for (i = 0; i < rounds; i++)
		round_of(argv[1], i % 2);
	printf("%d dumps\n", rounds);
	return 0;
}
