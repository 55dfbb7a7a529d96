/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of a map are that map's: with others in its directory, with another in
 * its place, at each step of who puts it there, and as older writers and readers
 * have them.  What it costs is counted in bytes.
 *
 * The calls by which the library changes a directory, and writes and reads names,
 * come through here.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/abi.h"
#include "stapwatch.h"
#include "test.h"

static void (*at_change)(void);	/* before each change of a directory */
static void (*at_open)(void);	/* before names are opened */
static uint64_t written, got;	/* bytes of names */
static bool disk_full;

static void call(void (**hook)(void))
{
	void (*f)(void) = *hook;

	*hook = NULL;
	if (f)
		f();
	*hook = *hook ?: f;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	call(&at_change);
	return syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int unlinkat(int dir, const char *path, int flags)
{
	call(&at_change);
	return syscall(SYS_unlinkat, dir, path, flags);
}

int symlinkat(const char *to, int dir, const char *path)
{
	call(&at_change);
	return syscall(SYS_symlinkat, to, dir, path);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	} else if (!strncmp(path, "names", 5)) {
		call(&at_open);
	}
	return syscall(SYS_openat, dir, path, flags, mode);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t at)
{
	written += len;
	if (disk_full) {
		/* of a line, so much still fits */
		if (syscall(SYS_pwrite64, fd, from, len / 2, at) < 0)
			abort();
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, from, len, at);
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
	ssize_t n = syscall(SYS_pread64, fd, to, len, at);

	got += n > 0 ? n : 0;
	return n;
}

/* The map's names, with a comma after each; or why there are none. */
static const char *names_of(const struct stapwatch *sw)
{
	static char text[200];
	size_t i;

	*text = '\0';
	for (i = 0; sw && i < stapwatch_nr(sw); i++) {
		strcat(text, stapwatch_instance(sw, i)->name);
		strcat(text, ",");
	}
	return sw ? text : stapwatch_error();
}

static bool has(const char *path, const char *names)
{
	struct stapwatch *sw = stapwatch_open(path);
	const bool is = !strcmp(names_of(sw), names);

	if (!is)
		printf("%s has %s\n", path, names_of(sw));
	stapwatch_close(sw);
	return is;
}

static int64_t value_of(const char *path, const char *name)
{
	struct stapwatch *sw = stapwatch_open(path);
	const struct stapwatch_instance *in = sw ? stapwatch_find(sw, name) :
						   NULL;
	int64_t value = -1;

	if (in && stapwatch_read(sw, in->number, &value))
		value = -2;
	stapwatch_close(sw);
	return value;
}

/* How many files of the directory begin so. */
static int files_in(const char *path, const char *begin)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int nr = 0;

	while ((e = readdir(dir)))
		nr += !strncmp(e->d_name, begin, strlen(begin));
	closedir(dir);
	return nr;
}

static int files(const char *begin)
{
	return files_in(".", begin);
}

static void two_in_a_directory(void)
{
	struct stapwatch_map *a = stapwatch_map_create("a", 1, 16);
	struct stapwatch_map *b;
	struct stapwatch *sw = stapwatch_open("a");

	stapwatch_map_adjust(a, stapwatch_map_add(a, "a.one"), 0, 11);
	b = stapwatch_map_create("b", 1, 16);
	stapwatch_map_adjust(b, stapwatch_map_add(b, "b.only"), 0, 22);
	TEST("two: the first has its names", has("a", "a.one,"));
	TEST("two: the second has its names", has("b", "b.only,"));
	stapwatch_map_adjust(a, stapwatch_map_add(a, "a.two"), 0, 33);
	TEST("two: for who was attached", stapwatch_refresh(sw) == 1 &&
	     !strcmp(names_of(sw), "a.one,a.two,"));
	TEST_EQUAL("two: values of the first", value_of("a", "a.two"), 33);
	TEST_EQUAL("two: values of the second", value_of("b", "b.only"), 22);
	TEST_EQUAL("two: no name of the other", value_of("a", "b.only"), -1);
	stapwatch_map_del(b, 0);
	stapwatch_map_close(b);
	TEST("two: the second has ended without names", has("b", ""));
	TEST("two: the first has its names still", has("a", "a.one,a.two,"));
	stapwatch_map_close(a);
	stapwatch_close(sw);
}

/* ---- another in its place */

static int olds, news, wrong;
static bool is_due;

/* The old map has two CPUs and this name; the new one, no name yet. */
static void look(void)
{
	struct stapwatch *sw = stapwatch_open("place");
	const bool is_old = sw && stapwatch_nr_cpus(sw) == 2;

	if (strcmp(names_of(sw), is_old ? "old," : "")) {
		printf("%s: %s\n", is_old ? "old" : "new", names_of(sw));
		wrong++;
	}
	olds += is_old;
	news += !is_old;
	stapwatch_close(sw);
}

static struct stapwatch_map *make(uint32_t cpus, const char *name)
{
	struct stapwatch_map *map = stapwatch_map_create("place", cpus, 16);

	if (!map || (name && stapwatch_map_add(map, name)))
		abort();
	return map;
}

static void replace(void)
{
	stapwatch_map_close(make(3, "new"));
}

static void replace_once(void)
{
	if (is_due)
		replace();
	is_due = false;
}

static void one_in_place(void)
{
	struct stapwatch_map *old = make(2, "old"), *new;
	struct stapwatch *sw = stapwatch_open("place");

	at_change = look;
	new = make(3, NULL);
	at_change = NULL;
	look();
	TEST("in place: steps before and after were seen", olds && news > 1);
	TEST_EQUAL("in place: at no step names of the other", wrong, 0);
	stapwatch_map_add(new, "new");
	TEST("in place: who was attached goes on", stapwatch_map_add(old,
	     "late") == 1 && stapwatch_refresh(sw) == 1 &&
	     !strcmp(names_of(sw), "old,late,"));
	stapwatch_map_del(old, 0);
	TEST("in place: and sees what goes", stapwatch_refresh(sw) == 1 &&
	     !strcmp(names_of(sw), "late,"));
	TEST("in place: the old one's writer leaves the new one alone",
	     has("place", "new,"));
	stapwatch_close(sw);
	stapwatch_map_close(old);
	stapwatch_map_close(new);

	unlink("place");
	stapwatch_map_close(make(2, "old"));
	is_due = true;
	at_open = replace_once;
	sw = stapwatch_open("place");
	at_open = NULL;
	TEST("in place: while it is opened", sw &&
	     stapwatch_nr_cpus(sw) == 3 && !strcmp(names_of(sw), "new,"));
	stapwatch_close(sw);
}

static void no_files_left(void)
{
	const int before = files("names.");

	replace();
	replace();
	TEST_EQUAL("in place: the names go with their map", files("names."),
		   before);
	TEST_EQUAL("in place: nothing is left beside it", files(".names"), 0);
}

static void two_at_once(void)
{
	struct stapwatch_map *map;

	unlink("place");
	is_due = true;
	at_change = replace_once;
	map = stapwatch_map_create("place", 2, 16);
	at_change = NULL;
	TEST("at once: the last one has the place", map &&
	     !stapwatch_map_add(map, "last") && has("place", "last,"));
	stapwatch_map_close(map);
	TEST_EQUAL("at once: nothing is left beside it", files(".place"), 0);
}

/* ---- what it costs */

#define MANY 3000

static void costs(void)
{
	struct stapwatch_map *map = stapwatch_map_create("many", 1, MANY);
	struct stapwatch *sw = stapwatch_open("many");
	uint64_t bytes = 0;
	char name[32];
	int i, failed = 0;

	written = got = 0;
	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "many.%d", i);
		bytes += snprintf(NULL, 0, "%d counter %s\n", i, name);
		failed += stapwatch_map_add(map, name) != i ||
			  stapwatch_refresh(sw) != 1 ||
			  stapwatch_nr(sw) != (size_t)i + 1 ||
			  !stapwatch_find(sw, name) ||
			  stapwatch_find(sw, name)->number != (uint32_t)i;
	}
	TEST_EQUAL("costs: each has come", failed, 0);
	TEST_EQUAL("costs: a line is written once", written, bytes);
	TEST_EQUAL("costs: a line is read once", got, bytes);
	TEST("costs: one that comes again", !stapwatch_map_del(map, 7) &&
	     stapwatch_refresh(sw) == 1 && !stapwatch_find(sw, "many.7") &&
	     stapwatch_map_add(map, "many.7") == 7 &&
	     stapwatch_refresh(sw) == 1);
	TEST("costs: it has its place", stapwatch_nr(sw) == MANY &&
	     !strcmp(stapwatch_instance(sw, 7)->name, "many.7") &&
	     !strcmp(stapwatch_instance(sw, MANY - 1)->name, "many.2999"));
	stapwatch_close(sw);
	stapwatch_map_close(map);
}

static void full_disk(void)
{
	struct stapwatch_map *map = stapwatch_map_create("full", 1, 16);
	struct stapwatch *sw;
	const struct stapwatch_instance *in;

	stapwatch_map_add(map, "one");
	stapwatch_map_add(map, "two");
	sw = stapwatch_open("full");
	in = stapwatch_instance(sw, 0);
	disk_full = true;
	TEST("full: add says so", stapwatch_map_add(map, "three") == -1 &&
	     errno == ENOSPC);
	TEST("full: del says so", stapwatch_map_del(map, 0) == -1 &&
	     errno == ENOSPC);
	disk_full = false;
	TEST("full: what was there stays", stapwatch_refresh(sw) >= 0 &&
	     in == stapwatch_instance(sw, 0) && !strcmp(names_of(sw), "one,two,"));
	TEST_EQUAL("full: and then not", stapwatch_map_add(map, "three"), 2);
	TEST("full: for who was attached", stapwatch_refresh(sw) == 1 &&
	     !strcmp(names_of(sw), "one,two,three,"));
	TEST("full: and for others", has("full", "one,two,three,"));
	stapwatch_close(sw);
	stapwatch_map_close(map);
}

/* ---- other times */

static void put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static const char *text_of(const char *path)
{
	static char text[200];
	FILE *f = fopen(path, "r");
	size_t len = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[len] = '\0';
	if (f)
		fclose(f);
	return text;
}

/* As if a writer had made it that knows of nothing after the header. */
static void make_older(const char *path)
{
	const struct perfmap_more none = { 0 };
	int fd = open(path, O_RDWR);

	if (fd < 0 || pwrite(fd, &none, sizeof(none),
			     sizeof(struct perfmap_header)) != sizeof(none))
		abort();
	close(fd);
}

static void older_map(void)
{
	struct stapwatch_map *map = stapwatch_map_create("older", 1, 16);
	static struct stapwatch_hist hist;
	struct stapwatch_map *next;
	struct stapwatch *sw;
	int is_open;

	stapwatch_map_adjust(map, stapwatch_map_add(map, "x"), 0, 5);
	stapwatch_map_record(map, stapwatch_map_add_hist(map, "h"), 0, 1000);
	stapwatch_map_close(map);
	make_older("older");
	TEST("older: names of another map", !stapwatch_open("older") &&
	     errno == EINVAL && !strcmp(stapwatch_error(),
	     "names: those of another map"));
	unlink("names");
	TEST("older: no names", !stapwatch_open("older") && errno == ENOENT);
	put_text("names", "0 counter written.by.hand\n1 hist h\n");
	TEST_EQUAL("older: its list is `names'",
		   value_of("older", "written.by.hand"), 5);
	next = stapwatch_map_create("later", 1, 16);
	TEST("older: a map beside it leaves it its names",
	     has("older", "written.by.hand,h,"));
	stapwatch_map_close(next);
	is_open = files_in("/proc/self/fd", "");
	sw = stapwatch_open("older");
	TEST_EQUAL("older: its list is not kept open, as a module may go",
		   files_in("/proc/self/fd", "") - is_open, 2);
	TEST("older: a histogram's highest value is not known",
	     !stapwatch_read_hist(sw, 1, &hist) && hist.count == 1 &&
	     !hist.max && stapwatch_hist_quantile(&hist, 1) == 991);
	next = stapwatch_map_create("older", 1, 16);
	stapwatch_map_add(next, "y");
	TEST("older: a map in its place has its own", has("older", "y,"));
	TEST("older: an older reader finds those",
	     !strcmp(text_of("names"), "0 counter y\n"));
	TEST("older: who read before still can", !stapwatch_refresh(sw) &&
	     !strcmp(names_of(sw), "written.by.hand,h,"));
	stapwatch_map_close(next);
	stapwatch_close(sw);
}

static void older_reader(void)
{
	struct stapwatch_map *map = stapwatch_map_create("read", 1, 1000);

	stapwatch_map_add(map, "a b");
	stapwatch_map_add_hist(map, "h");
	stapwatch_map_add(map, "c");
	TEST("older reader: the list is `names', as it was",
	     !strcmp(text_of("names"), "0 counter a\\x20b\n1 hist h\n"
				       "500 counter c\n"));
	stapwatch_map_del(map, 1);
	TEST("older reader: without what has gone",
	     !strcmp(text_of("names"), "0 counter a\\x20b\n500 counter c\n"));
	stapwatch_map_add_hist(map, "h");
	TEST("older reader: with what is there again",
	     !strcmp(text_of("names"), "0 counter a\\x20b\n500 counter c\n"
				       "1 hist h\n"));
	stapwatch_map_close(map);
}

int main(void)
{
	two_in_a_directory();
	one_in_place();
	no_files_left();
	two_at_once();
	costs();
	full_disk();
	older_map();
	older_reader();
	return test_failures != 0;
}
