/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * longmap N: map a file whose path is nearly as long as paths can be, as code, N times.
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH 15

int main(int argc, char **argv)
{
	char name[251];
	void *at;
	int fd, i, n = argc == 2 ? atoi(argv[1]) : 0;

	if (n < 1)
		errx(2, "usage: longmap N");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < DEPTH; i++)
		if (mkdir(name, 0700) || chdir(name))
			err(1, "a directory");
	fd = open("f", O_RDWR | O_CREAT, 0700);
	if (fd < 0 || ftruncate(fd, 4096))
		err(1, "a file");
	for (i = 0; i < n; i++) {
		at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (at == MAP_FAILED || munmap(at, 4096))
			err(1, "mmap");
	}
	return 0;
}
