/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory, and then a file; spool.h says what is wanted of it. */
#define _GNU_SOURCE /* O_TMPFILE, mkostemp() */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* /tmp may be memory. */
static const char *where(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/var/tmp";
}

/* Not all filesystems have files without names from the beginning. */
static int open_named(void)
{
	struct buf path = { 0 };
	int fd;

	buf_printf(&path, "%s/stapwatch.XXXXXX", where());
	fd = mkostemp(path.s, O_CLOEXEC);
	if (fd >= 0)
		unlink(path.s);
	free(path.s);
	return fd;
}

static int open_file(void)
{
	const int fd = open(where(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC,
			    0600);

	return fd < 0 ? open_named() : fd;
}

static void file_held(struct spool *s)
{
	const size_t len = s->held.len;

	if (!s->error && !s->has_file) {
		s->fd = open_file();
		s->has_file = s->fd >= 0;
		s->error = s->has_file ? 0 : errno;
	}
	if (!s->error && buf_flush(&s->held, s->fd))
		s->error = errno;
	s->filed += len;
	s->held.len = 0;
}

uint64_t spool_add(struct spool *s, const void *bytes, size_t len)
{
	const uint64_t at = s->filed + s->held.len;

	buf_add(&s->held, bytes, len);
	if (s->held.len > s->most)
		file_held(s);
	return at;
}

static bool read_file(struct spool *s, uint64_t at, char *to, size_t len)
{
	ssize_t done;

	while (len && !s->error) {
		done = pread(s->fd, to, len, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			s->error = done ? errno : EIO;
			break;
		}
		at += done;
		to += done;
		len -= done;
	}
	return !s->error;
}

bool spool_read(struct spool *s, uint64_t at, void *to, size_t len)
{
	size_t first = 0;

	if (s->error)
		return false;
	if (at < s->filed)
		first = len < s->filed - at ? len : s->filed - at;
	if (first && !read_file(s, at, to, first))
		return false;
	if (first < len)
		memcpy((char *)to + first, s->held.s + (at + first - s->filed),
		       len - first);
	return true;
}

void spool_why(const struct spool *s, struct buf *why)
{
	buf_printf(why, "a temporary file in %s: %s; TMPDIR may name another directory",
		   where(), strerror(s->error));
}

void spool_free(struct spool *s)
{
	free(s->held.s);
	if (s->has_file)
		close(s->fd);
	*s = (struct spool){ 0 };
}
