/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers while others count and add.  A counter only has values whose halves
 * are equal, so that a torn one is seen.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stapwatch.h"
#include "test.h"

#define CPUS 2
#define READERS 2
#define INSTANCES 1200		/* of a map with 504 in an extent */
#define ROUNDS 400000
#define STEP 0x100000001

static struct stapwatch_map *map;
static atomic_bool done;
static atomic_ulong torn, backward, half_added, failed, reads, busy;
static atomic_int added;

static void *count(void *arg)
{
	const uint32_t cpu = (uintptr_t)arg;
	int i;

	for (i = 0; i < ROUNDS; i++)
		if (stapwatch_map_adjust(map, i % atomic_load(&added), cpu,
					 STEP))
			failed++;
	return NULL;
}

static void *add(void *arg)
{
	char name[32];
	int i;

	for (i = 1; i < INSTANCES; i++) {
		snprintf(name, sizeof(name), "n.%d", i);
		if (stapwatch_map_add(map, name) != i)
			failed++;
		atomic_store(&added, i + 1);
		if (i % 100 == 7 && (stapwatch_map_del(map, i) ||
				     stapwatch_map_add(map, name) != i))
			failed++;
		usleep(300);
	}
	return arg;
}

/* A writer that is scheduled away in an update keeps its readers busy. */
static void not_read(void)
{
	if (errno == EBUSY)
		busy++;
	else
		failed++;
}

static void look_at(struct stapwatch *sw, int64_t *last)
{
	const struct stapwatch_instance *in;
	int64_t values[CPUS];
	char name[32];
	size_t i;
	int c;

	for (i = 0; (in = stapwatch_instance(sw, i)); i++) {
		snprintf(name, sizeof(name), "n.%u", in->number);
		if (strcmp(name, in->name))
			half_added++;
		if (stapwatch_read_cpus(sw, in->number, values)) {
			not_read();
			continue;
		}
		for (c = 0; c < CPUS; c++) {
			torn += (uint32_t)values[c] != values[c] >> 32;
			backward += values[c] < last[in->number * CPUS + c];
			last[in->number * CPUS + c] = values[c];
		}
		reads++;
	}
}

/* A sum of multiples of STEP is one, as long as none of them was torn. */
static void look_at_all(struct stapwatch *sw, int64_t *sums)
{
	size_t i;

	if (stapwatch_read_all(sw, sums)) {
		not_read();
		return;
	}
	for (i = 0; i < stapwatch_nr(sw); i++)
		torn += sums[i] % STEP != 0;
}

static void *watch(void *arg)
{
	int64_t *last = calloc(INSTANCES * CPUS, sizeof(*last));
	int64_t *sums = calloc(INSTANCES, sizeof(*sums));
	struct stapwatch *sw;

	while (!(sw = stapwatch_open("map")) && errno == EBUSY)
		busy++;
	while (sw && !atomic_load(&done)) {
		if (stapwatch_refresh(sw) < 0)
			not_read();
		look_at(sw, last);
		look_at_all(sw, sums);
	}
	if (!sw)
		failed++;
	if (sw && (stapwatch_refresh(sw) < 0 ||
		   stapwatch_nr(sw) != INSTANCES))
		failed++;
	stapwatch_close(sw);
	free(sums);
	free(last);
	return arg;
}

int main(void)
{
	pthread_t counters[CPUS], readers[READERS], adder;
	struct stapwatch *sw;
	int64_t value, all = 0;
	uintptr_t i;

	map = stapwatch_map_create("map", CPUS, 500);
	if (!map || stapwatch_map_add(map, "n.0") != 0)
		return 1;
	atomic_store(&added, 1);
	for (i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, watch, NULL);
	pthread_create(&adder, NULL, add, NULL);
	for (i = 0; i < CPUS; i++)
		pthread_create(&counters[i], NULL, count, (void *)i);
	for (i = 0; i < CPUS; i++)
		pthread_join(counters[i], NULL);
	pthread_join(adder, NULL);
	atomic_store(&done, true);
	for (i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	TEST_EQUAL("threads: nothing fails", failed, 0);
	TEST_EQUAL("threads: no torn value", torn, 0);
	TEST_EQUAL("threads: no counter goes back", backward, 0);
	TEST_EQUAL("threads: no half-added instance", half_added, 0);
	TEST("threads: something was read", reads > INSTANCES);

	sw = stapwatch_open("map");
	for (i = 0; sw && i < INSTANCES; i++) {
		if (stapwatch_read(sw, i, &value))
			break;
		all += value / STEP;
	}
	TEST_EQUAL("threads: each update once", all, CPUS * ROUNDS);
	stapwatch_close(sw);
	stapwatch_map_close(map);
	return test_failures != 0;
}
