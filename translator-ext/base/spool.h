/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that are written once and read again, as many as a disk has room for: what is
 * too much for memory is in a file without a name, in TMPDIR or /var/tmp.
 */
#ifndef STAPWATCH_SPOOL_H
#define STAPWATCH_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* { .most = BYTES } is empty. */
struct spool {
	size_t most; /* may be in memory */
	struct buf held; /* the last bytes */
	uint64_t filed; /* so many before them are in the file */
	bool has_file;
	int fd; /* it */
	int error; /* why the file could not be made, written or read; 0 */
};

/**
 * spool_add - write bytes
 *
 * After an error, which stays, they are dropped.
 *
 * Return: where they stand, for spool_read()
 */
uint64_t spool_add(struct spool *s, const void *bytes, size_t len);

/** spool_read - read LEN bytes from AT on.  Return: false after an error */
bool spool_read(struct spool *s, uint64_t at, void *to, size_t len);

/** spool_why - what is wrong after an error: a line without its end */
void spool_why(const struct spool *s, struct buf *why);
void spool_free(struct spool *s);

#endif
