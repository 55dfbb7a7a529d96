/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of a module's map, by libstapwatch, in the guest.
 *
 *	map PATH NAME N	wait until the counter NAME is N, say "reached", wait
 *			until the map has ended; what it says is then what was
 *			in the end
 *	map PATH write	try to map it writable
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stapwatch.h"

static int64_t value_of(struct stapwatch *sw, const char *name)
{
	const struct stapwatch_instance *i = stapwatch_find(sw, name);
	struct stapwatch_hist hist;
	int64_t value = -1;

	if (!i)
		return -1;
	if (i->kind == STAPWATCH_HIST) {
		if (stapwatch_read_hist(sw, i->number, &hist))
			errx(1, "%s", stapwatch_error());
		return hist.count;
	}
	if (stapwatch_read(sw, i->number, &value))
		errx(1, "%s", stapwatch_error());
	return value;
}

static void try_to_write(const char *path)
{
	int fd = open(path, O_RDWR);

	printf("open for writing: %s\n", fd < 0 ? "no" : "yes");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(1, "%s", path);
	printf("map writable: %s\n",
	       mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
	       MAP_FAILED ? "no" : "yes");
}

int main(int argc, char **argv)
{
	static char line[256];
	struct stapwatch *sw;
	int64_t wanted;
	size_t i;

	/* no system call but the write itself */
	setvbuf(stdout, line, _IOLBF, sizeof(line));
	if (argc == 3 && !strcmp(argv[2], "write")) {
		try_to_write(argv[1]);
		return 0;
	}
	if (argc != 4)
		errx(2, "map PATH NAME N, or map PATH write");
	wanted = strtoll(argv[3], NULL, 0);
	sw = stapwatch_open(argv[1]);
	if (!sw)
		errx(1, "%s", stapwatch_error());
	while (value_of(sw, argv[2]) < wanted &&
	       stapwatch_state(sw) != STAPWATCH_ENDED) {
		usleep(10000);
		if (stapwatch_refresh(sw) < 0)
			errx(1, "%s", stapwatch_error());
	}
	if (value_of(sw, argv[2]) >= wanted) {
		/* names that came since the last look; who waits for us keeps them */
		if (stapwatch_refresh(sw) < 0)
			errx(1, "%s", stapwatch_error());
		printf("reached\n");
	}
	while (stapwatch_state(sw) != STAPWATCH_ENDED)
		usleep(10000);
	for (i = 0; i < stapwatch_nr(sw); i++) {
		const struct stapwatch_instance *in = stapwatch_instance(sw, i);

		printf("%s %" PRId64 "\n", in->name, value_of(sw, in->name));
	}
	stapwatch_close(sw);
	return 0;
}
