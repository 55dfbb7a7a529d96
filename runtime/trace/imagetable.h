/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of images: from a process and an address to what is mapped there,
 * for scripts.
 *
 * It is fed with the trace's records of maps and forks, and lasts until the script
 * ends, so that end probes can ask for processes that are gone.  Entries are only
 * added.
 *
 * Who may run what, against whom:
 *
 *   sw_image_note()	one at a time, sleepable, under sw_trace.lock
 *   sw_image_find()	any context, NMI included
 *   sw_image_table_free()	when nobody can ask any more
 */
#ifndef STAPWATCH_TRACE_IMAGETABLE_H
#define STAPWATCH_TRACE_IMAGETABLE_H

#include "base/compat.h"
#include "trace/abi.h"
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>

#define SW_IMAGE_BITS 12
/*
 * The memory of all images, and of those of processes that share a list: who maps files
 * with long names all the time takes no room from most others.
 */
#define SW_IMAGE_BYTES (32 << 20)
#define SW_IMAGE_LIST_BYTES (SW_IMAGE_BYTES / 16)
/* A handler looks at so many entries, and at so many processes that it forked
 * from, before it gives up. */
#define SW_IMAGE_STEPS 2048
#define SW_IMAGE_PARENTS 8

struct sw_image {
	struct sw_image *older;
	u32 pid;
	u32 parent;		/* it began as a copy of that one; else 0 */
	u64 time;
	u64 addr;
	u64 len;
	u64 offset;
	char path[];
};

static struct {
	struct sw_image *last[1 << SW_IMAGE_BITS];
	bool wanted;		/* the script asks for images */
	size_t bytes;
	u32 list_bytes[1 << SW_IMAGE_BITS];
	unsigned long refused;
} sw_image_table;

static void
sw_image_add(const struct sw_image *what, const char *path)
{
	u32 list = hash_32(what->pid, SW_IMAGE_BITS);
	struct sw_image **head = &sw_image_table.last[list];
	size_t len = strlen(path) + 1;
	/* no less than kmalloc() takes for it */
	size_t bytes = roundup_pow_of_two(sizeof(struct sw_image) + len);
	struct sw_image *i = NULL;

	if (sw_image_table.bytes + bytes <= SW_IMAGE_BYTES &&
	    sw_image_table.list_bytes[list] + bytes <= SW_IMAGE_LIST_BYTES)
		i = kmalloc(sizeof(*i) + len, GFP_KERNEL);
	if (!i) {
		sw_image_table.refused++;
		return;
	}
	sw_image_table.bytes += bytes;
	sw_image_table.list_bytes[list] += bytes;
	*i = *what;
	memcpy(i->path, path, len);
	i->older = *head;
	/* with smp_load_acquire() in sw_image_find() */
	smp_store_release(head, i);
}

/**
 * sw_image_note - learn from a record
 */
static void sw_image_note(const struct sw_trace_record *r)
{
	const struct sw_trace_mmap *m = (const struct sw_trace_mmap *)r;
	const struct sw_trace_fork *f = (const struct sw_trace_fork *)r;

	if (r->type == SW_TRACE_MMAP)
		sw_image_add(&(struct sw_image) {
			.pid = m->pid,
			.time = r->time,
			.addr = m->addr,
			.len = m->len,
			.offset = m->offset,
		}, m->path);
	else if (r->type == SW_TRACE_FORK && f->pid != f->parent_pid)
		sw_image_add(&(struct sw_image) {
			.pid = f->pid,
			.time = r->time,
			.parent = f->parent_pid,
		}, "");
}

/**
 * sw_image_find - what process PID has, or had last, at an address
 * Context: any.
 * Return: NULL where nothing is known.
 */
static const struct sw_image *sw_image_find(u32 pid, u64 ip)
{
	unsigned int steps = 0, parents;
	const struct sw_image *i, *best;

	for (parents = 0; parents <= SW_IMAGE_PARENTS; parents++) {
		/* with smp_store_release() in sw_image_add() */
		i = smp_load_acquire(&sw_image_table.last[
					hash_32(pid, SW_IMAGE_BITS)]);
		/* CPUs' records came in their own order, so by time */
		for (best = NULL; i && steps < SW_IMAGE_STEPS;
		     i = i->older, steps++)
			if (i->pid == pid &&
			    (i->parent || ip - i->addr < i->len) &&
			    (!best || i->time > best->time))
				best = i;
		if (!best || !best->parent)
			return best;
		/* what it had before was another process's */
		pid = best->parent;
	}
	return NULL;
}

static void sw_image_table_free(void)
{
	struct sw_image *i, *older;
	unsigned int n;

	if (sw_image_table.refused)
		_stp_warn("stapwatch: %lu maps found no room among the images\n",
			  sw_image_table.refused);
	for (n = 0; n < ARRAY_SIZE(sw_image_table.last); n++) {
		for (i = sw_image_table.last[n]; i; i = older) {
			older = i->older;
			kfree(i);
		}
		sw_image_table.last[n] = NULL;
	}
	sw_image_table.wanted = false;
	sw_image_table.bytes = 0;
	memset(sw_image_table.list_bytes, 0, sizeof(sw_image_table.list_bytes));
	sw_image_table.refused = 0;
}

#endif
