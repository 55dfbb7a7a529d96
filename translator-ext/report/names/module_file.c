/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules' files; module_file.h says what is wanted of it. */
#include "report/names/module_file.h"

#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* NAME.ko, NAME.ko.xz, NAME.ko.debug */
static bool is_file_of(const char *file, const char *name)
{
	for (; *name; file++, name++)
		if (*file != *name && !(*file == '-' && *name == '_'))
			return false;
	return !strncmp(file, ".ko", 3) && (!file[3] || file[3] == '.');
}

static int find_below(char *dir, const char *name,
		      int (*try)(void *arg, const char *path), void *arg)
{
	char *const dirs[] = { dir, NULL };
	/* a kernel's build directory hangs there by a link */
	FTS *fts = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	int found = -1;

	if (!fts)
		return -1;
	while (found < 0 && (e = fts_read(fts)))
		if (e->fts_info == FTS_F && is_file_of(e->fts_name, name))
			found = try(arg, e->fts_path);
	fts_close(fts);
	return found;
}

int module_file_find(const char *root, const char *release, const char *name,
		     int (*try)(void *arg, const char *path), void *arg)
{
	static const char *const dirs[] = {
		"/lib/modules",
		"/usr/lib/debug/lib/modules",
	};
	struct buf dir = { 0 };
	int found = -1;
	size_t i;

	/* it is the trace that says this, and it is to be one name */
	if (!*release || *release == '.' || strchr(release, '/') || !*name)
		return -1;
	for (i = 0; found < 0 && i < sizeof(dirs) / sizeof(*dirs); i++) {
		dir.len = 0;
		buf_printf(&dir, "%s%s/%s", root, dirs[i], release);
		found = find_below(dir.s, name, try, arg);
	}
	free(dir.s);
	return found;
}
