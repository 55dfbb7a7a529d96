/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer's list of instances: in memory, and as the file that readers see.
 */
#ifndef STAPWATCH_LIB_MAP_WRITER_H
#define STAPWATCH_LIB_MAP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"

#pragma GCC visibility push(hidden)

struct map_named {
	char *name;
	uint32_t number;
	enum stapwatch_kind kind;
	bool deleted;
};

struct map_list {
	int dir;
	char path[MAP_NAMES_PATH];	/* in it */
	int fd;
	uint64_t end;
	int new_fd;			/* prepared, but not in its place */
	uint64_t new_end;
	uint32_t made;			/* perfmap_more.names */
	struct map_named **named;	/* by number */
	size_t nr;
	size_t size;
	void *by_name;			/* tsearch()'s */
};

/**
 * map_list_begin - make the file of an empty list
 * @dir: the map's directory, which stays the caller's
 * @list: all of it is 0; map_list_free() frees it, begun or not
 *
 * Return: 0; -1 fails, said
 */
int map_list_begin(struct map_list *list, int dir, uint64_t session);

/** map_list_remove - remove the file of a map that is not or no more */
void map_list_remove(int dir, uint64_t session);

/**
 * map_list_link - let readers that know of no session find the file
 * @instead: whether a list that is called `names' is of no use any more
 *
 * Such readers alone miss what does not succeed, and say so.
 */
void map_list_link(const struct map_list *list, bool instead);

void map_list_free(struct map_list *list);

/** map_list_find, map_list_get - by name, by number; NULL if there is none */
struct map_named *map_list_find(const struct map_list *list, const char *name);
struct map_named *map_list_get(const struct map_list *list, uint32_t number);

/**
 * map_list_new - have one more, in memory
 * @number: above that of all others
 *
 * Return: it, or NULL, said
 */
struct map_named *map_list_new(struct map_list *list, const char *name,
			       uint32_t number, enum stapwatch_kind kind);

/** map_list_drop - forget the last one, in memory */
void map_list_drop(struct map_list *list);

/** map_list_append - write one's line; 0, or -1, said, with nothing written */
int map_list_append(struct map_list *list, const struct map_named *in);

/**
 * map_list_prepare - write a file anew, of what is not deleted
 *
 * Readers do not see it until map_list_place().
 *
 * Return: 0; -1 fails, said
 */
int map_list_prepare(struct map_list *list);

/** map_list_place - put it in its place; 0, or -1, said */
int map_list_place(struct map_list *list);

/** map_list_unprepare - remove it */
void map_list_unprepare(struct map_list *list);

#pragma GCC visibility pop

#endif
