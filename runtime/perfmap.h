/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: counters per CPU that user space maps (seeds 000 and 004).
 *
 * What perfmap_abi.h says of the map is laid out here in pages of their own, so
 * that a reader's mapping outlives the module: each page has a reference for
 * each mapping.  A CPU's areas lie on its node.  All extents are there from the
 * start, since a handler may create an instance and cannot wait for memory;
 * what grows is the number of instances.
 *
 * An instance is found by its name through a hash table of fixed size, in which
 * entries are only ever filled: with its name and number complete, an entry is
 * put in its place by one cmpxchg, whoever interrupts whom.  Who loses the race
 * for a place to another instance goes on to the next; who loses it to the same
 * name takes that one, and the number it had taken before is not used.
 *
 * Who may run what, against whom:
 *
 *   sw_store_start(), sw_store_end()	module init before the begin probes,
 *				module exit after the end probes: sleepable, alone
 *   perf_add(), perf_del()	any context, NMI included
 *   perf_adjust(), sw_hist_add()	any context, preemption off; what interrupts
 *				on the same CPU loses nothing and tears nothing
 *   sw_ctr_read(), sw_ctr_set()	any context; see statctr.h
 *   the files			processes, at any time
 */
#ifndef STAPWATCH_PERFMAP_H
#define STAPWATCH_PERFMAP_H

#include "contexts.h"
#include "perfmap_abi.h"
#include "hist.h"
/* a CPU's words stand in its page of an extent, behind the flag */
#define STATCTR_STRIDE PAGE_SIZE
#define STATCTR_FIRST PERFMAP_COUNTERS_OFFSET
#include "statctr.h"
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#define SW_CTR_MAX_EXTENTS 64
#define SW_CTR_NAME 128
#define SW_CTR_WINDOW 32	/* places that are looked at for a name */
#define SW_CTR_PER_EXTENT ((unsigned int)PERFMAP_COUNTERS(PAGE_SIZE))

enum sw_ctr_kind { SW_CTR_COUNTER, SW_CTR_HIST };

struct sw_ctr {
	u32 number;		/* the instance's, or the first one's */
	u32 hash;
	u8 kind;
	bool shown;		/* in the names file */
	char name[SW_CTR_NAME];
};

static struct {
	struct perf_header *header;	/* the map's first page */
	struct page **pages;		/* the others, as they are in the map */
	unsigned long nr_pages;
	unsigned int counters;		/* numbers that counters may have */
	unsigned int hists;		/* histograms that there may be */
	struct sw_ctr *ctrs;		/* counters' first, then histograms' */
	struct sw_ctr **places;
	unsigned int mask;
	atomic_t taken[2];		/* by kind */
	atomic_long_t refused;		/* instances */
	atomic_long_t lost;		/* updates of none */
	struct proc_dir_entry *dir;
} sw_store;

/* The extents, one CPU's page after the other. */
static char *sw_ctr_extent[SW_CTR_MAX_EXTENTS];

static __always_inline bool sw_ctr_is(s64 number)
{
	return number >= 0 && number < READ_ONCE(sw_store.header->nr_instances);
}

static unsigned int sw_ctr_extents(void)
{
	return DIV_ROUND_UP(sw_store.counters, SW_CTR_PER_EXTENT);
}

/* Is this a histogram's first instance?  Each has an extent. */
static __always_inline bool sw_hist_is(s64 number)
{
	return sw_ctr_is(number) && !((u32)number % SW_CTR_PER_EXTENT) &&
	       (u32)number / SW_CTR_PER_EXTENT >= sw_ctr_extents();
}

/* An instance as a counter of statctr.h's. */
static __always_inline statctr_t sw_ctr_of(u32 number)
{
	return (statctr_t) {
		(pcpu_ctr_t *)(sw_ctr_extent[number / SW_CTR_PER_EXTENT] +
			       statctr_offset(number % SW_CTR_PER_EXTENT))
	};
}

/**
 * perf_adjust - add to an instance's counter on this CPU (seed 000)
 *
 * On 64-bit machines one instruction, or one that cannot be torn apart, so the
 * CPU's flag is not needed; the map's reader knows the machine.
 *
 * Context: any, preemption off.
 */
static __always_inline void perf_adjust(u32 number, s64 delta)
{
	statctr_t ctr = sw_ctr_of(number);

	__statctr_add(&ctr, delta);
}

/**
 * sw_ctr_read - an instance's value
 *
 * Context: any.
 * Return: the sum over all CPUs, also those that are gone.
 */
static s64 sw_ctr_read(u32 number)
{
	statctr_t ctr = sw_ctr_of(number);

	return statctr_read(&ctr);
}

/**
 * sw_ctr_set - let an instance's value be this; see statctr_set()
 * Context: any, preemption off.
 */
static void sw_ctr_set(u32 number, s64 value)
{
	statctr_t ctr = sw_ctr_of(number);

	__statctr_set(&ctr, value);
}

/**
 * sw_hist_add - count a value in a histogram
 * Context: any, preemption off.
 */
static __always_inline void sw_hist_add(u32 number, s64 value)
{
	if (unlikely(value < 0)) {
		perf_adjust(number + PERFMAP_HIST_NEGATIVE, 1);
		return;
	}
	perf_adjust(number + hist_bucket(value), 1);
	perf_adjust(number + PERFMAP_HIST_SUM, value);
}

/**
 * sw_hist_quantile - the value that PERMILLE of a histogram's are not above
 *
 * The middle of its bucket, so at most 6.25 % from it.
 *
 * Context: any.
 * Return: the value, or -1 if the histogram is empty.
 */
static s64 sw_hist_quantile(u32 number, unsigned int permille)
{
	u64 all = 0, below = 0, wanted;
	unsigned int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		all += sw_ctr_read(number + i);
	if (!all)
		return -1;
	wanted = hist_rank(all, permille);
	for (i = 0; i < PERFMAP_HIST_BUCKETS - 1; i++) {
		below += sw_ctr_read(number + i);
		if (below >= wanted)
			break;
	}
	return min_t(u64, hist_mid(i), S64_MAX);
}

/**
 * sw_hist_print - draw a histogram into the handler's output
 * Context: where a handler may print.
 */
static void sw_hist_print(u32 number)
{
	u64 rows[HIST_ROWS] = { sw_ctr_read(number + PERFMAP_HIST_NEGATIVE) };
	int i;

	for (i = 0; i < PERFMAP_HIST_BUCKETS; i++)
		rows[hist_row(i)] += sw_ctr_read(number + i);
	hist_draw(NULL, rows);
}

/* ---- instances */

static u32 sw_ctr_hash(const char *name, size_t len)
{
	return jhash(name, len, 0);
}

static bool
sw_ctr_named(const struct sw_ctr *c, u32 hash, const char *name, size_t len)
{
	return c->hash == hash && !strncmp(c->name, name, len) && !c->name[len];
}

/* A number for an instance, and where to keep it; NULL: they are all taken. */
static struct sw_ctr *sw_ctr_take(enum sw_ctr_kind kind)
{
	unsigned int max = kind == SW_CTR_HIST ? sw_store.hists
					       : sw_store.counters;
	int n = atomic_fetch_add_unless(&sw_store.taken[kind], 1, max);
	struct sw_ctr *c;

	if (n >= max)
		return NULL;
	c = &sw_store.ctrs[n + (kind == SW_CTR_HIST ? sw_store.counters : 0)];
	c->kind = kind;
	c->number = n;
	if (kind == SW_CTR_HIST)
		c->number = (sw_ctr_extents() + n) * SW_CTR_PER_EXTENT;
	return c;
}

/* Around what changes the list of instances.  Atomic: an NMI may change it too,
 * in between. */
static void sw_change_begin(void)
{
	atomic_inc((atomic_t *)&sw_store.header->gen1);
	smp_wmb();
}

static void sw_change_end(void)
{
	smp_wmb();
	atomic_inc((atomic_t *)&sw_store.header->gen2);
}

/* Within the two generations: the map has one more. */
static void sw_ctr_publish(struct sw_ctr *c)
{
	u32 end = c->number + (c->kind == SW_CTR_HIST ? PERFMAP_HIST_COUNTERS
						      : 1);
	u32 had = READ_ONCE(sw_store.header->nr_instances), now;

	smp_store_release(&c->shown, true);
	/* others only make it larger, each once for an instance */
	while (had < end) {
		now = cmpxchg(&sw_store.header->nr_instances, had, end);
		if (now == had)
			break;
		had = now;
	}
}

/**
 * perf_add - the instance of this name, a new one if there is none (seed 000)
 *
 * A name's number never changes, also when it was deleted.
 *
 * Context: any.
 * Return: its number; -ENOSPC when there is no room for another one, -EINVAL for
 * a name that is empty or too long, -EEXIST for one that is of the other kind.
 */
static s64 perf_add(const char *name, enum sw_ctr_kind kind)
{
	size_t len = strnlen(name, SW_CTR_NAME);
	struct sw_ctr *c, *new = NULL;
	unsigned int i;
	u32 hash;

	if (!len || len == SW_CTR_NAME)
		return -EINVAL;
	hash = sw_ctr_hash(name, len);
	for (i = 0; i < SW_CTR_WINDOW; i++) {
		struct sw_ctr **place = &sw_store.places[(hash + i) &
							 sw_store.mask];

		c = smp_load_acquire(place);
		if (!c) {
			if (!new) {
				new = sw_ctr_take(kind);
				if (!new)
					break;
				new->hash = hash;
				memcpy(new->name, name, len);
			}
			sw_change_begin();
			c = cmpxchg(place, NULL, new);
			if (!c) {
				sw_ctr_publish(new);
				c = new;
			}
			sw_change_end();
		}
		if (!sw_ctr_named(c, hash, name, len))
			continue;
		if (c->kind != kind)
			return -EEXIST;
		if (unlikely(!READ_ONCE(c->shown))) {
			sw_change_begin();
			sw_ctr_publish(c);
			sw_change_end();
		}
		return c->number;
	}
	atomic_long_inc(&sw_store.refused);
	return -ENOSPC;
}

/**
 * perf_del - leave an instance out of the list of names (seed 000)
 *
 * Its number and its counts stay, for when the name comes again.
 *
 * Context: any.
 */
static void perf_del(u32 number)
{
	unsigned int extent = number / SW_CTR_PER_EXTENT, at = number;

	if (extent >= sw_ctr_extents())
		at = sw_store.counters + extent - sw_ctr_extents();
	if (!sw_store.ctrs[at].name[0])
		return;
	sw_change_begin();
	WRITE_ONCE(sw_store.ctrs[at].shown, false);
	sw_change_end();
}

/* ---- the files */

static int sw_map_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long page = vma->vm_pgoff, n = vma_pages(vma), i;
	int rc;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	if (page > sw_store.nr_pages || n > sw_store.nr_pages - page)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	for (i = 0; i < n; i++) {
		rc = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE,
				    sw_store.pages[page + i]);
		if (rc)
			return rc;
	}
	return 0;
}

static const struct proc_ops sw_map_ops = {
	.proc_mmap = sw_map_mmap,
};

static void sw_names_put(struct seq_file *m, const struct sw_ctr *c)
{
	const unsigned char *s = c->name;

	seq_printf(m, "%u %s ", c->number,
		   c->kind == SW_CTR_HIST ? "hist" : "counter");
	for (; *s; s++) {
		if (*s <= ' ' || *s == '\\' || *s == 0x7f)
			seq_printf(m, "\\x%02X", *s);
		else
			seq_putc(m, *s);
	}
	seq_putc(m, '\n');
}

static int sw_names_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < sw_store.counters + sw_store.hists; i++)
		if (smp_load_acquire(&sw_store.ctrs[i].shown))
			sw_names_put(m, &sw_store.ctrs[i]);
	return 0;
}

static int sw_names_open(struct inode *inode, struct file *file)
{
	return single_open(file, sw_names_show, NULL);
}

static const struct proc_ops sw_names_ops = {
	.proc_open = sw_names_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/* SystemTap's, whose definitions come behind a script's C. */
static int _stp_mkdir_proc_module(void);
static struct proc_dir_entry *_stp_procfs_module_dir;

static int sw_store_files(unsigned int mode, unsigned int uid, unsigned int gid)
{
	struct proc_dir_entry *map, *names;

	if (_stp_mkdir_proc_module())
		return -ENOENT;
	sw_store.dir = proc_mkdir("stapwatch", _stp_procfs_module_dir);
	if (!sw_store.dir)
		return -ENOMEM;
	map = proc_create("map", mode, sw_store.dir, &sw_map_ops);
	names = proc_create("names", mode, sw_store.dir, &sw_names_ops);
	if (!map || !names)
		return -ENOMEM;
	proc_set_size(map, sw_store.nr_pages * PAGE_SIZE);
	proc_set_user(map, make_kuid(&init_user_ns, uid),
		      make_kgid(&init_user_ns, gid));
	proc_set_user(names, make_kuid(&init_user_ns, uid),
		      make_kgid(&init_user_ns, gid));
	return 0;
}

/* ---- from module init to module exit */

static void sw_store_free(void)
{
	unsigned long i;

	for (i = 0; i < SW_CTR_MAX_EXTENTS; i++)
		vunmap(sw_ctr_extent[i]);
	memset(sw_ctr_extent, 0, sizeof(sw_ctr_extent));
	for (i = 0; sw_store.pages && i < sw_store.nr_pages; i++)
		if (sw_store.pages[i])
			put_page(sw_store.pages[i]);
	kvfree(sw_store.pages);
	kvfree(sw_store.ctrs);
	kvfree(sw_store.places);
	memset(&sw_store, 0, sizeof(sw_store));
}

static void sw_store_report(void)
{
	long refused = atomic_long_read(&sw_store.refused);
	long lost = atomic_long_read(&sw_store.lost);

	if (refused)
		_stp_warn("stapwatch: %ld times there was no room for a counter or histogram; -G statctr_max=N (now %u) and -G stathist_max=N (now %u) make more\n",
			  refused, sw_store.counters, sw_store.hists);
	if (lost)
		_stp_warn("stapwatch: %ld updates were lost that were of no counter or histogram\n",
			  lost);
}

static void sw_store_end(void)
{
	if (!sw_store.header)
		return;
	/* waits for who is within a file's operations, not for mappings */
	proc_remove(sw_store.dir);
	sw_store_report();
	smp_store_release(&sw_store.header->state, PERFMAP_ENDED);
	sw_store_free();
}

static int sw_store_pages(unsigned int extents)
{
	struct page *page;
	unsigned long i;
	int cpu;

	sw_store.nr_pages = 1 + (unsigned long)extents * nr_cpu_ids;
	sw_store.pages = kvcalloc(sw_store.nr_pages, sizeof(*sw_store.pages),
				  GFP_KERNEL);
	if (!sw_store.pages)
		return -ENOMEM;
	for (i = 0; i < sw_store.nr_pages; i++) {
		cpu = i ? (i - 1) % nr_cpu_ids : 0;
		page = alloc_pages_node(cpu_possible(cpu) ? cpu_to_node(cpu)
							  : NUMA_NO_NODE,
					GFP_KERNEL | __GFP_ZERO, 0);
		if (!page)
			return -ENOMEM;
		sw_store.pages[i] = page;
	}
	for (i = 0; i < extents; i++) {
		sw_ctr_extent[i] = vmap(sw_store.pages + 1 + i * nr_cpu_ids,
					nr_cpu_ids, VM_MAP, PAGE_KERNEL);
		if (!sw_ctr_extent[i])
			return -ENOMEM;
	}
	return 0;
}

static void sw_store_header(unsigned int extents)
{
	struct perf_header *h = page_address(sw_store.pages[0]);

	*h = (struct perf_header) {
		.version = PERF_VERSION,
		.size = sizeof(*h),
		.nr_cpus = nr_cpu_ids,
		.page_size = PAGE_SIZE,
		.state = PERFMAP_LIVE,
		.nr_extents = extents,
		.cpu_size = PAGE_SIZE,
		.cpu_counters = SW_CTR_PER_EXTENT,
		.flag_offset = PERFMAP_FLAG_OFFSET,
		.counters_offset = PERFMAP_COUNTERS_OFFSET,
		.extent_size = (u64)nr_cpu_ids * PAGE_SIZE,
		.session = ktime_get_real_ns(),
	};
	memcpy(h->magic, PERFMAP_MAGIC, sizeof(h->magic));
	sw_store.header = h;
}

static int sw_store_make(s64 counters, s64 hists)
{
	unsigned int extents, places;
	int rc;

	if (counters < 0 || hists < 0 || counters > 1 << 20 || hists > 1 << 20)
		goto too_many;
	extents = DIV_ROUND_UP(counters, SW_CTR_PER_EXTENT) + hists;
	if (!extents || extents > SW_CTR_MAX_EXTENTS)
		goto too_many;
	sw_store.counters = counters;
	sw_store.hists = hists;
	places = roundup_pow_of_two(max(4 * (counters + hists), 64));
	sw_store.mask = places - 1;
	sw_store.ctrs = kvcalloc(counters + hists, sizeof(*sw_store.ctrs),
				 GFP_KERNEL);
	sw_store.places = kvcalloc(places, sizeof(*sw_store.places),
				   GFP_KERNEL);
	rc = sw_store_pages(extents);
	if (rc || !sw_store.ctrs || !sw_store.places) {
		_stp_error("stapwatch: no memory for %lld counters and %lld histograms; try a smaller -G statctr_max=N or stathist_max=N\n",
			   counters, hists);
		return -ENOMEM;
	}
	sw_store_header(extents);
	return 0;
too_many:
	_stp_error("stapwatch: statctr_max=%lld, stathist_max=%lld: the map has room for %u counters, less %u for each histogram\n",
		   counters, hists, SW_CTR_MAX_EXTENTS * SW_CTR_PER_EXTENT,
		   SW_CTR_PER_EXTENT);
	return -EINVAL;
}

static int sw_store_start(s64 counters, s64 hists, s64 mode, s64 uid, s64 gid)
{
	int rc = sw_store_make(counters, hists);

	if (!rc) {
		rc = sw_store_files(mode & 0444, uid, gid);
		if (rc)
			_stp_error("stapwatch: cannot make the map's files in /proc (%d)\n",
				   rc);
	}
	if (rc) {
		proc_remove(sw_store.dir);
		sw_store_free();
	}
	return rc;
}

/*
 * Counters are there for begin probes and for end probes: contexts.h.  This is
 * what a tapset function that begins to use the store makes of SW_STORE_START().
 */
#define SW_STORE_BEGIN()						\
	sw_store_start(global(s___global_statctr_max),			\
		       global(s___global_stathist_max),			\
		       global(s___global_statctr_mode),			\
		       global(s___global_statctr_uid),			\
		       global(s___global_statctr_gid))

#endif
