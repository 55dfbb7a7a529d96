# SW_ZLIB: zlib, by which "stapwatch report --pprof" compresses, and tells a debug file by
# its checksum.  Without it the same is written as it is, which viewers take too, and
# debug files are told by build-ids alone.
AC_DEFUN([SW_ZLIB],
[AC_SUBST([ZLIB_CPPFLAGS])
AC_SUBST([ZLIB_LIBS])
AC_ARG_WITH([zlib],
  [AS_HELP_STRING([--without-zlib],
    [build the command without compression, and without debug files that only a checksum tells])])
sw_zlib=none ZLIB_CPPFLAGS= ZLIB_LIBS=
AS_IF([test "$with_zlib" = no], [sw_zlib='not wanted'],
  [AC_CHECK_HEADER([zlib.h],
     [AC_CHECK_LIB([z], [deflateBound],
	[sw_zlib=yes ZLIB_CPPFLAGS=-DHAVE_ZLIB ZLIB_LIBS=-lz])])])
AS_IF([test "$sw_zlib" = none],
  [AS_IF([test "${with_zlib:-no}" != no],
     [AC_MSG_ERROR([--with-zlib: no zlib here: apt-get install zlib1g-dev (Debian), dnf install zlib-devel (Fedora)])])
   SW_MISSING([zlib, for compressed profiles and debug files by checksum (it builds without)],
     [apt-get install zlib1g-dev], [dnf install zlib-devel])])])
