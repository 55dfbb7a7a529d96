/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever a map's header and its list of names say, libstapwatch takes the map, or
 * says in a line why not; and what it has taken it can read.
 *
 * An input spoils a sound map, four bytes for each fault: how, where and by what.
 * Every other fault comes when the reader is attached already.  The files are ./map
 * and its names.  libFuzzer calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/stapwatch.h"
#include "store/abi.h"
#include "../ensure.h"
#include "../executions.h"

#define CPUS 3
#define COUNTERS 504
#define FILE_SIZE (4096 + 2L * CPUS * 4096)
#define WORDS (sizeof(struct front) / sizeof(uint32_t))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* for mutate.c */
extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"\001\001\001\001", "\003\001\001\001", "\004\001\001\001",
	"\010\006\001\001", "\010\013\002\001", "\377\001\001\377", "",
	NULL
};

static const uint32_t edges[] = {
	0, 1, 2, 3, 4, 8, 60, 63, 64, 80, 498, 1008, 4095, 4096, 8192, 1 << 16,
	INT32_MAX, UINT32_MAX,
};

static const char *const lines[] = {
	"0 counter a\n", "6 hist a\n", "504 hist b\n", "1000 counter z\\x20\n",
	"4294967200 counter y\n", "4294967295 hist c\n", "\\x", "\\x00", " ", "\n",
	"-", "0",
};

struct front {
	struct perfmap_header head;
	struct perfmap_more more;
};

struct map {
	struct front front;
	char names[2048];
	size_t len;
};

static struct map sound;
static int map_fd, names_fd;

/* An update that does not end is waited for in vain, and at once. */
int nanosleep(const struct timespec *ts, struct timespec *left)
{
	(void)ts;
	(void)left;
	return 0;
}

static void make_sound(void)
{
	static struct stapwatch_map *map;
	char name[16];
	int i;

	map = stapwatch_map_create("map", CPUS, COUNTERS);
	ensure(map);
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%s%d", i % 3 ? "c" : "c c", i);
		ensure(stapwatch_map_add(map, name) == i);
		ensure(!stapwatch_map_adjust(map, i, i % CPUS, -i));
	}
	/* it takes an extent of its own */
	ensure(stapwatch_map_add_hist(map, "hist") == COUNTERS);
	ensure(!stapwatch_map_record(map, COUNTERS, 1, 100));
	map_fd = open("map", O_RDWR);
	names_fd = open("names", O_RDWR);
	ensure(map_fd >= 0 && names_fd >= 0);
	ensure(lseek(map_fd, 0, SEEK_END) == FILE_SIZE);
	ensure(pread(map_fd, &sound.front, sizeof(sound.front), 0) ==
	       sizeof(sound.front));
	sound.len = pread(names_fd, sound.names, sizeof(sound.names), 0);
	ensure(sound.len > 0 && sound.len < sizeof(sound.names));
}

static void put(const struct map *m)
{
	ensure(pwrite(map_fd, &m->front, sizeof(m->front), 0) ==
	       sizeof(m->front));
	ensure(!ftruncate(names_fd, m->len));
	ensure(pwrite(names_fd, m->names, m->len, 0) == (ssize_t)m->len);
}

static void spoil_names(struct map *m, const uint8_t *fault)
{
	size_t at = m->len ? fault[1] * 7 % m->len : 0;
	const char *line = lines[fault[2] / 3 % (sizeof(lines) / sizeof(*lines))];
	const size_t more = strlen(line);

	if (fault[2] % 3 == 0) {
		m->len = at;
	} else if (fault[2] % 3 == 1) {
		m->names[at] = fault[3];
	} else if (m->len + more < sizeof(m->names)) {
		/* a line comes before another */
		while (line[more - 1] == '\n' && at && m->names[at - 1] != '\n')
			at--;
		memmove(m->names + at + more, m->names + at, m->len - at);
		memcpy(m->names + at, line, more);
		m->len += more;
	}
}

/* What follows from other fields, so that those come far. */
static void make_fit(struct perfmap_header *h)
{
	h->extent_size = (uint64_t)h->nr_cpus * h->cpu_size;
	h->cpu_counters = (h->cpu_size - h->counters_offset) / sizeof(uint64_t);
	if (h->extent_size)
		h->nr_extents = (FILE_SIZE - h->page_size) / h->extent_size;
}

static void spoil(struct map *m, const uint8_t *fault)
{
	uint32_t words[WORDS];
	uint32_t *word = &words[fault[1] % WORDS];

	memcpy(words, &m->front, sizeof(words));
	switch (fault[0] % 5) {
	case 0:
		*word = edges[fault[2] % (sizeof(edges) / sizeof(*edges))];
		break;
	case 1:
		*word += (int8_t)fault[2];
		break;
	case 2:
		*word ^= (uint32_t)fault[2] << fault[3] % 32;
		break;
	case 3:
		make_fit(&m->front.head);
		return;
	default:
		spoil_names(m, fault);
		return;
	}
	memcpy(&m->front, words, sizeof(words));
}

static void is_said(int err)
{
	ensure(err && *stapwatch_error() && !strchr(stapwatch_error(), '\n'));
}

/* Returns whether it can be read; if not, an update does not end. */
static bool use_one(const struct stapwatch *sw,
		    const struct stapwatch_instance *in, const int64_t *of_all,
		    int64_t *values)
{
	struct stapwatch_hist hist;
	int64_t sum, all = 0;
	uint32_t cpu;
	int rc;

	if (in->kind == STAPWATCH_HIST)
		rc = stapwatch_read_hist(sw, in->number, &hist);
	else
		rc = stapwatch_read(sw, in->number, &sum) ?:
		     stapwatch_read_cpus(sw, in->number, values);
	if (rc) {
		is_said(errno);
		ensure(errno == EBUSY);
		return false;
	}
	if (in->kind == STAPWATCH_HIST)
		return true;
	for (cpu = 0; cpu < stapwatch_nr_cpus(sw); cpu++)
		all = (uint64_t)all + values[cpu];
	ensure(all == sum && (!of_all || *of_all == sum));
	return true;
}

/* All that can be asked of a map that was taken. */
static void use(const struct stapwatch *sw)
{
	const size_t nr = stapwatch_nr(sw);
	int64_t *sums = calloc(nr + 1, sizeof(*sums));
	int64_t *values = calloc(stapwatch_nr_cpus(sw) + 1, sizeof(*values));
	const struct stapwatch_instance *in;
	bool can = true, all;
	uint32_t before = 0;
	size_t i;

	ensure(sums && values);
	all = !stapwatch_read_all(sw, sums);
	if (!all)
		ensure(errno == EBUSY);
	for (i = 0; i < nr; i++) {
		in = stapwatch_instance(sw, i);
		ensure(in && *in->name && (!i || in->number > before));
		ensure(stapwatch_find(sw, in->name) == in);
		before = in->number;
		can = can && use_one(sw, in, all ? &sums[i] : NULL, values);
	}
	ensure(!stapwatch_instance(sw, nr));
	stapwatch_state(sw);
	free(sums);
	free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stapwatch *sw;
	struct map before, after;
	size_t i;
	int rc;

	if (!sound.len)
		make_sound();
	before = sound;
	for (i = 0; i + 4 <= size && i < 4 * 16; i += 8)
		spoil(&before, data + i);
	after = before;
	for (i = 4; i + 4 <= size && i < 4 * 16; i += 8)
		spoil(&after, data + i);
	put(&before);
	errno = 0;
	sw = stapwatch_open("map");
	if (sw) {
		use(sw);
		after.front.head.gen1 = before.front.head.gen1 + 1;
		after.front.head.gen2 = after.front.head.gen1;
		put(&after);
		rc = stapwatch_refresh(sw);
		if (rc < 0)
			is_said(errno);
		use(sw);
		stapwatch_close(sw);
	} else {
		is_said(errno);
	}
	executions_add();
	return 0;
}
