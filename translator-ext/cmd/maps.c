/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the maps are; maps.h says what is wanted of it. */
#include "cmd/maps.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULES "/proc/systemtap"
#define MAP "stapwatch/map"

void maps_all(struct map_paths *all)
{
	glob_t found;
	size_t i;

	*all = (struct map_paths) { 0 };
	if (glob(MODULES "/*/" MAP, 0, NULL, &found))
		return;
	all->paths = xmalloc(found.gl_pathc * sizeof(*all->paths));
	for (i = 0; i < found.gl_pathc; i++)
		all->paths[i] = xstrdup(found.gl_pathv[i]);
	all->nr = found.gl_pathc;
	globfree(&found);
}

void maps_free(struct map_paths *all)
{
	size_t i;

	for (i = 0; i < all->nr; i++)
		free(all->paths[i]);
	free(all->paths);
	*all = (struct map_paths) { 0 };
}

char *maps_path(const char *map)
{
	struct buf path = { 0 };

	if (strchr(map, '/'))
		return xstrdup(map);
	buf_printf(&path, MODULES "/%s/" MAP, map);
	return buf_take(&path);
}

bool maps_is_module(const char *name)
{
	char *path = maps_path(name);
	bool is = !strchr(name, '/') && !access(path, F_OK);

	free(path);
	return is;
}

char *maps_only(struct buf *why)
{
	struct map_paths all;
	char *path = NULL;
	size_t i;

	maps_all(&all);
	if (all.nr == 1) {
		path = xstrdup(all.paths[0]);
	} else if (!all.nr) {
		buf_puts(why, "no module has a map (" MODULES "/*/" MAP
			 "); name one by its path");
	} else {
		buf_puts(why, "which map?");
		for (i = 0; i < all.nr; i++)
			buf_printf(why, " %s", all.paths[i]);
	}
	maps_free(&all);
	return path;
}
