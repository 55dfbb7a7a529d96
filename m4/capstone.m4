# SW_CAPSTONE: capstone, by which "stapwatch report" reads instructions.  Without it
# there are neither annotated instructions nor basic blocks.
AC_DEFUN([SW_CAPSTONE],
[AC_SUBST([CAPSTONE_CPPFLAGS])
AC_SUBST([CAPSTONE_LIBS])
AC_ARG_WITH([capstone],
  [AS_HELP_STRING([--without-capstone],
    [build the command without instructions in reports])])
sw_capstone=none CAPSTONE_CPPFLAGS= CAPSTONE_LIBS=
AS_IF([test "$with_capstone" = no], [sw_capstone='not wanted'],
  [AC_CHECK_HEADER([capstone/capstone.h],
     [AC_CHECK_LIB([capstone], [cs_disasm_iter],
	[sw_capstone=yes CAPSTONE_CPPFLAGS=-DHAVE_CAPSTONE CAPSTONE_LIBS=-lcapstone])])])
AS_IF([test "$sw_capstone" = none],
  [AS_IF([test "${with_capstone:-no}" != no],
     [AC_MSG_ERROR([--with-capstone: no capstone here: apt-get install libcapstone-dev (Debian), dnf install capstone-devel (Fedora)])])
   SW_MISSING([capstone, for instructions in reports (it builds without)],
     [apt-get install libcapstone-dev], [dnf install capstone-devel])])])
