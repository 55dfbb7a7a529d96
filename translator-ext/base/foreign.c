/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of others; foreign.h says what is wanted of it. */
#define _GNU_SOURCE	/* O_PATH */
#include "base/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * An open file description that can be asked what it is, and no more: a device
 * does not learn of it.
 */
static int find(int root, const char *path, const struct foreign_rule *rule)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};

	if (rule->no_link)
		how.flags |= O_NOFOLLOW;
	if (!rule->root)
		return open(path, how.flags);
	return syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* Returns an errno, or 0. */
static int check(int fd, const struct foreign_rule *rule)
{
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	if (S_ISLNK(st.st_mode))
		return ELOOP;
	if (!S_ISREG(st.st_mode))
		return ENODEV;
	if (rule->own && st.st_uid && st.st_uid != geteuid() &&
	    st.st_uid != rule->also)
		return EXDEV;
	return (uint64_t)st.st_size > rule->most ? EFBIG : 0;
}

static int open_checked(int root, const char *path,
			const struct foreign_rule *rule)
{
	char self[64];
	int there = find(root, path, rule), fd = -1, err;

	if (there < 0)
		return -1;
	err = check(there, rule);
	if (!err) {
		/* the same file, whatever has its name by now */
		snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		err = fd < 0 ? errno : 0;
	}
	close(there);
	errno = err;
	return fd;
}

/*
 * As that user: the kernel, which knows what one may read, then lets root's
 * rights rest.  Of this thread alone, which is why it is not setgroups(3).
 */
static int open_as(uid_t reader, int root, const char *path,
		   const struct foreign_rule *rule)
{
	gid_t groups[NGROUPS_MAX];
	const int nr = getgroups(NGROUPS_MAX, groups);
	const gid_t group = setfsgid(FOREIGN_NOBODY);
	int fd = -1, err = EPERM;

	if (nr >= 0 && !syscall(SYS_setgroups, 0, NULL)) {
		setfsuid(reader);
		if ((uid_t)setfsuid(-1) == reader) {
			fd = open_checked(root, path, rule);
			err = errno;
		}
		setfsuid(geteuid());
		syscall(SYS_setgroups, nr, groups);
	}
	setfsgid(group);
	errno = err;
	return fd;
}

int foreign_open(const char *path, const struct foreign_rule *rule)
{
	int root = -1, fd, err;

	/* that one was named by the user */
	if (rule->root) {
		root = open(rule->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root < 0)
			return -1;
	}
	fd = rule->reader && !geteuid() ?
		open_as(rule->reader, root, path, rule) :
		open_checked(root, path, rule);
	err = errno;
	if (root >= 0)
		close(root);
	errno = err;
	return fd;
}

int foreign_read(const char *path, const struct foreign_rule *rule,
		 struct buf *text)
{
	const int fd = foreign_open(path, rule);
	struct buf all = { 0 };
	char part[65536];
	ssize_t n;
	int err = 0;

	if (fd < 0)
		return -1;
	while (!err && (n = read(fd, part, sizeof(part)))) {
		if (n < 0 && errno != EINTR)
			err = errno;
		else if (n > 0 && all.len + n > rule->most)
			err = EFBIG;
		else if (n > 0)
			buf_add(&all, part, n);
	}
	close(fd);
	if (!err)
		buf_add(text, all.s, all.len);
	free(all.s);
	errno = err;
	return err ? -1 : 0;
}

uid_t foreign_writer(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return FOREIGN_NOBODY;
	if (st.st_uid && st.st_uid != geteuid())
		return st.st_uid;
	return st.st_mode & S_IWOTH || (st.st_mode & S_IWGRP && st.st_gid &&
					st.st_gid != getegid()) ?
		FOREIGN_NOBODY : 0;
}

const char *foreign_error(int err)
{
	switch (err) {
	case ENODEV:
		return "it is no regular file";
	case EFBIG:
		return "it is larger than such a file can be";
	case EXDEV:
		return "it belongs to somebody else";
	case ELOOP:
		return "it is a link";
	}
	return strerror(err);
}
