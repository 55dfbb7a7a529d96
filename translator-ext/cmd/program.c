/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of a COMMAND; program.h. */
#include "cmd/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/proc.h"
#include "stap/status.h"

/* Why this file cannot be executed; 0: it can. */
static int why_not(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

/* As execvp() looks for it: what cannot be executed is passed over, and told of in
 * the end. */
static int find(const char *name)
{
	const char *dir = getenv("PATH") ?: "/bin:/usr/bin";
	int found = ENOENT;
	struct buf path = { 0 };

	if (strchr(name, '/'))
		return why_not(name);
	for (;; dir++) {
		const size_t len = strcspn(dir, ":");
		int why;

		path.len = 0;
		buf_printf(&path, "%.*s/%s", len ? (int)len : 1, len ? dir : ".",
			   name);
		why = why_not(path.s);
		if (!why || why == EACCES)
			found = why;
		dir += len;
		if (!why || !*dir)
			break;
	}
	free(path.s);
	return found;
}

int program_check(const char *who, const char *name)
{
	int why;

	if (!name || !proc_is_here())
		return 0;
	why = find(name);
	if (!why)
		return 0;
	shown_line(stderr, "stapwatch %s: %s: %s", who, name, strerror(why));
	return why == ENOENT || why == ENOTDIR ? RUN_NONE : RUN_CANNOT;
}
