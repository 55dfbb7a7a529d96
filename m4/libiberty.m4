# SW_LIBIBERTY: libiberty, by which "stapwatch report" writes names of C++ and of Rust
# as their sources have them: binutils 2.34 and newer.  Without it they stay as the linker
# has them.
AC_DEFUN([SW_LIBIBERTY],
[AC_SUBST([LIBIBERTY_CPPFLAGS])
AC_SUBST([LIBIBERTY_LIBS])
AC_ARG_WITH([libiberty],
  [AS_HELP_STRING([--without-libiberty],
    [build the command without names of C++ and Rust in reports])])
sw_libiberty=none LIBIBERTY_CPPFLAGS= LIBIBERTY_LIBS=
AS_IF([test "$with_libiberty" = no], [sw_libiberty='not wanted'],
  [AC_CHECK_HEADERS([libiberty/demangle.h demangle.h],
     [AC_CHECK_LIB([iberty], [rust_demangle_callback],
	[sw_libiberty=yes LIBIBERTY_CPPFLAGS=-DHAVE_LIBIBERTY LIBIBERTY_LIBS=-liberty])
      break])])
AS_IF([test "$sw_libiberty" = none],
  [AS_IF([test "${with_libiberty:-no}" != no],
     [AC_MSG_ERROR([--with-libiberty: no libiberty here: apt-get install libiberty-dev (Debian), dnf install binutils-devel (Fedora)])])
   SW_MISSING([libiberty, for names of C++ and Rust in reports (it builds without)],
     [apt-get install libiberty-dev], [dnf install binutils-devel])])])
