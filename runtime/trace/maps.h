/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a map, and the maps, threads and modules that are there when the
 * trace begins.
 *
 * Who may run what, against whom:
 *
 *   sw_vma_path(), sw_mmap_fill()	the mm is locked, or is the task's own; they
 *				do not sleep, and read of a file what is in memory
 *   sw_image_finish(), _took()	the trace's work item: the first one reads a
 *				module's build-id and sections
 *   sw_maps_look_work()	a work item: takes each mm's lock for a moment, and none
 *			of the trace's meanwhile
 *   sw_maps_start(), sw_maps_stop()	sleepable
 *
 * What a user can stall is waited for by none of them: a file's daemon, an mm's lock,
 * the end of a mm.
 */
#ifndef STAPWATCH_TRACE_MAPS_H
#define STAPWATCH_TRACE_MAPS_H

#include "base/work.h"
#include "trace/buildid.h"
#include "trace/imagetable.h"
#include "trace/modules.h"
#include "trace/trace.h"
#include <linux/dcache.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/mnt_namespace.h>
#include <linux/ns_common.h>
#include <linux/nsproxy.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

/* Of one process's maps that are gathered while its mm is locked, or modules. */
#define SW_MAPS_BYTES (256 << 10)

/* How often a mm's lock is tried, every 20 ms. */
#define SW_MAPS_TRIES 50

static bool sw_maps_on;		/* look at what is there */
static atomic_long_t sw_maps_no_id;	/* build-ids that were not in memory */
static atomic_long_t sw_maps_busy;	/* processes whose maps stayed locked */
static bool sw_maps_no_memory;		/* to look at what ran before */
static __typeof__(&from_mnt_ns) sw_from_mnt_ns;

/* ---- records */

static u32 sw_mnt_ns_of(struct task_struct *task)
{
	struct nsproxy *ns = task->nsproxy;
	struct ns_common *common;

	if (!ns || !ns->mnt_ns || !sw_from_mnt_ns)
		return 0;
	common = ibt_wrapper(struct ns_common *,
			     sw_from_mnt_ns(ns->mnt_ns));
	return common->inum;
}

static u32 sw_mnt_ns_of_other(struct task_struct *task)
{
	u32 inum;

	task_lock(task);
	inum = sw_mnt_ns_of(task);
	task_unlock(task);
	return inum;
}

/* The path of what is mapped, in BUF or constant; *deleted: it has no name. */
static const char *
sw_vma_path(struct vm_area_struct *vma, char *buf, bool *deleted)
{
	static const char gone[] = " (deleted)";
	const struct path *path;
	const char *name = NULL;
	size_t len;

	*deleted = false;
	if (!vma->vm_file) {
		if (vma->vm_ops && vma->vm_ops->name)
			name = vma->vm_ops->name(vma);
		return name ?: "";
	}
	path = sw_user_path(vma->vm_file);
	name = d_path(path, buf, PATH_MAX);
	if (IS_ERR(name))
		return "";
	len = strlen(name);
	if (d_unlinked(path->dentry) && len > strlen(gone)) {
		*deleted = true;
		/* d_path() says so in words */
		if (!strcmp(name + len - strlen(gone), gone))
			buf[name - buf + len - strlen(gone)] = '\0';
	}
	return name;
}

static u32 sw_mmap_size(const char *path)
{
	return ALIGN(sizeof(struct sw_trace_mmap) + strlen(path) + 1, 8);
}

/* All but the record's head. */
static void
sw_mmap_fill(struct sw_trace_mmap *m, struct vm_area_struct *vma,
	     struct task_struct *task, const char *path, u32 flags)
{
	struct file *file = vma->vm_file;
	const struct inode *inode;
	int has;

	memset(&m->r + 1, 0, m->r.size - sizeof(m->r));
	m->pid = task->tgid;
	m->tid = task->pid;
	m->addr = vma->vm_start;
	m->len = vma->vm_end - vma->vm_start;
	m->flags = flags;
	m->mnt_ns = task == current ? sw_mnt_ns_of(task)
				    : sw_mnt_ns_of_other(task);
	strcpy(m->path, path);
	if (!file)
		return;
	m->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	/* as who looks for it sees it, by its path */
	inode = d_inode(sw_user_path(file)->dentry);
	m->inode = inode->i_ino;
	m->dev_major = MAJOR(inode->i_sb->s_dev);
	m->dev_minor = MINOR(inode->i_sb->s_dev);
	has = sw_file_build_id(file, m->build_id);
	if (has > 0)
		m->flags |= SW_TRACE_MMAP_BUILD_ID;
	else if (has < 0)
		atomic_long_inc(&sw_maps_no_id);
}

/**
 * sw_image_finish - a record, ready for the output
 * Context: sleepable; may be called once more.
 */
static void sw_image_finish(struct sw_trace_record *r)
{
	if (r->type == SW_TRACE_MODULE)
		sw_module_finish((struct sw_trace_module *)r);
}

/* A record is out: what scripts can ask of it stays. */
static void sw_image_took(const struct sw_trace_record *r)
{
	if (sw_image_table.wanted)
		sw_image_note(r);
}

/* ---- what is there when the trace begins */

/* Records of one process, gathered without the trace's lock. */
struct sw_maps {
	char *bytes;
	size_t used;
	unsigned long next;	/* the address to go on from; 0: done */
};

static void sw_maps_add_vma(struct sw_maps *maps, struct vm_area_struct *vma,
			    struct task_struct *task, char *buf)
{
	struct sw_trace_mmap *m = (void *)(maps->bytes + maps->used);
	bool deleted;
	const char *path = sw_vma_path(vma, buf, &deleted);

	m->r = sw_trace_header(SW_TRACE_MMAP, sw_mmap_size(path));
	sw_mmap_fill(m, vma, task, path, SW_TRACE_MMAP_START |
		     (deleted ? SW_TRACE_MMAP_DELETED : 0));
	maps->used += m->r.size;
}

static void sw_maps_add_comm(struct sw_maps *maps, struct task_struct *task)
{
	struct sw_trace_comm *c = (void *)(maps->bytes + maps->used);

	*c = (struct sw_trace_comm) {
		.r = sw_trace_header(SW_TRACE_COMM, sizeof(*c)),
		.pid = task->tgid,
		.tid = task->pid,
		.flags = SW_TRACE_COMM_START,
	};
	get_task_comm(c->comm, task);
	maps->used += sizeof(*c);
}

/* False: somebody keeps it locked, or we are to end. */
static bool sw_maps_lock(struct mm_struct *mm)
{
	unsigned int i;

	for (i = 0; i < SW_MAPS_TRIES && READ_ONCE(sw_maps_on); i++) {
		if (mmap_read_trylock(mm))
			return true;
		msleep(20);
	}
	return false;
}

/* From maps->next on, as far as there is room. */
static void sw_maps_gather_from(struct sw_maps *maps, struct mm_struct *mm,
				struct task_struct *task, char *buf)
{
	unsigned long at = maps->next;
	struct vm_area_struct *vma;

	maps->next = 0;
	if (!sw_maps_lock(mm)) {
		atomic_long_inc(&sw_maps_busy);
		return;
	}
	while ((vma = find_vma(mm, at))) {
		if (maps->used + sizeof(struct sw_trace_mmap) + PATH_MAX + 8 >
		    SW_MAPS_BYTES)
			break;
		if (vma->vm_flags & VM_EXEC)
			sw_maps_add_vma(maps, vma, task, buf);
		at = vma->vm_end;
	}
	mmap_read_unlock(mm);
	maps->next = vma ? at : 0;
}

/* The mm of a process, and a thread that has it, each with a reference: the first
 * thread may have ended, and has neither mm nor namespaces then. */
static struct mm_struct *
sw_maps_mm(struct task_struct *leader, struct task_struct **thread)
{
	struct mm_struct *mm = NULL;
	struct task_struct *t;

	rcu_read_lock();
	for_each_thread(leader, t) {
		mm = get_task_mm(t);
		if (mm) {
			get_task_struct(t);
			*thread = t;
			break;
		}
	}
	rcu_read_unlock();
	return mm;
}

/* The mm is kept for so long only: a process that ends meanwhile gives its memory
 * back; and not by us, for a file that is unmapped may keep who does it. */
static void sw_maps_gather(struct sw_maps *maps, struct task_struct *task,
			   char *buf)
{
	struct task_struct *thread;
	struct mm_struct *mm = thread_group_leader(task) ?
			       sw_maps_mm(task, &thread) : NULL;

	if (!mm) {
		maps->next = 0;
		return;
	}
	sw_maps_gather_from(maps, mm, thread, buf);
	put_task_struct(thread);
	mmput_async(mm);
}

/* As many records from AT on as the output has room for.  Return: their end. */
static size_t sw_maps_put_some(struct sw_maps *maps, size_t at)
{
	struct sw_trace_record *r;

	sw_trace_open();
	for (; at < maps->used; at += r->size) {
		r = (void *)(maps->bytes + at);
		if (!sw_trace_put(r))
			break;
		sw_image_took(r);
	}
	sw_trace_close();
	return at;
}

/* Waits while the output has no room. */
static void sw_maps_put(struct sw_maps *maps)
{
	struct sw_trace_record *r;
	size_t at;

	for (at = 0; at < maps->used; at += r->size) {
		r = (void *)(maps->bytes + at);
		sw_image_finish(r);
	}
	at = sw_maps_put_some(maps, 0);
	while (at < maps->used && READ_ONCE(sw_maps_on)) {
		msleep(20);
		at = sw_maps_put_some(maps, at);
	}
	for (; at < maps->used; at += r->size) {
		r = (void *)(maps->bytes + at);
		this_cpu_inc(sw_trace_cpus.other_lost);
	}
	maps->used = 0;
}

static void
sw_images_of(struct task_struct *task, struct sw_maps *maps, char *buf)
{
	maps->next = 0;
	sw_trace_hold();
	sw_maps_add_comm(maps, task);
	do {
		sw_maps_gather(maps, task, buf);
		sw_maps_put(maps);
	} while (maps->next && READ_ONCE(sw_maps_on));
	sw_trace_let_go();
}

/* All threads, each with a reference.  Return: how many. */
static unsigned int sw_all_tasks(struct task_struct ***all)
{
	struct task_struct *p, *t;
	unsigned int nr = 0, max = 0;

	rcu_read_lock();
	for_each_process_thread(p, t)
		max++;
	rcu_read_unlock();
	/* those that come later are seen to come */
	*all = kvmalloc_array(max, sizeof(**all), GFP_KERNEL);
	if (!*all)
		return 0;
	rcu_read_lock();
	for_each_process_thread(p, t) {
		if (nr == max)
			break;
		get_task_struct(t);
		(*all)[nr++] = t;
	}
	rcu_read_unlock();
	return nr;
}

static void sw_images_of_modules(struct sw_maps *maps)
{
	struct list_head *all = (void *)kallsyms_lookup_name("modules");
	struct sw_trace_module *m;
	struct module *mod;

	if (!all)
		return;
	sw_trace_hold();
	rcu_read_lock();
	list_for_each_entry_rcu(mod, all, list) {
		if (mod->state == MODULE_STATE_UNFORMED)
			continue;
		if (maps->used + sw_module_size(mod) > SW_MAPS_BYTES) {
			this_cpu_inc(sw_trace_cpus.other_lost);
			continue;
		}
		m = (void *)(maps->bytes + maps->used);
		m->r = sw_trace_header(SW_TRACE_MODULE, sw_module_size(mod));
		sw_module_fill(m, mod);
		maps->used += m->r.size;
	}
	rcu_read_unlock();
	sw_maps_put(maps);
	sw_trace_let_go();
}

static void sw_maps_look_work(struct work_struct *work)
{
	struct task_struct **all = NULL;
	struct sw_maps maps = { .bytes = kvmalloc(SW_MAPS_BYTES, GFP_KERNEL) };
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	unsigned int nr = 0, i;

	if (maps.bytes && buf) {
		sw_images_of_modules(&maps);
		nr = sw_all_tasks(&all);
	}
	if (!nr)
		WRITE_ONCE(sw_maps_no_memory, true);
	for (i = 0; i < nr; i++) {
		if (READ_ONCE(sw_maps_on))
			sw_images_of(all[i], &maps, buf);
		put_task_struct(all[i]);
	}
	kvfree(all);
	kfree(buf);
	kvfree(maps.bytes);
}
static DECLARE_WORK(sw_maps_work, sw_maps_look_work);

/**
 * sw_maps_look - the trace has its head: look at what is there
 * Context: a work item.
 */
static void sw_maps_look(void)
{
	if (READ_ONCE(sw_maps_on))
		sw_work_queue(&sw_maps_work);
}

/* How often nothing could be had. */
static void sw_maps_report(void)
{
	long no_id = atomic_long_read(&sw_maps_no_id);
	long busy = atomic_long_read(&sw_maps_busy);

	if (no_id)
		_stp_warn("stapwatch: %ld files have no build-id in the trace, as the page with it was not in memory; reports use their paths\n",
			  no_id);
	if (busy)
		_stp_warn("stapwatch: %ld processes' maps are not in the trace: they stayed locked\n",
			  busy);
	if (READ_ONCE(sw_maps_no_memory))
		_stp_warn("stapwatch: processes from before the session have no maps in the trace: there was no memory to look\n");
}

/**
 * sw_maps_stop - look no more
 * Context: sleepable.
 */
static void sw_maps_stop(void)
{
	WRITE_ONCE(sw_maps_on, false);
	cancel_work_sync(&sw_maps_work);
	sw_maps_report();
}

static void sw_maps_start(void)
{
	atomic_long_set(&sw_maps_no_id, 0);
	atomic_long_set(&sw_maps_busy, 0);
	WRITE_ONCE(sw_maps_no_memory, false);
	sw_from_mnt_ns = (void *)kallsyms_lookup_name("from_mnt_ns");
	WRITE_ONCE(sw_maps_on, true);
}

#endif
