/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where kernels differ: what this tree needs of them by one name each.
 *
 * The oldest kernel is Linux 5.10.  What tells them apart is the thing itself,
 * SystemTap's own test of it (STAPCONF_...), or a macro that came with it; a
 * number of a version only where none of these can.  Each says since when.
 *
 *   sw_task_state(), sw_task_is_on_cpu(), sw_data_flags(), sw_data_weight(), sw_attr_more()	any context
 *   sw_page_cache_copy()	any but NMI
 *   sw_robust_list()	any, of current
 *   sw_pde_data(), sw_vm_flags_mod()	processes, within a file's functions
 *   sw_hrtimer_setup()	any, of what is not in use
 *   sw_uprobe_*()		sleepable
 */
#ifndef STAPWATCH_BASE_KERNEL_H
#define STAPWATCH_BASE_KERNEL_H

#include "base/guess.h"
#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uprobes.h>
#include <linux/version.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

/* ---- contexts */

/* Since 5.11. */
#ifndef in_hardirq
#define in_hardirq() in_irq()
#endif

/* ---- tracepoints */

/* task_newtask's flags are a u64 since 6.18. */
typedef __typeof__(__builtin_choose_expr(
	__builtin_types_compatible_p(__typeof__(trace_task_newtask),
				     void(struct task_struct *, u64)),
	(u64)0, 0UL)) sw_clone_flags;

/* sched_process_exit tells whether it is the process's last thread since 6.16. */
#define SW_EXIT_TELLS_LAST						\
	__builtin_types_compatible_p(__typeof__(trace_sched_process_exit), \
				     void(struct task_struct *, bool))

/* For a callback of all three arguments, one that this kernel may want instead. */
#define SW_EXIT_WITHOUT_LAST(callback)					\
static void __maybe_unused						\
callback##_without_last(void *data, struct task_struct *task)		\
{									\
	callback(data, task, false);					\
}

/* The one of both that is to be hooked. */
#define SW_EXIT_CALLBACK(callback)					\
	__builtin_choose_expr(SW_EXIT_TELLS_LAST, callback,		\
			      callback##_without_last)

static __always_inline unsigned int sw_task_state(const struct task_struct *t)
{
	/* before 5.14 */
#ifdef STAPCONF_TASK_STATE
	return READ_ONCE(t->state);
#else
	return READ_ONCE(t->__state);
#endif
}

/* Does it run, or is it about to leave?  What it wrote before it left is there then. */
static __always_inline bool sw_task_is_on_cpu(const struct task_struct *t)
{
#ifdef CONFIG_SMP
	/* with the kernel's smp_store_release() when the thread has left */
	return smp_load_acquire(&t->on_cpu);
#else
	return t == current;
#endif
}

/*
 * sched_switch tells of the state in which who goes was since 5.18.  Before that
 * it is asked for: to be woken meanwhile is not to be able to run already.
 */
#define SW_SWITCH_TELLS_STATE						\
	__builtin_types_compatible_p(__typeof__(trace_sched_switch),	\
		void(bool, struct task_struct *, struct task_struct *,	\
		     unsigned int))

/* For a callback of all five arguments, one that this kernel may want instead. */
#define SW_SWITCH_WITHOUT_STATE(callback)				\
static void __maybe_unused						\
callback##_without_state(void *data, bool preempt,			\
			 struct task_struct *prev,			\
			 struct task_struct *next)			\
{									\
	callback(data, preempt, prev, next, sw_task_state(prev));	\
}

/* The one of both that is to be hooked. */
#define SW_SWITCH_CALLBACK(callback)					\
	__builtin_choose_expr(SW_SWITCH_TELLS_STATE, callback,		\
			      callback##_without_state)

/* ---- events */

/*
 * sw_attr_more - an event's later words: config3 came with 6.3, config4 after 6.18
 * Return: the number of one that is not 0 and that this kernel lacks; or 0.
 */
static inline unsigned int
sw_attr_more(struct perf_event_attr *attr, u64 config3, u64 config4)
{
#ifdef PERF_ATTR_SIZE_VER8
	attr->config3 = config3;
#else
	if (config3)
		return 3;
#endif
#ifdef PERF_ATTR_SIZE_VER9
	attr->config4 = config4;
#else
	if (config4)
		return 4;
#endif
	return 0;
}

/* ---- samples */

/* Of either kind: there are two since 5.12. */
#ifdef PERF_SAMPLE_WEIGHT_TYPE
#define SW_SAMPLE_WEIGHT PERF_SAMPLE_WEIGHT_TYPE
#else
#define SW_SAMPLE_WEIGHT PERF_SAMPLE_WEIGHT
#endif

static __always_inline u64 sw_data_weight(const struct perf_sample_data *data)
{
#ifdef PERF_SAMPLE_WEIGHT_TYPE
	return data->weight.full;
#else
	return data->weight;
#endif
}

static __always_inline void
sw_data_set_weight(struct perf_sample_data *data, u64 weight)
{
#ifdef PERF_SAMPLE_WEIGHT_TYPE
	data->weight.full = weight;
#else
	data->weight = weight;
#endif
	/* samples say so themselves: below */
#if defined(PERF_EVENT_FLAG_ARCH) && PERF_EVENT_FLAG_ARCH > 0xffff
	data->sample_flags |= PERF_SAMPLE_WEIGHT;
#endif
}

/*
 * sw_data_flags - what the PMU has brought: PERF_SAMPLE_...
 *
 * Samples say that themselves since 6.1, in which PERF_EVENT_FLAG_ARCH grew from 16
 * bits.  Before that what is not there is what perf_sample_data_init() has left; of
 * the address of the instruction and the stack there is no knowing, so these are not
 * taken from there.
 */
static __always_inline u64 sw_data_flags(const struct perf_sample_data *data)
{
#if defined(PERF_EVENT_FLAG_ARCH) && PERF_EVENT_FLAG_ARCH > 0xffff
	return data->sample_flags;
#else
	return (data->addr ? PERF_SAMPLE_ADDR : 0) |
	       (sw_data_weight(data) ? SW_SAMPLE_WEIGHT : 0) |
	       (data->data_src.val != PERF_MEM_NA ? PERF_SAMPLE_DATA_SRC : 0) |
	       (data->br_stack ? PERF_SAMPLE_BRANCH_STACK : 0);
#endif
}

/* ---- memory and files */

/* Of a map that nobody else knows yet.  vm_flags_mod() came with 6.3; some kernels
 * of before have it, with VM_FLAGS constant, and some not. */
static inline void sw_vm_flags_mod(struct vm_area_struct *vma,
				   unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	unsigned long *flags = (unsigned long *)&vma->vm_flags;

	*flags = (*flags | set) & ~clear;
#endif
}

/*
 * What is in memory of a file, up to the end of a page; as though it might fault.
 * Folios came with 5.16.
 */
static inline bool sw_page_cache_copy(struct address_space *mapping, u64 at,
				      void *to, size_t bytes)
{
	bool had;
#ifdef page_folio
	struct folio *folio = filemap_get_folio(mapping, at >> PAGE_SHIFT);
	const char *from;

	if (IS_ERR_OR_NULL(folio))
		return false;
	from = kmap_local_folio(folio, offset_in_folio(folio, at));
	had = folio_test_uptodate(folio) &&
	      sw_guess_kernel(to, from, bytes);
	kunmap_local(from);
	folio_put(folio);
#else
	struct page *page = find_get_page(mapping, at >> PAGE_SHIFT);

	if (!page)
		return false;
	had = PageUptodate(page) &&
	      sw_guess_kernel(to, page_address(page) + offset_in_page(at),
			      bytes);
	put_page(page);
#endif
	return had;
}

/*
 * Where a task's C library has its list of robust locks, in the program's memory; 0:
 * nowhere.  What tasks have for futexes is a struct of its own since the header that
 * has it.
 */
static inline unsigned long sw_robust_list(const struct task_struct *task)
{
#if !defined(CONFIG_FUTEX)
	return 0;
#elif __has_include(<linux/futex_types.h>)
	return (unsigned long)task->futex.robust_list;
#else
	return (unsigned long)task->robust_list;
#endif
}

/*
 * Of what is mapped, where the program has it from.  Where file systems lie over others
 * the file itself is one of theirs, and its path leads nowhere that the program sees,
 * since a little before the header that has such files.
 */
static inline const struct path *sw_user_path(const struct file *file)
{
#if __has_include(<linux/backing-file.h>)
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

/* PDE_DATA() was its name before 5.17. */
static inline void *sw_pde_data(const struct inode *inode)
{
#ifdef STAPCONF_PDE_DATA2
	return pde_data(inode);
#else
	return PDE_DATA(inode);
#endif
}

/* ---- programs */

/*
 * What a uprobe's handlers are called with: since 6.13 also a word of the call's own,
 * which nobody here wants.
 */
#ifdef STAPCONF_UPROBES_CB_DATA
#define SW_UPROBE_ARGS(...) __VA_ARGS__, __u64 *sw_data
#else
#define SW_UPROBE_ARGS(...) __VA_ARGS__
#endif

#ifdef CONFIG_UPROBES
/* Since 6.12 a probe is known by what register() returns. */
static inline int
sw_uprobe_register(struct inode *inode, loff_t offset,
		   struct uprobe_consumer *consumer, struct uprobe **uprobe)
{
#ifdef STAPCONF_PR32194_UPROBE_REGISTER_UNREGISTER
	*uprobe = uprobe_register(inode, offset, 0, consumer);
	return PTR_ERR_OR_ZERO(*uprobe);
#else
	return uprobe_register(inode, offset, consumer);
#endif
}

/* Its handlers may still run until sw_uprobe_sync(). */
static inline void
sw_uprobe_unregister(struct inode *inode, loff_t offset,
		     struct uprobe_consumer *consumer, struct uprobe *uprobe)
{
#ifdef STAPCONF_PR32194_UPROBE_REGISTER_UNREGISTER
	uprobe_unregister_nosync(uprobe, consumer);
#else
	uprobe_unregister(inode, offset, consumer);
#endif
}

static inline void sw_uprobe_sync(void)
{
#ifdef STAPCONF_PR32194_UPROBE_REGISTER_UNREGISTER
	uprobe_unregister_sync();
#endif
}
#endif

/* ---- interrupts and timers */

/* Since 5.11, when its flags moved, too. */
#ifndef IRQ_WORK_INIT_HARD
#define IRQ_WORK_INIT_HARD(function)					\
	(struct irq_work) {						\
		.flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ),		\
		.func = (function),					\
	}
#endif

/* hrtimer_setup() came with 6.13, and hrtimer_init() went with 6.15.  A stap that
 * does not ask for the latter is one of before. */
static inline void
sw_hrtimer_setup(struct hrtimer *timer,
		 enum hrtimer_restart (*function)(struct hrtimer *),
		 enum hrtimer_mode mode)
{
#if defined(STAPCONF_HRTIMER_INIT) || \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#else
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#endif
}

#endif
