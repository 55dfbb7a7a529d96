# The runtime, with each step that can fail made one that a parameter of the module
# lets fail (fail.h).
#
#	awk -f fail.awk -v steps=FILE HEADER >NEW
#
# FILE gets a line for each step: NUMBER HEADER:LINE NAME; what stands there
# already, of other headers, has the lower numbers.
BEGIN {
	n = split("kmalloc kzalloc kcalloc kmalloc_array kmalloc_node kstrdup " \
		  "kasprintf filp_open seq_open_private zalloc_cpumask_var xa_store kern_path " \
		  "cgroup_get_from_path kthread_create_on_node " \
		  "sw_uprobe_register smp_call_function_single_async kvmalloc kvzalloc " \
		  "kvcalloc kvmalloc_array vzalloc vzalloc_node vmap alloc_percpu " \
		  "alloc_pages_node alloc_workqueue proc_create proc_create_data proc_mkdir " \
		  "proc_mkdir_mode perf_event_create_kernel_counter " \
		  "cpuhp_setup_state_nocalls register_kprobe register_kretprobe " \
		  "register_kretprobes " \
		  "register_module_notifier tracepoint_probe_register seq_open " \
		  "kthread_create single_open single_open_size _stp_mkdir_proc_module", names, " ")
	for (i = 1; i <= n; i++)
		can_fail[names[i]] = 1
	while ((getline line < steps) > 0)
		nr++
	close(steps)
}

# text that is no code, declarations and definitions, and what interpose.h defines anew
/^\t* \*/ || /^\t*\/\*/ || /^#/ || /^[a-z_]/ { print; next }

{
	out = ""
	while (match($0, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
		name = substr($0, RSTART, RLENGTH - 1)
		out = out substr($0, 1, RSTART - 1)
		$0 = substr($0, RSTART + RLENGTH)
		if (!(name in can_fail)) {
			out = out name "("
			continue
		}
		nr++
		out = out "fail_" name "(" nr ($0 ~ /^\)/ ? "" : ", ")
		print nr, FILENAME ":" FNR, name >> steps
	}
	print out $0
}
