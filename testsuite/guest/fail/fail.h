/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps that fail when they are told to: fail.awk puts these in the place of the
 * functions that they are named after, each with its number.
 *
 * The module's parameters fail_step and fail_nth say which step, and which of the
 * times that it is taken; the kernel's log says that it was.  While it runs another
 * step may be given, and fail_times, which counts them, set to 0.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/printk.h>

static int fail_step;
static int fail_nth = 1;
static int fail_times;
module_param(fail_step, int, 0600);
module_param(fail_nth, int, 0);
module_param(fail_times, int, 0600);

static bool fail_now(int step)
{
	if (step != READ_ONCE(fail_step) ||
	    atomic_inc_return((atomic_t *)&fail_times) != READ_ONCE(fail_nth))
		return false;
	pr_info("fail: step %d\n", step);
	return true;
}

#define FAIL_POINTER(step, call) (fail_now(step) ? NULL : (call))
#define FAIL_INT(step, call) (fail_now(step) ? -ENOMEM : (call))
#define FAIL_EVENT(step, call) (fail_now(step) ? ERR_PTR(-ENOMEM) : (call))

#define fail_smp_call_function_single_async(n, ...)			\
	(fail_now(n) ? -ENXIO : smp_call_function_single_async(__VA_ARGS__))
#define FAIL_BOOL(step, call) (!fail_now(step) && (call))
#define FAIL_ENTRY(step, call) (fail_now(step) ? XA_ERROR(-ENOMEM) : (call))

#define fail_kmalloc(n, ...) FAIL_POINTER(n, kmalloc(__VA_ARGS__))
#define fail_kzalloc(n, ...) FAIL_POINTER(n, kzalloc(__VA_ARGS__))
#define fail_kcalloc(n, ...) FAIL_POINTER(n, kcalloc(__VA_ARGS__))
#define fail_kmalloc_array(n, ...) FAIL_POINTER(n, kmalloc_array(__VA_ARGS__))
#define fail_kstrdup(n, ...) FAIL_POINTER(n, kstrdup(__VA_ARGS__))
#define fail_kasprintf(n, ...) FAIL_POINTER(n, kasprintf(__VA_ARGS__))
#define fail_zalloc_cpumask_var(n, ...) FAIL_BOOL(n, zalloc_cpumask_var(__VA_ARGS__))
#define fail_filp_open(n, ...) FAIL_EVENT(n, filp_open(__VA_ARGS__))
#define fail_seq_open_private(n, ...) FAIL_INT(n, seq_open_private(__VA_ARGS__))
#define fail_xa_store(n, ...) FAIL_ENTRY(n, xa_store(__VA_ARGS__))
#define fail_kern_path(n, ...) FAIL_INT(n, kern_path(__VA_ARGS__))
#define fail_cgroup_get_from_path(n, ...)				\
	FAIL_EVENT(n, cgroup_get_from_path(__VA_ARGS__))
#define fail_kthread_create_on_node(n, ...)				\
	FAIL_EVENT(n, kthread_create_on_node(__VA_ARGS__))
#define fail_sw_uprobe_register(n, ...) FAIL_INT(n, sw_uprobe_register(__VA_ARGS__))
#define fail_kmalloc_node(n, ...) FAIL_POINTER(n, kmalloc_node(__VA_ARGS__))
#define fail_kvmalloc(n, ...) FAIL_POINTER(n, kvmalloc(__VA_ARGS__))
#define fail_kvzalloc(n, ...) FAIL_POINTER(n, kvzalloc(__VA_ARGS__))
#define fail_kvcalloc(n, ...) FAIL_POINTER(n, kvcalloc(__VA_ARGS__))
#define fail_kvmalloc_array(n, ...) FAIL_POINTER(n, kvmalloc_array(__VA_ARGS__))
#define fail_vzalloc(n, ...) FAIL_POINTER(n, vzalloc(__VA_ARGS__))
#define fail_vzalloc_node(n, ...) FAIL_POINTER(n, vzalloc_node(__VA_ARGS__))
#define fail_vmap(n, ...) FAIL_POINTER(n, vmap(__VA_ARGS__))
#define fail_alloc_percpu(n, ...) FAIL_POINTER(n, alloc_percpu(__VA_ARGS__))
#define fail_alloc_pages_node(n, ...) FAIL_POINTER(n, alloc_pages_node(__VA_ARGS__))
#define fail_alloc_workqueue(n, ...) FAIL_POINTER(n, alloc_workqueue(__VA_ARGS__))
#define fail_proc_create(n, ...) FAIL_POINTER(n, proc_create(__VA_ARGS__))
#define fail_proc_create_data(n, ...) FAIL_POINTER(n, proc_create_data(__VA_ARGS__))
#define fail_proc_mkdir(n, ...) FAIL_POINTER(n, proc_mkdir(__VA_ARGS__))
#define fail_proc_mkdir_mode(n, ...) FAIL_POINTER(n, proc_mkdir_mode(__VA_ARGS__))
#define fail_perf_event_create_kernel_counter(n, ...)			\
	FAIL_EVENT(n, perf_event_create_kernel_counter(__VA_ARGS__))
#define fail_cpuhp_setup_state_nocalls(n, ...)				\
	FAIL_INT(n, cpuhp_setup_state_nocalls(__VA_ARGS__))
#define fail_register_kprobe(n, ...) FAIL_INT(n, register_kprobe(__VA_ARGS__))
#define fail_register_kretprobe(n, ...) FAIL_INT(n, register_kretprobe(__VA_ARGS__))
#define fail_register_kretprobes(n, ...) FAIL_INT(n, register_kretprobes(__VA_ARGS__))
#define fail_register_module_notifier(n, ...)				\
	FAIL_INT(n, register_module_notifier(__VA_ARGS__))
#define fail_tracepoint_probe_register(n, ...)				\
	FAIL_INT(n, tracepoint_probe_register(__VA_ARGS__))
#define fail_kthread_create(n, ...) FAIL_EVENT(n, kthread_create(__VA_ARGS__))
#define fail_seq_open(n, ...) FAIL_INT(n, seq_open(__VA_ARGS__))
#define fail_single_open(n, ...) FAIL_INT(n, single_open(__VA_ARGS__))
#define fail_single_open_size(n, ...) FAIL_INT(n, single_open_size(__VA_ARGS__))
#define fail__stp_mkdir_proc_module(n) FAIL_INT(n, _stp_mkdir_proc_module())
