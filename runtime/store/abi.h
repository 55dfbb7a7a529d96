/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map of counters, as it stands in memory: the one definition, for who
 * writes it (a probe module, or a program into a file) and for who reads it.
 *
 * A header page is followed by extents.  An extent has, for each CPU number, an
 * area of whole pages: a flag, and then as many 64-bit counters as fit.
 * Instance N is counter N % cpu_counters of extent N / cpu_counters, of every
 * CPU; its value is the sum over all CPUs.  Extents are only ever added, at the
 * end, so what is mapped stays where it is.  The names of instances are in a
 * text file beside the map, one line each: NUMBER KIND NAME, where KIND is
 * `counter' or `hist', and bytes of the name up to space, backslash and delete
 * are written \xHH.  A histogram's counters are PERFMAP_HIST_COUNTERS
 * consecutive instances from NUMBER on, all in one extent.
 *
 * A module's directory has one map, and its list is called `names'.  Other
 * directories can have several.  There a list has its map's session in its name,
 * PERFMAP_NAMES_OF, and struct perfmap_more says so.  Lines are only added to
 * that file; without one of them, it is another file.
 *
 * Who adds an instance adds one to gen1, does it, and adds one to gen2.  A
 * reader takes what it copied between equal generations.  Updates of one
 * counter are single stores where the machine has such for 64 bits; elsewhere
 * the CPU's flag is not 0 while one is under way, and a reader reads until the
 * flag is 0 and the value stays.  When the writer goes, state becomes
 * PERFMAP_ENDED, and nothing changes any more; what is mapped stays valid.
 *
 * All fields are in the byte order of the machine; a reader refuses a header
 * any of whose fields does not fit the others or the file.
 */
#ifndef STAPWATCH_STORE_ABI_H
#define STAPWATCH_STORE_ABI_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define PERFMAP_MAGIC "stapwmap"	/* eight bytes, without the 0 */
#define PERFMAP_VERSION 1

#define PERFMAP_LIVE 1
#define PERFMAP_ENDED 2

struct perfmap_header {
	char magic[8];
	uint32_t version;		/* PERFMAP_VERSION */
	uint32_t size;			/* of this structure */
	uint32_t nr_cpus;		/* the highest CPU number, plus 1 */
	uint32_t page_size;		/* where the first extent begins */
	uint32_t gen1;			/* before an instance is added */
	uint32_t gen2;			/* after it */
	uint32_t state;			/* PERFMAP_LIVE, PERFMAP_ENDED */
	uint32_t nr_extents;
	uint32_t cpu_size;		/* bytes of a CPU's area in an extent */
	uint32_t cpu_counters;		/* counters in it */
	uint32_t flag_offset;		/* in it: a uint32_t */
	uint32_t counters_offset;	/* in it */
	uint32_t nr_instances;		/* the highest number, plus 1 */
	uint32_t pad;			/* 0 */
	uint64_t extent_size;		/* nr_cpus * cpu_size */
	uint64_t session;		/* another one for each writer */
};

/*
 * After the header, on the same page: what has come later.  It grows at its end,
 * and version and size of the header stay.  Who knows nothing of it leaves 0.
 */
struct perfmap_more {
	uint32_t size;			/* of this structure; 0: there is none */
	uint32_t names;			/* 0: the list is `names'; else it is
					   PERFMAP_NAMES_OF, made so many times */
	uint32_t hist_counters;		/* of a histogram; 0: PERFMAP_HIST_FEWEST */
	uint32_t pad;			/* 0 */
};

/* printf() it with the session, as unsigned long long. */
#define PERFMAP_NAMES_OF "names.%016llx"

/* As the writers here lay it out; a reader goes by the header. */
#define PERFMAP_FLAG_OFFSET 0
#define PERFMAP_COUNTERS_OFFSET 64
#define PERFMAP_COUNTERS(cpu_size)					\
	(((cpu_size) - PERFMAP_COUNTERS_OFFSET) / sizeof(uint64_t))

/*
 * Histograms: eight steps for each power of two, so that the middle of a bucket
 * is at most 6.25 % from any value in it.  Values below 16 have a bucket each.
 * After the buckets: the sum of the values in them; how many values were
 * negative, which are in no bucket and not in the sum; and the highest value, of
 * which a histogram's is that of the CPU that has the highest.  Maps of before have
 * no highest value, and perfmap_more says so.
 */
#define PERFMAP_HIST_STEPS 8
#define PERFMAP_HIST_BUCKETS 496
#define PERFMAP_HIST_SUM PERFMAP_HIST_BUCKETS
#define PERFMAP_HIST_NEGATIVE (PERFMAP_HIST_BUCKETS + 1)
#define PERFMAP_HIST_MAX (PERFMAP_HIST_BUCKETS + 2)
#define PERFMAP_HIST_COUNTERS (PERFMAP_HIST_BUCKETS + 3)
#define PERFMAP_HIST_FEWEST PERFMAP_HIST_MAX	/* in maps of before */

#endif
