/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps that no writer writes: damaged in each field of the header, at random,
 * cut short, with names that lie, left in the middle of an update.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/abi.h"
#include "stapwatch.h"
#include "test.h"

#define MUTATIONS 20000
#define CPUS 2

static struct perfmap_header good;
static off_t good_size;
static char *good_names;
static char names[64];		/* the file that has them */
static int fd;
static uint64_t seed = 1;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1d;
}

static void put_header(const struct perfmap_header *h)
{
	const struct perfmap_more more = {
		.size = sizeof(more),
		.names = 1,
		.hist_counters = PERFMAP_HIST_COUNTERS,
	};

	if (pwrite(fd, h, sizeof(*h), 0) != sizeof(*h) ||
	    pwrite(fd, &more, sizeof(more), sizeof(*h)) != sizeof(more))
		abort();
}

static void put_names(const char *text, size_t len)
{
	FILE *f = fopen(names, "w");

	if (!f || fwrite(text, 1, len, f) != len || fclose(f))
		abort();
}

/* All that can be asked of a map that was taken. */
static void use(struct stapwatch *sw)
{
	static struct stapwatch_hist h;
	const struct stapwatch_instance *in;
	int64_t sum, *values, *sums;
	size_t i;

	sums = malloc((stapwatch_nr(sw) + 1) * sizeof(*sums));
	if (sums)
		stapwatch_read_all(sw, sums);
	free(sums);
	values = malloc(stapwatch_nr_cpus(sw) * sizeof(*values));
	for (i = 0; values && (in = stapwatch_instance(sw, i)); i++) {
		if (in->kind == STAPWATCH_HIST) {
			stapwatch_read_hist(sw, in->number, &h);
		} else {
			stapwatch_read(sw, in->number, &sum);
			stapwatch_read_cpus(sw, in->number, values);
		}
	}
	free(values);
	stapwatch_state(sw);
}

/* Returns whether it was refused, with a message and an errno. */
static bool refused(void)
{
	struct stapwatch *sw;

	errno = 0;
	sw = stapwatch_open("map");
	if (!sw)
		return errno && *stapwatch_error();
	use(sw);
	stapwatch_close(sw);
	return false;
}

#define FIELD(f) { #f, offsetof(struct perfmap_header, f), sizeof(good.f) }

/* The session is any number, and is missed only by who read the one before. */
static const struct {
	const char *name;
	size_t at;
	size_t size;
} fields[] = {
	FIELD(magic), FIELD(version), FIELD(size), FIELD(nr_cpus),
	FIELD(page_size), FIELD(gen1), FIELD(gen2), FIELD(state),
	FIELD(nr_extents), FIELD(cpu_size), FIELD(cpu_counters),
	FIELD(flag_offset), FIELD(counters_offset), FIELD(nr_instances),
	FIELD(pad), FIELD(extent_size),
};

static uint64_t get(const struct perfmap_header *h, size_t at, size_t size)
{
	uint64_t v = 0;

	/* little-endian or big, 4 bytes or 8 */
	if (size == sizeof(uint32_t)) {
		uint32_t half;

		memcpy(&half, (const char *)h + at, size);
		return half;
	}
	memcpy(&v, (const char *)h + at, size);
	return v;
}

static void set(struct perfmap_header *h, size_t at, size_t size, uint64_t v)
{
	const uint32_t half = v;

	if (size == sizeof(half))
		memcpy((char *)h + at, &half, size);
	else
		memcpy((char *)h + at, &v, size);
}

static void damage_field(size_t k)
{
	const size_t at = fields[k].at, size = fields[k].size;
	const uint64_t was = get(&good, at, size);
	uint64_t tries[32] = { 0, 1, UINT64_MAX, INT64_MAX, INT32_MAX, was + 1,
			       was - 1, was * 2, was / 2 };
	struct perfmap_header h;
	char name[80];
	int i, taken = 0;

	for (i = 9; i < 32; i++)
		tries[i] = random64();
	for (i = 0; i < 32; i++) {
		h = good;
		set(&h, at, size, tries[i]);
		if (!memcmp(&h, &good, sizeof(h)))
			continue;
		/* that is a map too, one that has ended */
		if (at == offsetof(struct perfmap_header, state) &&
		    h.state == PERFMAP_ENDED)
			continue;
		put_header(&h);
		if (!refused()) {
			printf("%s = %llu is taken\n", fields[k].name,
			       (unsigned long long)tries[i]);
			taken++;
		}
	}
	put_header(&good);
	snprintf(name, sizeof(name), "damaged: %s", fields[k].name);
	TEST_EQUAL(name, taken, 0);
}

static void mutate(struct perfmap_header *h)
{
	static const uint64_t edges[] = {
		0, 1, 2, 4, 8, 60, 63, 64, 80, 4095, 4096, 8192, 1 << 16,
		INT32_MAX, UINT32_MAX, (uint64_t)1 << 32, INT64_MAX, UINT64_MAX,
	};
	const size_t words = sizeof(*h) / sizeof(uint32_t);
	int n = 1 + random64() % 4;
	uint64_t v;

	while (n--) {
		const size_t at = random64() % words * sizeof(uint32_t);

		switch (random64() % 4) {
		case 0:
			((unsigned char *)h)[random64() % sizeof(*h)] ^=
				1 << random64() % 8;
			break;
		case 1:
			v = edges[random64() % (sizeof(edges) /
						sizeof(*edges))];
			set(h, at, sizeof(uint32_t), v);
			break;
		case 2:
			set(h, at, sizeof(uint32_t), random64());
			break;
		default:
			v = get(h, at, sizeof(uint32_t));
			set(h, at, sizeof(uint32_t),
			    v + random64() % 9 - 4);
		}
	}
}

static void fuzz(void)
{
	struct stapwatch *sw;
	struct perfmap_header h;
	int i, silent = 0, taken = 0;

	for (i = 0; i < MUTATIONS; i++) {
		h = good;
		mutate(&h);
		/* half of them come while a reader is attached */
		put_header(&good);
		sw = i % 2 ? stapwatch_open("map") : NULL;
		if (sw) {
			if (random64() % 2)
				h.gen1 = h.gen2 = good.gen1 + 1;
			put_header(&h);
			if (stapwatch_refresh(sw) < 0 && !*stapwatch_error())
				silent++;
			use(sw);
			stapwatch_close(sw);
			continue;
		}
		put_header(&h);
		sw = stapwatch_open("map");
		if (sw) {
			taken++;
			use(sw);
			stapwatch_close(sw);
		} else if (!*stapwatch_error()) {
			silent++;
		}
	}
	put_header(&good);
	TEST_EQUAL("mutated headers: none is refused in silence", silent, 0);
	TEST("mutated headers: few are good", taken < MUTATIONS / 4);
	printf("%d mutations, %d taken\n", i, taken);
}

static void cut_short(void)
{
	const off_t sizes[] = { 0, 1, 79, 80, 4095, 4096, 4097, good_size / 2,
				good_size - 4096, good_size - 1, good_size + 1,
				good_size + 4096 };
	struct perfmap_header h = good;
	struct stapwatch *sw;
	size_t i;
	int taken = 0;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (ftruncate(fd, sizes[i]))
			abort();
		/* a header may be there, the map is not */
		if (sizes[i] >= (off_t)sizeof(good))
			put_header(&good);
		taken += !refused();
	}
	if (ftruncate(fd, good_size))
		abort();
	put_header(&good);
	TEST_EQUAL("cut short, or too long: refused", taken, 0);

	sw = stapwatch_open("map");
	if (ftruncate(fd, good.page_size))
		abort();
	h.gen1 = h.gen2 = good.gen1 + 1;
	put_header(&h);
	TEST("cut short under a reader: refresh says so", sw &&
	     stapwatch_refresh(sw) == -1 && errno == EINVAL);
	stapwatch_close(sw);
	if (ftruncate(fd, good_size))
		abort();
	put_header(&good);
}

static void lying_names(void)
{
	static const struct {
		const char *text;
		size_t len;
	} lies[] = {
#define LIE(s) { s, sizeof(s) - 1 }
		LIE("0"), LIE("0 counter a"), LIE("\n"), LIE("0 counter \n"),
		LIE("0 counter\n"), LIE("0 gauge a\n"), LIE("x counter a\n"),
		LIE(" 0 counter a\n"), LIE("0  counter a\n"),
		LIE("0 counter a b\n"), LIE("0 counter a\r\n"),
		LIE("0 counter a\n\n"), LIE("0 Counter a\n"),
		LIE("-1 counter a\n"), LIE("+1 counter a\n"),
		LIE("00 counter a\n"), LIE("01 counter a\n"),
		LIE("504 counter a\n"), LIE("4294967295 counter a\n"),
		LIE("4294967296 counter a\n"),
		LIE("99999999999999999999999 counter a\n"),
		LIE("0 counter a\n0 counter b\n"),
		LIE("0 counter a\n1 counter a\n"),
		LIE("0 counter a\n1 counter \\x61\n"),
		LIE("0 hist a\n498 counter b\n"), LIE("0 hist a\n1 hist b\n"),
		LIE("5 counter b\n0 hist a\n"), LIE("6 hist a\n"),
		LIE("4294967295 hist a\n"), LIE("0 counter a\\\n"),
		LIE("0 counter a\\x\n"), LIE("0 counter a\\x4\n"),
		LIE("0 counter a\\n\n"), LIE("0 counter a\\x00\n"),
		LIE("0 counter a\0b\n"), LIE("\0"), LIE("0 counter a\n\0"),
	};
	static const char any_order[] = "5 hist a\n4 counter b\\x20\n";
	size_t i;
	int taken = 0;

	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		put_names(lies[i].text, lies[i].len);
		if (!refused()) {
			printf("taken: %s\n", lies[i].text);
			taken++;
		}
	}
	TEST_EQUAL("lying names: refused", taken, 0);
	put_names(any_order, sizeof(any_order) - 1);
	TEST("names in any order are none", !refused());
	unlink(names);
	TEST("no names", refused());
	mkdir(names, 0700);
	TEST("names are a directory", refused());
	rmdir(names);
	mkfifo(names, 0600);
	TEST("names are a pipe", refused());
	unlink(names);
	put_names(good_names, strlen(good_names));
}

static void left_halfway(void)
{
	struct stapwatch *sw = stapwatch_open("map");
	const off_t flag = good.page_size + good.flag_offset;
	struct perfmap_header h = good;
	const uint32_t one = 1, zero = 0;
	int64_t sum, sums[504];

	h.gen1++;
	put_header(&h);
	TEST("halfway: open is busy", !stapwatch_open("map") &&
	     errno == EBUSY && strstr(stapwatch_error(), "busy"));
	TEST("halfway: refresh is busy", sw && stapwatch_refresh(sw) == -1 &&
	     errno == EBUSY);
	TEST("halfway: what was there can be read", sw &&
	     stapwatch_nr(sw) == 504 && !stapwatch_read(sw, 3, &sum) &&
	     sum == 3);
	put_header(&good);
	if (pwrite(fd, &one, sizeof(one), flag) != sizeof(one))
		abort();
	TEST("halfway: a counter is busy", sw &&
	     stapwatch_read(sw, 3, &sum) == -1 && errno == EBUSY);
	TEST("halfway: and so are all", sw &&
	     stapwatch_read_all(sw, sums) == -1 && errno == EBUSY);
	if (pwrite(fd, &zero, sizeof(zero), flag) != sizeof(zero))
		abort();
	TEST("halfway: and then not", sw && !stapwatch_read(sw, 3, &sum) &&
	     !stapwatch_read_all(sw, sums) && sums[3] == sum);
	h = good;
	h.session++;
	h.gen1 = h.gen2 = good.gen1 + 1;
	put_header(&h);
	TEST("another session under a reader", sw &&
	     stapwatch_refresh(sw) == -1 && errno == EINVAL);
	put_header(&good);
	stapwatch_close(sw);
}

/* What is after the header, as far as it can be wrong. */
static void after_header(void)
{
	static const struct perfmap_more wrong[] = {
		{ 0, 1, 0, 0 }, { 1, 0, 0, 0 }, { 1, 1, 0, 0 }, { 15, 1, 0, 0 },
		{ 0, 0, PERFMAP_HIST_COUNTERS, 0 },
		{ 16, 1, PERFMAP_HIST_FEWEST - 1, 0 },
		/* as if its list were `names' */
		{ 0, 0, 0, 0 }, { 16, 0, 0, 0 },
	};
	const struct perfmap_more right[] = {
		{ 16, 1, 0, 0 }, { 16, UINT32_MAX, 0, 0 }, { 17, 1, 0, 0 },
		{ UINT32_MAX, 1, 0, 0 }, { 16, 1, PERFMAP_HIST_FEWEST, 0 },
		{ 16, 1, PERFMAP_HIST_COUNTERS, 1 }, { 16, 1, UINT32_MAX, 0 },
	};
	int taken = 0, not_taken = 0;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (pwrite(fd, &wrong[i], 16, sizeof(good)) != 16)
			abort();
		taken += !refused();
	}
	for (i = 0; i < sizeof(right) / sizeof(*right); i++) {
		if (pwrite(fd, &right[i], 16, sizeof(good)) != 16)
			abort();
		not_taken += refused();
	}
	put_header(&good);
	TEST_EQUAL("after the header: refused", taken, 0);
	TEST_EQUAL("after the header: what comes later is not", not_taken, 0);
}

static void load_good(void)
{
	struct stat st;
	FILE *f;

	fd = open("map", O_RDWR);
	if (fd < 0 || fstat(fd, &st) ||
	    pread(fd, &good, sizeof(good), 0) != sizeof(good))
		abort();
	snprintf(names, sizeof(names), PERFMAP_NAMES_OF,
		 (unsigned long long)good.session);
	f = fopen(names, "r");
	if (!f)
		abort();
	good_size = st.st_size;
	good_names = calloc(1, 1 << 16);
	if (!good_names || !fread(good_names, 1, (1 << 16) - 1, f))
		abort();
	fclose(f);
}

int main(void)
{
	struct stapwatch_map *map = stapwatch_map_create("map", CPUS, 504);
	char name[32];
	size_t k;
	int i;

	/* every counter has a name, so that no number is wrong unseen */
	for (i = 0; map && i < 504; i++) {
		snprintf(name, sizeof(name), "n.%d", i);
		if (stapwatch_map_add(map, name) != i ||
		    stapwatch_map_adjust(map, i, 0, i))
			abort();
	}
	load_good();
	TEST("the map is good", !refused());
	for (k = 0; k < sizeof(fields) / sizeof(*fields); k++)
		damage_field(k);
	after_header();
	left_halfway();
	cut_short();
	lying_names();
	fuzz();
	TEST("the map is good again", !refused());
	free(good_names);
	close(fd);
	stapwatch_map_close(map);
	return test_failures != 0;
}
