/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A writer's list of instances; map_writer.h says what is wanted of it. */
#define _GNU_SOURCE	/* reallocarray(), tdestroy(), open_memstream() */
#define _FILE_OFFSET_BITS 64
#include "lib/map_writer.h"

#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_PATH (MAP_NAMES_PATH + 8)

static int by_name(const void *a, const void *b)
{
	const struct map_named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* ---- the file */

static void put_line(FILE *out, const struct map_named *in)
{
	const unsigned char *s = (const unsigned char *)in->name;

	fprintf(out, "%u %s ", in->number,
		in->kind == STAPWATCH_HIST ? "hist" : "counter");
	for (; *s; s++) {
		if (*s <= ' ' || *s == '\\' || *s == 0x7f)
			fprintf(out, "\\x%02x", *s);
		else
			putc(*s, out);
	}
	putc('\n', out);
}

/* All, or -1 and errno. */
static int write_all(int fd, const char *text, size_t len, uint64_t at)
{
	ssize_t put;

	while (len) {
		put = pwrite(fd, text, len, at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			errno = put ? errno : EIO;
			return -1;
		}
		text += put;
		len -= put;
		at += put;
	}
	return 0;
}

/* @len: of the text, which is to be freed; NULL: out of memory, said */
static char *lines_of(struct map_named *const *named, size_t nr, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	bool failed = !out;
	size_t i;

	for (i = 0; out && i < nr; i++)
		if (!named[i]->deleted)
			put_line(out, named[i]);
	if (out) {
		failed = ferror(out);
		failed |= fclose(out) != 0;
	}
	if (!failed)
		return text;
	free(text);
	map_fail(ENOMEM, "out of memory");
	return NULL;
}

static int new_file(int dir, const char *path)
{
	const int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			      0666);

	if (fd < 0)
		map_fail(errno, "%s: %s", path, strerror(errno));
	return fd;
}

int map_list_begin(struct map_list *list, int dir, uint64_t session)
{
	list->dir = dir;
	list->new_fd = -1;
	map_names_path(list->path, session);
	list->fd = new_file(dir, list->path);
	list->made = 1;
	return list->fd < 0 ? -1 : 0;
}

void map_list_remove(int dir, uint64_t session)
{
	char path[MAP_NAMES_PATH];

	map_names_path(path, session);
	unlinkat(dir, path, 0);
}

static void new_path(const struct map_list *list, char path[NEW_PATH])
{
	snprintf(path, NEW_PATH, ".%s.new", list->path);
}

void map_list_link(const struct map_list *list, bool instead)
{
	char path[NEW_PATH];
	struct stat st;

	if (!instead && !fstatat(list->dir, "names", &st, AT_SYMLINK_NOFOLLOW) &&
	    !S_ISLNK(st.st_mode))
		return;
	new_path(list, path);
	if (!symlinkat(list->path, list->dir, path) &&
	    renameat(list->dir, path, list->dir, "names"))
		unlinkat(list->dir, path, 0);
}

int map_list_append(struct map_list *list, const struct map_named *in)
{
	struct map_named *const one[] = { (struct map_named *)in };
	size_t len;
	char *text = lines_of(one, 1, &len);
	int err;

	if (!text)
		return -1;
	err = write_all(list->fd, text, len, list->end) ? errno : 0;
	free(text);
	if (!err) {
		list->end += len;
		return 0;
	}
	/* a reader goes on to the end */
	if (ftruncate(list->fd, list->end))
		return map_fail(err, "%s: the file cannot be made short again:"
				" %s", list->path, strerror(errno));
	return map_fail(err, "%s: %s", list->path, strerror(err));
}

int map_list_prepare(struct map_list *list)
{
	char path[NEW_PATH];
	size_t len;
	char *text = lines_of(list->named, list->nr, &len);
	int err;

	if (!text)
		return -1;
	new_path(list, path);
	list->new_fd = new_file(list->dir, path);
	err = list->new_fd >= 0 && write_all(list->new_fd, text, len, 0) ?
	      errno : 0;
	free(text);
	if (list->new_fd < 0)
		return -1;
	list->new_end = len;
	if (!err)
		return 0;
	map_list_unprepare(list);
	return map_fail(err, "%s: %s", path, strerror(err));
}

int map_list_place(struct map_list *list)
{
	char path[NEW_PATH];

	new_path(list, path);
	if (renameat(list->dir, path, list->dir, list->path))
		return map_fail(errno, "%s: %s", list->path, strerror(errno));
	close(list->fd);
	list->fd = list->new_fd;
	list->end = list->new_end;
	list->new_fd = -1;
	/* 0 is for maps whose list is `names' */
	list->made += list->made == UINT32_MAX ? 2 : 1;
	return 0;
}

void map_list_unprepare(struct map_list *list)
{
	char path[NEW_PATH];

	if (list->new_fd < 0)
		return;
	new_path(list, path);
	unlinkat(list->dir, path, 0);
	close(list->new_fd);
	list->new_fd = -1;
}

/* ---- in memory */

static void free_named(void *named)
{
	struct map_named *in = named;

	free(in->name);
	free(in);
}

void map_list_free(struct map_list *list)
{
	tdestroy(list->by_name, free_named);
	free(list->named);
	if (list->made && list->fd >= 0)
		close(list->fd);
}

struct map_named *map_list_find(const struct map_list *list, const char *name)
{
	const struct map_named key = { .name = (char *)name };
	struct map_named **node = tfind(&key, &list->by_name, by_name);

	return node ? *node : NULL;
}

struct map_named *map_list_get(const struct map_list *list, uint32_t number)
{
	size_t low = 0, high = list->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (list->named[mid]->number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low < list->nr && list->named[low]->number == number ?
	       list->named[low] : NULL;
}

struct map_named *map_list_new(struct map_list *list, const char *name,
			       uint32_t number, enum stapwatch_kind kind)
{
	struct map_named *in, **more;
	size_t size;

	if (list->nr == list->size) {
		size = list->size ? list->size * 2 : 64;
		more = reallocarray(list->named, size, sizeof(*more));
		if (!more)
			goto no_memory;
		list->named = more;
		list->size = size;
	}
	in = calloc(1, sizeof(*in));
	if (!in)
		goto no_memory;
	*in = (struct map_named) {
		.name = strdup(name),
		.number = number,
		.kind = kind,
	};
	if (in->name && tsearch(in, &list->by_name, by_name))
		return list->named[list->nr++] = in;
	free_named(in);
no_memory:
	map_fail(ENOMEM, "out of memory");
	return NULL;
}

void map_list_drop(struct map_list *list)
{
	struct map_named *in = list->named[--list->nr];

	tdelete(in, &list->by_name, by_name);
	free_named(in);
}
