# SW_KERNEL_HEADERS: stap compiles modules against them.  A warning only:
# scripts may be meant for another machine.
AC_DEFUN([SW_KERNEL_HEADERS],
[sw_kver=`uname -r`
AC_MSG_CHECKING([for headers of the running kernel])
AS_IF([test -f "/lib/modules/$sw_kver/build/.config"],
  [sw_kernel_headers=/lib/modules/$sw_kver/build], [sw_kernel_headers=none])
AC_MSG_RESULT([$sw_kernel_headers])
AS_IF([test "$sw_kernel_headers" = none],
  [AC_MSG_WARN([no headers for $sw_kver: no script can be compiled for this kernel])
   SW_MISSING([headers of the running kernel],
     [apt-get install linux-headers-$sw_kver], [dnf install kernel-devel-$sw_kver])])
AS_VERSION_COMPARE([$sw_kver], [5.10],
  [AC_MSG_WARN([Linux $sw_kver is too old: stapwatch runs with Linux 5.10 or newer])])])
