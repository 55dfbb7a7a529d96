/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the maps of counters are: those of the modules that are loaded.
 */
#ifndef STAPWATCH_MAPS_H
#define STAPWATCH_MAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct map_paths {
	char **paths;
	size_t nr;
};

/** maps_all - the maps of all modules that have one, sorted */
void maps_all(struct map_paths *all);
void maps_free(struct map_paths *all);

/**
 * maps_path - the path of what a MAP on the command line names
 * @map: a path, which has a slash in it, or a module's name
 *
 * Return: to be freed
 */
char *maps_path(const char *map);

/** maps_is_module - whether there is a module of that name that has a map */
bool maps_is_module(const char *name);

/**
 * maps_only - the only map that there is
 * @why: what is wrong if there is none, or more than one: a line without its
 *	end
 *
 * Return: its path, to be freed, or NULL
 */
char *maps_only(struct buf *why);

#endif
