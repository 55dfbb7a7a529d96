/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of sources.  It is debugging information that names them, and who wrote
 * that can have named any file of this machine.
 */
#ifndef STAPWATCH_SOURCE_FILE_H
#define STAPWATCH_SOURCE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

#define SOURCE_FILES_ROOM (256 << 20)	/* for all of them, in bytes */

/* { 0 } is a file without lines. */
struct source_file {
	char *text;
	char **lines;
	size_t nr, size;
};

/**
 * source_file_read - the lines of a file
 * @root: the directory that it is looked for below first, or NULL
 * @writer: who wrote what names the file; where root asks, only what that
 *	user may read is read
 * @f: gets them
 * @room: bytes that there is room for, of which they take theirs
 * @why: gets why there are none: a line without its end
 */
void source_file_read(const char *path, const char *root, uid_t writer,
		      struct source_file *f, size_t *room, struct buf *why);
void source_file_free(struct source_file *f);

/** source_file_line - line number @nr, from 1 on; "" if there is none */
const char *source_file_line(const struct source_file *f, size_t nr);

#endif
