/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a trace to stdout, as lines of stdin tell:
 *
 *	sample cpu=1 time=0x10 pid=7 ip=0x401000 more=1,2,3
 *	mmap time=5 pid=7 addr=0x400000 len=0x1000 build_id=0011 text=/bin/true
 *	print a line of a script's
 *
 * A record is what its type says, zeroes but for the fields that are named,
 * with text to the end of the line, and with mark, size and its CPU's next
 * number unless those are named too.  A module's sections are section=ADDR:NAME; a
 * slice is switch=FLAGS:PART:CALL:TID:DT:SYSTEM, and what follows it a more= after it.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/abi.h"

struct field {
	const char *name;
	size_t at;
	size_t size;
};

struct type {
	const char *name;
	uint16_t type;
	size_t size;
	struct field fields[20];
};

#define FIELD(type, field) \
	{ #field, offsetof(struct sw_trace_##type, field), \
	  sizeof(((struct sw_trace_##type *)0)->field) }

static const struct field common[] = {
	FIELD(record, mark), FIELD(record, type), FIELD(record, cpu),
	FIELD(record, size), FIELD(record, seq), FIELD(record, time),
	{ 0 },
};

#define TYPE(name, number) #name, number, sizeof(struct sw_trace_##name)

static const struct type types[] = {
	{ TYPE(head, SW_TRACE_HEAD), {
		FIELD(head, version), { "head_size", offsetof(struct sw_trace_head,
							      size), 4 },
		FIELD(head, machine), FIELD(head, page_size),
		FIELD(head, nr_cpus), FIELD(head, session),
		FIELD(head, realtime), FIELD(head, stext),
		FIELD(head, build_id), FIELD(head, made_by) } },
	{ TYPE(event, SW_TRACE_EVENT), {
		FIELD(event, event), FIELD(event, flags),
		FIELD(event, every) } },
	{ TYPE(count, SW_TRACE_COUNT), { FIELD(count, count) } },
	{ TYPE(sample, SW_TRACE_SAMPLE), {
		FIELD(sample, pid), FIELD(sample, tid), FIELD(sample, ip),
		FIELD(sample, period), FIELD(sample, event),
		FIELD(sample, flags), FIELD(sample, has),
		FIELD(sample, nr_counts), FIELD(sample, nr_branches),
		FIELD(sample, kstack), FIELD(sample, ustack) } },
	{ TYPE(stack, SW_TRACE_STACK), {
		FIELD(stack, stack), FIELD(stack, flags), FIELD(stack, nr) } },
	{ TYPE(comm, SW_TRACE_COMM), {
		FIELD(comm, pid), FIELD(comm, tid), FIELD(comm, flags) } },
	{ TYPE(fork, SW_TRACE_FORK), {
		FIELD(fork, pid), FIELD(fork, tid), FIELD(fork, parent_pid),
		FIELD(fork, parent_tid) } },
	{ TYPE(exit, SW_TRACE_EXIT), { FIELD(exit, pid), FIELD(exit, tid) } },
	{ TYPE(mmap, SW_TRACE_MMAP), {
		FIELD(mmap, pid), FIELD(mmap, tid), FIELD(mmap, addr),
		FIELD(mmap, len), FIELD(mmap, offset), FIELD(mmap, inode),
		FIELD(mmap, dev_major), FIELD(mmap, dev_minor),
		FIELD(mmap, mnt_ns), FIELD(mmap, flags),
		FIELD(mmap, build_id) } },
	{ TYPE(module, SW_TRACE_MODULE), {
		FIELD(module, addr), FIELD(module, len),
		FIELD(module, build_id), FIELD(module, flags) } },
	{ TYPE(round, SW_TRACE_ROUND), { FIELD(round, oldest) } },
	{ TYPE(end, SW_TRACE_END), {
		FIELD(end, taken), FIELD(end, written), FIELD(end, lost_full),
		FIELD(end, lost_nested), FIELD(end, lost_skipped),
		FIELD(end, no_stack), FIELD(end, other_lost) } },
	{ TYPE(timeline, SW_TRACE_TIMELINE), {
		FIELD(timeline, hz), FIELD(timeline, tick) } },
	{ TYPE(thread, SW_TRACE_THREAD), {
		FIELD(thread, tid), FIELD(thread, pid), FIELD(thread, flags),
		FIELD(thread, part), FIELD(thread, born), FIELD(thread, begin),
		FIELD(thread, at), FIELD(thread, nr_parts) } },
	{ TYPE(slices, SW_TRACE_SLICES), {
		FIELD(slices, from), FIELD(slices, tid),
		FIELD(slices, flags) } },
	{ TYPE(slices_end, SW_TRACE_SLICES_END), {
		FIELD(slices_end, taken), FIELD(slices_end, lost) } },
	{ TYPE(note, SW_TRACE_NOTE), { FIELD(note, pid), FIELD(note, tid) } },
};

static union {
	struct sw_trace_record r;
	char bytes[2 * SW_TRACE_MAX_SIZE];
} out;

static uint32_t next_seq[65536];

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "trace: %s?\n", what);
	exit(1);
}

static const struct field *find(const struct field *f, const char *name)
{
	for (; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static void put_hex(char *at, const char *hex)
{
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		*at++ = byte;
}

static size_t put_words(size_t size, const char *list)
{
	uint64_t word;
	char *end;

	while (*list) {
		word = strtoull(list, &end, 0);
		memcpy(out.bytes + size, &word, sizeof(word));
		size += sizeof(word);
		list = end + (*end == ',');
	}
	return size;
}

static size_t put_switch(size_t size, const char *value)
{
	struct sw_slice e = { 0 };
	unsigned long long n[6] = { 0 };
	unsigned int i;
	char *end;

	for (i = 0; i < 6 && *value; i++) {
		n[i] = strtoull(value, &end, 0);
		value = end + (*end == ':');
	}
	e.flags = SW_SLICE | n[0];
	e.part = n[1];
	e.call = n[2];
	e.tid = n[3];
	e.dt = n[4];
	e.system = n[5];
	memcpy(out.bytes + size, &e, sizeof(e));
	return size + sizeof(e);
}

static size_t put_text(const struct type *t, size_t size, const char *text)
{
	if (t->type == SW_TRACE_COMM || t->type == SW_TRACE_THREAD) {
		strncpy(out.bytes + (t->type == SW_TRACE_COMM ?
				     offsetof(struct sw_trace_comm, comm) :
				     offsetof(struct sw_trace_thread, comm)),
			text, 15);
		return size;
	}
	strcpy(out.bytes + size, text);
	return (size + strlen(text) + 1 + 7) & ~(size_t)7;
}

static void take_section(struct sw_trace_section *s, const char *value)
{
	char *name;

	while (*s->name)
		s++;
	s->addr = strtoull(value, &name, 0);
	strncpy(s->name, name + 1, sizeof(s->name) - 1);
}

static void put(const struct type *t, char *line)
{
	struct sw_trace_section sections[SW_TRACE_SECTIONS + 1] = { 0 };
	size_t size = t->size;
	const struct field *f;
	uint64_t number;
	char *key, *value;

	memset(&out, 0, sizeof(out));
	out.r.mark = SW_TRACE_MARK;
	out.r.type = t->type;
	out.r.seq = UINT32_MAX;
	while ((key = strsep(&line, " "))) {
		if (!*key)
			continue;
		value = strchr(key, '=');
		if (!value)
			die(key);
		*value++ = '\0';
		if (!strcmp(key, "text")) {
			if (line)
				line[-1] = ' ';
			size = put_text(t, size, value);
			break;
		}
		if (!strcmp(key, "more")) {
			size = put_words(size, value);
			continue;
		}
		if (!strcmp(key, "switch")) {
			size = put_switch(size, value);
			continue;
		}
		if (!strcmp(key, "section")) {
			take_section(sections, value);
			continue;
		}
		f = find(t->fields, key);
		if (!f)
			f = find(common, key);
		if (!f)
			die(key);
		number = strtoull(value, NULL, 0);
		if (f->size > sizeof(number))
			put_hex(out.bytes + f->at, value);
		else
			memcpy(out.bytes + f->at, &number, f->size);
	}
	if (*sections->name) {
		memcpy(out.bytes + size, sections,
		       SW_TRACE_SECTIONS * sizeof(*sections));
		size += SW_TRACE_SECTIONS * sizeof(*sections);
	}
	if (!out.r.size)
		out.r.size = size;
	if (out.r.seq == UINT32_MAX)
		out.r.seq = next_seq[out.r.cpu];
	next_seq[out.r.cpu] = out.r.seq + 1;
	fwrite(&out, 1, size, stdout);
}

int main(void)
{
	char *line = NULL, *rest, *name;
	size_t size = 0, i;
	ssize_t len;

	while ((len = getline(&line, &size, stdin)) > 0) {
		line[len - 1] = '\0';
		rest = line + strspn(line, " \t");
		name = strsep(&rest, " ");
		if (!rest)
			die(name);
		if (!strcmp(name, "print")) {
			fputs(rest, stdout);
			continue;
		}
		for (i = 0; i < sizeof(types) / sizeof(*types); i++)
			if (!strcmp(types[i].name, name))
				break;
		if (i == sizeof(types) / sizeof(*types))
			die(name);
		put(&types[i], rest);
	}
	free(line);
	return fflush(stdout) ? 1 : 0;
}
