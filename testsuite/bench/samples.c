/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples NR OBJECT: a trace of NR samples on two CPUs, to stdout.
 *
 * Fifty processes of five names, one's children, run in OBJECT's code, which is
 * at 1 << 40: at eight addresses each of 2,000 stacks of 30 callers.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/abi.h"

#define PROCESSES 50
#define STACKS 2000
#define DEPTH 30
#define BASE (1ull << 40)

static uint32_t seq[2];
static uint64_t now = 1000;

static void put(void *record, size_t size, uint16_t type, uint16_t cpu,
		const char *text)
{
	static const char zeroes[8];
	struct sw_trace_record *r = record;
	const size_t len = text ? strlen(text) + 1 : 0;

	*r = (struct sw_trace_record) {
		.mark = SW_TRACE_MARK,
		.type = type,
		.cpu = cpu,
		.size = (size + len + 7) / 8 * 8,
		.seq = seq[cpu]++,
		.time = now,
	};
	fwrite(record, size, 1, stdout);
	fwrite(text, len, 1, stdout);
	fwrite(zeroes, r->size - size - len, 1, stdout);
}

#define PUT(record, type, cpu, text) \
	put(&(record), sizeof(record), type, cpu, text)

/* Where the code is, and the build-id. */
static int read_object(const char *path, struct sw_trace_mmap *map)
{
	static char bytes[1 << 20];
	const Elf64_Ehdr *e = (void *)bytes;
	const Elf64_Phdr *p;
	FILE *f = fopen(path, "r");
	int i;

	if (!f || fread(bytes, 1, sizeof(bytes), f) < sizeof(*e))
		return -1;
	fclose(f);
	p = (void *)(bytes + e->e_phoff);
	for (i = 0; i < e->e_phnum; i++, p++) {
		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			map->len = p->p_filesz;
			map->offset = p->p_offset;
		} else if (p->p_type == PT_NOTE &&
			   p->p_offset < sizeof(bytes) / 2 &&
			   ((Elf64_Nhdr *)(bytes + p->p_offset))->n_type ==
			   NT_GNU_BUILD_ID) {
			memcpy(map->build_id, bytes + p->p_offset + 16,
			       SW_TRACE_BUILD_ID);
		}
	}
	map->addr = BASE;
	map->flags = SW_TRACE_MMAP_BUILD_ID;
	return map->len ? 0 : -1;
}

static void put_processes(struct sw_trace_mmap *map, const char *path)
{
	struct sw_trace_comm comm = { .flags = SW_TRACE_COMM_EXEC };
	struct sw_trace_fork child = { .parent_pid = 1, .parent_tid = 1 };
	uint32_t i;

	for (i = 1; i <= PROCESSES; i++) {
		comm.pid = comm.tid = child.pid = child.tid = i;
		snprintf(comm.comm, sizeof(comm.comm), "worker %u", i % 5);
		if (i > 1)
			PUT(child, SW_TRACE_FORK, 0, NULL);
		PUT(comm, SW_TRACE_COMM, 0, NULL);
		if (i == 1)
			PUT(*map, SW_TRACE_MMAP, 0, path);
		comm.flags = 0;
	}
}

static uint64_t leaves[STACKS];

static void put_stacks(uint64_t len)
{
	struct {
		struct sw_trace_stack head;
		uint64_t ip[DEPTH];
	} stack = { .head = { .flags = SW_TRACE_STACK_USER, .nr = DEPTH } };
	uint32_t i, k;

	for (i = 0; i < STACKS; i++) {
		stack.head.stack = i + 1;
		for (k = 0; k < DEPTH; k++)
			stack.ip[k] = BASE + random() % len;
		leaves[i] = stack.ip[0];
		PUT(stack, SW_TRACE_STACK, 0, NULL);
	}
}

static void put_samples(unsigned long nr)
{
	struct sw_trace_sample s = { .period = 1000, .flags = SW_TRACE_USER };
	struct sw_trace_round round = { .oldest = 0 };
	struct sw_trace_end end = { .taken = 0 };
	unsigned long i;

	for (i = 0; i < nr; i++) {
		now += 100;
		s.pid = s.tid = random() % PROCESSES + 1;
		s.ustack = random() % STACKS + 1;
		s.ip = leaves[s.ustack - 1] + random() % 8;
		PUT(s, SW_TRACE_SAMPLE, i % 2, NULL);
		if (i % 5000)
			continue;
		round.oldest = now;
		PUT(round, SW_TRACE_ROUND, 0, NULL);
	}
	for (i = 0; i < 2; i++) {
		end.taken = end.written = (nr + 1 - i) / 2;
		PUT(end, SW_TRACE_END, i, NULL);
	}
}

int main(int argc, char **argv)
{
	struct sw_trace_head head = {
		.version = SW_TRACE_VERSION,
		.size = sizeof(head),
		.machine = EM_X86_64,
		.page_size = 4096,
		.nr_cpus = 2,
		.session = 1,
	};
	struct sw_trace_event event = { .every = 1000 };
	struct sw_trace_mmap map = { .pid = 1, .tid = 1 };

	if (argc != 3 || read_object(argv[2], &map))
		return 1;
	PUT(head, SW_TRACE_HEAD, 0, "bench");
	PUT(event, SW_TRACE_EVENT, 0, "cycles");
	put_processes(&map, argv[2]);
	put_stacks(map.len);
	put_samples(strtoul(argv[1], NULL, 10));
	return fflush(stdout) ? 1 : 0;
}
