/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources of data; data_source.h says what is wanted of it. */
#include "report/output/data_source.h"

#include <linux/perf_event.h>
#include <stddef.h>

struct bit {
	unsigned int bit;
	const char *name;
};

static const struct bit ops[] = {
	{ PERF_MEM_OP_LOAD, "load" },
	{ PERF_MEM_OP_STORE, "store" },
	{ PERF_MEM_OP_PFETCH, "prefetch" },
	{ PERF_MEM_OP_EXEC, "code" },
	{ 0 },
};

static const struct bit levels[] = {
	{ PERF_MEM_LVL_L1, "L1" },
	{ PERF_MEM_LVL_LFB, "fill buffer" },
	{ PERF_MEM_LVL_L2, "L2" },
	{ PERF_MEM_LVL_L3, "L3" },
	{ PERF_MEM_LVL_LOC_RAM, "memory" },
	{ PERF_MEM_LVL_REM_RAM1, "remote memory" },
	{ PERF_MEM_LVL_REM_RAM2, "remote memory, 2 hops" },
	{ PERF_MEM_LVL_REM_CCE1, "remote cache" },
	{ PERF_MEM_LVL_REM_CCE2, "remote cache, 2 hops" },
	{ PERF_MEM_LVL_IO, "I/O" },
	{ PERF_MEM_LVL_UNC, "uncached" },
	{ 0 },
};

/* Numbers, where the bits have no room for a level. */
static const char *const numbers[16] = {
	[PERF_MEM_LVLNUM_L1] = "L1",
	[PERF_MEM_LVLNUM_L2] = "L2",
	[PERF_MEM_LVLNUM_L3] = "L3",
	[PERF_MEM_LVLNUM_L4] = "L4",
	[PERF_MEM_LVLNUM_ANY_CACHE] = "a cache",
	[PERF_MEM_LVLNUM_LFB] = "fill buffer",
	[PERF_MEM_LVLNUM_RAM] = "memory",
	[PERF_MEM_LVLNUM_PMEM] = "persistent memory",
};

static const struct bit results[] = {
	{ PERF_MEM_LVL_HIT, "hit" },
	{ PERF_MEM_LVL_MISS, "miss" },
	{ 0 },
};

static void put(struct buf *out, const char *name)
{
	buf_printf(out, "%s%s", out->len ? " " : "", name);
}

static int put_bits(struct buf *out, unsigned int value, const struct bit *bits)
{
	int nr = 0;

	for (; bits->bit; bits++) {
		if (!(value & bits->bit))
			continue;
		put(out, bits->name);
		nr++;
	}
	return nr;
}

void data_source_text(uint64_t data_src, struct buf *out)
{
	const union perf_mem_data_src src = { .val = data_src };

	put_bits(out, src.mem_op, ops);
	if (!put_bits(out, src.mem_lvl, levels) && numbers[src.mem_lvl_num]) {
		if (src.mem_remote)
			put(out, "remote");
		put(out, numbers[src.mem_lvl_num]);
	}
	put_bits(out, src.mem_lvl, results);
	if (!out->len)
		buf_puts(out, "-");
}
