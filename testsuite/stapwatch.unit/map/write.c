/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: write MAP CPUS CAPACITY
 * Writes a map as its stdin says, a command a line, and answers each with the
 * number it comes to:
 *	add NAME, hist NAME, del NUMBER, adjust NUMBER CPU DELTA,
 *	record NUMBER CPU VALUE
 * NAME is the rest of the line.  At its end the map has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stapwatch.h"

static int64_t obey(struct stapwatch_map *map, const char *line)
{
	uint32_t number, cpu;
	int64_t n;

	if (!strncmp(line, "add ", 4))
		return stapwatch_map_add(map, line + 4);
	if (!strncmp(line, "hist ", 5))
		return stapwatch_map_add_hist(map, line + 5);
	if (sscanf(line, "del %" SCNu32, &number) == 1)
		return stapwatch_map_del(map, number);
	if (sscanf(line, "adjust %" SCNu32 " %" SCNu32 " %" SCNd64, &number,
		   &cpu, &n) == 3)
		return stapwatch_map_adjust(map, number, cpu, n);
	if (sscanf(line, "record %" SCNu32 " %" SCNu32 " %" SCNd64, &number,
		   &cpu, &n) == 3)
		return stapwatch_map_record(map, number, cpu, n);
	fprintf(stderr, "write: %s?\n", line);
	exit(2);
}

int main(int argc, char **argv)
{
	struct stapwatch_map *map;
	char line[1000];

	if (argc != 4)
		return 2;
	map = stapwatch_map_create(argv[1], atoi(argv[2]), atoi(argv[3]));
	if (!map) {
		fprintf(stderr, "write: %s\n", stapwatch_error());
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		printf("%" PRId64 "\n", obey(map, line));
		fflush(stdout);
	}
	stapwatch_map_close(map);
	return 0;
}
