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

/* A list of instances, made aside and then put in place as a whole. */
struct map_names {
	char *text;		/* the names point into it */
	struct stapwatch_instance *list;	/* by number */
	size_t nr;
	size_t size;
};

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
 * map_names_read - read and check the file of names
 * @dir: the directory that it is in
 * @h: the map's header, which was checked
 * @n: gets them, and is empty before; map_names_free() frees it, failed or not
 *
 * Return: 0; -1 fails, said
 */
int map_names_read(int dir, const struct perfmap_header *h, struct map_names *n);
void map_names_free(struct map_names *n);

/** map_names_get - the instance of that number; NULL if there is none */
const struct stapwatch_instance *map_names_get(const struct map_names *n,
					       uint32_t number);

/** map_nap - sleep so many nanoseconds, less than a second's */
void map_nap(long ns);

#pragma GCC visibility pop

#endif
