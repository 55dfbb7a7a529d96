# SW_KERNEL_DEBUGINFO: for kernel.function("...") and $variables.  Raw
# callbacks, perf and timer probes do without.
AC_DEFUN([SW_KERNEL_DEBUGINFO],
[AC_MSG_CHECKING([for debuginfo of the running kernel])
sw_kernel_debuginfo=none
for sw_f in "/usr/lib/debug/lib/modules/$sw_kver/vmlinux" \
	"/usr/lib/debug/boot/vmlinux-$sw_kver" \
	"/lib/modules/$sw_kver/vmlinux" "/lib/modules/$sw_kver/build/vmlinux"; do
  AS_IF([test -f "$sw_f"], [sw_kernel_debuginfo=$sw_f; break])
done
AS_IF([test "$sw_kernel_debuginfo" = none && test -n "$DEBUGINFOD_URLS"],
  [sw_kernel_debuginfo="debuginfod ($DEBUGINFOD_URLS)"])
AC_MSG_RESULT([$sw_kernel_debuginfo])
AS_IF([test "$sw_kernel_debuginfo" = none],
  [SW_MISSING([kernel debuginfo, for probes of kernel functions by name],
     [apt-get install linux-image-$sw_kver-dbg], [debuginfo-install kernel-$sw_kver])])])
