/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a map's counters; stapwatch.h says what is wanted of it. */
#include "store/hist.h"
#include "lib/map_reader.h"

#include <string.h>
#include <time.h>

#define BILLION 1000000000

_Static_assert(STAPWATCH_HIST_BUCKETS == PERFMAP_HIST_BUCKETS,
	       "one number of buckets");

void map_nap(long ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

static int read_counter(const struct stapwatch *sw, uint32_t number,
			uint32_t cpu, uint64_t *value)
{
	const struct perfmap_header *h = &sw->head;
	void *extent = sw->extents[number / h->cpu_counters];
	const uint32_t *flag = map_flag(h, extent, cpu);
	const uint64_t *counter = map_counter(h, extent, cpu,
					      number % h->cpu_counters);
	int spins, naps;

	*value = 0;
	for (naps = 0; naps < MAP_NAPS; naps++) {
		for (spins = 0; spins < MAP_SPINS; spins++)
			if (map_try_counters(flag, counter, value, 1))
				return 0;
		map_nap(50000);
	}
	return map_fail(EBUSY, "map: busy: an update of instance %u on CPU %u"
			" does not end", number, cpu);
}

static int check_instance(const struct stapwatch *sw, uint32_t number,
			  enum stapwatch_kind kind)
{
	const struct stapwatch_instance *in = map_names_get(&sw->names, number);

	if (!in || in->kind != kind)
		return map_fail(ENOENT, "map: instance %u is no %s", number,
				kind == STAPWATCH_HIST ? "histogram" :
							 "counter");
	return 0;
}

int stapwatch_read_cpus(const struct stapwatch *sw, uint32_t number,
			int64_t *values)
{
	uint64_t value;
	uint32_t cpu;

	if (check_instance(sw, number, STAPWATCH_COUNTER))
		return -1;
	for (cpu = 0; cpu < sw->head.nr_cpus; cpu++) {
		if (read_counter(sw, number, cpu, &value))
			return -1;
		values[cpu] = value;
	}
	return 0;
}

int stapwatch_read(const struct stapwatch *sw, uint32_t number, int64_t *sum)
{
	uint64_t value, all = 0;
	uint32_t cpu;

	if (check_instance(sw, number, STAPWATCH_COUNTER))
		return -1;
	for (cpu = 0; cpu < sw->head.nr_cpus; cpu++) {
		if (read_counter(sw, number, cpu, &value))
			return -1;
		all += value;
	}
	*sum = all;
	return 0;
}

/* Adds the counters of one CPU whose numbers follow each other in an extent. */
static int add_run(const struct stapwatch *sw, uint32_t number, uint32_t cpu,
		   size_t nr, uint64_t *sums)
{
	const struct perfmap_header *h = &sw->head;
	void *extent = sw->extents[number / h->cpu_counters];
	const uint32_t *flag = map_flag(h, extent, cpu);
	const uint64_t *counters = map_counter(h, extent, cpu,
					       number % h->cpu_counters);
	uint64_t value;
	size_t i = 0;
	int got;

	while (i < nr) {
		got = nr - i < MAP_TOGETHER ? 0 :
		      map_try_counters(flag, &counters[i], &sums[i],
				       MAP_TOGETHER);
		i += got;
		if (got)
			continue;
		if (read_counter(sw, number + i, cpu, &value))
			return -1;
		sums[i++] += value;
	}
	return 0;
}

/*
 * How many of the instances from @i on add_run() can take at once.  Numbers
 * rise, and a histogram's successor by as many as it has counters: so if one is
 * as much above the first as it stands after it, so are all between.
 */
static size_t run_length(const struct stapwatch *sw, size_t i)
{
	const struct stapwatch_instance *in = &sw->names.list[i];
	const uint32_t per = sw->head.cpu_counters;
	size_t in_extent = per - in->number % per;
	size_t left = sw->names.nr - i;
	size_t low = 0, high = left < in_extent ? left : in_extent, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (in[mid].number - in->number == mid &&
		    in[mid].kind == STAPWATCH_COUNTER)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int stapwatch_read_all(const struct stapwatch *sw, int64_t *sums)
{
	uint32_t cpu;
	size_t i, nr;

	for (i = 0; i < sw->names.nr; i += nr ?: 1) {
		nr = run_length(sw, i);
		memset(&sums[i], 0, (nr ?: 1) * sizeof(*sums));
		for (cpu = 0; nr && cpu < sw->head.nr_cpus; cpu++)
			if (add_run(sw, sw->names.list[i].number, cpu, nr,
				    (uint64_t *)&sums[i]))
				return -1;
	}
	return 0;
}

static int add_hist(const struct stapwatch *sw, uint32_t number, uint32_t cpu,
		    struct stapwatch_hist *hist)
{
	uint64_t value;
	uint32_t i;

	for (i = 0; i < PERFMAP_HIST_COUNTERS && i < sw->names.hist_counters;
	     i++) {
		if (read_counter(sw, number + i, cpu, &value))
			return -1;
		if (i == PERFMAP_HIST_SUM) {
			hist->sum = (uint64_t)hist->sum + value;
		} else if (i == PERFMAP_HIST_NEGATIVE) {
			hist->negative += value;
		} else if (i == PERFMAP_HIST_MAX) {
			if (value > hist->max)
				hist->max = value;
		} else {
			hist->buckets[i] += value;
			hist->count += value;
		}
	}
	return 0;
}

int stapwatch_read_hist(const struct stapwatch *sw, uint32_t number,
			struct stapwatch_hist *hist)
{
	uint32_t cpu;

	if (check_instance(sw, number, STAPWATCH_HIST))
		return -1;
	memset(hist, 0, sizeof(*hist));
	for (cpu = 0; cpu < sw->head.nr_cpus; cpu++)
		if (add_hist(sw, number, cpu, hist))
			return -1;
	return 0;
}

int stapwatch_read_hist_cpu(const struct stapwatch *sw, uint32_t number,
			    uint32_t cpu, struct stapwatch_hist *hist)
{
	if (check_instance(sw, number, STAPWATCH_HIST))
		return -1;
	if (cpu >= sw->head.nr_cpus)
		return map_fail(EINVAL, "map: there is no CPU %u", cpu);
	memset(hist, 0, sizeof(*hist));
	return add_hist(sw, number, cpu, hist);
}

/* ---- histograms */

unsigned int stapwatch_hist_bucket(uint64_t value)
{
	return hist_bucket(value);
}

uint64_t stapwatch_hist_low(unsigned int bucket)
{
	return bucket < PERFMAP_HIST_BUCKETS ? hist_low(bucket) : UINT64_MAX;
}

uint64_t stapwatch_hist_high(unsigned int bucket)
{
	return bucket < PERFMAP_HIST_BUCKETS ? hist_high(bucket) : UINT64_MAX;
}

uint64_t stapwatch_hist_quantile(const struct stapwatch_hist *hist, double q)
{
	/* what a share such as 0.07 is meant to be, which no double is */
	const uint32_t share = q >= 1 ? BILLION : q > 0 ? q * BILLION + 0.5 : 0;
	u64 value;

	hist_quantile_of(hist->buckets, hist->max, share, BILLION, &value);
	return value;
}
