# SW_LIBDW: elfutils, by which "stapwatch report" knows the symbols and lines of
# files.  Without it there are the kernel's symbols and JIT compilers' only.  By liblzma it
# knows what elfutils will unpack of a file; without, nothing is in files of others.
AC_DEFUN([SW_LIBDW],
[AC_SUBST([LIBDW_CPPFLAGS])
AC_SUBST([LIBDW_LIBS])
AC_ARG_WITH([libdw],
  [AS_HELP_STRING([--without-libdw],
    [build the command without symbols of files in reports])])
sw_libdw=none sw_lzma=no LIBDW_CPPFLAGS= LIBDW_LIBS=
AS_IF([test "$with_libdw" = no], [sw_libdw='not wanted'],
  [AC_CHECK_HEADER([elfutils/libdwelf.h],
     [AC_CHECK_LIB([dw], [dwelf_elf_begin],
	[sw_libdw=yes LIBDW_CPPFLAGS=-DHAVE_LIBDW LIBDW_LIBS='-ldw -lelf'], [],
	[-lelf])])])
AS_IF([test "$sw_libdw" = none],
  [AS_IF([test "${with_libdw:-no}" != no],
     [AC_MSG_ERROR([--with-libdw: no elfutils here: apt-get install libdw-dev (Debian), dnf install elfutils-devel (Fedora)])])
   SW_MISSING([elfutils, for symbols of files in reports (it builds without)],
     [apt-get install libdw-dev], [dnf install elfutils-devel])])
AS_IF([test "$sw_libdw" = yes],
  [AC_CHECK_HEADER([lzma.h],
     [AC_CHECK_LIB([lzma], [lzma_auto_decoder],
	[LIBDW_CPPFLAGS="$LIBDW_CPPFLAGS -DHAVE_LZMA" LIBDW_LIBS="$LIBDW_LIBS -llzma"
	 sw_lzma=yes])])
   AS_IF([test "$sw_lzma" != yes],
     [SW_MISSING([liblzma, for packed symbols of files that are not root's (it builds without)],
	[apt-get install liblzma-dev], [dnf install xz-devel])])])])
