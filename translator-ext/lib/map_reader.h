/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of a map from the inside: map_open.c attaches it, map_names.c reads
 * its list of instances, map_read.c the counters.
 */
#ifndef STAPWATCH_LIB_MAP_READER_H
#define STAPWATCH_LIB_MAP_READER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"

#pragma GCC visibility push(hidden)

/* What was read of a file of names at a time. */
struct map_chunk {
	struct map_chunk *before;
	char *text;		/* the names point into it */
	size_t len;
	struct stapwatch_instance *in;	/* stays where it is, for by_name */
	size_t nr;
};

struct map_names {
	int fd;			/* to go on with; -1: it is read as a whole */
	uint32_t made;		/* that file's perfmap_more.names */
	uint32_t hist_counters;	/* of a histogram, in that map */
	uint64_t end;		/* how far it was read */
	struct map_chunk *last;
	struct stapwatch_instance *list;	/* by number */
	size_t nr;
	size_t size;
	void *by_name;		/* tsearch()'s; has those of next, too */
	struct map_chunk *next;	/* what was read, and not yet taken */
	struct stapwatch_instance *next_list;	/* NULL: they come after */
};

#define MAP_NAMES_NONE { .fd = -1 }

struct stapwatch {
	int fd;
	int dir;
	struct perfmap_header head;	/* as it was found to be good */
	void *page;			/* the header itself */
	size_t page_size;
	void **extents;
	size_t extent_size;	/* of those that are mapped */
	uint32_t nr_mapped;
	struct map_names names;
};

/**
 * map_names_open - find the file of names
 * @dir: the directory that it is in
 * @h: the map's header
 * @more: what is after it
 * @n: MAP_NAMES_NONE; map_names_free() frees it, failed or not
 *
 * Return: 0; -1 fails, said
 */
int map_names_open(int dir, const struct perfmap_header *h,
		   const struct perfmap_more *more, struct map_names *n);

/**
 * map_names_read - read and check what the file has more than was read
 * @h: the map's header, which was checked
 * @n: from map_names_open()
 *
 * No list changes by it.  map_names_take() or map_names_undo() is next.
 *
 * Return: 0; -1 fails, said
 */
int map_names_read(const struct perfmap_header *h, struct map_names *n);

/** map_names_take - put what was read in its place; 0, or -1, said */
int map_names_take(struct map_names *n);

/** map_names_undo - forget what was read */
void map_names_undo(struct map_names *n);
void map_names_free(struct map_names *n);

/** map_names_find - the instance of that name; NULL if there is none */
const struct stapwatch_instance *map_names_find(const struct map_names *n,
						const char *name);

/** map_names_get - the instance of that number; NULL if there is none */
const struct stapwatch_instance *map_names_get(const struct map_names *n,
					       uint32_t number);

/** map_nap - sleep so many nanoseconds, less than a second's */
void map_nap(long ns);

#pragma GCC visibility pop

#endif
