/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf's own names of events: cycles:u, page-faults, LLC-load-misses, r00c0.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "event/event_notation.h"
#include "event/event_table.h"

#define MAX_ALIASES	5

struct spelling {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* linux/perf_event.h of this machine may be older than this */
#define SW_CGROUP_SWITCHES	11

static const struct spelling spellings[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, SW_CGROUP_SWITCHES },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
};

#define NR_SPELLINGS (sizeof(spellings) / sizeof(spellings[0]))

/* Cache events are spelled of three words; each row is one word's aliases. */
typedef const char *const aliases[MAX_ALIASES];

static aliases caches[] = {
	{ "L1-dcache", "l1-d", "l1d", "L1-data" },
	{ "L1-icache", "l1-i", "l1i", "L1-instruction" },
	{ "LLC", "L2" },
	{ "dTLB", "d-tlb", "Data-TLB" },
	{ "iTLB", "i-tlb", "Instruction-TLB" },
	{ "branch", "branches", "bpu", "btb", "bpc" },
	{ "node" },
};

static aliases ops[] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};

static aliases results[] = {
	{ "refs", "Reference", "ops", "access" },
	{ "misses", "miss" },
};

#define NR_CACHES	(sizeof(caches) / sizeof(caches[0]))
#define NR_OPS		(sizeof(ops) / sizeof(ops[0]))
#define NR_RESULTS	(sizeof(results) / sizeof(results[0]))

/* which of the ops, a bit for each, mean something for which of the caches */
static const unsigned char has_ops[NR_CACHES] = { 7, 5, 7, 7, 1, 1, 7 };

/*
 * The row of the longest alias at the front of the text, which then is moved
 * after it and its '-'; -1 if there is none that ends there.
 */
static int take_alias(const char **text, const char *end, aliases *rows,
		      size_t nr)
{
	size_t longest = 0, len, row, i;
	size_t left = end - *text;
	int found = -1;

	for (row = 0; row < nr; row++) {
		for (i = 0; i < MAX_ALIASES && rows[row][i]; i++) {
			len = strlen(rows[row][i]);
			if (len <= longest || len > left ||
			    strncasecmp(*text, rows[row][i], len) ||
			    (len < left && (*text)[len] != '-'))
				continue;
			longest = len;
			found = row;
		}
	}
	if (found < 0)
		return -1;
	*text += longest;
	if (*text < end)
		(*text)++;
	return found;
}

static enum event_found find_cache(const char *name, size_t len,
				   struct event_attr *attr, struct buf *why)
{
	const char *at = name, *end = name + len;
	int cache, op, result;

	/* an empty word would follow it */
	if (len && end[-1] == '-')
		return EVENT_NOT_MINE;
	cache = take_alias(&at, end, caches, NR_CACHES);
	if (cache < 0)
		return EVENT_NOT_MINE;
	/* op and result come in either order, and either may be left out */
	op = take_alias(&at, end, ops, NR_OPS);
	result = take_alias(&at, end, results, NR_RESULTS);
	if (op < 0)
		op = take_alias(&at, end, ops, NR_OPS);
	if (at != end)
		return EVENT_NOT_MINE;
	if (op < 0)
		op = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!(has_ops[cache] & 1 << op)) {
		event_quote(why, name, len);
		buf_printf(why, " is no event of perf's: %s has no %s",
			   caches[cache][0], ops[op][1]);
		return EVENT_WRONG;
	}
	attr->type = PERF_TYPE_HW_CACHE;
	attr->config = cache | op << 8 | result << 16;
	return EVENT_FOUND;
}

static enum event_found find_name(const char *name, size_t len,
				  struct event_attr *attr)
{
	size_t i;

	for (i = 0; i < NR_SPELLINGS; i++) {
		if (strncmp(spellings[i].name, name, len) ||
		    spellings[i].name[len])
			continue;
		attr->type = spellings[i].type;
		attr->config = spellings[i].config;
		return EVENT_FOUND;
	}
	return EVENT_NOT_MINE;
}

/* r00c0 */
static enum event_found find_hex(const char *name, size_t len,
				 struct event_attr *attr)
{
	char number[2 + 16 + 1] = "0x";

	if (len < 2 || len > 1 + 16 || name[0] != 'r')
		return EVENT_NOT_MINE;
	memcpy(number + 2, name + 1, len - 1);
	if (!event_number(number, len + 1, 16, &attr->config))
		return EVENT_NOT_MINE;
	attr->type = PERF_TYPE_RAW;
	return EVENT_FOUND;
}

enum event_found event_perf_name(const char *name, size_t len,
				 struct event_attr *attr, struct buf *why)
{
	enum event_found found;

	found = find_name(name, len, attr);
	if (found == EVENT_NOT_MINE)
		found = find_cache(name, len, attr, why);
	if (found == EVENT_NOT_MINE)
		found = find_hex(name, len, attr);
	return found;
}

enum event_found event_perf(const char *text, struct event *ev,
			    struct buf *why)
{
	size_t len = strcspn(text, ":");
	struct event_attr attr = { 0 };
	enum event_found found;
	const char *what;

	found = event_perf_name(text, len, &attr, why);
	if (found != EVENT_FOUND)
		return found;
	if (text[len] &&
	    event_modifiers(text + len + 1, text, len, &attr, why))
		return EVENT_WRONG;
	ev->notation = EVENT_PERF;
	ev->attr = attr;
	what = event_table_text(attr.type, attr.config);
	if (what)
		ev->text = xstrdup(what);
	return EVENT_FOUND;
}

void event_perf_offer(struct suggest *s)
{
	struct buf name = { 0 };
	size_t i, op, miss;

	/* where both are as near, the table's name for it is the better one */
	for (i = 0; i < NR_SPELLINGS; i++)
		if (event_table_text(spellings[i].type, spellings[i].config))
			suggest_offer(s, "", spellings[i].name, 1);
	for (i = 0; i < NR_CACHES; i++) {
		for (op = 0; op < NR_OPS; op++) {
			if (!(has_ops[i] & 1 << op))
				continue;
			for (miss = 0; miss < 2; miss++) {
				buf_printf(&name, "%s-%s%s", caches[i][0],
					   ops[op][miss ? 0 : 1],
					   miss ? "-misses" : "");
				suggest_offer(s, "", name.s, 1);
				name.len = 0;
			}
		}
	}
	free(name.s);
}
