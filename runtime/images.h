/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images: what is mapped where in which process, by pid, for who looks at
 * samples afterwards.
 *
 * Maps are recorded when they come into being, by probes on the functions that
 * the kernel tells perf's own users by: perf_event_mmap(), perf_event_comm() (a
 * new program, too), perf_event_fork() and perf_event_exit_task().  What is
 * there when the trace begins is looked at by a work item, after that.  A sample
 * carries no more than pid and address.
 *
 * Who may run what, against whom:
 *
 *   sw_image_on_*()	kprobes: in task context, preemption off; the mm is
 *			locked or is the task's own.  They do not sleep.
 *   sw_image_finish()	the trace's work item: reads the file's build-id, and
 *			where a module's sections are
 *   sw_images_work()	a work item: takes each mm's lock for a moment, and none
 *			of the trace's meanwhile
 *   sw_images_start(), sw_images_stop()	sleepable
 *
 * A record in the ring has a reference to its file, for the build-id.
 */
#ifndef STAPWATCH_IMAGES_H
#define STAPWATCH_IMAGES_H

#include "buildid.h"
#include "imagetable.h"
#include "trace.h"
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mnt_namespace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ns_common.h>
#include <linux/nsproxy.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

/* In a mmap record's flags: its build_id begins with a file's address. */
#define SW_MMAP_HAS_FILE 0x80000000u
/* In a module record's: nobody has looked for its build_id. */
#define SW_MODULE_IS_NEW 0x80000000u
/* Notes that are looked through, at most. */
#define SW_NOTES_MAX 4096
#define SW_PHDRS_MAX 64
/* Of one process's maps that are gathered while its mm is locked, or modules. */
#define SW_MAPS_BYTES (256 << 10)

static DEFINE_PER_CPU(char *, sw_image_path);

static struct {
	bool on;
	bool stopping;
	bool table;		/* the script asks for images */
	struct work_struct work;
	struct notifier_block modules;
	__typeof__(&from_mnt_ns) from_mnt_ns;
} sw_images;

/* ---- build-ids: sleepable */

static bool sw_file_read(struct file *file, u64 at, void *to, size_t bytes)
{
	loff_t pos = at;

	return pos >= 0 && kernel_read(file, to, bytes, &pos) == bytes;
}

static bool
sw_file_notes(struct file *file, const struct sw_elf *elf, void *page, u8 *id)
{
	u64 at, bytes;
	unsigned int i;
	union {
		Elf32_Phdr p32;
		Elf64_Phdr p64;
	} phdr;

	for (i = 0; i < elf->phnum && i < SW_PHDRS_MAX; i++) {
		if (!sw_file_read(file, elf->phoff + i * elf->phentsize, &phdr,
				  elf->phentsize))
			return false;
		if (!sw_elf_notes(elf, &phdr, &at, &bytes))
			continue;
		bytes = min_t(u64, bytes, SW_NOTES_MAX);
		if (sw_file_read(file, at, page, bytes) &&
		    sw_build_id_in_notes(page, bytes, id))
			return true;
	}
	return false;
}

static bool sw_file_build_id(struct file *file, u8 *id)
{
	struct sw_elf elf;
	Elf64_Ehdr head;
	void *page;
	bool has;

	/* devices may do anything when they are read */
	if (!S_ISREG(file_inode(file)->i_mode) ||
	    !sw_file_read(file, 0, &head, sizeof(head)) ||
	    !sw_elf_head(&head, &elf))
		return false;
	page = kmalloc(SW_NOTES_MAX, GFP_KERNEL);
	has = page && sw_file_notes(file, &elf, page, id);
	kfree(page);
	return has;
}

static struct file *sw_image_file(struct trace_mmap *m)
{
	struct file *file;

	if (!(m->flags & SW_MMAP_HAS_FILE))
		return NULL;
	memcpy(&file, m->build_id, sizeof(file));
	memset(m->build_id, 0, sizeof(m->build_id));
	m->flags &= ~SW_MMAP_HAS_FILE;
	return file;
}

static void sw_image_finish_mmap(struct trace_mmap *m)
{
	struct file *file = sw_image_file(m);

	if (!file)
		return;
	if (sw_file_build_id(file, m->build_id))
		m->flags |= TRACE_MMAP_BUILD_ID;
	fput(file);
}

/* The kernel shows a module's notes as a file. */
static bool sw_module_build_id(const char *name, u8 *id)
{
	char path[sizeof("/sys/module//notes/.note.gnu.build-id") +
		  MODULE_NAME_LEN];
	u8 notes[64] __aligned(4);
	struct file *file;
	loff_t pos = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
		 name);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return false;
	n = kernel_read(file, notes, sizeof(notes), &pos);
	filp_close(file, NULL);
	return n > 0 && sw_build_id_in_notes(notes, n, id);
}

/* ---- modules' sections, as the kernel shows them: sleepable */

struct sw_sections {
	struct dir_context dir;
	struct trace_section *to;
	unsigned int nr;
};

/* Some kernels want true to go on, and others 0. */
typedef __typeof__(((filldir_t)NULL)(NULL, NULL, 0, 0, 0, 0)) sw_filldir_ret;
#define SW_GO_ON __builtin_types_compatible_p(sw_filldir_ret, bool)

static sw_filldir_ret
sw_section_name(struct dir_context *dir, const char *name, int len, loff_t pos,
		u64 ino, unsigned int type)
{
	struct sw_sections *s = container_of(dir, struct sw_sections, dir);

	/* what runs once the module is there; data is never run */
	if (s->nr < TRACE_SECTIONS && len < sizeof(s->to->name) &&
	    strnstr(name, "text", len) && strncmp(name, ".init.", 6))
		memcpy(s->to[s->nr++].name, name, len);
	return SW_GO_ON;
}

static u64 sw_section_addr(const char *module, const char *section)
{
	char path[sizeof("/sys/module//sections/") + MODULE_NAME_LEN +
		  sizeof(((struct trace_section *)0)->name)];
	char text[32] = "";
	struct file *file;
	loff_t pos = 0;
	u64 addr = 0;

	snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", module,
		 section);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return 0;
	if (kernel_read(file, text, sizeof(text) - 1, &pos) > 0 &&
	    kstrtou64(strim(text), 0, &addr))
		addr = 0;
	filp_close(file, NULL);
	return addr;
}

static struct trace_section *sw_module_sections(struct trace_module *m)
{
	return (void *)m + m->r.size -
	       TRACE_SECTIONS * sizeof(struct trace_section);
}

/* Return: are there any? */
static bool sw_module_find_sections(struct trace_module *m)
{
	char path[sizeof("/sys/module//sections") + MODULE_NAME_LEN];
	struct sw_sections s = {
		.dir.actor = sw_section_name,
		.to = sw_module_sections(m),
	};
	unsigned int i, nr = 0;
	struct file *file;

	snprintf(path, sizeof(path), "/sys/module/%s/sections", m->name);
	file = filp_open(path, O_RDONLY | O_DIRECTORY, 0);
	if (IS_ERR(file))
		return false;
	iterate_dir(file, &s.dir);
	filp_close(file, NULL);
	for (i = 0; i < s.nr; i++) {
		s.to[i].addr = sw_section_addr(m->name, s.to[i].name);
		if (s.to[i].addr - m->addr < m->len)
			s.to[nr++] = s.to[i];
	}
	memset(s.to + nr, 0, (TRACE_SECTIONS - nr) * sizeof(*s.to));
	return nr;
}

static void sw_image_finish_module(struct trace_module *m)
{
	if (!(m->flags & SW_MODULE_IS_NEW))
		return;
	m->flags = sw_module_build_id(m->name, m->build_id) ?
		   TRACE_MODULE_BUILD_ID : 0;
	if (sw_module_find_sections(m))
		m->flags |= TRACE_MODULE_SECTIONS;
}

/**
 * sw_image_finish - a record, ready for the output
 * Context: sleepable; may be called once more.
 */
static void sw_image_finish(struct trace_record *r)
{
	if (r->type == TRACE_MMAP)
		sw_image_finish_mmap((struct trace_mmap *)r);
	else if (r->type == TRACE_MODULE)
		sw_image_finish_module((struct trace_module *)r);
}

/* A record is out: what scripts can ask of it stays. */
static void sw_image_took(const struct trace_record *r)
{
	if (sw_images.table)
		sw_image_note(r);
}

/* A record that will not come out lets its file go. */
static void sw_image_drop(struct trace_record *r)
{
	struct file *file = r->type == TRACE_MMAP ?
			    sw_image_file((struct trace_mmap *)r) : NULL;

	if (file)
		fput(file);
}

/* ---- records, as things happen */

/* Return: the CPU's ring with interrupts off, or NULL, which is counted. */
static struct sw_trace_cpu *sw_image_enter(unsigned long *flags)
{
	struct sw_trace_cpu *t;

	local_irq_save(*flags);
	t = this_cpu_ptr(&sw_trace_cpus);
	if (likely(sw_trace_enter(t)))
		return t;
	this_cpu_inc(sw_trace_cpus.other_lost);
	local_irq_restore(*flags);
	return NULL;
}

static void
sw_image_leave(struct sw_trace_cpu *t, const void *record, unsigned long flags)
{
	if (record)
		sw_trace_commit(t);
	else
		this_cpu_inc(sw_trace_cpus.other_lost);
	sw_trace_leave(t);
	local_irq_restore(flags);
}

static u32 sw_mnt_ns_of(struct task_struct *task)
{
	struct nsproxy *ns = task->nsproxy;
	struct ns_common *common;

	if (!ns || !ns->mnt_ns || !sw_images.from_mnt_ns)
		return 0;
	common = ibt_wrapper(struct ns_common *,
			     sw_images.from_mnt_ns(ns->mnt_ns));
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
	const char *name = NULL;
	size_t len;

	*deleted = false;
	if (!vma->vm_file) {
		if (vma->vm_ops && vma->vm_ops->name)
			name = vma->vm_ops->name(vma);
		return name ?: "";
	}
	name = file_path(vma->vm_file, buf, PATH_MAX);
	if (IS_ERR(name))
		return "";
	len = strlen(name);
	if (d_unlinked(file_dentry(vma->vm_file)) && len > strlen(gone)) {
		*deleted = true;
		/* d_path() says so in words */
		if (!strcmp(name + len - strlen(gone), gone))
			buf[name - buf + len - strlen(gone)] = '\0';
	}
	return name;
}

static u32 sw_mmap_size(const char *path)
{
	return ALIGN(sizeof(struct trace_mmap) + strlen(path) + 1, 8);
}

/* All but the record's head; takes a reference to the file. */
static void
sw_mmap_fill(struct trace_mmap *m, struct vm_area_struct *vma,
	     struct task_struct *task, const char *path, u32 flags)
{
	struct file *file = vma->vm_file;

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
	m->inode = file_inode(file)->i_ino;
	m->dev_major = MAJOR(file_inode(file)->i_sb->s_dev);
	m->dev_minor = MINOR(file_inode(file)->i_sb->s_dev);
	m->flags |= SW_MMAP_HAS_FILE;
	get_file(file);
	memcpy(m->build_id, &file, sizeof(file));
}

static int sw_image_on_mmap(struct kprobe *p, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct sw_trace_cpu *t;
	struct trace_mmap *m;
	unsigned long flags;
	const char *path;
	bool deleted;

	if (!(vma->vm_flags & VM_EXEC))
		return 0;
	path = sw_vma_path(vma, this_cpu_read(sw_image_path), &deleted);
	t = sw_image_enter(&flags);
	if (!t)
		return 0;
	m = sw_trace_reserve(t, TRACE_MMAP, sw_mmap_size(path));
	if (m)
		sw_mmap_fill(m, vma, current, path,
			     deleted ? TRACE_MMAP_DELETED : 0);
	sw_image_leave(t, m, flags);
	return 0;
}

static int sw_image_on_comm(struct kprobe *p, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);
	bool exec = regs_get_kernel_argument(regs, 1) & 1;
	struct sw_trace_cpu *t;
	struct trace_comm *c;
	unsigned long flags;

	t = sw_image_enter(&flags);
	if (!t)
		return 0;
	c = sw_trace_reserve(t, TRACE_COMM, sizeof(*c));
	if (c) {
		c->pid = task->tgid;
		c->tid = task->pid;
		c->flags = exec ? TRACE_COMM_EXEC : 0;
		c->pad = 0;
		memcpy(c->comm, task->comm, sizeof(c->comm));
	}
	sw_image_leave(t, c, flags);
	return 0;
}

static int sw_image_on_fork(struct kprobe *p, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);
	struct sw_trace_cpu *t;
	struct trace_fork *f;
	unsigned long flags;

	t = sw_image_enter(&flags);
	if (!t)
		return 0;
	f = sw_trace_reserve(t, TRACE_FORK, sizeof(*f));
	if (f) {
		f->pid = task->tgid;
		f->tid = task->pid;
		f->parent_pid = current->tgid;
		f->parent_tid = current->pid;
	}
	sw_image_leave(t, f, flags);
	return 0;
}

static int sw_image_on_exit(struct kprobe *p, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);
	struct sw_trace_cpu *t;
	struct trace_exit *x;
	unsigned long flags;

	t = sw_image_enter(&flags);
	if (!t)
		return 0;
	x = sw_trace_reserve(t, TRACE_EXIT, sizeof(*x));
	if (x) {
		x->pid = task->tgid;
		x->tid = task->pid;
	}
	sw_image_leave(t, x, flags);
	return 0;
}

static struct kprobe sw_image_probes[] = {
	{ .symbol_name = "perf_event_mmap", .pre_handler = sw_image_on_mmap },
	{ .symbol_name = "perf_event_comm", .pre_handler = sw_image_on_comm },
	{ .symbol_name = "perf_event_fork", .pre_handler = sw_image_on_fork },
	{ .symbol_name = "perf_event_exit_task",
	  .pre_handler = sw_image_on_exit },
};
static unsigned int sw_image_probes_on;

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
	struct trace_mmap *m = (void *)(maps->bytes + maps->used);
	bool deleted;
	const char *path = sw_vma_path(vma, buf, &deleted);

	m->r = sw_trace_header(TRACE_MMAP, sw_mmap_size(path));
	sw_mmap_fill(m, vma, task, path, TRACE_MMAP_START |
		     (deleted ? TRACE_MMAP_DELETED : 0));
	maps->used += m->r.size;
}

static void sw_maps_add_comm(struct sw_maps *maps, struct task_struct *task)
{
	struct trace_comm *c = (void *)(maps->bytes + maps->used);

	*c = (struct trace_comm) {
		.r = sw_trace_header(TRACE_COMM, sizeof(*c)),
		.pid = task->tgid,
		.tid = task->pid,
	};
	get_task_comm(c->comm, task);
	maps->used += sizeof(*c);
}

/* From maps->next on, as far as there is room. */
static void sw_maps_gather(struct sw_maps *maps, struct mm_struct *mm,
			   struct task_struct *task, char *buf)
{
	unsigned long at = maps->next;
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	while ((vma = find_vma(mm, at))) {
		if (maps->used + sizeof(struct trace_mmap) + PATH_MAX + 8 >
		    SW_MAPS_BYTES)
			break;
		if (vma->vm_flags & VM_EXEC)
			sw_maps_add_vma(maps, vma, task, buf);
		at = vma->vm_end;
	}
	mmap_read_unlock(mm);
	maps->next = vma ? at : 0;
}

/* As many records from AT on as the output has room for.  Return: their end. */
static size_t sw_maps_put_some(struct sw_maps *maps, size_t at)
{
	struct trace_record *r;

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
	struct trace_record *r;
	size_t at;

	for (at = 0; at < maps->used; at += r->size) {
		r = (void *)(maps->bytes + at);
		sw_image_finish(r);
	}
	at = sw_maps_put_some(maps, 0);
	while (at < maps->used && !READ_ONCE(sw_images.stopping)) {
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
	struct mm_struct *mm = thread_group_leader(task) ? get_task_mm(task)
							 : NULL;

	maps->next = 0;
	sw_trace_hold();
	sw_maps_add_comm(maps, task);
	do {
		if (mm)
			sw_maps_gather(maps, mm, task, buf);
		sw_maps_put(maps);
	} while (maps->next && !READ_ONCE(sw_images.stopping));
	sw_trace_let_go();
	if (mm)
		mmput(mm);
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

/* ---- modules */

static u64 sw_module_text(const struct module *mod, u64 *len)
{
#if defined(STAPCONF_MODULE_MEMORY)
	*len = mod->mem[MOD_TEXT].size;
	return (unsigned long)mod->mem[MOD_TEXT].base;
#elif defined(STAPCONF_MODULE_LAYOUT)
	*len = mod->core_layout.text_size;
	return (unsigned long)mod->core_layout.base;
#else
	*len = mod->core_text_size;
	return (unsigned long)mod->module_core;
#endif
}

static u32 sw_module_size(const struct module *mod)
{
	return ALIGN(sizeof(struct trace_module) + strlen(mod->name) + 1, 8) +
	       TRACE_SECTIONS * sizeof(struct trace_section);
}

/* All but the record's head. */
static void sw_module_fill(struct trace_module *m, const struct module *mod)
{
	memset(&m->r + 1, 0, m->r.size - sizeof(m->r));
	m->addr = sw_module_text(mod, &m->len);
	m->flags = SW_MODULE_IS_NEW;
	strcpy(m->name, mod->name);
}

static int
sw_image_on_module(struct notifier_block *nb, unsigned long state, void *module)
{
	struct sw_trace_cpu *t;
	struct trace_module *m;
	unsigned long flags;

	if (state != MODULE_STATE_LIVE)
		return NOTIFY_DONE;
	t = sw_image_enter(&flags);
	if (!t)
		return NOTIFY_DONE;
	m = sw_trace_reserve(t, TRACE_MODULE, sw_module_size(module));
	if (m)
		sw_module_fill(m, module);
	sw_image_leave(t, m, flags);
	return NOTIFY_DONE;
}

static void sw_images_of_modules(struct sw_maps *maps)
{
	struct list_head *all = (void *)kallsyms_lookup_name("modules");
	struct trace_module *m;
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
		m->r = sw_trace_header(TRACE_MODULE, sw_module_size(mod));
		sw_module_fill(m, mod);
		maps->used += m->r.size;
	}
	rcu_read_unlock();
	sw_maps_put(maps);
	sw_trace_let_go();
}

/* ---- beginning and end */

static void sw_images_work(struct work_struct *work)
{
	struct task_struct **all;
	struct sw_maps maps = { .bytes = kvmalloc(SW_MAPS_BYTES, GFP_KERNEL) };
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	unsigned int nr = sw_all_tasks(&all), i;

	if (maps.bytes)
		sw_images_of_modules(&maps);
	for (i = 0; i < nr; i++) {
		if (maps.bytes && buf && !READ_ONCE(sw_images.stopping))
			sw_images_of(all[i], &maps, buf);
		put_task_struct(all[i]);
	}
	kvfree(all);
	kfree(buf);
	kvfree(maps.bytes);
}

/* The trace has its head: look at what is there. */
static void sw_images_look(void)
{
	if (sw_images.on)
		schedule_work_on(raw_smp_processor_id(), &sw_images.work);
}

static void sw_images_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kfree(per_cpu(sw_image_path, cpu));
		per_cpu(sw_image_path, cpu) = NULL;
	}
}

/**
 * sw_images_stop - record no more
 * Context: sleepable; the trace's work item may still run.
 */
static void sw_images_stop(void)
{
	struct kprobe *probes[ARRAY_SIZE(sw_image_probes)];
	unsigned long missed = 0;
	unsigned int i;

	if (!sw_images.on)
		return;
	WRITE_ONCE(sw_images.stopping, true);
	for (i = 0; i < sw_image_probes_on; i++)
		probes[i] = &sw_image_probes[i];
	unregister_kprobes(probes, sw_image_probes_on);
	for (i = 0; i < sw_image_probes_on; i++) {
		missed += probes[i]->nmissed;
		/* fit to be registered again */
		*probes[i] = (struct kprobe) {
			.symbol_name = probes[i]->symbol_name,
			.pre_handler = probes[i]->pre_handler,
		};
	}
	sw_image_probes_on = 0;
	this_cpu_add(sw_trace_cpus.other_lost, missed);
	unregister_module_notifier(&sw_images.modules);
	cancel_work_sync(&sw_images.work);
	sw_images_free();
	sw_images.on = false;
}

/* ---- what scripts ask */

static void __maybe_unused
sw_image_name(u32 pid, u64 ip, char *buf, size_t size)
{
	const struct sw_image *image = sw_image_find(pid, ip);
	char text[KSYM_SYMBOL_LEN];
	char *module;

	if ((s64)ip >= 0) {
		strscpy(buf, image ? image->path : "", size);
		return;
	}
	/* SYMBOL+0xOFFSET/0xSIZE [MODULE] */
	snprintf(text, sizeof(text), "%pS", (void *)(unsigned long)ip);
	module = strrchr(text, '[');
	strscpy(buf, module ?: "[kernel]", size);
}

static s64 __maybe_unused sw_image_offset(u32 pid, u64 ip)
{
	const struct sw_image *image = sw_image_find(pid, ip);

	return image ? ip - image->addr + image->offset : -1;
}

static int sw_images_hook(void)
{
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(sw_image_probes); i++) {
		rc = register_kprobe(&sw_image_probes[i]);
		if (rc) {
			_stp_error("stapwatch: cannot follow processes' maps: no probe on %s() (%d)\n",
				   sw_image_probes[i].symbol_name, rc);
			return rc;
		}
		sw_image_probes_on = i + 1;
	}
	return 0;
}

/**
 * sw_images_start - record what is mapped from now on
 *
 * Context: sleepable; the trace has rings.
 * Return: 0, or an errno, after which sw_images_stop() is due.
 */
static int sw_images_start(bool table)
{
	int cpu;

	sw_images.table = table;
	sw_images.from_mnt_ns = (void *)kallsyms_lookup_name("from_mnt_ns");
	for_each_possible_cpu(cpu) {
		char *path = kmalloc_node(PATH_MAX, GFP_KERNEL,
					  cpu_to_node(cpu));

		per_cpu(sw_image_path, cpu) = path;
		if (!path) {
			sw_images_free();
			return -ENOMEM;
		}
	}
	sw_images.stopping = false;
	INIT_WORK(&sw_images.work, sw_images_work);
	sw_images.modules.notifier_call = sw_image_on_module;
	register_module_notifier(&sw_images.modules);
	sw_images.on = true;
	return sw_images_hook();
}

#endif
