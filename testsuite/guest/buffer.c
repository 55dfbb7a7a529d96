/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read a file into memory of all kinds, and write to it from there.
 *
 *	buffer STALLS read FILE...	a line for each: the FILE, and for each kind of
 *					memory whether it was read into it
 *	buffer STALLS write FILE TEXT	the same of writing TEXT
 *	buffer STALLS first FILE	how much was read where the second page stalls
 *
 * STALLS is a file whose pages never come (fuse.c).  The kinds: memory that nobody has
 * touched; a file's in memory; a program's data; STALLS; and pages that this process
 * is to deliver itself, and does not.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE 4096

static char data[2 * SIZE] __attribute__((aligned(SIZE))) = "data";

static char *map(int flags, int fd)
{
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

static char *untouched(const char *stalls)
{
	return map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static char *of_file(const char *stalls)
{
	int fd = memfd_create("buffer", 0);

	if (fd < 0 || ftruncate(fd, SIZE))
		err(1, "memfd");
	return map(MAP_SHARED, fd);
}

static char *of_program(const char *stalls)
{
	return data + SIZE;
}

static char *stalling(const char *stalls)
{
	int fd = open(stalls, O_RDONLY);

	if (fd < 0)
		err(1, "%s", stalls);
	return map(MAP_PRIVATE, fd);
}

static char *undelivered(const char *stalls)
{
	char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (unsigned long)at, SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		err(1, "userfaultfd");
	return at;
}

static const struct {
	const char *name;
	char *(*get)(const char *stalls);
} kinds[] = {
	{ "untouched", untouched }, { "file", of_file }, { "data", of_program },
	{ "stalls", stalling }, { "undelivered", undelivered }
};

static void told(const char *kind, ssize_t n)
{
	printf(" %s %s", kind, n > 0 ? "yes" : n ? strerrorname_np(errno) : "no");
}

static void each(const char *stalls, const char *file, const char *text)
{
	unsigned int i;
	char *at;
	int fd;

	printf("%s", strrchr(file, '/') + 1);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		at = kinds[i].get(stalls);
		fd = open(file, text ? O_WRONLY : O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			err(1, "%s", file);
		/* pages that are not there have no text */
		if (text && i < 3)
			strcpy(at, text);
		told(kinds[i].name, text ? write(fd, at, strlen(text))
					 : read(fd, at, SIZE));
		close(fd);
	}
	putchar('\n');
	fflush(stdout);
}

static void first(const char *stalls, const char *file)
{
	char *at = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(stalls, O_RDONLY), from = open(file, O_RDONLY);
	ssize_t n;

	if (fd < 0 || from < 0 || at == MAP_FAILED ||
	    mmap(at + SIZE, SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		err(1, "first");
	n = read(from, at + SIZE - 40, 80);
	printf("first %zd", n);
	/* and it goes on from there */
	n = read(from, data, 40);
	printf(" then %zd\n", n);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 4)
		return 2;
	for (i = 3; i < argc && !strcmp(argv[2], "read"); i++)
		each(argv[1], argv[i], NULL);
	if (!strcmp(argv[2], "write"))
		each(argv[1], argv[3], argv[4]);
	if (!strcmp(argv[2], "first"))
		first(argv[1], argv[3]);
	return 0;
}
