/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reader and writer of a map have in common: access to the memory that
 * they share.
 *
 * There are no fences: an acquiring load keeps all later loads after it, and a
 * releasing store all earlier stores before it, and ThreadSanitizer understands
 * both.
 */
#ifndef STAPWATCH_LIB_MAP_H
#define STAPWATCH_LIB_MAP_H

#include <errno.h>
#include <stdint.h>

#include "lib/stapwatch.h"
#include "store/abi.h"

#ifndef MAP_LOAD
#define MAP_LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#endif
#define MAP_STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

/*
 * Whether 64 bits are stored and loaded at once.  Not asked of the compiler's
 * __atomic_always_lock_free(): a load by cmpxchg8b would write, and the memory
 * is read-only.
 */
#if !defined(MAP_HALVES) && UINTPTR_MAX > 0xffffffff
#define MAP_WHOLE 1
#else
#define MAP_WHOLE 0
#endif

/* May be torn where there are halves; who calls it finds out. */
static inline uint64_t map_load64(const uint64_t *p)
{
#if MAP_WHOLE
	return MAP_LOAD(p);
#else
	const uint32_t *half = (const uint32_t *)p;
	union {
		uint32_t half[2];
		uint64_t whole;
	} v;

	v.half[0] = MAP_LOAD(&half[0]);
	v.half[1] = MAP_LOAD(&half[1]);
	return v.whole;
#endif
}

#define MAP_SPINS 1000		/* an update takes no longer */
#define MAP_NAPS 200		/* unless its writer was scheduled away */

#define MAP_TOGETHER 8

/*
 * One try of the reader's protocol, for up to MAP_TOGETHER counters that follow
 * each other: adds their values to @sums as long as they are stable, with no
 * update under way, and returns for how many that was so.  Between two equal
 * values that are torn, the flag cannot be 0 unless the counter has also gone
 * back.
 */
static inline __attribute__((always_inline)) int
map_try_counters(const uint32_t *flag, const uint64_t *counters,
		 uint64_t *sums, int nr)
{
	uint64_t values[MAP_TOGETHER];
	int i;

#pragma GCC unroll 8
	for (i = 0; i < nr; i++)
		values[i] = map_load64(&counters[i]);
	if (MAP_LOAD(flag))
		return 0;
#pragma GCC unroll 8
	for (i = 0; i < nr; i++) {
		if (map_load64(&counters[i]) != values[i])
			break;
		sums[i] += values[i];
	}
	return i;
}

/* map_fail() - set errno and stapwatch_error(); returns -1 */
int map_fail(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), visibility("hidden")));

/* map_dir() - open the directory that @path is in; -1 fails, said */
int map_dir(const char *path) __attribute__((visibility("hidden")));

/* map_names_path() - the file, in the map's directory, that has its names */
#define MAP_NAMES_PATH 32
void map_names_path(char path[MAP_NAMES_PATH], uint64_t session)
	__attribute__((visibility("hidden")));

/* Extent's counter, and flag, of a CPU. */
static inline void *map_flag(const struct perfmap_header *h, void *extent,
			     uint32_t cpu)
{
	return (char *)extent + (size_t)h->cpu_size * cpu + h->flag_offset;
}

static inline void *map_counter(const struct perfmap_header *h, void *extent,
				uint32_t cpu, uint32_t index)
{
	return (char *)extent + (size_t)h->cpu_size * cpu +
	       h->counters_offset + sizeof(uint64_t) * index;
}

#endif
