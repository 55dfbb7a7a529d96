/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store's files in /proc, and its life from module init to module exit.
 *
 * Who may run what, against whom:
 *
 *   sw_store_start(), sw_store_end()	module init before the begin probes,
 *				module exit after the end probes: sleepable, alone
 *   the files			processes, at any time
 */
#ifndef STAPWATCH_STORE_SESSION_H
#define STAPWATCH_STORE_SESSION_H

#include "base/access.h"
#include "base/contexts.h"
#include "base/kernel.h"
#include "base/reader.h"
#include "store/reading.h"
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

/* ---- the files */

static int sw_map_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long page = vma->vm_pgoff, n = vma_pages(vma), i;
	int rc;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (page > sw_store.nr_pages || n > sw_store.nr_pages - page)
		return -EINVAL;
	sw_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP,
			VM_MAYWRITE | VM_MAYEXEC);
	for (i = 0; i < n; i++) {
		rc = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE,
				    sw_store.pages[page + i]);
		if (rc)
			return rc;
	}
	return 0;
}

static int sw_map_open(struct inode *inode, struct file *file)
{
	return sw_may_open(&sw_store.access, file);
}

static const struct proc_ops sw_map_ops = {
	.proc_open = sw_map_open,
	.proc_mmap = sw_map_mmap,
};

static void
sw_names_put(struct seq_file *m, const struct sw_ctr *c, const char *name)
{
	const unsigned char *s = name;

	seq_printf(m, "%u %s ", READ_ONCE(c->number),
		   c->kind == SW_CTR_HIST ? "hist" : "counter");
	for (; *s; s++) {
		if (*s <= ' ' || *s == '\\' || *s == 0x7f)
			seq_printf(m, "\\x%02X", *s);
		else
			seq_putc(m, *s);
	}
	seq_putc(m, '\n');
}

/* A label, if it is not changed meanwhile. */
static void sw_names_put_label(struct seq_file *m, const struct sw_ctr *c, u32 nth)
{
	/* with smp_store_release() in sw_map_label() */
	const u32 label = smp_load_acquire(&sw_store.labels[nth]);
	char name[SW_CTR_NAME];

	data_race(memcpy(name, c->name, sizeof(name)));
	if (label && label == sw_label_hash(name, strnlen(name, sizeof(name) - 1)))
		sw_names_put(m, c, name);
}

/* The list has each name once: a label is before a name that somebody asked for. */
static int sw_names_show(struct seq_file *m, void *unused)
{
	const struct sw_ctr *c;
	unsigned int i;

	for (i = 0; i < sw_store.counters + sw_store.hists; i++) {
		cond_resched();
		c = READ_ONCE(sw_store.owners[i]);
		/* with smp_store_release() in sw_ctr_publish() */
		if (!c || !smp_load_acquire(&c->shown))
			continue;
		if (c->place)
			sw_names_put_label(m, c, i - sw_store.counters);
		else if (!sw_label_find(c->name, strlen(c->name)))
			sw_names_put(m, c, c->name);
	}
	return 0;
}

static int sw_names_open(struct inode *inode, struct file *file)
{
	return sw_may_open(&sw_store.access, file) ?:
	       single_open(file, sw_names_show, NULL);
}

static const struct proc_ops sw_names_ops = {
	.proc_open = sw_names_open,
	.proc_read = sw_seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/* SystemTap's, whose definitions come after a script's C. */
static int _stp_mkdir_proc_module(void);
static struct proc_dir_entry *_stp_procfs_module_dir;

static int sw_store_files(struct sw_access access)
{
	struct proc_dir_entry *map, *names;

	sw_store.access = access;
	if (_stp_mkdir_proc_module())
		return -ENOENT;
	sw_store.dir = proc_mkdir("stapwatch", _stp_procfs_module_dir);
	if (!sw_store.dir)
		return -ENOMEM;
	map = proc_create("map", access.mode, sw_store.dir, &sw_map_ops);
	names = proc_create("names", access.mode, sw_store.dir, &sw_names_ops);
	if (!map || !names)
		return -ENOMEM;
	proc_set_size(map, sw_store.nr_pages * PAGE_SIZE);
	sw_access_give(&access, map);
	sw_access_give(&access, names);
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
	free_percpu(sw_store.sums);
	free_percpu(sw_store.spares);
	kvfree(sw_store.intervals);
	kvfree(sw_store.pages);
	kvfree(sw_store.ctrs);
	kvfree(sw_store.owners);
	kvfree(sw_store.labels);
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
	/* with the readers' acquiring load: what they then read is the last */
	smp_store_release(&sw_store.header->state, PERFMAP_ENDED);
	sw_store_free();
}

/* A map that is too large is refused; no program dies to make room for it. */
#define SW_STORE_GFP (GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static int sw_store_pages(unsigned int extents)
{
	struct page *page;
	unsigned long i;
	int cpu;

	sw_store.nr_pages = 1 + (unsigned long)extents * nr_cpu_ids;
	sw_store.pages = kvcalloc(sw_store.nr_pages, sizeof(*sw_store.pages),
				  SW_STORE_GFP);
	if (!sw_store.pages)
		return -ENOMEM;
	for (i = 0; i < sw_store.nr_pages; i++) {
		cpu = i ? (i - 1) % nr_cpu_ids : 0;
		page = alloc_pages_node(cpu_possible(cpu) ? cpu_to_node(cpu)
							  : NUMA_NO_NODE,
					SW_STORE_GFP | __GFP_ZERO, 0);
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
	struct perfmap_header *h = page_address(sw_store.pages[0]);

	*h = (struct perfmap_header) {
		.version = PERFMAP_VERSION,
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
	*(struct perfmap_more *)(h + 1) = (struct perfmap_more) {
		.size = sizeof(struct perfmap_more),
		.hist_counters = PERFMAP_HIST_COUNTERS,
	};
	memcpy(h->magic, PERFMAP_MAGIC, sizeof(h->magic));
	sw_store.header = h;
}

static int sw_store_make(s64 counters, s64 hists, bool intervals)
{
	unsigned int extents, places;
	int rc;

	if (counters < 0 || hists < 0 || counters > 1 << 20 || hists > 1 << 20)
		goto too_many;
	extents = store_extents(counters, SW_CTR_PER_EXTENT) +
		  store_extents(hists, SW_HIST_PER_EXTENT);
	if (!extents || extents > SW_CTR_MAX_EXTENTS)
		goto too_many;
	sw_store.counters = counters;
	sw_store.hists = hists;
	places = roundup_pow_of_two(max_t(u64, 4 * (counters + hists), 64));
	sw_store.mask = places - 1;
	sw_store.nr_ctrs = counters + hists + SW_CTR_CONTEXTS * nr_cpu_ids;
	sw_store.ctrs = kvcalloc(sw_store.nr_ctrs, sizeof(*sw_store.ctrs),
				 GFP_KERNEL);
	sw_store.owners = kvcalloc(counters + hists, sizeof(*sw_store.owners),
				   GFP_KERNEL);
	sw_store.labels = kvcalloc(hists + 1, sizeof(*sw_store.labels),
				   GFP_KERNEL);
	sw_store.places = kvcalloc(places, sizeof(*sw_store.places),
				   GFP_KERNEL);
	if (intervals && hists)
		sw_store.intervals = kvcalloc(hists, sizeof(*sw_store.intervals),
					      SW_STORE_GFP);
	sw_store.sums = alloc_percpu(struct sw_hist_sums);
	sw_store.spares = alloc_percpu(struct sw_ctr_spares);
	rc = sw_store_pages(extents);
	if (rc || !sw_store.ctrs || !sw_store.owners || !sw_store.labels ||
	    !sw_store.places ||
	    !sw_store.sums || !sw_store.spares ||
	    (intervals && hists && !sw_store.intervals)) {
		_stp_error("stapwatch: no memory for %lld counters and %lld histograms; try a smaller -G statctr_max=N or stathist_max=N\n",
			   counters, hists);
		return -ENOMEM;
	}
	sw_store_header(extents);
	return 0;
too_many:
	_stp_error("stapwatch: statctr_max=%lld, stathist_max=%lld: the map has room for %u counters, less %u for each %u histograms\n",
		   counters, hists, SW_CTR_MAX_EXTENTS * SW_CTR_PER_EXTENT,
		   SW_CTR_PER_EXTENT, SW_HIST_PER_EXTENT);
	return -EINVAL;
}

static int sw_store_start(s64 counters, s64 hists, bool intervals, s64 mode,
			  s64 uid, s64 gid)
{
	int rc = sw_store_make(counters, hists, intervals);

	if (!rc) {
		rc = sw_store_files(sw_access_of(mode, uid, gid));
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
#define SW_HAS_INTERVALS 0

#define SW_STORE_BEGIN()						\
	sw_store_start(global(s___global_statctr_max),			\
		       global(s___global_stathist_max), SW_HAS_INTERVALS,	\
		       global(s___global_statctr_mode),			\
		       global(s___global_statctr_uid),			\
		       global(s___global_statctr_gid))

#endif
