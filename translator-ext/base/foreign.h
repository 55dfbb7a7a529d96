/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that somebody else may have made, or named: in a trace, in debugging
 * information, in a process's maps, in a directory like /tmp.
 *
 * Who reports as root opens none of them but by this.  What is no regular file is
 * not opened at all: a pipe would keep us waiting, a device has no end, and to
 * open some devices is to set them going.
 *
 * What the user names on the command line is the user's own affair.
 */
#ifndef STAPWATCH_FOREIGN_H
#define STAPWATCH_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* Somebody who may read what everybody may. */
#define FOREIGN_NOBODY ((uid_t)65534)

struct foreign_rule {
	/* a directory that is taken for /, also by links and ..; or NULL */
	const char *root;
	uint64_t most;		/* bytes that it may have */
	bool no_link;		/* its name is to be that of the file itself */
	bool own;		/* it is to be root's, this user's, or */
	uid_t also;		/* ... this one's */
	/* who must be able to read it, where root asks; 0: root */
	uid_t reader;
};

/**
 * foreign_open - open a file for reading
 *
 * Return: a file descriptor, closed by exec; -1 with errno, of which
 * foreign_error() knows more than strerror(): ENODEV for what is no regular
 * file, EFBIG, EXDEV for another's
 */
int foreign_open(const char *path, const struct foreign_rule *rule);

/**
 * foreign_read - the same, and all that is in it
 * @text: gets it, if nothing fails; not more than @rule has, whoever writes
 *	to the file meanwhile
 *
 * Return: 0; -1 with errno
 */
int foreign_read(const char *path, const struct foreign_rule *rule,
		 struct buf *text);

/**
 * foreign_writer - who may have written what is in an open file
 *
 * Return: 0 for nobody but root and this user; the owner; FOREIGN_NOBODY where
 * it may be anybody
 */
uid_t foreign_writer(int fd);

/** foreign_error - what an errno of these means */
const char *foreign_error(int err);

#endif
