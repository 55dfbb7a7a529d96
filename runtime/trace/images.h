/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images: what is mapped where in which process, by pid, for who looks at
 * samples afterwards.
 *
 * Maps are recorded when they come into being, by probes on the functions that
 * the kernel tells perf's own users by: perf_event_mmap(), perf_event_comm() (a
 * new program, too), perf_event_fork() and perf_event_exit_task().  What is
 * there when the trace begins is looked at by maps.h, after that.  A sample carries
 * no more than pid and address.
 *
 * Who may run what, against whom:
 *
 *   sw_image_on_*()	kprobes: in task context, preemption off; the mm is
 *			locked or is the task's own.  They do not sleep.
 *   sw_image_on_module()	the module loader: sleepable
 *   sw_image_name(), sw_image_offset()	any context
 *   sw_images_start(), sw_images_stop()	sleepable, one at a time
 *   sw_images_follow(), sw_images_leave()	sleepable, sw_profile.lock not held:
 *			the kernel tells of modules under a lock of its own, and
 *			SystemTap takes its own then, as it does to end a session
 */
#ifndef STAPWATCH_TRACE_IMAGES_H
#define STAPWATCH_TRACE_IMAGES_H

#include "trace/imagetable.h"
#include "trace/maps.h"
#include "trace/modules.h"
#include "trace/trace.h"
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mm.h>

static DEFINE_PER_CPU(char *, sw_image_path);

static struct {
	bool on;
	struct mutex lock;	/* of what follows */
	bool follows;
	struct notifier_block modules;
} sw_images = { .lock = __MUTEX_INITIALIZER(sw_images.lock) };

/* ---- records, as things happen */

static int sw_image_on_mmap(struct kprobe *p, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct sw_trace_cpu *t;
	struct sw_trace_mmap *m;
	unsigned long flags;
	const char *path;
	bool deleted;

	if (!(vma->vm_flags & VM_EXEC))
		return 0;
	path = sw_vma_path(vma, this_cpu_read(sw_image_path), &deleted);
	t = sw_trace_enter_other(&flags);
	if (!t)
		return 0;
	m = sw_trace_reserve(t, SW_TRACE_MMAP, sw_mmap_size(path));
	if (m)
		sw_mmap_fill(m, vma, current, path,
			     deleted ? SW_TRACE_MMAP_DELETED : 0);
	sw_trace_leave_other(t, m, flags);
	return 0;
}

static int sw_image_on_comm(struct kprobe *p, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);
	bool exec = regs_get_kernel_argument(regs, 1) & 1;
	struct sw_trace_cpu *t;
	struct sw_trace_comm *c;
	unsigned long flags;

	t = sw_trace_enter_other(&flags);
	if (!t)
		return 0;
	c = sw_trace_reserve(t, SW_TRACE_COMM, sizeof(*c));
	if (c) {
		c->pid = task->tgid;
		c->tid = task->pid;
		c->flags = exec ? SW_TRACE_COMM_EXEC : 0;
		c->pad = 0;
		memcpy(c->comm, task->comm, sizeof(c->comm));
	}
	sw_trace_leave_other(t, c, flags);
	return 0;
}

static int sw_image_on_fork(struct kprobe *p, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);
	struct sw_trace_cpu *t;
	struct sw_trace_fork *f;
	unsigned long flags;

	t = sw_trace_enter_other(&flags);
	if (!t)
		return 0;
	f = sw_trace_reserve(t, SW_TRACE_FORK, sizeof(*f));
	if (f) {
		f->pid = task->tgid;
		f->tid = task->pid;
		f->parent_pid = current->tgid;
		f->parent_tid = current->pid;
	}
	sw_trace_leave_other(t, f, flags);
	return 0;
}

static int sw_image_on_exit(struct kprobe *p, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);
	struct sw_trace_cpu *t;
	struct sw_trace_exit *x;
	unsigned long flags;

	t = sw_trace_enter_other(&flags);
	if (!t)
		return 0;
	x = sw_trace_reserve(t, SW_TRACE_EXIT, sizeof(*x));
	if (x) {
		x->pid = task->tgid;
		x->tid = task->pid;
	}
	sw_trace_leave_other(t, x, flags);
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

static int
sw_image_on_module(struct notifier_block *nb, unsigned long state, void *module)
{
	struct sw_trace_cpu *t;
	struct sw_trace_module *m;
	unsigned long flags;

	if (state != MODULE_STATE_LIVE)
		return NOTIFY_DONE;
	/* with sw_images_stop(), which waits for this */
	rcu_read_lock();
	t = READ_ONCE(sw_images.on) ? sw_trace_enter_other(&flags) : NULL;
	if (t) {
		m = sw_trace_reserve(t, SW_TRACE_MODULE,
				     sw_module_size(module));
		if (m)
			sw_module_fill(m, module);
		sw_trace_leave_other(t, m, flags);
	}
	rcu_read_unlock();
	return NOTIFY_DONE;
}

/* ---- beginning and end */

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
	sw_maps_stop();
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
	sw_images_free();
	WRITE_ONCE(sw_images.on, false);
	/* a module's notifier may be in the trace's ring, which goes next */
	synchronize_rcu();
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
 * @table: the script asks for images
 *
 * Context: sleepable; the trace has rings.
 * Return: 0, or an errno, after which sw_images_stop() is due.
 */
static int sw_images_start(bool table)
{
	int cpu;

	sw_image_table.wanted = table;
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		/* a path is found under locks that sleep there */
		_stp_warn("stapwatch: a PREEMPT_RT kernel does not tell what is mapped where; reports cannot name files\n");
		return 0;
	}
	for_each_possible_cpu(cpu) {
		char *path = kmalloc_node(PATH_MAX, GFP_KERNEL,
					  cpu_to_node(cpu));

		per_cpu(sw_image_path, cpu) = path;
		if (!path) {
			sw_images_free();
			_stp_error("stapwatch: no memory for each CPU's path\n");
			return -ENOMEM;
		}
	}
	/* a module that comes now is told of, or found */
	WRITE_ONCE(sw_images.on, true);
	sw_maps_start();
	return sw_images_hook();
}

/**
 * sw_images_follow - be told of modules from now on
 *
 * They are recorded from sw_images_start() on, which comes after it.
 *
 * Return: 0, also if that is so already, or an errno.
 */
static int sw_images_follow(void)
{
	int rc = 0;

	mutex_lock(&sw_images.lock);
	if (!sw_images.follows) {
		sw_images.modules.notifier_call = sw_image_on_module;
		rc = register_module_notifier(&sw_images.modules);
		sw_images.follows = !rc;
	}
	mutex_unlock(&sw_images.lock);
	if (rc)
		_stp_error("stapwatch: cannot follow the kernel's modules (%d)\n",
			   rc);
	return rc;
}

/**
 * sw_images_leave - the same no more, from when this returns
 */
static void sw_images_leave(void)
{
	mutex_lock(&sw_images.lock);
	if (sw_images.follows)
		unregister_module_notifier(&sw_images.modules);
	sw_images.follows = false;
	mutex_unlock(&sw_images.lock);
}

#endif
