/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file system of cgroups; cgroups.h says what is wanted of it. */
#include "cmd/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/proc.h"

int cgroups_open(char *dir)
{
	char *name = proc_path("self/mounts");
	FILE *mounts = setmntent(name, "re");
	const struct mntent *m;
	int fd = -1;

	free(name);
	while (mounts && fd < 0 && (m = getmntent(mounts))) {
		if (strcmp(m->mnt_type, "cgroup2"))
			continue;
		fd = open(m->mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		snprintf(dir, PATH_MAX, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return fd;
}

/* The kernel's, of the namespace in which paths are what they are for the kernel. */
#define CGROUP_NAMESPACE "cgroup:[4026531835]"

/* Each cgroup but the root has a type; what is mounted may be one below it. */
static bool is_root(int fd)
{
	return !faccessat(fd, "cgroup.procs", F_OK, 0) &&
	       faccessat(fd, "cgroup.type", F_OK, 0) && errno == ENOENT;
}

int cgroups_check(const char *who, const char *path)
{
	char mount[PATH_MAX];
	int fd = cgroups_open(mount), rc = 0;
	struct buf below = { 0 };

	if (fd < 0)
		return 0;
	buf_printf(&below, "./%s", path);
	if (proc_is_in(CGROUP_NAMESPACE) && is_root(fd) &&
	    faccessat(fd, below.s, F_OK, 0) &&
	    (errno == ENOENT || errno == ENOTDIR)) {
		shown_line(stderr, "stapwatch %s: there is no cgroup \"%s\" below %s; give its path from there on, as /system.slice",
			   who, path, mount);
		rc = -1;
	}
	free(below.s);
	close(fd);
	return rc;
}
